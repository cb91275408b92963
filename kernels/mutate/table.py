"""The mutation score as a table, and the list of mutants that are no bugs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from ruamel.yaml import YAML

from kernels.mutate.bench import Result
from kernels.mutate.operators import OPERATORS

EQUIVALENT = Path(__file__).with_name("equivalent.yml")
COLUMNS = ("reported in every run", "reported or wrong in every run", "wrong result only", "in some runs", "survived")
CAUGHT = COLUMNS[:3]  # no run of these is both right and silent


@lru_cache
def equivalent() -> dict[str, str]:
    """key of a mutant -> why it is no bug."""
    listed = YAML(typ="safe").load(EQUIVALENT.read_text(encoding="utf-8")) or []
    return {key: group["reason"] for group in listed for key in group["mutants"]}


def bugs(results: Sequence[Result]) -> list[Result]:
    """Those that compile and are not listed as equivalent."""
    return [r for r in results if r.compiles and r.mutant.key not in equivalent()]


def share(results: Sequence[Result]) -> tuple[int, int]:
    """(bugs that no run lets pass, bugs)."""
    real = bugs(results)
    return sum(r.verdict in CAUGHT for r in real), len(real)


def table(results: Sequence[Result]) -> str:
    """By operator, as markdown."""
    real = bugs(results)
    rows = [("operator", "bugs", *COLUMNS)]
    for name in (*OPERATORS, "all"):
        counts = Counter(r.verdict for r in real if name in (r.mutant.operator, "all"))
        if total := sum(counts.values()):
            rows.append((name, str(total), *(str(counts[c]) for c in COLUMNS)))
    line = lambda cells: "| " + " | ".join(cells) + " |"
    caught, total = share(results)
    known = sum(r.compiles and r.mutant.key in equivalent() for r in results)
    seen = f"\n{caught} of {total} bugs ({100 * caught / max(total, 1):.2f} %) are reported, or give a wrong result, in every run of {len(results[0].runs) if results else 0}."
    rest = f" {known} mutants are no bugs (equivalent.yml), {sum(not r.compiles for r in results)} do not compile."
    return "\n".join([line(rows[0]), line(["---"] * len(rows[0])), *map(line, rows[1:])]) + "\n" + seen + rest


def survivors(results: Sequence[Result]) -> list[str]:
    """A line for each bug that some run lets pass, with how many runs report it or come out wrong."""
    lines = []
    for r in bugs(results):
        if r.verdict not in CAUGHT:
            wrong = sum(v == "wrong" for v in r.runs.values())
            lines.append(f"{r.mutant}   [{r.verdict}: {r.reported} of {len(r.runs)} reported, {wrong} wrong]")
    return lines
