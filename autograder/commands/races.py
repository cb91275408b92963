"""`course races`."""

from itertools import groupby
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from autograder.commands.run import check_policy
from autograder.errors import CourseError


def command(
    kernel: Annotated[str, typer.Argument(help="The kernel's name (`course run` lists them).")],
    bug: Annotated[
        str | None, typer.Option(help="One of the kernel's named defects; none runs the right kernel.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Seeds 0 .. N-1 of each schedule.", min=1)] = 10,
    policy: Annotated[
        list[str] | None, typer.Option(help="Schedules; default: friendly and the adversarial pct, late, lazy_mma.")
    ] = None,
    timeout: Annotated[float, typer.Option(help="Time limit of one launch, in seconds.", min=0.1)] = 20.0,
):
    """Run a kernel over many seeds on the emulator: which go wrong by themselves, and what the checks report.

    Exit status 0: the right kernel was clean everywhere, or the defect was reported at every seed with the checks on.
    """
    from kernels import races
    from kernels.spec import get_spec

    spec = get_spec(kernel)
    if bug is not None and bug not in spec.bugs:
        raise CourseError(
            f"{kernel} has no defect named {bug!r}.", remedy=f"It has: {', '.join(sorted(spec.bugs)) or 'none'}."
        )
    policies = [check_policy(p) for p in policy] if policy else [races.FRIENDLY, *races.ADVERSARIAL]
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"{kernel}{f' with the defect {bug}' if bug else ''}: {spec.bugs[bug].explains if bug else spec.computes}",
        markup=False,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("compiling", total=2 * seeds * len(policies))
        outcomes = races.sweep(
            kernel,
            bug,
            seeds,
            policies,
            timeout=timeout,
            progress=lambda o: bar.update(
                task, advance=1, description=f"{o.policy}, checks {'on' if o.checks else 'off'}"
            ),
        )

    console.print(outcome_table(outcomes, seeds))
    show_report(console, outcomes)
    checked = [o for o in outcomes if o.checks]
    good = all(not o.right for o in checked) if bug else all(o.right for o in outcomes)
    silent = sum(o.right for o in outcomes if not o.checks)
    if bug:
        console.print(
            f"With the checks off {silent} of {len(outcomes) - len(checked)} runs gave right numbers and said nothing; "
            f"with the checks on {sum(not o.right for o in checked)} of {len(checked)} were reported.",
            markup=False,
        )
    else:
        console.print(f"{sum(o.right for o in outcomes)} of {len(outcomes)} runs were clean and right.", markup=False)
    raise typer.Exit(0 if good else 1)


def outcome_table(outcomes, seeds: int) -> Table:
    """A row a schedule: what happened with the checks off and on, and at which seeds."""
    table = Table("schedule", "checks off: what came of it", f"checks on (seeds 0-{seeds - 1})")
    for policy, group in groupby(outcomes, key=lambda o: o.policy):
        group = list(group)
        cells = [describe([o for o in group if o.checks is on]) for on in (False, True)]
        table.add_row(policy, *cells)
    return table


def describe(outcomes) -> str:
    """ "deadlock 7 (seeds 0-6); right 3 (seeds 7-9)"."""
    found: dict[str, list[int]] = {}
    for o in outcomes:
        found.setdefault(o.status.replace("_", " "), []).append(o.seed)
    return "; ".join(f"{status} {len(s)} (seed{'s' if len(s) > 1 else ''} {ranges(s)})" for status, s in found.items())


def ranges(numbers: list[int]) -> str:
    """[0, 1, 2, 5] as "0-2, 5"."""
    runs: list[list[int]] = []
    for n in sorted(numbers):
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else str(r[0]) for r in runs)


def show_report(console: Console, outcomes) -> None:
    """The first report with findings, checks on before off, adversarial before friendly."""
    bad = [o for o in outcomes if not o.right and o.report is not None and o.report.findings]
    if bad:
        first = max(bad, key=lambda o: (o.checks, o.policy != "friendly"))
        console.print(
            f"\nThe report of seed {first.seed}, {first.policy}, checks {'on' if first.checks else 'off'}:",
            markup=False,
        )
        console.print(str(first.report), markup=False)
        console.print("")
