"""The command `python -m figures`: draw all figures, or check that the committed ones are up to date."""

from __future__ import annotations

import argparse
import sys

from figures.build import all_figures, draw, find_figures, stale


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m figures", description="Draw the course's figures from their data.")
    parser.add_argument(
        "names", nargs="*", help="figures to draw (default: all); `controls`: what the moving controls are drawn from"
    )
    parser.add_argument(
        "--check", action="store_true", help="draw nothing; list committed figures that are missing or out of date"
    )
    options = parser.parse_args()
    if options.names == ["controls"]:
        from figures import controls

        if not options.check:
            print("\n".join(map(str, controls.write_all())))
            return 0
        problems = controls.stale()
        print("\n".join(problems) or "The controls' data are up to date.")
        return 1 if problems else 0
    figures = find_figures()
    unknown = set(options.names) - {f.name for f in figures}
    if waiting := [f for f in all_figures() if f.name in unknown and f.awaited]:
        print(f"{waiting[0].name} is drawn once lessons/{waiting[0].module.LESSON} is there.", file=sys.stderr)
        return 2
    if unknown:
        print(
            f"There is no figure named {', '.join(sorted(unknown))}. Figures: {', '.join(f.name for f in figures)}.",
            file=sys.stderr,
        )
        return 2
    chosen = [f for f in figures if not options.names or f.name in options.names]
    if options.check:
        problems = [p for f in chosen for p in stale(f)]
        for problem in problems:
            print(problem, file=sys.stderr)
        print(
            f"{len(chosen)} figures checked, {len(problems)} problems."
            + (" Run `python -m figures` and commit the result." if problems else "")
        )
        return 1 if problems else 0
    for figure in chosen:
        for path in draw(figure):
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
