"""environment.yml and pyproject.toml name the same direct dependencies, and the lock holds each at one exact version."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
PYPI_NAME = {"cupy": "cupy-cuda13x"}  # conda's one package stands for PyPI's wheel for CUDA 13


def _pyproject() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = project["dependencies"] + [x for extra in project["optional-dependencies"].values() for x in extra]
    return {canonicalize_name(r.name): str(r.specifier) for r in map(Requirement, lines)}


def _environment() -> dict[str, str]:
    entries = YAML(typ="safe").load((ROOT / "environment.yml").read_text())["dependencies"]
    pip = next(e["pip"] for e in entries if isinstance(e, dict))
    lines = [e for e in entries if isinstance(e, str) and e != "pip" and not e.startswith("python ")]
    lines += [e for e in pip if not e.startswith("--")]
    found = {}
    for line in lines:
        requirement = Requirement(line)
        found[canonicalize_name(PYPI_NAME.get(requirement.name, requirement.name))] = str(requirement.specifier)
    return found


def test_conda_and_pip_users_get_the_same_direct_dependencies():
    assert _environment() == _pyproject()


def test_the_python_floor_is_the_same():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"python {project['requires-python']}" in (ROOT / "environment.yml").read_text()


def test_the_lock_pins_every_direct_dependency_with_a_hash():
    lock = (ROOT / "requirements.lock").read_text()
    pinned = {
        canonicalize_name(m[1]) for m in re.finditer(r"^([A-Za-z0-9._-]+)==\S+.*\\\n\s+--hash=sha256:", lock, re.M)
    }
    assert set(_pyproject()) <= pinned
    assert not re.search(r"https?://|--index-url|--find-links", lock)
