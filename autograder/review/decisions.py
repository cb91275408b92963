"""What a person decided on free-text answers: decisions/<lesson>.jsonl in the course folder, append-only, labelled data.

One JSON object a line: an answer decided, or {"undo": ACTION, "by", "when"}. The lines of one action are written together and on disk before
the gradebook is touched, so whatever ends the process, what was decided is known at the next start. A line that a kill cut off in the middle
stays where it is and is passed over.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from autograder.answers.normalise import normalise
from autograder.errors import CourseError
from autograder.lesson.rubric import Slot

FOLDER = "decisions"
# What a page can show and the canonical form drops: struck out, styled, a formula's command, a stroke through a letter, a picture.
_SHOWS_MORE = re.compile(r"~~|<[a-z/!]|\\[a-z]+|[\u0300-\u036f\u20d0-\u20ff]|!\[", re.I)


class Decision(BaseModel):
    """One answer decided. links: ids that the answer states; links_by: "person" where a person ticked them, "points" where they were
    chosen to fit the points that he gave. false: it asserts something false. group: of answers decided with one key, or None.

    rubric_hash: slot_hash of what was asked.  quotes: id -> the sentence that the reader found for it.  students: who had written it.
    shared False: the text alone is not the answer (a picture, a cut end), so it holds for these students only.  when: UTC, ISO 8601.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    slot: str
    answer: str
    points: float
    links: tuple[str, ...] = ()
    links_by: Literal["person", "points"] = "points"
    misconceptions: tuple[str, ...] = ()
    false: bool = False
    by: str
    when: str
    group: str | None = None
    rubric_hash: str
    quotes: dict[str, str] = {}
    students: tuple[str, ...] = ()
    shared: bool = True
    action: str = ""

    @property
    def key(self) -> str:
        return answer_key(self.answer)

    @property
    def said(self) -> tuple[str, str]:
        """Who and when, as one sentence in zh and in en."""
        at = self.when[:16].replace("T", " ")
        return f"由 {self.by} 于 {at} UTC 判定。", f"decided by {self.by} on {at} UTC"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def answer_key(answer: str) -> str:
    """Equal for answers that say the same: up to white space and canonical form. "" for an empty one.

    Where markup may show more than the canonical form tells, only the same characters are the same answer.
    """
    normal = normalise(answer)
    text = " ".join(normal.text.split())
    if not text:
        return ""
    if normal.hidden or normal.odd or _SHOWS_MORE.search(answer):
        text = "as written\0" + " ".join(answer.split())
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def slot_hash(slot: Slot) -> str:
    """SHA-256 of what a decision rests on: question, links, misconceptions and how points follow from them; not hints or the reference."""
    data = slot.model_dump(
        mode="json",
        exclude={"reference": True, "links": {"__all__": {"hint"}}, "misconceptions": {"__all__": {"hint"}}},
    )
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:32]


class Undone(NamedTuple):
    action: str
    decisions: tuple[Decision, ...]


@dataclass
class Decisions:
    """The decisions of one lesson. `load` reads; the first `record` or `undo` opens the file for this process alone."""

    path: Path
    problems: list[str] = field(default_factory=list)  # one sentence each, for the user
    _actions: dict[str, list[Decision]] = field(default_factory=dict)  # those that stand, oldest first
    _touched: set[tuple[str, str]] = field(default_factory=set)
    _undone: set[str] = field(default_factory=set)
    _fd: int | None = None

    @classmethod
    def load(cls, course_folder: Path, lesson: str) -> Decisions:
        """course_folder: its root.  lesson: its slug. A missing file holds no decision. Raises CourseError where it cannot be read."""
        out = cls(Path(course_folder) / FOLDER / f"{lesson}.jsonl")
        try:
            raw = out.path.read_bytes()
        except FileNotFoundError:
            return out
        except OSError as e:
            raise CourseError(
                f"The decisions cannot be read: {e.strerror}.",
                where=str(out.path),
                remedy="Make the file readable, then run the same command again.",
            ) from None
        torn = sum(not out._take(line) for line in raw.split(b"\n") if line.strip())
        if torn:
            out.problems.append(
                f"{out.path}: {torn} half-written {'line is' if torn == 1 else 'lines are'} ignored; what {'it' if torn == 1 else 'they'} said is asked again."
            )
        return out

    def _take(self, line: bytes) -> bool:
        try:
            data = json.loads(line)
            if "undo" in data:
                self._actions.pop(str(data["undo"]), None)
                self._undone.add(str(data["undo"]))
            else:
                self._add(Decision.model_validate(data))
        except (ValueError, TypeError, ValidationError, RecursionError):
            return False
        return True

    def _add(self, d: Decision) -> None:
        self._actions.setdefault(d.action, []).append(d)
        self._touched.add((d.slot, d.key))

    # -- asking ------------------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return sum(map(len, self._actions.values()))

    def find(self, slot: str, answer: str, rubric_hash: str) -> Decision | None:
        """The last decision on this answer under this rubric, by whomever it was written."""
        return self.find_key(slot, answer_key(answer), rubric_hash)

    def find_key(self, slot: str, key: str, rubric_hash: str) -> Decision | None:
        """The same for an answer's key (answer_key); none for ""."""
        return self._last(lambda d: d.shared and d.rubric_hash == rubric_hash, slot, key)

    def find_of(self, student: str, slot: str, answer: str, rubric_hash: str) -> Decision | None:
        """The last decision that was given to this student for this answer, also where it holds for nobody else."""
        return self._last(lambda d: student in d.students and d.rubric_hash == rubric_hash, slot, answer_key(answer))

    def earlier(self, slot: str, answer: str, rubric_hash: str) -> Decision | None:
        """The last decision on this answer under another rubric."""
        return self._last(lambda d: d.shared and d.rubric_hash != rubric_hash, slot, answer_key(answer))

    def touched(self, slot: str, key: str) -> bool:
        """Was this answer ever decided, undone or not?"""
        return (slot, key) in self._touched

    def undone(self, action: str) -> bool:
        """Was this action taken back?"""
        return action in self._undone

    def _last(self, fits, slot: str, key: str) -> Decision | None:
        if not key or (slot, key) not in self._touched:
            return None
        return next(
            (
                d
                for some in reversed(self._actions.values())
                for d in reversed(some)
                if d.slot == slot and fits(d) and d.key == key
            ),
            None,
        )

    # -- writing -----------------------------------------------------------------------------------------------------------------

    def record(self, decisions: Iterable[Decision]) -> str:
        """Write decisions as one action, on disk when this returns; returns its name. Raises CourseError where that cannot be done."""
        action = uuid.uuid4().hex[:12]
        some = [d.model_copy(update={"action": action}) for d in decisions]
        self._append([d.model_dump(mode="json") for d in some])
        for d in some:
            self._add(d)
        return action

    def undo(self, by: str) -> Undone | None:
        """Take back the last action that stands; None where there is none."""
        if not self._actions:
            return None
        action = next(reversed(self._actions))
        self._append([{"undo": action, "by": by, "when": now()}])
        self._undone.add(action)
        return Undone(action, tuple(self._actions.pop(action)))

    def open(self) -> None:
        """Make the file ready for this process, and refuse a second one. Raises CourseError."""
        if self._fd is not None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            size = os.fstat(self._fd).st_size
            if size and os.pread(self._fd, 1, size - 1) != b"\n":
                os.write(self._fd, b"\n")  # a torn line stays one line of its own
            folder = os.open(self.path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        except BlockingIOError:
            self.close()
            raise CourseError(
                "Another `course review` has this lesson open.",
                where=str(self.path),
                remedy="Go on in its page, or end it with Ctrl-C first.",
            ) from None
        except OSError as e:
            self.close()
            raise CourseError(
                f"The decisions cannot be written: {e.strerror}.",
                where=str(self.path),
                remedy="Make the course folder writable, then run the same command again.",
            ) from None

    def _append(self, lines: list[dict]) -> None:
        self.open()
        data = b"".join(json.dumps(x, ensure_ascii=True).encode() + b"\n" for x in lines)
        try:
            written = os.write(self._fd, data)
            os.fsync(self._fd)
            if written != len(data):
                raise OSError(28, "No space left on device")
        except OSError as e:
            self.close()  # the next one begins on a line of its own
            raise CourseError(
                f"The decision was not kept: {e.strerror}.",
                where=str(self.path),
                remedy="Make room, then decide again.",
            ) from None

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
