"""Code of a kernel that a page shows is code of that kernel: a quotation names its file and is held to it, token by token.

    <!-- from kernels/cuda/ring_pipeline.cu -->
    ```cpp
    mbarrier_wait(&ring.empty[p.index], p.phase ^ 1);
    ...
    p = advance(p);
    ```

Blanks, line breaks and comments are the page's own, so that a line fits a phone and a comment speaks the page's language; a line that is
`...` or `// ...`, or `/* ... */` inside a line, stands for what is left out. The bugs that can be built into a kernel are not shown: the
file is read as it is without them. `<!-- sketch -->` marks C++ that quotes nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from autograder.lesson.model import Edition
from autograder.lint.problem import Problem
from autograder.release.divs import closes, fence_of

FREE_LINES = 3  # a signature or the challenge's line needs no source
_FROM = re.compile(r"^\s*<!-- from (?P<path>\S+) -->\s*$")
_SKETCH = re.compile(r"^\s*<!-- sketch\b.*-->\s*$")
_LEFT_OUT = re.compile(r"^[ \t]*(?://|#)?[ \t]*(?:\.\.\.|…)[ \t]*$|/\*[ \t]*(?:\.\.\.|…)[ \t]*\*/", re.M)
_C_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_PYTHON_COMMENT = re.compile(r"(?m)(?:^|(?<=\s))#[^\n]*")
_TOKEN = re.compile(r"\w+|[^\w\s]")
# `if (BUGGY(x)) statement;` and `if (BUGGY(x)) { ... } else` go, `if (!BUGGY(x))` leaves what it guards.
_BUG = re.compile(r"if \(BUGGY\(\w+\)\)\s*(?:\{[^{}]*\}\s*(?:else\b)?|[^;{}]*;\s*(?:else\b)?)")
_NO_BUG = re.compile(r"if \(!BUGGY\(\w+\)\)\s*")
_BUG_CHOICE = re.compile(r"BUGGY\(\w+\) \? [^:;?]+ : ")
_BUG_TERM = re.compile(r"!BUGGY\(\w+\) && | && !BUGGY\(\w+\)|BUGGY\(\w+\) \|\| | \|\| BUGGY\(\w+\)")


def lint_quotes(edition: Edition, root: Path) -> list[Problem]:
    """Quotations that are not in their file, files that are not there, C++ of more than FREE_LINES lines that names none."""
    out = []
    lines = edition.text.split("\n")
    n = 0
    while n < len(lines):
        opened = fence_of(lines[n])
        if not opened:
            n += 1
            continue
        end = next((m for m in range(n + 1, len(lines)) if closes(lines[m], opened[0])), len(lines))
        above = next((x for x in reversed(lines[max(0, n - 2) : n]) if x.strip()), "")
        body, named = lines[n + 1 : end], _FROM.match(above)
        if named:
            out += _held(edition.path, n + 1, "\n".join(body), root, named["path"])
        elif re.match(r"\s*[`~]{3,}\s*(?:cpp|c\+\+|cuda|\{\.(?:cpp|cuda)\b)", lines[n]) and not _SKETCH.match(above):
            if sum(bool(x.strip()) for x in body) > FREE_LINES:
                out.append(
                    Problem(
                        edition.path,
                        n + 1,
                        "The code does not say which kernel it is from.",
                        "Write `<!-- from kernels/cuda/NAME.cu -->` above it, or `<!-- sketch -->` where it quotes none.",
                    )
                )
        n = end + 1
    return out


def _held(page: Path, line: int, quoted: str, root: Path, name: str) -> list[Problem]:
    path = root / name
    if not path.is_file():
        return [Problem(page, line, f"There is no file {name} to quote.", "Mend the name in the comment above.")]
    at, whole = 0, _tokens_of_file(path, path.stat().st_mtime_ns)
    for part in _LEFT_OUT.split(quoted):
        wanted = _joined(part, path.suffix)
        if not wanted.strip():
            continue
        found = whole.find(wanted, at)
        if found < 0:
            shown = next((x.strip() for x in part.splitlines() if _joined(x, path.suffix) not in whole), None)
            return [
                Problem(
                    page,
                    line,
                    f"The code is not in {name}"
                    + (
                        f": {shown!r} is nowhere in it."
                        if shown
                        else " in this order, or something between is left out."
                    ),
                    "Copy it from the file; a line `// ...` stands for what is left out.",
                )
            ]
        at = found + len(wanted) - 1  # the blank that ends a part may begin the next
    return []


@lru_cache(maxsize=64)
def _tokens_of_file(path: Path, _changed: int) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        text = _C_COMMENT.sub(" ", text)
        for pattern in (_BUG, _NO_BUG, _BUG_CHOICE, _BUG_TERM):
            text = pattern.sub("", text)
    return _joined(text, path.suffix)


def _joined(text: str, suffix: str) -> str:
    """Its tokens without comments, each between blanks."""
    bare = (_PYTHON_COMMENT if suffix == ".py" else _C_COMMENT).sub(" ", text)
    tokens = _TOKEN.findall(bare)
    return f" {' '.join(tokens)} " if tokens else ""
