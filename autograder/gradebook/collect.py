"""Collecting a folder (or zip) of downloads into submitted/<student>/<lesson>/<lesson>.ipynb.

Canvas:  name_[LATE_]<user id>_<attachment id>_<file>; name_[LATE_]<user id>_text.html for text typed into Canvas, _link.html for a link;
         anon_<random id>_<attachment id>_<file> where it grades anonymously
Moodle:  Full Name_<participant>_assignsubmission_file/<file> (before Moodle 4 the folder ended in _), or the same flat:
         Full Name_<participant>_assignsubmission_file_<file>; onlinetext in place of file for text typed into Moodle
plain:   <student>.ipynb, a browser's second <student> (1).ipynb too, or <student>/ with whatever is in it; taken where no name is an LMS's, or where asked for
Canvas's number is the student's own and kept as lms_user_id. Moodle's is another in each assignment: a student who is known is found by the
roster (`course roster`) or by the full name, and the number is kept for this lesson's export. Names are compared as composed characters.

Whoever handed in anything stands in submitted/: what the grader cannot read as a notebook becomes UNGRADED with the reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from autograder.errors import CourseError
from autograder.gradebook.course import CourseFolder, write_atomically
from autograder.gradebook.downloads import File, NotTaken, open_downloads
from autograder.gradebook.roster import Person, Roster, put_times, same_name
from autograder.gradebook.submissions import SIDE_FILES, student_id
from autograder.lesson import Lesson, list_lessons
from autograder.submission.read import Unreadable, read_hand_in, released

_CANVAS = re.compile(
    r"^(?P<name>.+?)_(?:(?P<late>LATE|late)_)?(?P<id>\d+)_(?:(?P<number>\d+)_.+|(?:text|link)\.html)$", re.S
)
# Canvas with anonymous grading: a random id in place of name and number.
_ANONYMOUS = re.compile(r"^(?P<name>anon)_(?:(?P<late>LATE|late)_)?(?P<id>[A-Za-z0-9]{3,12})_(?P<number>\d+)_.+$", re.S)
_MOODLE = re.compile(r"^(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_|$)", re.S)
_ENDINGS = re.compile(r"(?:\.(?:ipynb|json|txt|zip|html?|pdf|py|tar|gz|rar|7z|docx?))+$", re.I)
_AGAIN = re.compile(r"(?<=.) ?\(\d{1,2}\)$", re.S)
HANDED_OUT = "lesson.json"  # stands beside the notebook in what `course release` hands out
_LONGEST = 60  # characters of a name in an id: 255 bytes are a folder's longest name


@dataclass(frozen=True)
class Owner:
    """Whose file it is. lms: canvas, moodle or plain. lms_id: the LMS's number of the student. number: greater for a later upload (Canvas).

    late: Canvas marked it LATE.
    """

    lms: str
    name: str
    lms_id: str = ""
    number: int = 0
    late: bool = False

    @property
    def student(self) -> str:
        """An id for the gradebook: the name as the LMS writes it, made plain, with the LMS's number; a plain name as a folder's is."""
        if self.lms == "plain":
            return student_id(self.name)
        plain = re.sub(r"[^\w.-]+", "-", self.name.strip().lower()).strip("-.")[:_LONGEST] or "student"
        return f"{plain}-{self.lms_id}"


def recognise(path: PurePath) -> Owner | None:
    """Read a download's name; None for one that is neither Canvas's nor Moodle's.

    Moodle's outermost folder comes first: what lies in it was named by the student.
    """
    for text in path.parts:
        if m := _MOODLE.match(_composed(text)):
            return Owner("moodle", m["name"], m["id"])
    name = _composed(path.name)
    if m := _ANONYMOUS.match(name) or _CANVAS.match(name):
        return Owner("canvas", m["name"], m["id"], int(m["number"] or 0), bool(m["late"]))
    return None


def _composed(text: str) -> str:
    """As most keyboards type it: macOS stores an umlaut as two characters, and one person would be two."""
    return unicodedata.normalize("NFC", text)


@dataclass
class Collected:
    """students: who was collected. unread: (student, file, why) for those whom the grader will leave UNGRADED. skipped: (file, why not taken).

    names: how many students by each way to read the names: canvas, moodle, plain.  late: whom Canvas marked LATE.
    namesakes: names that several hand-ins bear, so that only a class list can tell who is who.
    """

    students: list[str] = field(default_factory=list)
    unread: list[tuple[str, str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    names: Counter = field(default_factory=Counter)
    late: list[str] = field(default_factory=list)
    namesakes: list[str] = field(default_factory=list)


def collect(lesson: Lesson, downloads: Path, course: CourseFolder, *, plain: bool = False) -> Collected:
    """Copy each student's newest notebook into submitted/. Nothing that is already there for others is touched.

    plain: take also files without an LMS's name, the name of the file or of its folder as the student's.
    Raises CourseError where there is nothing to take.
    """
    with open_downloads(Path(downloads)) as files:
        taken = Collected()
        sides = {f.place: f for f in files if f.place.name in SIDE_FILES}
        files = [f for f in files if f.place not in sides]
        owned = [(recognise(f.place), f) for f in files]
        if plain or not any(owner for owner, _ in owned):
            loose = [f for owner, f in owned if owner is None]
            found = _plainly(lesson, loose, Path(downloads).name)
            if not plain and not any(_look(lesson, f)[1] == "" for _, f in found):
                raise CourseError(
                    f"No file here is named as Canvas or Moodle names a submission, and none is a notebook of {lesson.slug}.",
                    where=str(downloads),
                    remedy="Name the folder or zip that the LMS's 'download all submissions' gave, or one that holds <student>.ipynb or <student>/ for each student.",
                )
            owned = [(owner, f) for owner, f in owned if owner is not None] + found
        hands: dict[tuple[str, str], list[tuple[Owner, File]]] = {}
        for owner, file in owned:
            if owner is not None:
                hands.setdefault((owner.lms, owner.lms_id or owner.name), []).append((owner, file))
            elif not file.place.name.startswith("."):
                taken.skipped.append(
                    (
                        str(file.place),
                        f'not a name of Canvas or Moodle; --plain takes it for the student "{_stem(file.place.parts[0])}"',
                    )
                )
        course.prepare()
        _place(lesson, course, hands.values(), sides, taken)
    return taken


def _plainly(lesson: Lesson, files: list[File], whole: str) -> list[tuple[Owner, File]]:
    """Whose each file is where the names are the students' own: the first part of its place, below a folder that holds the whole class."""
    lessons = {p.name for p in list_lessons()}
    files = [f for f in files if not lessons & set(f.place.parts[1:-1]) - {lesson.slug}]
    depth = 0
    while len({f.place.parts[depth] for f in files if len(f.place.parts) > depth}) == 1:
        below = {f.place.parts[depth + 1] for f in files if len(f.place.parts) > depth + 1}
        if len(below) < 2 or below & lessons:
            break  # one student's folder, not the class's
        depth += 1
    names = [(f.place.parts[min(depth, len(f.place.parts) - 1)], f) for f in files]
    if any(len(f.place.parts) == depth + 1 and f.place.name == HANDED_OUT for f in files):
        # The folder that was handed out, with its notebook, lesson.json, glossary and assets: one student's.
        alone = next(f for f in files if f.place.name == HANDED_OUT).place.parts[depth - 1] if depth else _stem(whole)
        return [(Owner("plain", alone), f) for f in files if f.place.suffix == ".ipynb"]
    return [
        (Owner("plain", _composed(_AGAIN.sub("", _stem(name)) if name == f.place.name else name)), f)
        for name, f in names
        if not name.startswith((".", "~$"))
    ]


def _stem(name: str) -> str:
    return _ENDINGS.sub("", name) or name


def _place(
    lesson: Lesson, course: CourseFolder, hands: Iterable[list[tuple[Owner, File]]], sides: dict, taken: Collected
) -> None:
    roster = Roster.read(course)
    hands = sorted(hands, key=lambda files: files[0][0].student)
    bearers = Counter(same_name(files[0][0].name) for files in hands if files[0][0].lms == "moodle")
    with course.gradebook(write=True) as gradebook:
        known = {s.lms_user_id: s for s in gradebook.students if s.lms_user_id}
        for s in gradebook.students:
            if s.first_name or s.last_name:
                roster.add(Person(" ".join(x for x in (s.first_name, s.last_name) if x), s.email or "", student=s.id))
        for files in hands:
            owner = files[0][0]
            at = _person(owner, roster, lesson.slug, bearers)
            student = roster.people[at].student if at is not None else ""
            if not student and (s := known.get(owner.lms_id)) and _may_be(s, owner):
                student = s.id
            student = student or owner.student
            if owner.lms == "moodle" and at is None and bearers[same_name(owner.name)] > 1:
                taken.namesakes.append(f"{owner.name} ({owner.lms_id})")
            file, data, why = _newest(lesson, files)
            target = course.step("submitted", student, lesson.slug) / f"{lesson.slug}.ipynb"
            if data is not None:
                if target.is_file() and target.read_bytes() != data:
                    for name in SIDE_FILES:  # they are of the hand-in before this one
                        (target.parent / name).unlink(missing_ok=True)
                write_atomically(target, data)
            elif target.exists():
                why += "; what was collected before stays"
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
            if owner.lms == "plain" and len(file.place.parts) > 1:
                _take_beside(file, sides, target.parent)
            if owner.lms != "plain":
                at = _remember(roster, at, owner, student, lesson.slug)
                person = roster.people[at]
                given, family = _parted(person.name if person.name != owner.name or owner.lms == "moodle" else "")
                names = {"first_name": given, "last_name": family or owner.name}
                mail = {"email": person.email} if person.email else {}
                gradebook.update_or_create_student(student, lms_user_id=owner.lms_id, **names, **mail)
                if any(o.late for o, f in files if f is file):
                    taken.late.append(student)
                    roster.late.setdefault(lesson.slug, [])
                    roster.late[lesson.slug] = sorted({*roster.late[lesson.slug], at})
                elif at in roster.late.get(lesson.slug, []):
                    roster.late[lesson.slug].remove(at)
            taken.students.append(student)
            taken.names[owner.lms] += 1
            if why:
                taken.unread.append((student, str(file.place), why))
            taken.skipped += [
                (str(f.place), f"{student} handed in several files; {file.place.name} was taken")
                for _, f in files
                if f is not file
            ]
    roster.write(course)
    put_times(roster, lesson.slug, course)


def _person(owner: Owner, roster: Roster, lesson: str, bearers: Counter) -> int | None:
    """Who of the roster it is: by Moodle's number in this lesson or Canvas's own, else by a name that one alone bears."""
    if owner.lms == "canvas":
        return next((i for i, p in enumerate(roster.people) if p.canvas == owner.lms_id), None)
    if owner.lms == "moodle":
        if (at := roster.participants.get(lesson, {}).get(owner.lms_id)) is not None:
            return at
        named = roster.named(owner.name)
        return named[0] if len(named) == 1 and bearers[same_name(owner.name)] == 1 else None
    return None


def _may_be(student, owner: Owner) -> bool:
    """Is the gradebook's student with this LMS number the owner? Moodle gives the same number to others in other assignments."""
    name = " ".join(x for x in (student.first_name, student.last_name) if x)
    return owner.lms == "canvas" or not name or same_name(name) == same_name(owner.name)


def _remember(roster: Roster, at: int | None, owner: Owner, student: str, lesson: str) -> int:
    """The person of this hand-in, with what it told; a new one where nobody is known."""
    if at is None:
        roster.people.append(Person(owner.name, student=student))
        at = len(roster.people) - 1
    person = roster.people[at]
    person.student = student
    if owner.lms == "canvas":
        person.canvas = owner.lms_id
    else:
        roster.participants.setdefault(lesson, {})[owner.lms_id] = at
    return at


def _parted(name: str) -> tuple[str, str]:
    """(given, family) as formgrader shows them; "" for what is not known, never None, which it would print."""
    family, comma, given = name.partition(",")
    if comma:
        return given.strip(), family.strip()
    given, _, family = name.partition(" ")
    return given, family


def _newest(lesson: Lesson, files: list[tuple[Owner, File]]) -> tuple[File, bytes | None, str]:
    """Of one student's files the newest that the grader can read; where it can read none, the newest .ipynb, then the newest; with why not.

    Newest: Canvas's number tells; else the file that has the lesson's name, then the file's time.
    """
    best: tuple | None = None
    for owner, file in files:
        data, why = _look(lesson, file)
        readable = data is not None and not why
        book = not readable and file.place.suffix.lower() == ".ipynb"
        rank = (readable, data is not None, book, owner.number, lesson.slug in file.place.name, file.time, file.place)
        if best is None or rank > best[0]:
            best = (rank, file, data, why)
    return best[1:]


def _look(lesson: Lesson, file: File) -> tuple[bytes | None, str]:
    """A file's bytes, None where they cannot be had; and why the grader cannot read them as this lesson's notebook, "" where it can."""
    try:
        data = file.read()
    except NotTaken as e:
        return None, str(e)
    try:
        read_hand_in(lesson, released(lesson), data)
    except Unreadable as e:
        return data, e.why.en
    except (RecursionError, MemoryError):
        return data, "The file is too large or too complex to be read."
    return data, ""


def _take_beside(file: File, sides: dict, folder: Path) -> None:
    """What nbgrader puts beside a notebook. Only from an instructor's own folders: in an LMS's, a student may have put it there."""
    for name in SIDE_FILES:
        if (side := sides.get(file.place.with_name(name))) is not None:
            try:
                write_atomically(folder / name, side.read()[:10_000])
            except NotTaken:
                continue
