"""Pictures of a page, readable at any width: as wide as their text needs, scrolled where the column is narrower, enlarged by a tap.

A chart is an SVG whose text shrinks with it. The smallest text of the file decides the width below which it would fall under
LEAST_PX on the screen; the picture gets that as its least width, in a container that scrolls.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

LEAST_PX = 12
_IMG = re.compile(r'<img\b[^>]*?\bsrc="(?P<src>[^"]+\.(?:svg|png))"[^>]*>')
_SIZES = re.compile(r"font(?:-size)?: (?:[\w.]+ )*?([\d.]+)px")
_VIEWBOX = re.compile(r'viewBox="[\d.-]+ [\d.-]+ ([\d.]+) ([\d.]+)"')


def least_width(svg: str) -> float:
    """CSS pixels below which the smallest text of an SVG would be less than LEAST_PX tall; 0 where it has no text."""
    sizes = [float(s) for s in _SIZES.findall(svg)]
    box = _VIEWBOX.search(svg)
    return float(box[1]) * LEAST_PX / min(sizes) if sizes and box else 0.0


def dress(page: str, folder: Path, words: dict[str, str]) -> str:
    """Every picture of a rendered page in its container, with its least width and a button that enlarges it.

    folder: where the page's relative paths begin.  Alternative text: the image's own, else the SVG's title and description.
    """

    def one(m: re.Match) -> str:
        tag, file = m[0], folder / m["src"]
        if not file.is_file():
            return tag
        svg = file.read_text(encoding="utf-8", errors="replace") if file.suffix == ".svg" else ""
        width = least_width(svg)
        if not re.search(r'\balt="[^"]+"', tag):
            alt = html.escape(_told(svg) or words["cell_picture"], quote=True)
            tag = re.sub(r'\salt="[^"]*"', "", tag).replace("<img", f'<img alt="{alt}"', 1)
        style = f' style="min-width:{width:.0f}px"' if width else ""
        if size := _size(svg):  # the browser keeps its place free before it is loaded
            style += f' width="{size[0]:.0f}" height="{size[1]:.0f}"'
        tag = tag.replace("<img", f'<img loading="lazy"{style}', 1)
        return (
            f'<span class="picture"><span class="picture-scroll">{tag}</span>'
            f'<button type="button" class="picture-zoom" aria-label="{words["zoom"]}" title="{words["zoom"]}">⤢</button></span>'
        )

    return _IMG.sub(one, page)


def _size(svg: str) -> tuple[float, float] | None:
    box = _VIEWBOX.search(svg)
    return (float(box[1]), float(box[2])) if box else None


def _told(svg: str) -> str:
    """The title and description that a figure carries for screen readers."""
    parts = [m[1] for tag in ("title", "desc") if (m := re.search(rf"<{tag}>([^<]+)</{tag}>", svg))]
    return html.unescape(". ".join(p.strip().rstrip(".") for p in parts))
