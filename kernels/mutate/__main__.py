"""`python -m kernels.mutate`: make the mutants, run them, print the table and what survived."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from kernels.mutate.bench import all_mutants, run_all
from kernels.mutate.operators import OPERATORS
from kernels.mutate.table import equivalent, share, survivors, table


def main() -> int:
    """0 where no run lets more than `--allow` percent of the bugs pass."""
    parser = argparse.ArgumentParser(
        prog="python -m kernels.mutate", description="Mutation score of the emulator over the course's kernels."
    )
    parser.add_argument(
        "--kernel", action="append", default=[], metavar="NAME", help="only sources whose names begin so (repeatable)"
    )
    parser.add_argument(
        "--operator", action="append", default=[], choices=OPERATORS, help="only mutants of this kind (repeatable)"
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th mutant")
    parser.add_argument("--seeds", type=int, default=2, help="seeds under each policy (default 2)")
    parser.add_argument("--jobs", type=int, default=None, help="processes (default: one a core)")
    parser.add_argument("--json", type=Path, help="write every result there")
    parser.add_argument(
        "--allow",
        type=float,
        default=0.5,
        metavar="PERCENT",
        help="bugs that may pass in some run before the exit status is 1 (default 0.5)",
    )
    given = parser.parse_args()
    todo = all_mutants(given.kernel, given.operator)[:: given.every]
    if not todo:
        parser.error("no mutant is of that kernel and operator")
    began, done = time.perf_counter(), 0

    def progress(result) -> None:
        nonlocal done
        done += 1
        spent = time.perf_counter() - began
        if sys.stderr.isatty() or done % 50 == 0 or done == len(todo):
            left = spent / done * (len(todo) - done)
            print(
                f"\r{done} of {len(todo)} mutants, {spent:.0f} s, about {left:.0f} s left ",
                end="",
                file=sys.stderr,
                flush=True,
            )

    results = run_all(todo, given.seeds, given.jobs, progress)
    print(file=sys.stderr)
    if given.json:
        rows = [
            {"key": r.mutant.key, "line": r.mutant.line, "operator": r.mutant.operator, "compiles": r.compiles, "verdict": r.verdict if r.compiles else None,
             "equivalent": equivalent().get(r.mutant.key), "runs": {f"{p} {s}": v for (p, s), v in r.runs.items()}, "message": r.message}
            for r in results
        ]  # fmt: skip
        given.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(table(results))
    passed = survivors(results)
    if passed:
        print(f"\n{len(passed)} bugs that some run lets pass:")
        print("\n".join(f"  {line}" for line in passed))
    caught, total = share(results)
    print(f"\n{time.perf_counter() - began:.0f} s")
    return int(100 * (total - caught) > given.allow * total)


if __name__ == "__main__":
    sys.exit(main())
