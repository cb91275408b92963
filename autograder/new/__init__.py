"""`course new`: an empty lesson, complete in form, whose every part says what belongs there."""

from autograder.new.layout import UNWRITTEN, lay_out

__all__ = ["UNWRITTEN", "lay_out"]
