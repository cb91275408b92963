"""`course bench`."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from autograder.errors import CourseError


def command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[KERNEL]...", help="Kernels or measurements; none runs all.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the JSON files, one a measurement.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the measurements and run nothing.")] = False,
):
    """Measure kernels on a GPU and write figures with receipts. Exit status 0: every measurement was made and written."""
    from kernels import KernelError, bench

    console = Console(highlight=False, soft_wrap=True)
    chosen = bench.select(names or [])
    if list_:
        table = Table("measurement", "kernels", "what", show_lines=True)
        for b in chosen:
            table.add_row(b.name, ", ".join(b.kernels), b.what)
        console.print(table)
        return
    if out is None:
        raise CourseError(
            "Where the figures go was not said.", remedy="Give --out DIR (figures/data for the course's own)."
        )
    session = bench.Session(say=lambda text: console.print(f"  {text}", markup=False))
    console.print(session.device.why, markup=False)
    failed, started = [], time.monotonic()
    for i, b in enumerate(chosen):
        rest = (time.monotonic() - started) / i * (len(chosen) - i) if i else 0
        console.print(
            f"[{i + 1}/{len(chosen)}] {b.name}: {b.what}" + (f" (about {rest:.0f} s to go)" if i else ""), markup=False
        )
        try:
            path = bench.run_bench(b, out, session)
        except Exception as e:  # one measurement that fails must not cost the others
            failed.append(b.name)
            console.print(f"  failed: {type(e).__name__}: {e}", markup=False)
            if not isinstance(e, (KernelError, AssertionError)):
                console.print_exception()
            continue
        console.print(f"  written: {path}", markup=False)
    if failed:
        raise CourseError(
            f"{len(failed)} of {len(chosen)} measurements failed: {', '.join(failed)}.",
            remedy="The others are written; run the failed ones again by name.",
        )
