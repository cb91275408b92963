"""A kernel against a Python function on many inputs, and the challenge: a kernel with one line of the student's own.

Inputs come from the kernel's spec: odd sizes, uneven values, C absent or NaN where beta is 0. Outputs are poisoned with NaN before the
launch, errors are norms, and NaN never passes: a weak comparison would let a wrong kernel through.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from kernels import arrays
from kernels import line as line_module
from kernels.errors import CompileError, KernelError
from kernels.kernel import Kernel, load
from kernels.receipt import Receipt
from kernels.sources import CUDA_DIR, Source, load_source
from kernels.spec import Case, KernelSpec, cases, get_spec, tolerance
from kernels.wording import padded, told, width

_CHALLENGE = re.compile(
    r"(?P<head>^[ \t]*// CHALLENGE-BEGIN[^\n]*\n)(?P<line>[^\n]*\n)(?P<tail>[ \t]*// CHALLENGE-END)", re.M
)
_DECLARATION = re.compile(r"[ \t]*(?P<left>[^\n=]+?)[ \t]*=[^\n]*;")
BLANK = "______"
SCHEDULES = ("random", "late", "pct", "lazy_mma", "friendly", "rr")  # of the emulator, for a challenge's inputs in turn


def relative_error(out, reference) -> float:
    """||out - reference|| / ||reference|| over all elements, in float64; the plain norm where the reference is zero; NaN stays NaN.

    Of tuples of arrays: the largest of their members' errors (NaN is larger than any).
    """
    if isinstance(out, tuple) and isinstance(reference, tuple) and len(out) == len(reference):
        return max(
            (relative_error(o, r) for o, r in zip(out, reference)), key=lambda e: float("inf") if np.isnan(e) else e
        )
    out, reference = np.asarray(out).astype(np.float64), np.asarray(reference, np.float64)
    if out.shape != reference.shape:
        raise KernelError(f"Results of different shapes cannot be compared: {out.shape} and {reference.shape}.")
    norm = float(np.linalg.norm(reference))
    difference = float(np.linalg.norm(out - reference))
    return difference / norm if norm else difference


@dataclass(frozen=True)
class Row:
    """One compared input. error: relative error norm (NaN where a result holds NaN or nothing came). note: what went wrong, or ""."""

    label: str
    error: float
    bound: float
    note: str = ""

    @property
    def passed(self) -> bool:
        return not self.note and self.error <= self.bound


@dataclass(frozen=True)
class Comparison:
    """What a comparison found. receipt: of the last launch, with the worst error as a figure; None where nothing was launched."""

    kernel: str
    title: str
    rows: tuple[Row, ...] = ()
    receipt: Receipt | None = None
    error: str = ""  # what stopped the comparison, e.g. a compile error
    report: Any = field(default=None, repr=False)  # the emulator's report, where it found something

    @property
    def passed(self) -> bool:
        return bool(self.rows) and not self.error and all(r.passed for r in self.rows)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        lines = (
            [f"{self.title}: {sum(r.passed for r in self.rows)} of {len(self.rows)} agree"]
            if self.rows
            else [self.title]
        )
        labels = [told(r.label) for r in self.rows]
        columns = max(map(width, labels), default=0)
        for r, label in zip(self.rows, labels):
            mark = "ok  " if r.passed else "FAIL"
            lines.append(
                f"  {mark} {padded(label, columns)}  error {r.error:.1e} (bound {r.bound:.0e}){'  ' + r.note if r.note else ''}"
            )
        if self.error:
            lines.append(self.error)
        return told("\n".join(lines))

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"text/plain": str(self)}
        if self.receipt:
            bundle |= {k: v for k, v in self.receipt._repr_mimebundle_().items() if k != "text/plain"}
        return bundle


def compare(
    kernel: str | Kernel, function: Callable, *, count: int = 24, seed: int = 7, backend: str | None = None
) -> Comparison:
    """Run the kernel and `function` on `count` inputs of the kernel's spec and compare the results as error norms.

    function: takes the kernel's arguments by the same names, arrays in float64, and returns an array; where the spec has an `exercise`,
    the function that it asks for. What it raises is a failed row.
    The kernel itself is held to its float64 reference on the same inputs, so a disagreement is never the kernel's.
    """
    kernel = load(kernel, backend, poison=True) if isinstance(kernel, str) else kernel
    rows = []
    for case in cases(kernel.spec, np.random.default_rng(seed), count):
        bound = tolerance(kernel.spec, case.arrays, case.params)
        out = kernel(*case.arrays, **case.params)
        own = relative_error(arrays.to_numpy(out), kernel.reference(*case.arrays, **case.params))
        if not own <= bound:
            raise KernelError(
                f"{kernel.name} itself is wrong on {case.label}: error {own:.2e}, bound {bound:.0e}. This is a defect of the course."
            )
        rows.append(_row(kernel.spec, case, function, arrays.to_numpy(out), bound))
    return _finish(
        kernel, f"{getattr(function, '__name__', 'function')} against {kernel.name} ({kernel.backend})", rows
    )


def _row(spec: KernelSpec, case: Case, function, out, bound) -> Row:
    wide = lambda a: arrays.to_numpy(a).astype(np.float64) if arrays.is_array(a) else a
    try:
        if spec.exercise:
            mine, out = spec.exercise(function, out, *case.arrays, **case.params)
        else:
            mine = function(*map(wide, case.arrays), **{k: wide(v) for k, v in case.params.items()})
    except Exception as e:  # the student's function may raise anything; that is a result
        return Row(case.label, float("nan"), bound, f"the function raised {type(e).__name__}: {e}")
    try:
        mine = np.asarray(mine, np.float64)
    except (TypeError, ValueError):
        return Row(case.label, float("nan"), bound, f"the function returned {type(mine).__name__}, not an array")
    if mine.shape != out.shape:
        return Row(case.label, float("nan"), bound, f"the function returned shape {mine.shape}, the kernel {out.shape}")
    error = relative_error(out, mine)
    return Row(case.label, error, bound, "NaN in the function's result" if np.isnan(error) else "")


def _finish(kernel: Kernel, title: str, rows) -> Comparison:
    receipt = kernel.receipt
    if receipt:
        worst = max((r.error for r in rows), key=lambda e: float("inf") if np.isnan(e) else e)
        agree = {"value": f"{sum(r.passed for r in rows)} of {len(rows)}", "unit": "cases"}
        receipt = replace(
            receipt, figure={**receipt.figure, "agree": agree, "worst relative error": {"value": worst, "unit": ""}}
        )
    return Comparison(kernel.name, title, tuple(rows), receipt)


# ---------------------------------------------------------------------------------------------- the challenge
def challenge_text(name: str, around: int = 6) -> str:
    """The kernel's source around its challenge line, with the line blanked. Raises KernelError where the kernel has no challenge."""
    source = load_source(get_spec(name).source)
    m = _find(source)
    blanked = source.text[: m.start("line")] + _indent(m["line"]) + BLANK + "\n" + source.text[m.end("line") :]
    number = source.text[: m.start("line")].count("\n")
    lines = blanked.splitlines()
    first = max(0, number - around)
    return "\n".join(f"{i + 1:4d}  {lines[i]}" for i in range(first, min(len(lines), number + around + 1)))


def without_challenge(text: str) -> str:
    """A source's text as a student may read it: what its challenge line assigns is blanked; lines keep their numbers."""

    def one(m: re.Match) -> str:
        declared = _DECLARATION.match(m["line"])
        shown = f"{declared['left'].strip()} = {BLANK};" if declared else BLANK
        return f"{m['head']}{_indent(m['line'])}{shown}\n{m['tail']}"

    return _CHALLENGE.sub(one, text)


def challenge_left(name: str) -> str:
    """What the challenge line declares, e.g. "const bool read_c"; "" where it is no declaration with `=`."""
    m = _DECLARATION.match(_find(load_source(get_spec(name).source))["line"])
    return m["left"].strip() if m else ""


def challenge_statement(name: str, line: str) -> str:
    """A student's line as the statement that goes into the kernel: without comments; a bare expression gets the declaration that stands
    there, a declaration its forgotten semicolon. Raises LineRefused (a KernelError) for a line that a challenge does not take: kernels.line."""
    return line_module.statement(line, _scope(name))


def challenge_own(name: str) -> str:
    """The line that stands in the kernel."""
    return _find(load_source(get_spec(name).source))["line"].strip()


@lru_cache
def _scope(name: str) -> line_module.Scope:
    source = load_source(get_spec(name).source)
    headers = [p.read_text(encoding="utf-8") for pattern in ("*.cuh", "*.h") for p in sorted(CUDA_DIR.glob(pattern))]
    reserved = frozenset(n for text in (source.text, *headers) for n in line_module.defined_names(text))
    return line_module.Scope(challenge_left(name), line_module.source_names(source.text) - reserved, reserved)


def challenge_launches(name: str, line: str, count: int, seed: int, backend: str = "emulator"):
    """Build the kernel with `line` and launch it on each of `count` inputs of its spec: yields (case, kernel, result), or
    (case, kernel, KernelError) for a launch that went wrong, which is the last.

    On the emulator each input runs under a schedule of its own (SCHEDULES in turn, the seed counting up), so that a line that only a
    friendly schedule forgives is caught. Raises CompileError, and KernelError where it is not one line.
    """
    source = challenge_source(name, line)
    for i, case in enumerate(cases(get_spec(name), np.random.default_rng(seed), count)):
        schedule = dict(seed=i, policy=SCHEDULES[i % len(SCHEDULES)], timeout=20.0) if backend == "emulator" else {}
        kernel = load(name, backend, source=source, poison=True, **schedule)
        try:
            out = kernel(*case.arrays, **case.params)
        except CompileError:
            raise
        except KernelError as e:
            yield case, kernel, e
            return
        yield case, kernel, out


def challenge_source(name: str, line: str) -> Source:
    """The kernel's source with `line` as its challenge line. Raises KernelError where it is not one line."""
    if "\n" in line.strip() or not line.strip():
        raise KernelError("The challenge takes exactly one line of CUDA C++.")
    source = load_source(get_spec(name).source)
    m = _find(source)
    text = source.text[: m.start("line")] + _indent(m["line"]) + line.strip() + "\n" + source.text[m.end("line") :]
    return load_source(source.name, text)


def challenge(name: str, line: str, *, count: int = 12, seed: int = 7, backend: str = "emulator") -> Comparison:
    """Build the kernel with `line` in place of its challenge line and hold it to its float64 reference on its spec's inputs.

    On the emulator by default, also where there is a GPU: a wrong line that reads a null pointer there kills the process's CUDA
    context, and the emulator names the line instead. Schedules: see challenge_launches. What does not compile or goes wrong in a
    launch is in the result's `error`.
    """
    title = f"{name} with your line"
    if BLANK in line:
        return Comparison(
            name, title, error=f"Your line is still blank. The place in the kernel:\n{challenge_text(name)}"
        )
    rows = []
    try:
        for case, kernel, out in challenge_launches(name, line, count, seed, backend):
            bound = tolerance(kernel.spec, case.arrays, case.params)
            if isinstance(out, KernelError):
                rows.append(Row(case.label, float("nan"), bound, "the launch failed"))
                return Comparison(name, title, tuple(rows), kernel.receipt, str(out), kernel.report)
            error = relative_error(arrays.to_numpy(out), kernel.reference(*case.arrays, **case.params))
            rows.append(Row(case.label, error, bound, "NaN in the result" if np.isnan(error) else ""))
    except CompileError as e:
        return Comparison(name, title, error=f"Your line does not compile. {e}")
    return _finish(kernel, title, rows)


def _find(source: Source) -> re.Match:
    m = _CHALLENGE.search(source.text)
    if not m:
        raise KernelError(
            f"{source.name} has no challenge line (between the comments CHALLENGE-BEGIN and CHALLENGE-END)."
        )
    return m


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
