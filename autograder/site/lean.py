"""A page's weight: of Bootstrap only the rules that the site's pages use, of its icons only the glyphs, and no library that nothing calls.

Only what smalldocs copies is made lean; Quarto's own stylesheets stay as it made them.
"""

from __future__ import annotations

import io
import logging
import re
from pathlib import Path

_CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_STATE = {"show", "collapsed", "active", "collapsing", "disabled", "quarto-dark", "fade"}  # set by scripts
DROP = ("bootstrap", "fuse")  # their scripts: course.js and search.js do what the site needs of them


def make_lean(site: Path) -> None:
    """Shrink site/site_libs in place."""
    libs = site / "site_libs"
    if not (libs / "smalldocs.css").is_file():
        return
    words = set(_STATE)
    for path in [*site.rglob("*.html"), *site.rglob("*.js")]:
        if "site_vendor" not in path.parts:
            words |= set(_WORD.findall(path.read_text(encoding="utf-8")))
    for sheet in sorted((libs / "themes").glob("*.css")):
        css = sheet.read_text(encoding="utf-8")
        licence = re.search(r"(?s)/\*!.*?\*/", css)
        sheet.write_text((licence[0] if licence else "") + used_rules(css, words), encoding="utf-8")
    _icons(libs / "bootstrap-icons", libs / "smalldocs.css", words)
    (site / "search.json").unlink(missing_ok=True)  # of smalldocs' own search, which is not on the pages
    for name in DROP:
        for script in (libs / name).glob("*.js"):
            script.unlink()


def used_rules(css: str, words: set[str]) -> str:
    """The stylesheet without the rules whose every selector names a class that is not among `words`."""
    css = re.sub(r"(?s)/\*.*?\*/", "", css)
    out = []
    for head, body in _blocks(css):
        if body is None:
            out.append(head)
        elif head.startswith("@"):
            nested = head.startswith(("@media", "@supports", "@container", "@layer"))
            inner = used_rules(body, words) if nested else body
            if inner.strip():
                out.append(f"{head}{{{inner}}}")
        else:
            kept = [s for s in _selectors(head) if all(c in words for c in _CLASS.findall(s))]
            if kept:
                out.append(f"{','.join(kept)}{{{body}}}")
    return "".join(out)


def _selectors(head: str) -> list[str]:
    """A selector list at its own commas, not at those inside :is(...)."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(head):
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append(head[start:i])
            start = i + 1
    return [*parts, head[start:]]


def _blocks(css: str):
    """(head, body) of each top-level block, (statement, None) of @import and @charset."""
    at = 0
    while at < len(css):
        brace, semi = css.find("{", at), css.find(";", at)
        if brace < 0:
            return
        if 0 <= semi < brace and css[at:semi].lstrip().startswith("@"):
            yield css[at : semi + 1].strip(), None
            at = semi + 1
            continue
        depth, end = 1, brace + 1
        quote = ""
        while depth and end < len(css):
            c = css[end]
            if quote:
                quote = "" if c == quote and css[end - 1] != "\\" else quote
            elif c in "\"'":
                quote = c
            else:
                depth += (c == "{") - (c == "}")
            end += 1
        yield css[at:brace].strip(), css[brace + 1 : end - 1]
        at = end


def _icons(folder: Path, sheet: Path, words: set[str]) -> None:
    """The icon font cut to the glyphs that pages or the renderer's stylesheet name."""
    css = folder / "bootstrap-icons.min.css"
    font = next(iter(folder.rglob("*.woff")), None)
    if not css.is_file() or font is None:
        return
    from fontTools import subset  # matplotlib brings it

    logging.getLogger("fontTools").setLevel(logging.ERROR)
    text = css.read_text(encoding="utf-8")
    points = {m[1]: m[2] for m in re.finditer(r'\.(bi-[\w-]+)::?before\{content:"\\([0-9a-f]+)"\}', text)}
    named = {n for n in points if n in words}
    codes = {int(points[n], 16) for n in named} | {
        int(c, 16) for c in re.findall(r'content: ?"\\(f[0-9a-f]{3})"', sheet.read_text(encoding="utf-8"))
    }
    options = subset.Options(flavor="woff", layout_features=[], notdef_outline=True, drop_tables=["DSIG"])
    loaded = subset.load_font(str(font), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=codes)
    cutter.subset(loaded)
    cut = io.BytesIO()
    subset.save_font(loaded, cut, options)
    font.write_bytes(cut.getvalue())
    for other in folder.rglob("*.woff2"):
        other.unlink()
    source = f'src:url("{font.relative_to(folder).as_posix()}") format("woff")'
    text = re.sub(r"(@font-face\{[^}]*?)src:[^}]*", lambda m: m[1] + source, text)
    unused = lambda m: "" if m[1] not in named else m[0]  # noqa: E731
    css.write_text(re.sub(r'\.(bi-[\w-]+)::?before\{content:"[^"]*"\}', unused, text), encoding="utf-8")
