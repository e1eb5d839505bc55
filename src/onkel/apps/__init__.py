"""Programs: the command line, reports, and the papers' tables made anew. Nothing imports them."""
