"""Speed as ratios measured in one run: against peers and against the machine's own limit."""
