"""What waits for a person in one lesson: each different answer once, with everyone who wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from autograder.gradebook.course import CourseFolder
from autograder.gradebook.decided import Cell, read_cells
from autograder.lesson import Lesson
from autograder.records import SlotScore
from autograder.review.decisions import Decision, Decisions, answer_key, slot_hash
from autograder.review.reading import Read, Reader
from autograder.submission.read import Unreadable, read_hand_in, released

Step = Callable[[int, int], None]  # done, of


@dataclass
class Item:
    """One answer. cells: (student, source_hash) of those who wrote it.  shared False: it is one student's, since its text is not all of it.
    old: points that it has until it is decided anew, and why.  decision: what stands, None where it waits."""

    id: str
    slot: str
    answer: str
    shared: bool
    score: SlotScore
    read: Read
    cells: list[tuple[str, str]] = field(default_factory=list)
    old: tuple[float, str, str] | None = None  # points, who, "rubric" or "handed in"
    decision: Decision | None = None

    @property
    def students(self) -> tuple[str, ...]:
        return tuple(student for student, _ in self.cells)


@dataclass(frozen=True)
class Written:
    """A student's answer as the grader reads it."""

    text: str
    shared: bool


class Hands:
    """Reads what lies in submitted/, as grading does. A hand-in that has changed since, or cannot be read any more, is named in `problems`."""

    def __init__(self, lesson: Lesson, course: CourseFolder):
        self.lesson, self.course, self.problems = lesson, course, []
        self._editions = released(lesson)
        self._known: dict[str, dict[str, Written]] = {}

    def answers(self, student: str, source_hash: str) -> dict[str, Written]:
        if student not in self._known:
            self._known[student] = self._read(student, source_hash)
        return self._known[student]

    def _read(self, student: str, source_hash: str) -> dict[str, Written]:
        from autograder.gradebook.submissions import file_hash
        from autograder.gradebook.taken import taken_from

        folder = self.course.step("submitted", student, self.lesson.slug)
        try:
            path = taken_from(self.lesson, folder)
            if file_hash(path) != source_hash:
                self.problems.append(
                    f"{student}: the hand-in in submitted/ is not the one that was graded; run `course grade` first."
                )
                return {}
            reading = read_hand_in(self.lesson, self._editions, path).reading
        except (Unreadable, OSError, RecursionError, MemoryError) as e:
            self.problems.append(
                f"{student}: the hand-in in submitted/ cannot be read any more ({e or type(e).__name__}); decide it in formgrader."
            )
            return {}
        odd = {*reading.pictures, *reading.cut, *reading.doubtful}
        return {name: Written(text, name not in odd) for name, text in reading.answers.items()}


@dataclass
class Waiting:
    """items: open ones, and those that were decided on this page before.  unwritten: decisions that the gradebook does not have yet.
    reopen: (student, cell, action) that were decided by an action undone since, "" for one that only grading knows."""

    items: list[Item] = field(default_factory=list)
    unwritten: list[tuple[str, Decision, str]] = field(default_factory=list)
    reopen: list[tuple[str, str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def waiting(
    lesson: Lesson, course: CourseFolder, decisions: Decisions, reader: Reader, step: Step | None = None
) -> Waiting:
    """Everything for the page. Raises CourseError where nobody has been graded."""
    from autograder.errors import CourseError

    with course.gradebook(must_exist=True) as gradebook:
        cells = read_cells(gradebook, lesson.slug)
    if not cells:
        raise CourseError(
            f"Nobody has been graded in {lesson.slug}.",
            where=str(course.root),
            remedy=f"Run `course grade {lesson.slug} --submissions DIR --course {course.root}` first.",
        )
    out, hands = Waiting(), Hands(lesson, course)
    wanted = [
        c
        for c in cells
        if c.result.state != "UNGRADED"
        and (c.result.slots[c.name].lane == "review" or decisions.touched(c.name, c.result.slots[c.name].answer_key))
    ]
    by_id: dict[str, Item] = {}
    for n, cell in enumerate(wanted):
        _take(cell, lesson, hands, decisions, reader, out, by_id)
        if step:
            step(n + 1, len(wanted))
    out.items = list(by_id.values())
    out.problems += hands.problems + ([reader.problem] if reader.problem else [])
    return out


def _take(
    cell: Cell, lesson: Lesson, hands: Hands, decisions: Decisions, reader: Reader, out: Waiting, by_id: dict[str, Item]
) -> None:
    name, score, digest = cell.name, cell.result.slots[cell.name], slot_hash(lesson.rubric.slots[cell.name])
    written = hands.answers(cell.student, cell.source_hash).get(name)
    if written is None:
        return
    decision = (decisions.find(name, written.text, digest) if written.shared else None) or decisions.find_of(
        cell.student, name, written.text, digest
    )
    row = cell.row.decision if cell.row and cell.manual == cell.row.decision.points else None
    if decision is not None and (cell.waits or (row and row.action != decision.action)):
        out.unwritten.append((cell.student, decision, cell.source_hash))
    undone = decision is None and row is not None and decisions.undone(row.action)
    if undone or (decision is None and score.lane == "auto"):  # the second: decided at grading
        out.reopen.append((cell.student, name, row.action if row else ""))
    earlier = decisions.earlier(name, written.text, digest)
    settled = decision is None and score.lane == "review" and not cell.waits and not undone
    if settled and earlier is None:
        return  # by a person, in formgrader
    key = answer_key(written.text) if written.shared else ""
    item_id = f"{name}-{key[:16]}" if key else f"{name}-of-{cell.student}"
    item = by_id.get(item_id)
    if item is None:
        item = by_id[item_id] = Item(
            item_id, name, written.text, bool(key), score, reader.read(name, written.text, score)
        )
    item.cells.append((cell.student, cell.source_hash))
    item.decision = item.decision or decision
    if earlier is not None:
        item.old = (earlier.points, earlier.by, "rubric")
    elif cell.manual is not None and decision is None and not undone and item.old is None:
        item.old = (cell.manual, "", "handed in")


def decision_for(
    item: Item,
    *,
    points: float,
    links: Iterable[str],
    misconceptions: Iterable[str],
    false: bool,
    links_by: str,
    by: str,
    when: str,
    group: str | None,
    rubric_hash: str,
) -> Decision:
    """What a person said of an item, as it is kept."""
    quotes = {m.id: item.answer[m.start : m.end] for m in item.read.marks if m.end > m.start and m.ticked}
    return Decision(
        slot=item.slot, answer=item.answer, points=points, links=tuple(links), links_by=links_by, misconceptions=tuple(misconceptions), false=false, by=by, when=when,
        group=group, rubric_hash=rubric_hash, quotes=quotes, students=item.students, shared=item.shared,
    )  # fmt: skip
