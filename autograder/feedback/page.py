"""The feedback page as a function of the lesson and one student's final result.

The page holds no script and asks no host: its policy forbids both. Everything is escaped by Jinja's autoescape; what a
student wrote appears as text only. Nothing of a hidden check but its name and its safe message is in a Result.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from autograder.feedback.words import WORDS
from autograder.gradebook.final import Final, conditions, is_veto
from autograder.gradebook.rows import WRITTEN
from autograder.lesson import Lesson
from autograder.lesson.rubric import Slot
from autograder.records import POINT_NAMES, Result, SlotScore

HERE = Path(__file__).parent
MAX_BYTES = 1_000_000
QUOTE_CHARS = 1200  # a quote longer than this is cut: the page stays readable and small


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


@lru_cache(maxsize=1)
def stylesheet() -> tuple[Markup, str]:
    """The page's CSS and the hash by which its policy admits it."""
    css = (HERE / "page.css").read_text(encoding="utf-8")
    return Markup(css), "sha256-" + base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()


def policy() -> str:
    """Content-Security-Policy: no script, no request, only the page's own style."""
    return f"default-src 'none'; style-src '{stylesheet()[1]}'; base-uri 'none'; form-action 'none'"


def render_page(lesson: Lesson, final: Final) -> str:
    """The whole page as HTML, at most 1 MB."""
    limit = QUOTE_CHARS
    while True:
        page = _render(lesson, final, limit)
        if len(page.encode("utf-8", "replace")) <= MAX_BYTES or limit < 40:
            return page
        limit //= 4


def _render(lesson: Lesson, final: Final, limit: int) -> str:
    result = final.result
    lang = result.lang
    words = WORDS[lang]
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            w=words,
            html_lang={"zh": "zh-CN", "en": "en"}[lang],
            css=stylesheet()[0],
            policy=policy(),
            title=lesson.edition(lang).title,
            result=result,
            note=_note(result, words),
            why=[(is_veto(r), r) for r in result.reasons],
            bare_veto=[] if any(map(is_veto, result.reasons)) else result.veto,
            final=final,
            pass_mark=lesson.rubric.pass_mark,
            maximum=lesson.rubric.points.total(),
            parts=[_part(lesson, final, name, words) for name in POINT_NAMES],
            checks=[
                {
                    "passed": c.passed,
                    "kind": words["kind"][c.kind],
                    "name": c.name.get(lang),
                    "message": c.message.get(lang) if c.message else "",
                }
                for c in sorted(result.checks, key=lambda c: c.passed)
            ],
            slots=[
                _slot(lesson.rubric.slots[n], result.slots[n], n, final, lang, limit)
                for n in WRITTEN
                if n in result.slots
            ],
            conditions=[]
            if result.state == "UNGRADED"
            else conditions(final.auto, final.human, result.points, lesson.rubric),
            findings=[]
            if result.state == "UNGRADED"
            else [
                {"severity": f.severity, "message": _cut(f.message.get(lang), limit), "where": f.where}
                for f in result.findings
            ],
            comments=[{"cell": words["cell"].get(n, n), "text": text} for n, text in final.human.comments.items()],
        )
    )


def _note(result: Result, words: dict) -> str:
    """What the state means. A failed check of the student's own stands below a PASS, so what it changes is said."""
    own_failed = any(c.kind == "own_case" and not c.passed for c in result.checks)
    return words["state_note"][result.state] + (
        " " * (result.lang == "en") + words["own_case_failed"] if result.state == "PASS" and own_failed else ""
    )


def _part(lesson: Lesson, final: Final, name: str, words: dict) -> dict:
    maximum = getattr(lesson.rubric.points, name)
    points = final.result.points.get(name, 0.0)
    waiting = name in final.human.waiting
    by_person = name in final.human.manual
    note = words["by_person"] if by_person else words["provisional"] if waiting else ""
    return {
        "name": words["part"][name],
        "points": points,
        "maximum": maximum,
        "share": min(1.0, points / maximum),
        "note": note,
    }


def _slot(slot: Slot, score: SlotScore, name: str, final: Final, lang: str, limit: int) -> dict:
    links = {x.id: x for x in slot.links}
    wrong = {x.id: x for x in slot.misconceptions}
    points = final.result.points.get(name, 0.0)
    full = points >= slot.points
    return {
        "name": name,
        "question": slot.question.get(lang),
        "points": points,
        "maximum": slot.points,
        "review": name in final.human.waiting,
        "found": [
            {
                "quote": _cut(x.quote, limit),
                "link": _chain(links.get(x.id), lang),
                "kind": links[x.id].kind if x.id in links else "",
            }
            for x in score.links
        ],
        "missing": []
        if full
        else [{"hint": links[x].hint.get(lang), "kind": links[x].kind} for x in score.missing if x in links],
        "wrong": [
            {"quote": _cut(m.quote, limit), "hint": wrong[m.id].hint.get(lang) if m.id in wrong else "", "veto": m.veto}
            for m in score.misconceptions
        ],
        "discarded": [_cut(text, limit) for text in score.discarded],
    }


def _chain(link, lang: str) -> list[str]:
    return [] if link is None else [part.get(lang) for part in (link.cause, link.mechanism, link.effect)]


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + " …"
