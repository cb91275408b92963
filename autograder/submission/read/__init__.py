"""Reading whatever a person hands in: bytes, text, cells, and which cell answers which part of the lesson."""

from autograder.submission.read.files import read_bytes
from autograder.submission.read.match import Reading, read_submission
from autograder.submission.read.notebook import NbCell, Notebook, read_notebook
from autograder.submission.read.pick import read_hand_in
from autograder.submission.read.released import Released, hints, released
from autograder.submission.read.unreadable import Unreadable

__all__ = [
    "NbCell",
    "Notebook",
    "Reading",
    "Released",
    "Unreadable",
    "hints",
    "read_bytes",
    "read_hand_in",
    "read_notebook",
    "read_submission",
    "released",
]
