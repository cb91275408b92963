"""Mermaid fences of a page as the drawings that are committed beside it (authoring/diagrams.py draws them)."""

from __future__ import annotations

import hashlib
import html
import re
from pathlib import Path

RECIPE = 1  # of the drawing; part of every file's name
WIDE, TALL = "wide", "tall"
FONT_PX, LEAST_PX = 14, 12  # of the text as drawn, and on any screen
COLUMN_PX = 814  # a drawing that would have to shrink below LEAST_PX to fit it is shown tall on every screen
_FENCE = re.compile(r"(?ms)^```\{mermaid\}\n(.*?)^```[ \t]*$")


def fences(text: str) -> list[str]:
    """The mermaid sources of a page, in order."""
    return [m[1] for m in _FENCE.finditer(text)]


def diagram_name(source: str, variant: str) -> str:
    mark = hashlib.sha256(f"{RECIPE}\n{source.strip()}".encode()).hexdigest()[:12]
    return f"{mark}.{variant}.svg"


def drawn(text: str, folder: Path, words: dict[str, str], missing=lambda what: None) -> str:
    """`text` with every mermaid fence replaced by its drawings from folder/assets/diagrams, as raw HTML that both renderers pass on.

    A fence that was not drawn yet stays readable as its source; `missing` is told.
    """

    def one(m: re.Match) -> str:
        source = m[1]
        files = [folder / "assets" / "diagrams" / diagram_name(source, v) for v in (WIDE, TALL)]
        if not all(f.is_file() for f in files):
            missing(f"{folder.name}: a diagram is not drawn yet (`python -m autograder.site.authoring`)")
            return f"```{{.text .diagram-source}}\n{source}```"
        wide, tall = (f.read_text(encoding="utf-8").strip() for f in files)
        label = html.escape(f"{words['diagram']} {in_words(source)}")
        same = wide == tall or _least(wide) > COLUMN_PX
        inner = _variant(tall, "any") if same else _variant(wide, WIDE) + _variant(tall, TALL)
        return (
            '```{=html}\n<figure class="picture diagram-figure"><div class="picture-scroll"><div role="img" '
            f'aria-label="{label}">{inner}</div></div></figure>\n```'
        )

    return _FENCE.sub(one, text)


def _least(svg: str) -> float:
    """The width in CSS pixels below which its text would be smaller than LEAST_PX."""
    return float(re.search(r'width="(\d+)"', svg)[1]) * LEAST_PX / FONT_PX


def _variant(svg: str, name: str) -> str:
    # the two drawings of one source share its hash, so a marker's id is told apart by the variant
    svg = re.sub(r"(d[0-9a-f]{12}[-_])", rf"{name}-\1", svg)
    style = f'style="min-width:{_least(svg):.0f}px"'
    return svg.replace('class="diagram"', f'class="diagram diagram-{name}" aria-hidden="true" {style}', 1)


_NODE = re.compile(r'(\w+)\s*(?:\["([^"]*)"\]|\{"([^"]*)"\}|\("([^"]*)"\))')
_EDGE = re.compile(r'(?:-->|-\.->|---|==>)(?:\|"?([^|"]*)"?\|)?|-\.\s*(.*?)\s*\.->|--\s+(.*?)\s+-->')
_NAMED = re.compile(r'^(?:participant|actor|state)\s+(?:"([^"]*)"\s+as\s+(\w+)|(\w+)\s+as\s+(.+))$')
_SAID = re.compile(r"^(\S+?)\s*(?:-{1,2}>{1,2}|-{1,2}[x)])\s*(\S+?)\s*:\s*(.+)$")


def in_words(source: str) -> str:
    """A diagram as a sentence for those who do not see it: each arrow with what it leads from and to, and its label."""
    plain = lambda s: re.sub(r"\s*<br\s*/?>\s*", " ", s or "").strip()  # noqa: E731
    names = {m[1]: plain(m[2] or m[3] or m[4]) for m in _NODE.finditer(source)}
    steps = []
    for line in map(str.strip, source.splitlines()):
        if m := _NAMED.match(line):
            names[m[2] or m[3]] = plain(m[1] or m[4])
        elif m := _SAID.match(line):  # a message, or a state's transition
            steps.append((m[1], m[2], plain(m[3])))
        else:
            steps += _flow(_NODE.sub(lambda m: m[1], line), names)
    return (
        "; ".join(
            f"{names.get(a, a)} → {names.get(b, b)}" + (f" ({plain(label)})" if label else "") for a, b, label in steps
        ).replace("[*]", "·")
        + "."
    )


def _flow(line: str, names: dict[str, str]) -> list[tuple[str, str, str]]:
    """The arrows of a flowchart's line; a subgraph's name is remembered."""
    if line.startswith("subgraph"):
        names.setdefault(line.split()[1], line.split()[1])
        return []
    edges = list(_EDGE.finditer(line))
    stops = [
        line[a:b].strip() for a, b in zip([0, *(e.end() for e in edges)], [*(e.start() for e in edges), len(line)])
    ]
    return [(a, b, e[1] or e[2] or e[3] or "") for e, a, b in zip(edges, stops, stops[1:])]
