"""Closing a rendered site to other hosts: local KaTeX, a Content-Security-Policy, and a check of every file."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from autograder.errors import CourseError
from autograder.site import notes, search, terms
from autograder.site.frame import Frame
from autograder.site.lean import make_lean
from autograder.site.words import INTERFACE_ZH, SCRIPT_ZH

VENDOR = Path(__file__).parent / "vendor"

_KATEX = re.compile(r"https://cdn\.jsdelivr\.net/npm/katex@[^/]+/dist/")
_MERMAID_MODULE = re.compile(r'<script type="module">import mermaid from [^<]*</script>')
_SWITCH = re.compile(r'href="/?(?:\.\./)+(?P<other>zh|en)/index\.html"(?= rel="alternate"|[^>]*rel="alternate")')
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'none'"
)
# What makes a browser ask another host without a click: sources, stylesheets, CSS urls, module imports.
_REQUEST = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc\s*=\s*["']?(?:https?:)?//[^"'\s>]+"""
    r"""|<link\b(?![^>]*rel="?(?:alternate|canonical|license))[^>]*?\bhref\s*=\s*["']?(?:https?:)?//[^"'\s>]+"""
    r"""|@import\s+(?:url\()?["']?(?:https?:)?//[^"')\s]+|url\(\s*["']?(?:https?:)?//[^"')\s]+"""
    r"""|\bimport\s+[\w{}\s,*]+\s+from\s+['"]https?://[^'"]+""",
    re.I,
)


class Closing:
    """The rendered pages of one language made self-contained, in the course's frame, with Chinese interface words where it is Chinese."""

    def __init__(self, site: Path, lang: str, lessons: Path):
        self.site, self.lang = site, lang
        self.frame = Frame(site, lang, terms.read_terms(lessons, lang), notes.claims(lang, lessons))

    def all(self, put: Callable[[], None] = lambda: None) -> None:
        """Every page, the data that they load, and lean libraries.

        put: adds what the pages do, once the frame stands and before styles that no page uses are left out.

        Raises CourseError if a page or stylesheet would still make a request to another host.
        """
        site = self.site
        shutil.copytree(VENDOR, site / "site_vendor", ignore=shutil.ignore_patterns("README.md"), dirs_exist_ok=True)
        for page in site.rglob("*.html"):
            self.page(page)
        notes.write_data(site, "claims", self.frame.claims)
        notes.write_data(site, "terms", {t.anchor: t.shown for t in self.frame.terms})
        notes.write_data(site, "search", search.index(site, self.frame.terms))
        script = site / "site_libs" / "smalldocs.js"
        if self.lang == "zh" and script.is_file():
            script.write_text(_replace(script.read_text(encoding="utf-8"), SCRIPT_ZH), encoding="utf-8")
        put()
        make_lean(site)
        if leaks := outside_requests(site):
            raise CourseError(
                "The site would ask other hosts: " + "; ".join(leaks[:5]),
                where=str(site),
                remedy="Use local files in the pages named.",
            )

    def page(self, page: Path) -> None:
        """Close one rendered page in place."""
        where = page.relative_to(self.site)
        up = self.frame.up(page)
        html = self.frame.put_round(_close_page(page.read_text(encoding="utf-8"), up, self.lang), page)
        # the switch leads to the same page of the other language
        html = _SWITCH.sub(lambda m: f'href="{up}../{m["other"]}/{where.as_posix()}" hreflang="{m["other"]}"', html)
        page.write_text(html, encoding="utf-8")


def _close_page(html: str, up: str, lang: str) -> str:
    html = _KATEX.sub(f"{up}site_vendor/katex/", html)
    html = _MERMAID_MODULE.sub("", html)
    head = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    html = html.replace("<head>", f"<head>{head}", 1)
    return _replace(html, INTERFACE_ZH) if lang == "zh" else html


def _replace(text: str, words: dict[str, str]) -> str:
    for old, new in words.items():
        text = text.replace(old, new)
    return text


def outside_requests(site: Path) -> list[str]:
    """'FILE: what' for each thing in pages and stylesheets that a browser would fetch from another host by itself."""
    found = []
    for path in sorted(site.rglob("*")):
        if path.suffix in {".html", ".css", ".svg"}:
            text = path.read_text(encoding="utf-8", errors="replace")
            found += [f"{path.relative_to(site)}: {m[0][:120]}" for m in _REQUEST.finditer(text)]
    return found
