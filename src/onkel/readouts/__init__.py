"""Readouts: what turns the features of a row into scores, and several of them into one answer."""
