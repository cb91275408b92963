"""Grading of the blank: nothing in a submission but its blank and its answers can change its score."""

__all__ = ["grade_notebook"]


def __getattr__(name: str):
    """The pipeline is imported when it is asked for: `course doctor` and a worker's start need only a part of the package."""
    if name == "grade_notebook":
        from autograder.grading.pipeline import grade_notebook

        return grade_notebook
    raise AttributeError(name)
