"""`course run FILE.cu`: read, run in the jail, compare, tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console

from autograder.errors import CourseError
from autograder.foreign import frames
from autograder.grading.challenge.frame import Malformed
from autograder.grading.challenge.jail import Jail, Stopped
from kernels.errors import KernelError
from kernels.foreign.arguments import parse_all
from kernels.foreign.prepare import flatten, read

HERE = Path(__file__).resolve().parent
COMPILE_SECONDS = 60.0
DEFAULT_SECONDS = 30.0


@dataclass(frozen=True)
class Request:
    """What the command line says of a run of FILE.cu."""

    file: str
    entry: str | None = None
    grid: str | None = None
    block: str | None = None
    shared: int = 0
    cluster: str | None = None
    arguments: Sequence[str] = ()
    initial: Sequence[str] = ()
    defines: Sequence[str] = ()
    checks: Sequence[str] = ()
    tolerance: float | None = None
    data_seed: int = 0
    timeout: float = DEFAULT_SECONDS
    options: Mapping[str, Any] = field(default_factory=dict)


def run(asked: Request, console: Console) -> None:
    """Run it and print the report; typer.Exit(0) where it is clean and every check holds, else 1. Raises CourseError."""
    path = Path(asked.file)
    try:
        text = flatten(read(path), path.name, path.resolve().parent)
        args = parse_all(asked.arguments, asked.data_seed)
        initial = parse_all(asked.initial, asked.data_seed + 1)
    except KernelError as e:
        raise CourseError(str(e)) from None
    if wrong := [n for n, a in initial.items() if not isinstance(a, np.ndarray)]:
        raise CourseError(
            f"--set {wrong[0]} takes an array: a variable's value in memory.",
            remedy='For example --set "scale=float32[1]:2.5".',
        )
    head = {
        "text": text, "name": path.name, "entry": asked.entry, "defines": _defines(asked.defines), "list": asked.grid is None or asked.block is None,
        "grid": _extent("--grid", asked.grid or "1"), "block": _extent("--block", asked.block or "1"), "shared": asked.shared,
        "cluster": _extent("--cluster", asked.cluster) if asked.cluster else None, "cpu": int(asked.timeout + COMPILE_SECONDS),
        "options": {**asked.options, "timeout": asked.timeout},
    }  # fmt: skip
    before = {
        n: a.copy() if isinstance(a, np.ndarray) else a.array.copy() if hasattr(a, "array") else a
        for n, a in args.items()
    }
    answer = _jailed(head, args, initial, asked)
    if answer.error:
        raise CourseError(answer.error)
    if head["list"]:
        _listing(console, path.name, answer.kernels)
        raise typer.Exit(1)
    console.print(answer.text, markup=False)
    if answer.output:
        console.print(f"The kernel printed:\n{answer.output}", markup=False)
    right = [_check(console, c, before, args, asked.tolerance) for c in asked.checks]
    if not asked.checks:
        _summary(console, before, args)
    raise typer.Exit(0 if answer.status == "clean" and all(right) else 1)


def _jailed(head: dict, args, initial, asked: Request) -> frames.Answer:
    jail = Jail(
        asked.timeout + COMPILE_SECONDS,
        HERE / "foreign_inside.py",
        "Foreign kernels",
        "or run code that you trust with kernels.run_source.",
    )
    request = frames.request(head, args, initial)
    most = 8 + frames.MAX_HEAD + sum(a.nbytes for a in frames.arrays_of(args))
    try:
        if jail.cold:
            own = {
                **head,
                "text": "__global__ void f() {}\n",
                "entry": None,
                "defines": {},
                "list": False,
                "grid": [1],
                "block": [1],
                "shared": 0,
                "cluster": None,
            }
            jail.warm(frames.request(own, {}, {}))
        return frames.read(jail.run(request, most), args)
    except Stopped as e:
        raise CourseError(
            f"The jail ended without a result: {e}.",
            where=Path(asked.file).name,
            remedy="Compiling took too long, or too much memory was asked for: make the file or the arrays smaller, or give --timeout.",
        ) from None
    except Malformed as e:
        raise CourseError(
            f"What came out of the jail cannot be read ({e}): the kernel's code interfered with it.",
            where=Path(asked.file).name,
        ) from None


def _extent(option: str, text: str) -> list[int]:
    parts = re.split(r"[,x]", text.strip("() "))
    if not 1 <= len(parts) <= 3 or not all(p.strip().isdigit() for p in parts):
        raise CourseError(
            f"{option} {text} is not one to three whole numbers.", remedy=f"For example {option} 128 or {option} 16,16."
        )
    return [int(p) for p in parts]


def _defines(texts: Sequence[str]) -> dict[str, str]:
    found = {}
    for t in texts:
        name, _, value = t.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise CourseError(f"--define {t} is not NAME or NAME=VALUE.", remedy="For example --define TILE=32.")
        found[name] = value or "1"
    return found


def _listing(console: Console, file: str, kernels) -> None:
    if not kernels:
        raise CourseError(f"{file} has no kernel: no function is marked __global__.")
    console.print(
        f"{file} has {len(kernels)} kernel{'s' if len(kernels) > 1 else ''}; give --grid, --block and an --arg for each parameter:",
        markup=False,
    )
    for name, template, parameters, where, line in kernels:
        said = ", ".join(f"{t} {n}" for t, n in parameters)
        console.print(f"  {template + ' ' if template else ''}{name}({said})   {where}:{line}", markup=False)


def _check(
    console: Console, text: str, before: Mapping[str, Any], after: Mapping[str, Any], tolerance: float | None
) -> bool:
    """One --check "NAME = EXPRESSION": the array after the launch against the expression of what was there before it, in float64."""
    name, equals, expression = (p.strip() for p in text.partition("="))
    if not equals or not isinstance(after.get(name), np.ndarray):
        arrays = ", ".join(n for n, a in after.items() if isinstance(a, np.ndarray))
        raise CourseError(
            f"--check {text!r} is not NAME = EXPRESSION of an array that the kernel was given.",
            remedy=f'Arrays: {arrays}. For example --check "y = 2 * x + y".',
        )
    wide = {
        n: a.astype(np.float64) if isinstance(a, np.ndarray) and a.dtype.kind not in "iub" else a
        for n, a in before.items()
    }
    try:
        with np.errstate(all="ignore"):
            expected = np.asarray(eval(expression, {"np": np}, wide))  # noqa: S307 - the user's own command line
            found = after[name].astype(np.float64)
            expected = np.broadcast_to(expected.astype(np.float64), expected.shape)
            if expected.size != found.size:
                raise CourseError(
                    f"--check {text!r}: the expression has {expected.size} elements, {name} has {found.size}.",
                    remedy="Write one with as many.",
                )
            difference = np.linalg.norm(found.ravel() - expected.ravel())
            error = float(difference / (np.linalg.norm(expected) or 1.0))
    except CourseError:
        raise
    except Exception as e:  # whatever NumPy says of the user's expression
        raise CourseError(
            f"--check {text!r} cannot be worked out: {type(e).__name__}: {e}.",
            remedy="NumPy is np; the arguments have their names.",
        ) from None
    size = after[name].dtype.itemsize
    bound = (
        tolerance
        if tolerance is not None
        else 0.0
        if after[name].dtype.kind in "iub"
        else 1e-12
        if size == 8
        else 1e-5
        if size == 4
        else 1e-2
        if size == 2
        else 1e-1
    )
    right = error <= bound
    console.print(f"{name}: error {error:.2e} (bound {bound:.0e}): {'right' if right else 'WRONG'}", markup=False)
    return right


def _summary(console: Console, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    for name, a in after.items():
        if isinstance(a, np.ndarray) and a.tobytes() != before[name].tobytes():
            flat = a.ravel()
            console.print(
                f"{name} changed: {', '.join(str(v) for v in flat[:6])}{', ...' if flat.size > 6 else ''}", markup=False
            )
