"""Figures that stand in a page by reference: `{{< var lesson07.max_error >}}`, Quarto's own shortcode for _variables.yml.

This module is the one place that puts the figures into a text, so that a release, a website, a check and a grade read the
same words. `course claims` writes lessons/_variables.yml from each lesson's claims.yml (autograder/claims).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from autograder.errors import CourseError

VARIABLES = "_variables.yml"
REFERENCE = re.compile(r"\{\{<\s*var\s+(?P<key>[a-z0-9_]+\.[a-z0-9_]+)\s*>\}\}")
SHORTCODE = re.compile(r"\{\{<.*?(?:>\}\}|$)")
# What a reader sees as it is written: code spans and math. A reference in there is not replaced, and lint says so.
OPAQUE = re.compile(
    r"(?<!`)(?P<tick>`+)(?!`).*?(?<!`)(?P=tick)(?!`)|\$\$.*?\$\$|\$(?!\s)(?:\\.|[^$\\\n])+?(?<!\s)\$(?!\d)", re.S
)
_FENCE = re.compile(r"^\s*(?P<mark>`{3,}|~{3,})")


def figures_of(folder: Path) -> Mapping[str, str]:
    """{"lesson07.max_error": "7.3 %"} of the project that holds a page's folder; a project without the file has the course's."""
    from autograder.paths import lessons_dir

    own = folder.parent / VARIABLES
    try:
        path = own if own.is_file() else lessons_dir() / VARIABLES
    except CourseError:  # a page outside any course
        return {}
    return _read(path, path.stat().st_mtime_ns) if path.is_file() else {}


@functools.lru_cache(maxsize=8)
def _read(path: Path, _stamp: int) -> Mapping[str, str]:
    try:
        data = YAML(typ="safe").load(path.read_text(encoding="utf-8")) or {}
        return {f"{group}.{name}": str(text) for group, names in data.items() for name, text in names.items()}
    except (YAMLError, AttributeError):
        raise CourseError(
            "The file of figures cannot be read.", where=str(path), remedy="Write it anew with `course claims`."
        ) from None


def prose_lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """(line number, line, in a code fence) of a page or a piece of one."""
    fence = ""
    for n, line in enumerate(text.split("\n"), 1):
        m = _FENCE.match(line)
        if fence:
            yield n, line, True
            if m and m["mark"][0] == fence[0] and len(m["mark"]) >= len(fence) and line.strip() == m["mark"]:
                fence = ""
        else:
            fence = m["mark"] if m else ""
            yield n, line, bool(m)


def outside_code(line: str, change: Callable[[str], str]) -> str:
    """Apply `change` to what is neither a code span nor math."""
    out, at = [], 0
    for m in OPAQUE.finditer(line):
        out += [change(line[at : m.start()]), m[0]]
        at = m.end()
    return "".join([*out, change(line[at:])])


def fill(text: str, figures: Mapping[str, str], where: str = "", *, strict: bool = True) -> str:
    """The text with every reference replaced; lines keep their numbers.

    An unknown one raises CourseError with its line, or, where not strict, stands as Quarto would show it: ?var:name.
    """
    if "{{<" not in text:
        return text
    out = []
    for n, line, code in prose_lines(text):

        def one(m: re.Match, n: int = n) -> str:
            if m["key"] in figures:
                return figures[m["key"]]
            if strict:
                lesson, _, name = m["key"].partition(".")
                raise CourseError(
                    f"There is no figure {m['key']}.",
                    where=f"{where}:{n}" if where else "",
                    remedy=f"Add {name} to the claims.yml of {lesson} and run `course claims`.",
                )
            return f"?var:{m['key']}"

        out.append(line if code else outside_code(line, lambda part: REFERENCE.sub(one, part)))
    return "\n".join(out)
