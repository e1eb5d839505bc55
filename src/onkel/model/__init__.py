"""What belongs to a model besides its numbers: what its scores mean (`answers`) and what its columns mean (`columns`).

Every face, command, metric and export asks these two objects, and nothing else decides about labels, ties,
probabilities, names of columns or missing values. They may import learners and streams; faces and programs stand above.
"""
