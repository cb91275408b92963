"""Answers that say the same, together: the same links and misconceptions as the reader sees them, and near in meaning.

Near: how sure the reader is of each item differs little, and the words differ little where both are of one language. Inside a group the
surest comes first; groups that say the same stand beside one another, the largest first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.answers.normalise import normalise
from autograder.review.items import Item

NEAR = 0.75  # greatest distance to the first of a group
MOST = 24  # answers in a group: as many as a person still compares
_GRAM = 3
_WORDS = 0.5  # weight of the words beside the reader's likelihoods


@dataclass(frozen=True)
class Group:
    """links, misconceptions: as ticked in all of its answers. items: surest first."""

    id: str
    slot: str
    links: frozenset[str]
    misconceptions: frozenset[str]
    false: bool
    items: tuple[Item, ...]


def grams(text: str) -> frozenset[str]:
    """Runs of three characters of the canonical form."""
    plain = " ".join(normalise(text).text.split())
    return frozenset(plain[i : i + _GRAM] for i in range(max(1, len(plain) - _GRAM + 1)))


def distance(a: Item, b: Item, words_a: frozenset[str], words_b: frozenset[str]) -> float:
    """0 for the same, at most 1 + _WORDS: the greatest difference of any likelihood, and the share of runs that are not in the shorter one."""
    apart = max((abs(x - y) for x, y in zip(a.read.vector, b.read.vector, strict=True)), default=0.0)
    shared = len(words_a & words_b) / max(1, min(len(words_a), len(words_b)))
    return apart + _WORDS * (1 - shared)


def group_items(items: Iterable[Item], order: list[str], near: float = NEAR) -> list[Group]:
    """order: the slots' names in the page's order."""
    by_say: dict[tuple, list[Item]] = {}
    for item in items:
        by_say.setdefault((order.index(item.slot), item.read.links, item.read.misconceptions, item.read.false), []).append(item)
    out = []
    for (slot, links, wrong, false), some in sorted(by_say.items(), key=lambda x: (x[0][0], x[0][3], -len(x[0][1]), -len(x[1]), sorted(x[0][1]), sorted(x[0][2]))):
        for members in sorted(_near(some, near), key=lambda g: (-len(g), g[0].id)):
            digest = hashlib.sha256("\n".join(sorted(i.id for i in members)).encode("utf-8", "surrogatepass")).hexdigest()[:10]
            out.append(Group(f"{order[slot]}-{digest}", order[slot], links, wrong, false, tuple(members)))
    return out


def _near(items: list[Item], near: float) -> list[list[Item]]:
    """Each item, surest first, joins the nearest group whose first it is near to, else begins one."""
    groups: list[list[Item]] = []
    words = {id(i): grams(i.answer) for i in items}
    for item in sorted(items, key=lambda i: (-i.read.sure, i.id)):
        open_ = [(distance(item, g[0], words[id(item)], words[id(g[0])]), n) for n, g in enumerate(groups) if len(g) < MOST]
        best, n = min(open_, default=(2.0, -1))
        if best <= near:
            groups[n].append(item)
        else:
            groups.append([item])
    return groups
