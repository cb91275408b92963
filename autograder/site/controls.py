"""A page's moving controls: where a cell names one (`#| course_control: roofline`), and what it is drawn from.

The data are assets/controls/<name>.json of the lesson (figures/controls.py makes them), the drawing is assets/controls/<name>.js of
this package. A cell that names a control stays what it is in the notebook and under plain Quarto; the site puts the control above it.
"""

from __future__ import annotations

from pathlib import Path

from autograder.errors import CourseError

SCRIPTS = Path(__file__).parent / "assets" / "controls"


def known() -> set[str]:
    return {p.stem for p in SCRIPTS.glob("*.js")}


def control(names: str, folder: Path, words: dict[str, str], where: str = "") -> str:
    """The controls (one name, or several with commas) as raw HTML that both renderers pass on; folder: the lesson's.

    Raises CourseError where a name has no script or no data.
    """
    parts = []
    for name in (n.strip() for n in names.split(",")):
        data = folder / "assets" / "controls" / f"{name}.json"
        if name not in known() or not data.is_file():
            raise CourseError(
                f"There is no control {name}.",
                where=where or str(folder),
                remedy=f"Known are {', '.join(sorted(known()))}; `python -m figures controls` writes their data.",
            )
        json = data.read_text(encoding="utf-8").strip().replace("</", "<\\/")
        parts.append(
            f'<div class="course-control" data-control="{name}"><p class="control-waiting">{words["control"]}</p>'
            f'<script type="application/json">{json}</script></div>'
        )
    return "```{=html}\n" + "\n".join(parts) + "\n```"
