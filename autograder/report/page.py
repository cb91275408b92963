"""The report as a page."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from autograder.gradebook.formgrader import menu_path, start_command
from autograder.lesson import Lesson
from autograder.report import plots
from autograder.report.data import ClassData

HERE = Path(__file__).parent
SHOWN = 12  # bars in a plot of what is most missed
QUEUE_SHOWN = 200


def render_report(lesson: Lesson, data: ClassData) -> str:
    css = (HERE / "report.css").read_text(encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    maximum = lesson.rubric.points.total()
    policy = f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()}'; base-uri 'none'; form-action 'none'"
    figures = {
        "states": plots.state_bars(data.states),
        "scores": plots.score_histogram(data.totals, maximum, lesson.rubric.pass_mark) if data.totals else "",
        "parts": plots.share_bars(list(data.part_means.items()), "mean share of the points") if data.totals else "",
        "checks": plots.share_bars([(m.name, m.share) for m in data.checks[:SHOWN]], "graded submissions that fail it")
        if data.checks
        else "",
        "links": plots.share_bars([(m.name, m.share) for m in data.links[:SHOWN]], "graded submissions without it")
        if data.links
        else "",
        "times": plots.submission_times(data.times, data.due) if len(data.times) > 1 else "",
    }
    return environment.get_template("report.html.jinja").render(
        css=Markup(css),
        policy=policy,
        title=lesson.edition("en").title,
        slug=lesson.slug,
        d=data,
        maximum=maximum,
        pass_mark=lesson.rubric.pass_mark,
        fig={name: Markup(svg) for name, svg in figures.items()},
        shown=SHOWN,
        queue=data.queue[:QUEUE_SHOWN],
        start=start_command(data.course),
        menu=menu_path(lesson),
    )
