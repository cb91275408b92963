"""Free-text answers: points per causal link, each with the words that earn it.

gate (gate.py) -> reader (verifier.py: does the answer assert this link, this misconception?) -> points and lane (score.py).
A new lesson needs its rubric's links with cause, mechanism and effect, and labelled answers in answers.jsonl; what the reader can do
there before it was trained on them, and what they buy, stands in the model card (model/README.md).
"""

__all__ = ["score_many", "score_slot"]


def __getattr__(name: str):
    """The scorer loads the reader's libraries, so only where it is asked for; training loads none of it."""
    if name in __all__:
        from autograder.answers import score

        return getattr(score, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
