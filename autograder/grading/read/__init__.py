"""Reading whatever a person hands in: bytes, text, cells, and which cell answers which part of the lesson."""

from autograder.grading.read.files import read_bytes
from autograder.grading.read.match import Reading, read_submission
from autograder.grading.read.notebook import NbCell, Notebook, read_notebook
from autograder.grading.read.pick import read_hand_in
from autograder.grading.read.released import Released, hints, released
from autograder.grading.read.unreadable import Unreadable

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
