"""Reports of runs: pictures, and one page that needs no network."""
