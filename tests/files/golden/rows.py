"""The rows that the models in this folder have learned, and are asked about; written out, so that they never change."""

import numpy as np

ROWS = np.array([[np.sin(3 * i + j) + 0.1 * ((7 * i + 3 * j) % 5) for j in range(3)] for i in range(40)]).round(3)
LABELS = np.where(np.sum(ROWS**2, axis=1) > 1.8, "far", "near")
NUMBERS = np.sum(ROWS**2, axis=1).round(3)
