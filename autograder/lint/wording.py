"""One thing, one word: terms that the Chinese edition writes in one way only (lessons/glossary/wording.yml)."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from ruamel.yaml import YAML

from autograder.lint.problem import Problem

FILES = ("zh.qmd", "rubric.yml", "reference.yml", "claims.yml")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
# What is no prose: inline code, shortcodes, attributes, link targets, formulas, and titles in quotation marks.
_NOT_PROSE = re.compile(r"`[^`]*`|\{\{<.*?>\}\}|\{[^}]*\}|\]\([^)]*\)|\$[^$]*\$|“[A-Za-z][^”]*”|\"[A-Za-z][^\"]*\"")

_NOT_CHINESE = re.compile(r"`[^`]*`|\ben: .*$")  # of a YAML file: both languages may stand on one line, Chinese first


@lru_cache(maxsize=4)
def _rules(path: Path) -> tuple[tuple[str, re.Pattern], ...]:
    listed = YAML(typ="safe").load(path.read_text(encoding="utf-8")) if path.is_file() else []
    return tuple((rule["write"], re.compile("|".join(rule["not"]))) for rule in listed)


def lint_wording(folder: Path) -> list[Problem]:
    """Words of a lesson's Chinese text that the glossary writes otherwise, each with its line."""
    rules = _rules(folder.parent / "glossary" / "wording.yml")
    out = []
    for path in (folder / name for name in FILES):
        if not path.is_file():
            continue
        fenced = False
        for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            if fenced or not _CHINESE.search(line):
                continue
            prose = (_NOT_PROSE if path.suffix == ".qmd" else _NOT_CHINESE).sub(" ", line)
            for write, wrong in rules:
                if found := wrong.search(prose):
                    out.append(
                        Problem(
                            path,
                            n,
                            f"The course does not write {found[0]!r}.",
                            f"Write {write!r} (lessons/glossary/wording.yml).",
                        )
                    )
    return out
