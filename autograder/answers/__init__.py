"""Free-text answers: points per causal link, each with the words that earn it.

gate -> normal form, sentences and stance -> rules and likeness -> probability of each link -> points and lane (score.py).
A new lesson needs, in this order: its rubric's links with cause, mechanism and effect; `rules` and a few `exemplars` and
`contrast` sentences a language; labelled answers in answers.jsonl; then `python -m autograder.answers.accuracy LESSON
--write`. Until rules are written everything that would earn credit waits in the review lane.
"""

from autograder.answers.score import score_many, score_slot

__all__ = ["score_many", "score_slot"]
