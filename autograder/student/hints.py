"""Hints of four levels, in order. Level 4 is the full answer."""

from __future__ import annotations

from autograder.student.data import StudentLesson
from autograder.student.show import Report
from autograder.student.words import say

LEVELS = 4
MIME = "application/vnd.hopper-course.hint+json"  # an output of this type tells the class report which hints were used


def hint_report(lesson: StudentLesson, level: int, lang: str) -> Report:
    """One hint. Raises ValueError for a level outside 1..4."""
    if not 1 <= level <= LEVELS:
        raise ValueError(say(lang, "hint_level", level=level))
    report = Report(say(lang, "hint_title", level=level, name=say(lang, f"hint_{level}")), lang)
    report.add("note", lesson.hints[lang][level - 1], "hint")
    if level < LEVELS:
        report.foot.append(say(lang, "hint_next", level=level + 1))
    return report


class HintLadder:
    """Which levels were seen in this session."""

    def __init__(self, lesson: StudentLesson, lang: str):
        self.lesson, self.lang, self.seen = lesson, lang, set()

    def show(self, level: int | None = None, *, confirm: bool = False) -> tuple[Report, int | None]:
        """(what to show, the level if a hint was given). Without a level: the next one."""
        if level is None:
            level = min(max(self.seen, default=0) + 1, LEVELS)
        if not isinstance(level, int) or isinstance(level, bool) or not 1 <= level <= LEVELS:
            return self._say("hint_level", level=level), None
        first_unseen = next((n for n in range(1, level) if n not in self.seen), None)
        if first_unseen and not (level == LEVELS and confirm):
            return self._say("hint_confirm" if level == LEVELS else "hint_order", level=first_unseen), None
        self.seen.add(level)
        return hint_report(self.lesson, level, self.lang), level

    def _say(self, key: str, **values) -> Report:
        report = Report(say(self.lang, "hint_refused"), self.lang)
        report.add("note", say(self.lang, key, **values), "hint")
        return report
