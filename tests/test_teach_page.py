"""The page 'running a class': every command and option that it names is there, in both languages the same."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

from autograder.cli import COMMANDS

PAGES = Path(__file__).parents[1] / "lessons" / "teach"


def commands(lang: str) -> list[str]:
    """The `course` commands of the page, without comments."""
    text = (PAGES / f"{lang}.qmd").read_text(encoding="utf-8")
    found = re.findall(r"(?:^|`|&& )(course [a-z-]+[^`\n#&]*)", text, re.M)
    return [" ".join(c.split()) for c in found]


def options(name: str) -> set[str]:
    """The option names of a command, as typer makes them."""
    out = set()
    command = importlib.import_module("autograder.commands." + name.replace("-", "_")).command
    hints = inspect.get_annotations(command, eval_str=True)
    for parameter in inspect.signature(command).parameters:
        out.add("--" + parameter.replace("_", "-"))
        for extra in getattr(hints[parameter], "__metadata__", ()):
            declared = [
                *(getattr(extra, "param_decls", None) or ()),
                getattr(extra, "default", None),
            ]  # typer's own way
            out |= {d for text in declared if isinstance(text, str) for d in text.split("/")}
    return {d.strip() for o in out for d in o.split(",")}


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_command_and_option_of_the_page_is_there(lang):
    named = commands(lang)
    assert len(named) > 12
    for line in named:
        _, name, *rest = line.split()
        assert name in COMMANDS, line
        unknown = {w for w in rest if w.startswith("--")} - options(name)
        assert not unknown, (line, unknown)


def test_both_pages_name_the_same_commands():
    plain = lambda lang: [re.sub(r"submissions\.zip|grades\.csv", "", c) for c in commands(lang)]
    assert plain("zh") == plain("en")
