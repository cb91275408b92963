"""One review of one lesson: what is shown, and what a key does. Knows nothing of HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder
from autograder.gradebook.decided import take_back, write_decided
from autograder.gradebook.rows import WRITTEN
from autograder.gradebook.run import run_lock, server_lock
from autograder.lesson import Lesson
from autograder.lesson.rubric import Slot
from autograder.review.decisions import Decision, Decisions, now, slot_hash
from autograder.review.groups import group_items
from autograder.review.items import Item, Step, decision_for, waiting
from autograder.review.reading import WRONG, Assess, Mark, Read, Reader


class Session:
    """Opens the lesson's decisions for this process, brings what an earlier page left into the gradebook, and gathers what waits.

    by: who decides.  assess: for tests.  Raises CourseError. All methods may be called from several threads.
    """

    def __init__(
        self, lesson: Lesson, course: CourseFolder, by: str, *, assess: Assess | None = None, step: Step | None = None
    ):
        self.lesson, self.course, self.by = lesson, course, by
        self.decisions = Decisions.load(course.root, lesson.slug)
        self.decisions.open()
        self._lock = threading.RLock()
        self._hashes = {name: slot_hash(slot) for name, slot in lesson.rubric.slots.items()}
        found = waiting(lesson, course, self.decisions, Reader(lesson, assess), step)
        self.items = {i.id: i for i in found.items}
        self.groups = group_items(found.items, {name: lesson.rubric.slots[name] for name in WRITTEN})
        self.notes = self.decisions.problems + found.problems
        self._unwritten = {(student, d.slot): (student, d, source) for student, d, source in found.unwritten}
        self._reopen: list[tuple[str, str, str]] = found.reopen
        self.kept_back = self._flush()

    # -- what a key does ---------------------------------------------------------------------------------------------------------

    def decide(
        self,
        ids: Iterable[str],
        points: float,
        links: list[str] | None,
        misconceptions: list[str] | None,
        false: bool | None,
        group: str | None,
    ) -> dict:
        """Decide these items. links, misconceptions, false: as a person ticked them; None: as the reader sees them, links to fit the points.
        Raises CourseError where nothing was kept; where only the gradebook could not be written, the answer says so."""
        with self._lock:
            some = [self._item(i) for i in dict.fromkeys(ids)]
            if not some:
                raise CourseError("No answer was named.", remedy="Load the page again.")
            when = now()
            made = [self._decision(item, points, links, misconceptions, false, group, when) for item in some]
            action = self.decisions.record(made)
            for item, d in zip(some, made):
                item.decision = d.model_copy(update={"action": action})
                self._unwritten |= {
                    (student, item.slot): (student, item.decision, source) for student, source in item.cells
                }
            self.kept_back = self._flush()
            return self._changed(some)

    def undo(self) -> dict:
        """Take back the last action that stands, also one of an earlier page."""
        with self._lock:
            undone = self.decisions.undo(self.by)
            if undone is None:
                return self._changed([])
            changed = []
            for item in self.items.values():
                if item.decision is None or item.decision.action != undone.action:
                    continue
                item.decision = self._standing(item)
                changed.append(item)
                for student, source in item.cells:
                    self._unwritten.pop((student, item.slot), None)
            written = {(student, d.slot) for d in undone.decisions for student in d.students}
            self._reopen += [(student, slot, undone.action) for student, slot in written]
            self._reopen += [
                (student, i.slot, "") for i in changed for student in i.students if (student, i.slot) not in written
            ]
            self._unwritten |= {
                (student, i.slot): (student, i.decision, source)
                for i in changed
                if i.decision
                for student, source in i.cells
            }
            self.kept_back = self._flush()
            return self._changed(changed) | {"undone": len(changed)}

    def close(self) -> None:
        with self._lock:
            self.kept_back = self._flush()
            self.decisions.close()

    def _standing(self, item: Item) -> Decision | None:
        digest = self._hashes[item.slot]
        if item.shared:
            return self.decisions.find(item.slot, item.answer, digest)
        return self.decisions.find_of(item.students[0], item.slot, item.answer, digest)

    def _item(self, name: str) -> Item:
        if name not in self.items:
            raise CourseError(
                "This answer is not among those that wait.", where=str(name)[:80], remedy="Load the page again."
            )
        return self.items[name]

    def _decision(self, item: Item, points: float, links, misconceptions, false, group, when: str) -> Decision:
        slot = self.lesson.rubric.slots[item.slot]
        if isinstance(points, bool) or not isinstance(points, (int, float)) or points not in range(slot.points + 1):
            raise CourseError(f"{item.slot} has 0 to {slot.points} points.", where=item.id, remedy="Give one of these.")
        ids, wrong = {x.id for x in slot.links}, {m.id for m in slot.misconceptions}
        if not set(links or ()) <= ids or not set(misconceptions or ()) <= wrong:
            raise CourseError(
                "A link is named that the rubric does not have.", where=item.id, remedy="Load the page again."
            )
        mine = (
            [x.id for x in slot.links if x.id in links] if links is not None else fitting(slot, item.read, int(points))
        )
        held = (
            misconceptions
            if misconceptions is not None
            else [m for m in sorted(item.read.misconceptions) if not points]
        )
        if false is None:
            false = bool(held) or (item.read.false and not points)
        return decision_for(
            item, points=float(points), links=mine, links_by="person" if links is not None else "points", misconceptions=held, false=false or bool(held),
            by=self.by, when=when, group=group, rubric_hash=self._hashes[item.slot],
        )  # fmt: skip

    def _flush(self) -> str:
        """Bring the gradebook up to what was decided; returns why it could not be, "" for done. Nothing is forgotten: the next one tries again."""
        if not self._unwritten and not self._reopen:
            return ""
        try:
            with (
                run_lock(self.course, self.lesson.slug),
                self.course.gradebook(must_exist=True, write=True) as gradebook,
                server_lock(gradebook, self.lesson.slug),
            ):
                take_back(gradebook, self.lesson.slug, self._reopen)
                write_decided(gradebook, self.lesson.slug, self._unwritten.values())
        except (CourseError, OSError) as e:
            return f"Kept in {self.decisions.path.name}, not yet in the gradebook: {e} It is tried again with the next decision and at the next start."
        self._unwritten.clear()
        self._reopen.clear()
        return ""

    # -- what is shown -----------------------------------------------------------------------------------------------------------

    def state(self) -> dict:
        """Everything that the page shows, as plain data."""
        with self._lock:
            rubric = self.lesson.rubric
            both = lambda text: {"zh": text.zh, "en": text.en}
            slots = {
                name: {
                    "points": s.points,
                    "question": both(s.question),
                    "some": s.some,
                    "full": s.full,
                    "required": s.required_for_full,
                    "links": [{"id": x.id, "kind": x.kind, "zh": x.zh, "en": x.en} for x in s.links],
                    "misconceptions": [{"id": m.id, "veto": m.veto, **both(m.says)} for m in s.misconceptions],
                }
                for name, s in rubric.slots.items()
            }
            groups = [
                {
                    "id": g.id,
                    "slot": g.slot,
                    "links": sorted(g.links),
                    "misconceptions": sorted(g.misconceptions),
                    "false": g.false,
                    "mixed": g.mixed,
                    "items": [i.id for i in g.items],
                }
                for g in self.groups
            ]
            return {
                "lesson": self.lesson.slug,
                "title": {lang: e.title for lang, e in self.lesson.editions.items()},
                "by": self.by,
                "slots": slots,
                "groups": groups,
                "items": {name: self._shown(i) for name, i in self.items.items()},
                "notes": self.notes,
                "kept_back": self.kept_back,
            }

    def _changed(self, items: Iterable[Item]) -> dict:
        return {"decided": {i.id: _said(i.decision) for i in items}, "kept_back": self.kept_back}

    def _shown(self, item: Item) -> dict:
        slot = self.lesson.rubric.slots[item.slot]
        return {
            "students": list(item.students),
            "pieces": pieces(item.answer, item.read),
            "marks": {
                m.id: {"present": round(m.present, 3), "contradicted": round(m.contradicted, 3)}
                for m in item.read.marks
            },
            "links": [x.id for x in slot.links if x.id in item.read.links],
            "misconceptions": [m.id for m in slot.misconceptions if m.id in item.read.misconceptions],
            "false": item.read.false,
            "suggested": slot.points_for(item.read.links),
            "doubts": [
                {
                    "id": m.id,
                    "kind": m.kind,
                    "present": round(m.present, 2),
                    "contradicted": round(m.contradicted, 2),
                    "quote": _told(item.answer, m),
                }
                for m in item.read.marks
                if m.doubted
            ],
            "why": {"zh": item.score.reasons, "en": item.score.reasons_en or item.score.reasons},
            "shared": item.shared,
            "old": item.old and {"points": item.old[0], "by": item.old[1], "why": item.old[2]},
            "decision": _said(item.decision),
        }


def _said(d: Decision | None) -> dict | None:
    return d and {
        "points": d.points,
        "links": list(d.links),
        "misconceptions": list(d.misconceptions),
        "false": d.false,
        "by": d.by,
        "when": d.when,
        "group": d.group,
    }


def fitting(slot: Slot, read: Read, points: int) -> list[str]:
    """The links, as the reader sees them, changed as little as the points ask for: the likeliest that is missing is added, or the least
    likely that is ticked is taken away, until they make these points."""
    likely = {m.id: m.present for m in read.marks if m.kind == "link"}
    found = {x.id for x in slot.links if x.id in read.links}
    while slot.points_for(found) < points and len(found) < len(slot.links):
        missing = [x.id for x in slot.links if x.id not in found]
        needed = [x for x in missing if x in slot.required_for_full] if len(found) >= slot.full else []
        found.add(max(needed or missing, key=lambda x: likely[x]))
    while slot.points_for(found) > points and found:
        found.remove(min(found, key=lambda x: (likely[x], x)))
    return [x.id for x in slot.links if x.id in found]


def pieces(answer: str, read: Read) -> list[dict]:
    """The answer in pieces of text, each with the items whose sentence it is: {"text", "ids", "kind"}. Together they are the answer."""
    shown = [m for m in read.marks if m.end > m.start and (m.ticked or m.doubted)]
    cuts = sorted({0, len(answer), *(x for m in shown for x in (m.start, m.end))})
    out = []
    for start, end in zip(cuts, cuts[1:]):
        mine = [m for m in shown if m.start <= start and end <= m.end]
        out.append({"text": answer[start:end], "ids": [m.id for m in mine], "kind": _look(mine)})
    return out


def _told(answer: str, mark: Mark, most: int = 120) -> str:
    """The sentence beside a doubt; nothing where it is the whole answer, which stands right above."""
    text = answer[mark.start : mark.end]
    return "" if text == answer.strip() else text if len(text) <= most else text[: most - 1] + "…"


def _look(marks: list[Mark]) -> str:
    """How a piece is marked: what speaks against it is stronger than what speaks for it."""
    if any(
        (m.kind in (WRONG, "misconception") or m.contradicted > m.present) and (m.ticked or m.contradicted >= 0.5)
        for m in marks
    ):
        return "against"
    if any(m.kind == "link" and m.ticked and not m.doubted for m in marks):
        return "for"
    return "doubt" if marks else ""
