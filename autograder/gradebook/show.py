"""What `course grade` shows on a terminal, and the JSON of its contract."""

from __future__ import annotations

import contextlib
import json
import unicodedata
from collections import Counter
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console, Group
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from autograder.gradebook.final import Final
from autograder.lesson import Lesson
from autograder.records import POINT_NAMES, Result

COLOURS = {"PASS": "green", "FAIL": "red", "REVIEW": "yellow", "UNGRADED": "magenta"}
ROWS_SHOWN = 60
NARROW = 110  # columns of a terminal under which reasons stand below the table: beside it nothing of them would be left
PIPED = 1000
_NEED = ("UNGRADED", "REVIEW", "FAIL", "PASS")


def console() -> Console:
    """Standard output; where it is not a terminal, wide enough that nothing is cut: a file or a pipe has no edge."""
    return Console() if Console().is_terminal else Console(width=PIPED, height=50)


def printable(text: str) -> str:
    """Text with names that students chose, for a terminal: what it would obey is shown as its escape, e.g. \\x1b. A name keeps its spaces of any kind."""
    return "".join(c if c.isprintable() or unicodedata.category(c) == "Zs" else ascii(c)[1:-1] for c in text)


@contextlib.contextmanager
def progress_bar(screen: Console, what: str) -> Iterator:
    """A bar with counts of states and an ETA; yields the progress function of a run."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[states]}"),
    )
    states: Counter = Counter()
    with Progress(*columns, console=screen, refresh_per_second=4) as bar:
        task = bar.add_task(escape(what), total=None, states="")

        def progress(done: int, total: int, result: Result | None) -> None:
            if result is not None:
                states[result.state] += 1
            shown = "  ".join(f"[{COLOURS[s]}]{s} {states[s]}[/]" for s in _NEED[::-1] if states[s])
            bar.update(task, completed=done, total=total, states=shown)

        yield progress


def verdict_table(lesson: Lesson, finals: list[Final], width: int = 150):
    """Every verdict with its points and reasons; of a large class the ones that need a person first. width: of the screen, in columns.

    On a narrow screen the reasons stand below, a line a student; in a pipe they stand whole.
    """
    counts = Counter(f.result.state for f in finals)
    shown = (
        finals
        if len(finals) <= ROWS_SHOWN
        else sorted(finals, key=lambda f: (_NEED.index(f.result.state), f.result.student))[:ROWS_SHOWN]
    )
    table = Table(title=f"{lesson.slug}: {len(finals)} submissions", title_justify="left")
    names = [printable(f.result.student) for f in shown]
    widest = min(28, max(map(cell_len, ("student", *names))))
    # rich squeezes the other columns for a long one unless they say how wide they are
    for title, columns, side in (
        ("student", widest, "left"),
        ("state", 8, "left"),
        ("total", 5, "right"),
        ("code", 5, "left"),
        ("expl", 4, "left"),
        ("Q1 Q2 Q3", 8, "left"),
    ):
        table.add_column(title, no_wrap=True, overflow="ellipsis", min_width=columns, max_width=columns, justify=side)
    beside = width >= NARROW
    if beside:
        table.add_column("why", no_wrap=True, overflow="ellipsis", max_width=max(20, width - widest - 62))
    below = []
    for f, student in zip(shown, names, strict=True):
        r = f.result
        graded = r.state != "UNGRADED"
        n, b, e, *questions = [
            f"{r.points.get(name, 0.0):g}" + ("?" if name in f.human.waiting else "") if graded else "-"
            for name in POINT_NAMES
        ]
        why = printable("; ".join(r.why or [f"veto {v}" for v in r.veto]))
        if not beside and why:
            below.append(f"{escape(student)}: {escape(why)}")
        table.add_row(
            escape(student),
            f"[{COLOURS[r.state]}]{r.state}[/]",
            f"{r.total:g}" if graded else "-",
            f"{n}+{b}" if graded else "-",
            e,
            " ".join(f"{q:<2}" for q in questions),
            *([escape(why)] if beside else []),
        )
    line = "   ".join(f"[{COLOURS[s]}]{s} {counts[s]}[/]" for s in _NEED[::-1] if counts[s])
    notes = [line, "code: normal + boundary points; ?: provisional, waits for a person"]
    if len(shown) < len(finals):
        notes.append(f"{len(finals) - len(shown)} more are not shown; `course export` and `course report` have all.")
    return Group(table, *below, *notes)


def records_json(finals: list[Final]) -> str:
    """The contract's list of records, in order of the students' names: null for points that are not known, and which are provisional."""
    return json.dumps([_record(f) for f in finals], ensure_ascii=False, indent=1) + "\n"


def _record(f: Final) -> dict:
    told = f.result.record().model_dump(mode="json")
    if f.result.state == "UNGRADED":
        told |= {"total": None, "points": dict.fromkeys(told["points"])}
    return told | {"provisional": list(f.human.waiting)}
