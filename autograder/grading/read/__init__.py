"""Reading whatever a person hands in: bytes, text, cells, and which cell answers which part of the lesson."""

from autograder.grading.read.files import Unreadable, read_bytes
from autograder.grading.read.match import Reading, read_submission
from autograder.grading.read.notebook import NbCell, Notebook, read_notebook
from autograder.grading.read.released import Released, released

__all__ = ["NbCell", "Notebook", "Reading", "Released", "Unreadable", "read_bytes", "read_notebook", "read_submission", "released"]
