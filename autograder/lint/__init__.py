"""`course lint`: holds every lesson to the form, and says in full sentences what is missing and how to mend it."""

from autograder.lint.run import Problem, lint_lesson, lint_project

__all__ = ["Problem", "lint_lesson", "lint_project"]
