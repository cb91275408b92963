"""The one exception that reaches a user of `course`: what happened, where, and what to do."""


class CourseError(Exception):
    """A mistake in the input that a person can mend.

    what: one sentence, what is wrong.  where: file, lesson, cell or line, or "".  remedy: one sentence, what to do.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = ""):
        self.what, self.where, self.remedy = what, where, remedy
        super().__init__(" ".join(p for p in (f"{where}:" if where else "", what, remedy) if p))
