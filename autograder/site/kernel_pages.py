"""The kernels' sources as pages with line numbers, and what names a file or a line in the text made a link to it."""

from __future__ import annotations

import functools
import html
import re
from pathlib import Path

from autograder.paths import course_root
from autograder.site.weave import ALWAYS, inside_main, over_text
from kernels.compare import without_challenge

FOLDER = "kernels"
_FILE = re.compile(r"(?<![\w/.])(?:kernels/cuda/)?(?P<name>[a-z]\w*\.(?:cuh?|h))(?::(?P<line>\d+))?(?![\w.])")


@functools.cache
def sources() -> dict[str, Path]:
    """{"gemm.cuh": its path} of the kernels of this course."""
    return {
        p.name: p for p in sorted((course_root() / "kernels" / "cuda").glob("*")) if p.suffix in {".cu", ".cuh", ".h"}
    }


def address(name: str) -> str:
    return f"{FOLDER}/{name.replace('.', '_')}.html"


def write_pages(project: Path, words: dict[str, str], lang: str, edition: str) -> None:
    """A page for each source, staged for the renderer, and one that lists them. The student edition's has its challenge line blanked."""
    folder = project / FOLDER
    folder.mkdir()
    for name, path in sources().items():
        text = path.read_text(encoding="utf-8")
        text = text if edition == "answer" else _for_students(text)
        body = f"{words['source_of']} `kernels/cuda/{name}`.\n\n```{{=html}}\n{_numbered(text)}\n```\n"
        (folder / f"{name.replace('.', '_')}.qmd").write_text(_page(name, lang, body), encoding="utf-8")
    items = "\n".join(f"- [`{n}`]({n.replace('.', '_')}.qmd): {_first(p)}" for n, p in sources().items())
    (folder / "index.qmd").write_text(_page(words["kernels"], lang, items), encoding="utf-8")


@functools.cache
def _challenges() -> dict[str, str]:
    """{a challenge's line: the same, blanked} of every source."""
    found = {}
    for path in sources().values():
        text = path.read_text(encoding="utf-8")
        pairs = zip(text.split("\n"), without_challenge(text).split("\n"))
        found |= {a.strip(): b.strip() for a, b in pairs if a != b}
    return found


def _for_students(text: str) -> str:
    """A source with every challenge line blanked, in whichever kernel it stands."""
    lines = (line.replace(line.strip(), _challenges().get(line.strip(), line.strip())) for line in text.split("\n"))
    return "\n".join(lines)


def _page(title: str, lang: str, body: str) -> str:
    return f'---\ntitle: "{title}"\nlang: {lang}\ntoc: false\n---\n\n{body}\n'


def _first(path: Path) -> str:
    """The file's first comment, up to its first full stop."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.lstrip("/ "))
    lines[:1] = [re.sub(rf"^{re.escape(path.name)}\s*[-:]\s*", "", x) for x in lines[:1]]
    said = re.split(r"(?<=[.:])\s", " ".join(lines), maxsplit=1)[0].rstrip(":")
    return re.sub(r"([\\`*_{}\[\]<>$|])", r"\\\1", said)


def _numbered(text: str) -> str:
    from pygments import highlight  # Jupyter brings it
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import CppLexer

    lines = highlight(text, CppLexer(stripnl=False), HtmlFormatter(nowrap=True)).rstrip("\n").split("\n")
    rows = "\n".join(
        f'<span class="src-line" id="L{n}"><a href="#L{n}">{n}</a>{line}</span>' for n, line in enumerate(lines, 1)
    )
    return f'<pre class="kernel-source" tabindex="0"><code>{rows}</code></pre>'


def linked(page: str, up: str) -> str:
    """File names of kernels, and FILE:LINE of reports, as links to the source's page. up: the way to the language's root."""

    def name(m: re.Match) -> str:
        if m["name"] not in sources():
            return m[0]
        anchor = f"#L{m['line']}" if m["line"] else ""
        return f'<a class="source-link" href="{up}{address(m["name"])}{anchor}">{html.escape(html.unescape(m[0]))}</a>'

    skip = ALWAYS | {f"h{n}" for n in range(1, 7)}
    listing = re.compile(r'class="[^"]*\b(?:sourceCode (?:python|cpp)|kernel-source|do-\w+)\b')
    return inside_main(page, lambda body: over_text(body, lambda text: _FILE.sub(name, text), skip, listing))
