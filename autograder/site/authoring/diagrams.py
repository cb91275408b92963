"""The pages' mermaid diagrams, drawn once when they are written: `python -m autograder.site.authoring`.

Mermaid lays a diagram out in headless Chromium (both for development only); what is committed is an SVG without styles or
scripts, so that the site needs neither, its page gives the colours, and text stays text. Two of each: as written, and `tall`,
every left-to-right flow turned downwards, for a phone. A file's name holds the hash of the source it was drawn from, so a
changed diagram cannot keep an old picture, and a test finds what is missing or left over.

Text is measured in DejaVu Sans, wider than the faces that readers have, so that no label outgrows its box.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path

from autograder.errors import CourseError
from autograder.paths import lessons_dir
from autograder.site.diagrams import FONT_PX, RECIPE, TALL, WIDE, diagram_name, fences

MERMAID = Path(__file__).parent / "mermaid" / "mermaid.tiny.js"
ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_CONFIG = {
    "startOnLoad": False,
    "securityLevel": "strict",
    "htmlLabels": False,
    "theme": "neutral",
    "fontFamily": "DejaVu Sans, Noto Sans CJK SC",
    "themeVariables": {"fontSize": f"{FONT_PX}px"},
    "flowchart": {"htmlLabels": False, "nodeSpacing": 28, "rankSpacing": 42, "padding": 12, "useMaxWidth": False},
    "sequence": {
        "actorMargin": 16,
        "width": 128,
        "height": 44,
        "messageMargin": 34,
        "useMaxWidth": False,
        "mirrorActors": False,
        "messageFontSize": FONT_PX,
        "actorFontSize": FONT_PX,
        "noteFontSize": FONT_PX,
        "diagramMarginX": 8,
    },
    "state": {"useMaxWidth": False, "nodeSpacing": 28, "rankSpacing": 42},
}


def wanted(lessons: Path | None = None) -> dict[Path, tuple[str, str]]:
    """{file: (mermaid source, variant)} for every diagram of every page."""
    lessons, found = lessons or lessons_dir(), {}
    for page in sorted(lessons.glob("*/*.qmd")):
        for source in fences(page.read_text(encoding="utf-8")):
            for variant in (WIDE, TALL):
                found[page.parent / "assets" / "diagrams" / diagram_name(source, variant)] = (source, variant)
    return found


def problems(lessons: Path | None = None) -> list[str]:
    """What is wrong with the committed diagrams, in sentences."""
    lessons = lessons or lessons_dir()
    want = set(wanted(lessons))
    there = set(lessons.glob("*/assets/diagrams/*.svg"))
    return [f"{p.relative_to(lessons)} is not drawn." for p in sorted(want - there)] + [
        f"{p.relative_to(lessons)} belongs to no diagram of its page any more." for p in sorted(there - want)
    ]


def turned(source: str) -> str:
    """The same diagram with every left-to-right direction turned downwards."""
    return re.sub(r"(?m)^(\s*(?:flowchart|graph|direction)\s+)LR\b", r"\1TB", source)


def draw_all(lessons: Path | None = None) -> list[Path]:
    """Draw what is missing, remove what belongs to nothing. Raises CourseError where Chromium is not there."""
    lessons = lessons or lessons_dir()
    want = {path: how for path, how in wanted(lessons).items() if not path.is_file()}
    for path in set(lessons.glob("*/assets/diagrams/*.svg")) - set(wanted(lessons)):
        path.unlink()
    if want:
        with _mermaid() as page:
            for path, (source, variant) in want.items():
                svg = page.evaluate(
                    "([config, id, source]) => { mermaid.initialize(config);"
                    " return mermaid.render(id, source).then(r => r.svg); }",
                    [_CONFIG, "d" + path.name.split(".")[0], turned(source) if variant == TALL else source],
                )
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_bare(svg, path.name.split(".")[0]), encoding="utf-8", newline="\n")
    return list(want)


def _bare(svg: str, name: str) -> str:
    """Mermaid's SVG without its stylesheet, with its own size in pixels, ids of its own, and numbers to a tenth."""
    svg = re.sub(r"(?s)<style>.*?</style>", "", svg)
    svg = re.sub(r"(?s)<(filter|linearGradient)\b.*?</\1>", "", svg)
    svg = re.sub(r'\s(?:fill|stroke|stroke-width)="(?!none)[^"]*"', "", svg)  # the page's stylesheet gives them
    box = [float(x) for x in re.search(r'viewBox="([^"]+)"', svg)[1].split()]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="diagram" width="{box[2]:.0f}" height="{box[3]:.0f}" '
    head += f'viewBox="{box[0]:.1f} {box[1]:.1f} {box[2]:.1f} {box[3]:.1f}" data-recipe="{RECIPE}">'
    svg = re.sub(r"<svg [^>]*>", head, svg, count=1)
    svg = re.sub(r'(?<=[ ",(-])(-?\d+\.\d\d)\d+', r"\1", svg)
    svg = re.sub(
        r'\s(?:data-(?!recipe)[\w-]+|aria-[\w-]+|font-(?:style|weight)|alignment-baseline|rx|ry)="[^"]*"', "", svg
    )
    svg = re.sub(r'\sstyle="[^"]*"', "", svg)
    used = set(re.findall(r"url\(#([^)]+)\)", svg))
    svg = re.sub(r'(?s)<marker id="([^"]+)".*?</marker>', lambda m: m[0] if m[1] in used else "", svg)
    svg = re.sub(r'\sid="([^"]*)"', lambda m: m[0] if m[1] in used else "", svg)
    return (
        re.sub(r">\s+<", "><", svg).replace("<g></g>", "").replace("<defs></defs>", "").replace("<rect></rect>", "")
        + "\n"
    )


@contextlib.contextmanager
def _mermaid():
    """A Chromium page that has mermaid."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        raise CourseError(
            "Diagrams are drawn by Chromium, which is not here.", remedy="Debian: apt install chromium fonts-noto-cjk."
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGS)
        try:
            page = browser.new_page()
            page.add_script_tag(path=MERMAID)
            yield page
        finally:
            browser.close()
