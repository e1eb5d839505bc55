"""The papers' tables made anew: their protocol, our figures, and how far both are apart."""

from onkel.reproduce.experiments import EXPERIMENTS
from onkel.reproduce.protocols import reproduce
from onkel.reproduce.results import Line, Result

__all__ = ["EXPERIMENTS", "Line", "Result", "reproduce"]
