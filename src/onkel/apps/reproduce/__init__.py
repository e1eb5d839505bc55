"""The papers' tables and figures made anew: their protocol, our figures, and how far both are apart."""

from onkel.apps.reproduce.curves import redraw
from onkel.apps.reproduce.experiments import EXPERIMENTS
from onkel.apps.reproduce.figures import FIGURES
from onkel.apps.reproduce.protocols import reproduce
from onkel.apps.reproduce.results import Drawn, Line, Result, Series

__all__ = ["EXPERIMENTS", "FIGURES", "Drawn", "Line", "Result", "Series", "redraw", "reproduce"]
