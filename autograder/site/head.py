"""The head of a lesson's page and the first screen of the home page, as raw HTML that both renderers pass on."""

from __future__ import annotations

import html
import json
from pathlib import Path

from autograder.errors import CourseError
from autograder.site.controls import control
from autograder.site.downloads import bundle_of
from autograder.site.facts import Facts
from autograder.site.kernel_pages import address

SERVICES = ("colab", "jupyterhub")  # whose addresses _quarto.yml may give, with {lang} and {lesson} in them


def services(config: dict, lang: str, slug: str) -> dict[str, str]:
    """Addresses that open a lesson's notebook elsewhere. Raises CourseError for a service or a field that is not known."""
    found = {}
    for name, template in (config.get("course-links") or {}).items():
        if name not in SERVICES:
            raise CourseError(
                f"course-links names {name}.", where="lessons/_quarto.yml", remedy=f"Known are {', '.join(SERVICES)}."
            )
        try:
            found[name] = template.format(lang=lang, lesson=slug) if template else ""
        except (KeyError, IndexError, ValueError):
            raise CourseError(
                f"The address of {name} holds a field that is not {{lang}} or {{lesson}}.",
                where="lessons/_quarto.yml",
                remedy="Mend course-links.",
            ) from None
    return {k: v for k, v in found.items() if v}


def lesson_head(
    f: Facts, all_facts: dict[str, Facts], words: dict[str, str], bundle: bool, opens: dict[str, str]
) -> str:
    """Time, prerequisites, progress; notebook, bundle, services; the kernels' sources."""
    e = html.escape
    needed = [other for other in all_facts.values() if other.number in f.needs]
    needs = ", ".join(f'<a href="../{n.slug}/index.html">{e(_short(n, words))}</a>' for n in needed)
    actions = [f'<a class="btn card-link" href="{f.slug}.ipynb" download>{words["get_notebook"]}</a>']
    if bundle:
        actions.append(f'<a class="btn card-link" href="../../{bundle_of(f.slug)}" download>{words["get_bundle"]}</a>')
    actions += [f'<a class="btn card-link" href="{e(url)}">{words["open_" + name]}</a>' for name, url in opens.items()]
    sources = ", ".join(f'<a href="../{address(k)}"><code>{k}</code></a>' for k in f.kernels)
    return _raw(
        '<div class="lesson-head">'
        f'<span title="{words["minutes_why"]}">{_minutes(f, words)}</span>'
        f"<span>{words['needs']}{needs or words['needs_nothing']}</span>"
        f'<span class="lesson-progress" data-lesson="{f.slug}" hidden></span>'
        + (f"<span>{words['sources']}{sources}</span>" if sources else "")
        + f'<div class="lesson-actions">{"".join(actions)}</div></div>'
    )


def home_head(folder: Path, all_facts: dict[str, Facts], words: dict[str, str], lang: str, bundle: bool) -> str:
    """The ring that moves, three ways in, the lessons as cards, the ladder."""
    first = next(iter(all_facts.values()))
    ways = [
        (words["way_read"], words["way_read_why"], f"{first.slug}/index.html"),
        (words["way_do"], words["way_do_why"], f"{first.slug}/index.html#{words['exercise_anchor']}"),
        (
            words["way_notebook"],
            words["way_notebook_why"],
            f"../{bundle_of(first.slug)}" if bundle else f"{first.slug}/{first.slug}.ipynb",
        ),
    ]
    way_list = "".join(
        f'<li><a class="card-link way" href="{href}"><strong>{name}</strong><span>{why}</span></a></li>'
        for name, why, href in ways
    )
    ring = control("home-ring", folder, words).removeprefix("```{=html}\n").removesuffix("\n```")
    return _raw(
        f'<div class="home-top"><div class="home-left"><ul class="ways">{way_list}</ul>{_ladder(folder, words, lang)}</div>{ring}</div>'
        f'<ul class="cards" aria-label="{words["lessons"]}">{"".join(_card(f, words) for f in all_facts.values())}</ul>'
    )


def _card(f: Facts, words: dict[str, str]) -> str:
    name = html.escape(f.title.split(words["colon"], 1)[-1].strip())
    return (
        f'<li class="card-item"><a class="card-link" href="{f.slug}/index.html"><span class="card-number">{f.number}</span>'
        f'<span class="card-name">{name}</span></a><span class="card-facts">{_minutes(f, words)}'
        f'<span class="lesson-progress" data-lesson="{f.slug}" hidden></span></span></li>'
    )


def _ladder(folder: Path, words: dict[str, str], lang: str) -> str:
    """Bars of TFLOP/s: text as text, no script."""
    d = json.loads((folder / "assets" / "controls" / "home-ladder.json").read_text(encoding="utf-8"))
    most = max(max(r[1], r[2]) for r in d["rungs"])
    rows = "".join(
        f'<li><a href="{address(name + ".cu")}" title="{html.escape(d["ideas"][lang][name])}"><code>{name.removeprefix("gemm_")}</code></a>'
        f'<span class="bar-track"><span class="bar-fill" style="width:{100 * rate / most:.1f}%"></span>'
        f'<span class="bar-mark" style="left:{100 * cublas / most:.1f}%"></span></span><span class="bar-value">{rate:.4g}</span></li>'
        for name, rate, cublas in d["rungs"]
    )
    r = d["receipt"]
    return (
        f'<div class="ladder"><div class="control-title">{words["ladder"]}</div><ol>{rows}</ol>'
        f'<p class="ladder-note">{words["ladder_note"].format(device=r["device"], date=r["date"])}</p></div>'
    )


def _short(f: Facts, words: dict[str, str]) -> str:
    return f.title.split(words["colon"], 1)[0].strip()


def _minutes(f: Facts, words: dict[str, str]) -> str:
    return words["minutes"].format(f"{f.minutes / 60:g}")


def _raw(markup: str) -> str:
    return f"```{{=html}}\n{markup}\n```"
