"""Where pages state a figure by reference, and what is wrong with it: unknown ones, ones in code or math, claims nobody states."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.claims.ledger import Ledger, group_name
from autograder.claims.schema import FILE
from autograder.errors import CourseError
from autograder.lesson.model import LANGS
from autograder.lesson.references import REFERENCE, SHORTCODE, outside_code, prose_lines

LEDGER_FOLDER = "claims"  # the generated page


@dataclass(frozen=True)
class Use:
    key: str
    file: Path
    line: int
    replaced: bool  # false in code and math, where nothing is


def uses_in(path: Path) -> Iterator[Use]:
    text = path.read_text(encoding="utf-8-sig")
    if "{{<" not in text:
        return
    literal = False  # a block that shows shortcodes, as Quarto marks it
    for n, line, code in prose_lines(text):
        literal = code and (literal or 'shortcodes="false"' in line)
        if literal:
            continue
        prose: list[str] = []
        if not code:
            outside_code(line, lambda part: prose.append(part) or part)
        free = [m["key"] for part in prose for m in REFERENCE.finditer(part)]
        for m in REFERENCE.finditer(line):
            replaced = m["key"] in free
            if replaced:
                free.remove(m["key"])
            yield Use(m["key"], path, n, replaced)


def pages(lessons: Path) -> list[Path]:
    return [p for lang in LANGS for p in sorted(lessons.glob(f"*/{lang}.qmd")) if p.parent.name != LEDGER_FOLDER]


def page_problems(path: Path, ledger: Ledger) -> list[CourseError]:
    """Of one page: references to nothing, references that are not replaced, other shortcodes."""
    out = []
    for use in uses_in(path):
        where = f"{path}:{use.line}"
        if use.key not in ledger.entries:
            group, _, name = use.key.partition(".")
            if use.key in ledger.written:
                out.append(
                    CourseError(
                        f"The figure {use.key} has no value.",
                        where=where,
                        remedy=f"Mend {name} in the claims.yml of {group}; `course claims` says what is wrong with it.",
                    )
                )
            else:
                out.append(
                    CourseError(
                        f"There is no claim {use.key}.",
                        where=where,
                        remedy=f"Add {name} to the claims.yml of {group}, or mend the reference.",
                    )
                )
        elif not use.replaced:
            out.append(
                CourseError(
                    f"The reference {use.key} stands in code or math, where nothing is put in its place.",
                    where=where,
                    remedy="Write the figure outside of it.",
                )
            )
    for n, line, code in prose_lines(path.read_text(encoding="utf-8-sig")):
        if code or "{{<" not in line:
            continue
        parts: list[str] = []
        outside_code(line, lambda part: parts.append(part) or part)
        for m in (m for part in parts for m in SHORTCODE.finditer(part)):
            if not REFERENCE.fullmatch(m[0]):
                out.append(
                    CourseError(
                        f"The shortcode {m[0][:60]!r} works in Quarto only.",
                        where=f"{path}:{n}",
                        remedy="Only a figure's reference is allowed, {{< var lesson07.name >}}; write the text itself.",
                    )
                )
    return out


def claim_problems(folder: Path, ledger: Ledger) -> list[CourseError]:
    """Of one folder's claims.yml: entries that are wrong, that no page states, or that one language only states."""
    path, group = folder / FILE, group_name(folder)
    out = [p for p in ledger.problems if p.where.startswith(str(path))]
    stated = {lang: {u.key for p in pages(folder.parent) if p.stem == lang for u in uses_in(p)} for lang in LANGS}
    for entry in ledger.of(group):
        using = [lang for lang in LANGS if entry.key in stated[lang]]
        where = f"{path}:{entry.line}"
        if not using and entry.key not in ledger.computed_from:
            out.append(
                CourseError(
                    f"No page states the claim {entry.name}.",
                    where=where,
                    remedy=f"Write it as {{{{< var {entry.key} >}}}} on both pages, or remove it.",
                )
            )
        elif len(using) == 1:
            other = next(lang for lang in LANGS if lang not in using)
            out.append(
                CourseError(
                    f"Only the {using[0]} edition states the claim {entry.name}.",
                    where=where,
                    remedy=f"State it in {other}.qmd as well.",
                )
            )
    return out


def all_problems(ledger: Ledger) -> list[CourseError]:
    lessons = ledger.root / "lessons"
    out = [
        p for folder in sorted({f.parent for f in lessons.glob(f"*/{FILE}")}) for p in claim_problems(folder, ledger)
    ]
    out += [p for page in pages(lessons) for p in page_problems(page, ledger)]
    return sorted(out, key=lambda p: _place(p.where))


def _place(where: str) -> tuple[str, int]:
    m = re.match(r"(.*?)(?::(\d+))?$", where)
    return m[1], int(m[2] or 0)
