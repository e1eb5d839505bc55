"""What to do when there is no room for one more point: forget, remove, merge, project."""
