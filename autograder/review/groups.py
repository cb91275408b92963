"""Answers that say the same, together: the same links and misconceptions as the reader sees them, and near in meaning.

Near: how sure the reader is of each item differs little, and the words differ little where both are of one language. Inside a group the
surest comes first; groups that say the same stand beside one another, the largest first. What is left over, fewer than LEAST together, is
put with other such answers of the same question for which the same points are suggested: they are still compared on one screen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autograder.answers.normalise import normalise
from autograder.lesson.rubric import Slot
from autograder.review.items import Item

NEAR = 0.75  # greatest distance to the first of a group
LEAST = (
    5  # answers that are worth a group of their own: of 3 to 8 it asks for the fewest keys (tests/benchmarks/review.py)
)
MOST = 24  # answers in a group: as many as a person still compares
_GRAM = 3
_WORDS = 0.5  # weight of the words beside the reader's likelihoods


@dataclass(frozen=True)
class Group:
    """items: surest first.  links, misconceptions: as ticked in every one.  mixed: some tick more."""

    id: str
    slot: str
    items: tuple[Item, ...]

    @property
    def links(self) -> frozenset[str]:
        return frozenset.intersection(*(i.read.links for i in self.items))

    @property
    def misconceptions(self) -> frozenset[str]:
        return frozenset.intersection(*(i.read.misconceptions for i in self.items))

    @property
    def false(self) -> bool:
        return all(i.read.false for i in self.items)

    @property
    def mixed(self) -> bool:
        return len({(i.read.links, i.read.misconceptions) for i in self.items}) > 1


def grams(text: str) -> frozenset[str]:
    """Runs of three characters of the canonical form."""
    plain = " ".join(normalise(text).text.split())
    return frozenset(plain[i : i + _GRAM] for i in range(max(1, len(plain) - _GRAM + 1)))


def distance(a: Item, b: Item, words_a: frozenset[str], words_b: frozenset[str]) -> float:
    """0 for the same, at most 1 + _WORDS: the greatest difference of any likelihood, and the share of runs that are not in the shorter one."""
    apart = max((abs(x - y) for x, y in zip(a.read.vector, b.read.vector, strict=True)), default=0.0)
    shared = len(words_a & words_b) / max(1, min(len(words_a), len(words_b)))
    return apart + _WORDS * (1 - shared)


def group_items(items: Iterable[Item], slots: Mapping[str, Slot], near: float = NEAR) -> list[Group]:
    """slots: the rubric's, in the page's order."""
    out = []
    everything = list(items)
    for name, slot in slots.items():
        mine = [i for i in everything if i.slot == name]
        found, left = [], {}
        for members in _apart(mine, near):
            if len(members) >= LEAST:
                found.append(members)
            else:
                left.setdefault(slot.points_for(members[0].read.links), []).extend(members)
        for some in left.values():
            some.sort(key=_surest)
            count = -(-len(some) // MOST)  # as even as can be: no last one alone
            found += [some[n * len(some) // count : (n + 1) * len(some) // count] for n in range(count)]
        for members in sorted(
            found, key=lambda g: (g[0].read.false, -slot.points_for(g[0].read.links), -len(g), g[0].id)
        ):
            digest = hashlib.sha256(
                "\n".join(sorted(i.id for i in members)).encode("utf-8", "surrogatepass")
            ).hexdigest()[:10]
            out.append(Group(f"{name}-{digest}", name, tuple(members)))
    return out


def _surest(item: Item) -> tuple[float, str]:
    return -item.read.sure, item.id


def _apart(items: Iterable[Item], near: float) -> list[list[Item]]:
    """Those that say the same and are near, each list surest first."""
    by_say: dict[tuple, list[Item]] = {}
    for item in items:
        by_say.setdefault((item.read.links, item.read.misconceptions, item.read.false), []).append(item)
    return [members for some in by_say.values() for members in _near(some, near)]


def _near(items: list[Item], near: float) -> list[list[Item]]:
    """Each item, surest first, joins the nearest group whose first it is near to, else begins one."""
    groups: list[list[Item]] = []
    words = {id(i): grams(i.answer) for i in items}
    for item in sorted(items, key=_surest):
        open_ = [
            (distance(item, g[0], words[id(item)], words[id(g[0])]), n) for n, g in enumerate(groups) if len(g) < MOST
        ]
        best, n = min(open_, default=(2.0, -1))
        if best <= near:
            groups[n].append(item)
        else:
            groups.append([item])
    return groups
