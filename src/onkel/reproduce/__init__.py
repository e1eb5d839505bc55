"""The papers' tables and figures made anew: their protocol, our figures, and how far both are apart."""

from onkel.reproduce.curves import redraw
from onkel.reproduce.experiments import EXPERIMENTS
from onkel.reproduce.figures import FIGURES
from onkel.reproduce.protocols import reproduce
from onkel.reproduce.results import Drawn, Line, Result, Series

__all__ = ["EXPERIMENTS", "FIGURES", "Drawn", "Line", "Result", "Series", "redraw", "reproduce"]
