"""Every link and file reference of the built pages leads somewhere, anchors included, whichever renderer made them."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.refs: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if value and name == "id" or (name == "name" and tag == "a"):
                self.ids.add(value)
            elif value and name in ("href", "src") and tag != "base":
                self.refs.append(value)


def dead_links(site: Path) -> list[str]:
    """'PAGE: link' for each local link of a page whose file or anchor does not exist."""
    pages: dict[Path, _Page] = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = _Page()
        pages[path].feed(path.read_text(encoding="utf-8"))
    dead = []
    for path, page in pages.items():
        for ref in page.refs:
            parts = urlsplit(ref)
            if parts.scheme or parts.netloc:
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            if target.is_dir():
                target = target / "index.html"
            anchor = unquote(parts.fragment)
            if not target.is_file() or (anchor and target in pages and anchor not in pages[target].ids):
                dead.append(f"{path.relative_to(site)}: {ref}")
    return list(dict.fromkeys(dead))
