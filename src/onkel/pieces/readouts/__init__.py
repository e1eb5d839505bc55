"""What makes scores of features, where this is more than one weight for each."""
