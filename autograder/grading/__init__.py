"""Grading of the blank: nothing in a submission but its blank and its answers can change its score."""

from autograder.grading.pipeline import grade_notebook

__all__ = ["grade_notebook"]
