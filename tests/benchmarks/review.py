"""How many keys and looks `course review` needs for a class, against the same answers one by one.

    python -m tests.benchmarks.review [LESSON ...] [--students 100] [--reader shipped|simulated] [--right 0.9] [--near N]

A reviewer who knows the labels decides every answer of a class. He looks at each once: Space for each further screen. An exception takes two
keys, its letter and its points; the rest of the group a number and `a`. Where a number each is less, he does that. One by one: a number each,
which goes on by itself (formgrader needs a click, a number and Tab).
With the shipped reader the answers are of writers whom it never learnt from; a lesson has about 25 to 45 of them a question. The simulated
reader is right about the stated share of all items, and the class is as large as was asked for.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from autograder.gradebook.rows import WRITTEN
from autograder.lesson import list_lessons, load_lesson
from autograder.records import SlotScore
from autograder.review.decisions import answer_key
from autograder.review.groups import NEAR, Group, group_items
from autograder.review.items import Item
from autograder.review.reading import Reader
from autograder.review.tests.labelled import Answer, a_class, read_answers, simulated

SCREEN = 26  # lines of text between the page's head and foot at 1440 by 900 (measured in Chromium)
CARD = 3.2  # lines that a card takes beside its text
LINE = {"zh": 58, "en": 118}  # characters; 90 of an answer in both


@dataclass
class Cost:
    """one_by_one: keys without groups, which is also the number of answers handed in."""

    one_by_one: int = 0
    different: int = 0  # answers to look at: equal ones are shown once
    keys: int = 0
    groups: int = 0
    alone: int = 0  # answers in a group of one
    exceptions: int = 0
    suggested: int = 0  # for how many the suggested points are right

    def __iadd__(self, other: Cost) -> Cost:
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


def keys_for(group: Group, truth: dict[str, Answer]) -> tuple[int, int]:
    """Keys for one group, and how many of its answers have other points than most."""
    points = [truth[i.id].points for i in group.items]
    most = max(sorted(set(points)), key=points.count)
    odd = sum(p != most for p in points)
    lines = sum(CARD + -(-len(i.answer) // LINE.get(truth[i.id].lang, 90)) for i in group.items)
    keys = 2 * odd + min(2, len(points) - odd) + max(0, -(-lines // SCREEN) - 1)
    return int(min(len(points), keys)), odd


def cost_of(lesson, students: dict[str, dict[str, Answer]], reader: Reader, near: float) -> Cost:
    items: dict[str, Item] = {}
    truth: dict[str, Answer] = {}
    out = Cost()
    for student, answers in students.items():
        for slot, a in answers.items():
            name = f"{slot}-{answer_key(a.text)}"
            out.one_by_one += 1
            if name not in items:
                score = SlotScore(slot=slot, points=0, max_points=lesson.rubric.slots[slot].points, lane="review")
                items[name], truth[name] = Item(name, slot, a.text, True, score, reader.read(slot, a.text, score)), a
            items[name].cells.append((student, ""))
    groups = group_items(items.values(), {n: lesson.rubric.slots[n] for n in WRITTEN}, near)
    out.different, out.groups = len(items), len(groups)
    out.suggested = sum(
        lesson.rubric.slots[i.slot].points_for(i.read.links) == truth[i.id].points for i in items.values()
    )
    for g in groups:
        keys, odd = keys_for(g, truth)
        out.keys, out.exceptions, out.alone = out.keys + keys, out.exceptions + odd, out.alone + (len(g.items) == 1)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lessons", nargs="*")
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--reader", choices=["shipped", "simulated"], default="shipped")
    parser.add_argument("--right", type=float, default=0.9)
    parser.add_argument("--near", type=float, default=NEAR)
    given = parser.parse_args()
    total = Cost()
    print(
        f"{'lesson':<40}{'answers':>8}{'looks':>7}{'keys':>6}{'groups':>8}{'alone':>7}{'odd':>6}{'suggested right':>17}"
    )
    for name in given.lessons or [p.name for p in list_lessons()]:
        lesson = load_lesson(name)
        answers = [a for a in read_answers(lesson) if given.reader == "simulated" or a.split != "train"]
        reader = Reader(lesson, simulated(lesson, answers, given.right) if given.reader == "simulated" else None)
        count = min(given.students, max(sum(a.slot == s for a in answers) for s in WRITTEN))
        cost = cost_of(lesson, a_class(answers, count), reader, given.near)
        if reader.problem:
            raise SystemExit(reader.problem)
        show(f"{lesson.slug[:30]} ({count})", cost)
        total += cost
    show("all", total)
    n = total.one_by_one
    print(
        f"One by one: {n} keys, {n} looks. In groups: {total.keys} keys ({total.keys / n:.0%}), {total.different} looks ({total.different / n:.0%})."
    )


def show(name: str, c: Cost) -> None:
    print(
        f"{name:<40}{c.one_by_one:>8}{c.different:>7}{c.keys:>6}{c.groups:>8}{c.alone:>7}{c.exceptions:>6}{c.suggested / c.different:>17.0%}"
    )


if __name__ == "__main__":
    main()
