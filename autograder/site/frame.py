"""What surrounds a page's text, the same under either renderer: skip link, search, 'on this page' for phones, scripts, pictures, links
of terms and sources."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from pathlib import Path

from autograder.site import kernel_pages, terms
from autograder.site.pictures import dress
from autograder.site.words import WORDS

_TOC = re.compile(r'(?s)<nav [^>]*id="TOC"[^>]*>.*?(<ul.*?)</nav>')
_MAIN = re.compile(r"<main\b[^>]*>")
_CLAIM = re.compile(r'data-claim="([^"]+)"')
_CONTROL = re.compile(r'data-control="([\w-]+)"')
# smalldocs opens folds by links without an address: a keyboard cannot reach them, and a screen reader hears a landmark
_FOLD = re.compile(r'role="navigation"(?= aria-expanded)')
_LANDMARKS = {
    'class="navbar ': "nav_top",
    'class="quarto-secondary-nav"': "nav_bar",
    'id="quarto-sidebar"': "nav_side",
    'class="page-navigation"': "nav_pages",
    'id="TOC"': "toc",
}
_OWN = re.compile(r'<script src="[^"]*(?:bootstrap\.bundle\.min|fuse\.min)\.js"></script>')
_TOOLS = re.compile(r'<ul class="navbar-nav navbar-nav-scroll ms-auto">')


@dataclass(frozen=True)
class Frame:
    """What every page of a language needs to know."""

    site: Path
    lang: str
    terms: list[terms.Term]
    claims: dict[str, dict[str, str]]

    @cached_property
    def uses(self) -> dict[str, str]:
        """{claim: the page that states it, from the language's root}; of several the one that its claims.yml belongs to."""
        found: dict[str, str] = {}
        for page in sorted(self.site.rglob("*.html")):
            where = page.relative_to(self.site).as_posix()
            for key in dict.fromkeys(_CLAIM.findall(page.read_text(encoding="utf-8"))):
                own = key in self.claims and where.startswith(self.claims[key]["page"] + "/")
                if own or key not in found:
                    found[key] = where
        return found

    def up(self, page: Path) -> str:
        return "../" * (len(page.relative_to(self.site).parts) - 1)

    def put_round(self, html: str, page: Path) -> str:
        """A rendered page with the course's frame. page: its file."""
        words, up, place = WORDS[self.lang], self.up(page), page.relative_to(self.site).parts
        for mark, name in _LANDMARKS.items():
            html = html.replace(f"<nav {mark}", f'<nav aria-label="{words[name]}" {mark}', 1)
        html = _OWN.sub("", _FOLD.sub('role="button" tabindex="0"', html))
        html = dress(html, page.parent, words)
        html = kernel_pages.linked(html, up)
        if place[0] == "glossary":
            html = terms.anchored(html, self.terms)
        elif place[0] not in (kernel_pages.FOLDER, "claims"):
            html = terms.linked(html, self.terms, f"{up}glossary/index.html")
        html = _first_uses(html)
        html = _TOOLS.sub(lambda m: _search_box(words) + m[0], html, count=1)
        if main := _MAIN.search(html):
            inside = '<span id="content" tabindex="-1"></span>' + _toc(html, words)
            html = html[: main.end()] + inside + html[main.end() :]
            skip = rf'\1<a class="skip-link" href="#content">{words["skip"]}</a>'
            html = re.sub(r"(<body\b[^>]*>)", skip, html, count=1)
        scripts = ["course.js", "search.js", "tips.js"]
        if place[0] == "claims":
            html = _ledger_rows(html, self.claims, self.uses)
            scripts.append("ledger.js")
        if "lesson-progress" in html:
            scripts += ["do/progress.js", "progress-shown.js"]
        if controls := sorted(set(_CONTROL.findall(html))):
            scripts += ["plot.js", "ring-picture.js", *(f"controls/{c}.js" for c in controls)]
        tags = "".join(f'<script src="{up}site_assets/{s}" defer></script>' for s in scripts)
        return html.replace("</head>", f'<meta name="course-root" content="{up or "./"}">{tags}</head>', 1)


def _search_box(words: dict[str, str]) -> str:
    return (
        f'<div class="course-search" role="search" aria-label="{words["search"]}"><input type="search" role="combobox" autocomplete="off" aria-expanded="false" '
        f'aria-controls="search-hits" aria-label="{words["search"]}" placeholder="{words["search"]}">'
        f'<div class="search-hits" id="search-hits" role="listbox" aria-label="{words["search"]}" hidden></div></div>'
    )


def _toc(html: str, words: dict[str, str]) -> str:
    """The table of contents again, folded, for screens that are too narrow for the margin."""
    found = _TOC.search(html)
    if not found:
        return ""
    links = re.sub(r'\s(?:id|class|data-scroll-target)="[^"]*"', "", found[1])
    label = words["toc_phone"]
    return (
        f'<details class="toc-phone"><summary>{words["toc"]}</summary><nav aria-label="{label}">{links}</nav></details>'
    )


def _first_uses(html: str) -> str:
    """A page's first statement of each figure gets an anchor, to which the ledger leads."""
    seen: set[str] = set()

    def one(m: re.Match) -> str:
        if m[1] in seen:
            return m[0]
        seen.add(m[1])
        return f'<span id="use-{m[1].replace(".", "-")}" {m[0].removeprefix("<span ")}'

    return re.sub(r'<span (?=[^>]*class="claim")[^>]*data-claim="([^"]+)"', one, html)


def _ledger_rows(html: str, claims: dict[str, dict[str, str]], uses: dict[str, str]) -> str:
    """The ledger's rows with their claim's id and origin. The page lists the claims group by group, each in the order of its file."""
    groups = sorted({key.split(".")[0] for key in claims})
    left = [(k, c) for g in groups for k, c in claims.items() if k.split(".")[0] == g]
    plain = lambda text: re.sub(r"\W|_", "", unescape(re.sub(r"<[^>]+>", "", text)))  # noqa: E731

    def row(m: re.Match) -> str:
        if not left or plain(m[2]) != plain(left[0][1]["says"]):
            return m[0]
        key, claim = left.pop(0)
        name, said = key.replace(".", "-"), m[2]
        if key in uses:
            said = f'<a href="../{uses[key]}#use-{name}">{said}</a>'
        return f'<tr id="claim-{name}" data-origin="{claim["kind"]}">{m[1]}{said}{m[3]}'

    # a claim's row has three cells, a receipt's five
    return re.sub(
        r"(?s)<tr[^>]*>(\s*<td[^>]*>)((?:(?!</td>).)*)(</td>(?:\s*<td[^>]*>(?:(?!</td>).)*</td>){2}\s*</tr>)", row, html
    )
