"""Free-text answers: points per causal link, each with the words that earn it."""

from autograder.answers.score import score_many, score_slot

__all__ = ["score_many", "score_slot"]
