"""The loops, and what drives them from Python."""
