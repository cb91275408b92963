"""`course run`."""

import importlib.util
import inspect
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from autograder.errors import CourseError

EMULATOR_ONLY = "Proven on the emulator only so far: not yet compared with a GPU."


def command(
    kernel: Annotated[
        str | None, typer.Argument(help="The kernel's name, or a CUDA file: FILE.cu; none lists the kernels.")
    ] = None,
    backend: Annotated[
        str | None, typer.Option(help="gpu or emulator; default: the GPU where it can run the kernel.")
    ] = None,
    bug: Annotated[str | None, typer.Option(help="Build one of the kernel's named defects in.")] = None,
    size: Annotated[
        list[str] | None,
        typer.Option(help="An argument of the example, NAME=VALUE (m=300, act=relu); may be repeated."),
    ] = None,
    data_seed: Annotated[int, typer.Option(help="Seed of the random inputs.")] = 0,
    seed: Annotated[int | None, typer.Option(help="Emulator: seed of the schedule.")] = None,
    policy: Annotated[
        str | None, typer.Option(help="Emulator: schedule (friendly, rr, random, pct, late, lazy_mma, timed).")
    ] = None,
    checks: Annotated[
        bool | None,
        typer.Option("--checks/--no-checks", help="Emulator: look for races, missing fences and bad accesses."),
    ] = None,
    entry: Annotated[
        str | None, typer.Option(help="FILE.cu: the kernel, with template arguments: 'reduce<float, 256>'.")
    ] = None,
    grid: Annotated[str | None, typer.Option(help="FILE.cu: blocks, as 128 or 16,16.")] = None,
    block: Annotated[str | None, typer.Option(help="FILE.cu: threads a block.")] = None,
    shared: Annotated[int, typer.Option(help="FILE.cu: bytes of dynamic shared memory.")] = 0,
    cluster: Annotated[str | None, typer.Option(help="FILE.cu: blocks a cluster.")] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option(help='FILE.cu: an argument, as "x=float32[1024]:random" or n=1024; one for each parameter.'),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help='FILE.cu: a __constant__ or __device__ variable, as "c=float32[9]:random".'),
    ] = None,
    define: Annotated[list[str] | None, typer.Option(help="FILE.cu: a macro, NAME=VALUE.")] = None,
    check: Annotated[
        list[str] | None, typer.Option(help='FILE.cu: what an array must be, in NumPy: "y = 2 * x + y".')
    ] = None,
    tolerance: Annotated[float | None, typer.Option(help="FILE.cu: bound on the relative error of a check.")] = None,
    timeout: Annotated[float, typer.Option(min=0.1, max=600, help="FILE.cu: seconds for the launch.")] = 30.0,
    sms: Annotated[int | None, typer.Option(min=1, max=1024, help="FILE.cu: blocks that run at a time (8).")] = None,
):
    """Run a kernel once on random inputs, compare it with float64, and print the receipt. Exit status 0: the result is right.

    A CUDA file that knows nothing of this course runs on the emulator, in a jail: give --grid, --block and --arg; without them its kernels are listed.
    """
    from kernels import arrays
    from kernels.compare import relative_error
    from kernels.kernel import load
    from kernels.spec import tolerance as tolerance_of

    console = Console(highlight=False, soft_wrap=True)
    if kernel is None:
        print_kernels(console)
        return
    if kernel.endswith((".cu", ".cuh")):
        if importlib.util.find_spec("autograder.foreign") is None:
            raise CourseError(
                "`course run FILE.cu` is not part of the student's install: it needs the grader's jail.",
                remedy="In Python: kernels.run_source(path, grid=..., block=..., args=...).",
            )
        from autograder.foreign.command import Request, run

        if backend == "gpu" or bug:
            raise CourseError(
                "A CUDA file runs on the emulator, as it stands.", remedy="Leave out --backend gpu and --bug."
            )
        schedule = {"seed": seed, "policy": policy and check_policy(policy), "checks": checks, "sms": sms}
        run(
            Request(
                kernel,
                entry,
                grid,
                block,
                shared,
                cluster,
                arg or (),
                set_ or (),
                define or (),
                check or (),
                tolerance,
                data_seed,
                timeout,
                {name: value for name, value in schedule.items() if value is not None},
            ),  # fmt: skip
            console,
        )
    options = {"seed": seed, "policy": policy and check_policy(policy), "checks": checks}
    schedule = {name: value for name, value in options.items() if value is not None}
    loaded = load(kernel, backend, bug=bug, poison=True, **schedule)
    given, params = example(kernel, bug, data_seed, size)
    console.print(f"[bold]{kernel}[/bold]: {loaded.spec.computes}", markup=True)
    console.print(f"{loaded.backend}: {loaded.why}", markup=False)
    if bug:
        console.print(f"defect {bug}: {loaded.spec.bugs[bug].explains}", markup=False)
    out = loaded(*given, **params)
    reference = loaded.reference(*given, **params)
    error, bound = relative_error(arrays.to_numpy(out), reference), tolerance_of(loaded.spec, given, params)
    right = bool(error <= bound)
    console.print(
        f"error against float64: {error:.2e} (bound {bound:.0e}): {'right' if right else 'WRONG'}", markup=False
    )
    if not right and np.isnan(error):
        results = arrays.to_numpy(out if isinstance(out, tuple) else (out,))
        missing = sum(int(np.isnan(r.astype(np.float64)).sum()) for r in results)
        console.print(f"{missing} of {sum(r.size for r in results)} elements are NaN.", markup=False)
    if loaded.report:
        for note in loaded.report.notes:
            console.print(f"note: {note}", markup=False)
    if not loaded.spec.compared_on_gpu:
        console.print(f"note: {EMULATOR_ONLY}", markup=False)
    console.print(str(loaded.receipt), markup=False)
    raise typer.Exit(0 if right else 1)


def print_kernels(console: Console) -> None:
    """The table of kernels and their defects."""
    from kernels import registry

    table = Table("kernel", "computes", "defects")
    for name, spec in registry().items():
        computes = spec.computes if spec.compared_on_gpu else f"{spec.computes} {EMULATOR_ONLY}"
        table.add_row(name, computes, ", ".join(spec.bugs))
    console.print(table)


def check_policy(policy: str) -> str:
    """policy, or a CourseError with the names there are."""
    from kernels.emulator import POLICIES

    if policy not in POLICIES:
        raise CourseError(f"There is no schedule named {policy!r}.", remedy=f"Schedules: {', '.join(POLICIES)}.")
    return policy


def example(kernel: str, bug: str | None, seed: int, sizes: list[str] | None):
    """The example arguments with NAME=VALUE settings applied. Raises CourseError for a setting the example does not have."""
    from kernels import races
    from kernels.spec import get_spec

    settings = {}
    for item in sizes or []:
        name, equals, value = item.partition("=")
        if not equals:
            raise CourseError(f"--size {item} is not NAME=VALUE.", remedy="For example --size m=300 --size n=173.")
        try:
            settings[name] = int(value)
        except ValueError:
            try:
                settings[name] = float(value)
            except ValueError:
                settings[name] = value
    spec = get_spec(kernel)
    takes = [p for p in inspect.signature((bug and spec.bugs[bug].example) or spec.example).parameters if p != "rng"]
    unknown = [name for name in settings if name not in takes]
    if unknown:
        remedy = f"It takes: {', '.join(takes)}." if takes else "It takes none."
        raise CourseError(
            f"The example of {kernel}{f' with {bug}' if bug else ''} has no setting {', '.join(unknown)}.",
            remedy=remedy,
        )
    return races.arguments(kernel, bug, seed, **settings)
