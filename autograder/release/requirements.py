"""Exact versions for a student's machine: the part of requirements.lock that the student's packages need."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

from autograder.errors import CourseError

_PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)\s*(?:;\s*(?P<marker>[^\\]+?))?\s*\\?$")
_REQUIREMENT = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)\s*(?:\[(?P<extras>[^\]]*)\])?")


def pins(root: Path, extra: str | None = None) -> list[str]:
    """Lines `name==version ; marker` for the project's dependencies (or those of an extra) and all that they need, sorted.

    root: the checkout with pyproject.toml and requirements.lock. The lock covers every platform, so markers are kept and
    packages of other platforms are listed too. Raises CourseError where the lock lacks a direct dependency.
    """
    locked = _locked(root / "requirements.lock")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = project["optional-dependencies"][extra] if extra else project["dependencies"]
    seen: set[tuple[str, str]] = set()
    names: set[str] = set()
    queue = list(direct)
    for requirement in direct:
        if _name(requirement) not in locked:
            raise CourseError(
                f"The lock has no version of {_name(requirement)}.",
                where=str(root / "requirements.lock"),
                remedy="Run `make lock`.",
            )
    while queue:
        requirement = queue.pop()
        m = _REQUIREMENT.match(requirement.strip())
        name = _normal(m["name"])
        for wanted in ("", *(x.strip() for x in (m["extras"] or "").split(",") if x.strip())):
            if (name, wanted) in seen or name not in locked:
                continue
            seen.add((name, wanted))
            names.add(name)
            queue += _needs(name, wanted)
    return sorted(line for name in names for line in locked[name])


def _needs(name: str, extra: str) -> list[str]:
    """What an installed distribution requires, on any platform; with an extra, what that extra adds. Not installed: nothing known."""
    try:
        requires = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []
    out = []
    for line in requires:
        requirement, _, marker = line.partition(";")
        asked = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", marker)
        if (asked[1] if asked else "") == extra:
            out.append(requirement)
    return out


def _locked(path: Path) -> dict[str, list[str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise CourseError("The lock file is missing.", where=str(path), remedy="Run `make lock`.") from None
    found: dict[str, list[str]] = {}
    for line in lines:
        if m := _PIN.match(line):
            pin = f"{m['name']}=={m['version']}" + (f" ; {m['marker']}" if m["marker"] else "")
            found.setdefault(_normal(m["name"]), []).append(pin)
    return found


def _name(requirement: str) -> str:
    return _normal(_REQUIREMENT.match(requirement)["name"])


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
