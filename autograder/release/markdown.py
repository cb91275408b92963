"""Quarto's Markdown rewritten so that JupyterLab shows it well.

JupyterLab renders CommonMark, tables, math and ```mermaid fences, and passes <details> through. It does not know divs,
callouts, attributes in braces, footnotes, or .qmd links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from autograder.lesson.references import OPAQUE  # code spans and math, which inline rewriting must leave alone
from autograder.release.divs import Div, Text, closes, fence_of, parse_attrs

CALLOUT = {
    "zh": {"note": "说明", "tip": "提示", "warning": "警告", "important": "重点", "caution": "小心"},
    "en": {"note": "Note", "tip": "Tip", "warning": "Warning", "important": "Important", "caution": "Caution"},
}
ICON = {"note": "ℹ️", "tip": "💡", "warning": "⚠️", "important": "❗", "caution": "🚧"}
COLOUR = {
    "note": "2,119,189",
    "tip": "46,125,50",
    "warning": "217,119,6",
    "important": "198,40,40",
    "caution": "217,119,6",
}

_ATTR_TAIL = r"\{(?=[^}]*[.#=])[^{}]*\}"
_HEADING = re.compile(rf"^(#{{1,6}} .*?)\s*(?:{_ATTR_TAIL})?\s*$")
_IMAGE = re.compile(
    rf"!\[(?P<alt>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<path>[^)\s]+)(?:\s+\"[^\"]*\")?\)(?P<attrs>{_ATTR_TAIL})?"
)
_QMD_LINK = re.compile(
    rf"(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<path>[^)\s]*?\.qmd)(?P<anchor>#[\w-]+)?\)(?:{_ATTR_TAIL})?"
)
_COMPANION = re.compile(r"\.\./(?!lesson\d\d_|home/|overview/|write/)([\w-]+)/(?:zh|en)\.qmd$")
_SPAN = re.compile(rf"(?<!!)\[(?P<text>[^\[\]]+)\]{_ATTR_TAIL}")
_LINK_ATTRS = re.compile(rf"(?<!!)(\[(?:[^\[\]]|\[[^\]]*\])*\]\([^)\s]+\)){_ATTR_TAIL}")
_FOOTNOTE = re.compile(r"\[\^([\w-]+)\](: *)?")
_TABLE_CAPTION = re.compile(rf"^:\s+(?P<text>.+?)\s*(?:{_ATTR_TAIL})?$")
_COMMENT = re.compile(r"<!--.*?-->", re.S)


def render(nodes: Iterable[Div | Text], lang: str, asset: Callable[[str], str]) -> str:
    """Markdown for a run of nodes that holds no cells. asset: maps an image path of the page to the notebook's."""
    parts = []
    for node in nodes:
        if isinstance(node, Text):
            parts.append(_text(node.lines, lang, asset))
        elif node.in_notebook:
            body = render(node.children, lang, asset)
            parts.append(_callout(node, body, lang) if node.callout else body)
    return "\n\n".join(p.strip("\n") for p in parts if p.strip())


def callout_title(div: Div, body: str, lang: str) -> tuple[str, str]:
    """(title, body without the heading that served as title)."""
    title = div.attrs.values.get("title", "")
    if not title:
        first, _, rest = body.lstrip("\n").partition("\n")
        if first.startswith("#"):
            title, body = first.lstrip("# "), rest.lstrip("\n")
    kind = div.callout or "note"
    return f"{ICON.get(kind, '')} {title or CALLOUT[lang].get(kind, kind.title())}".strip(), body


def _callout(div: Div, body: str, lang: str) -> str:
    title, body = callout_title(div, body, lang)
    body = _headings_to_bold(body)
    # a bar and a tint that suit light and dark; the text keeps the reader's own colour (JupyterLab's .alert does not)
    rgb = COLOUR.get(div.callout or "note", COLOUR["note"])
    box = f'<div style="border-left:4px solid rgb({rgb});background-color:rgba({rgb},0.1);padding:0.5em 1em;margin:1em 0">'
    if div.attrs.values.get("collapse") in ("true", "false"):
        opened = " open" if div.attrs.values["collapse"] == "false" else ""
        return f"{box}<details{opened}>\n<summary><strong>{title}</strong></summary>\n\n{body}\n\n</details></div>"
    return f"{box}\n\n**{title}**\n\n{body}\n\n</div>"  # blank lines: what stands between them is Markdown


def _headings_to_bold(body: str) -> str:
    return _outside_fences(body.split("\n"), lambda lines: [re.sub(r"^#{1,6} (.*)$", r"**\1**\n", x) for x in lines])


def _outside_fences(
    lines: list[str],
    change: Callable[[list[str]], list[str]],
    fence_change: Callable[[list[str]], list[str]] | None = None,
) -> str:
    """Apply `change` to each run of lines outside code fences, `fence_change` to each whole fence."""
    out: list[str] = []
    run: list[str] = []
    fence: list[str] = []
    mark = ""
    for line in lines:
        opened = None if mark else fence_of(line)
        if mark:
            fence.append(line)
            if closes(line, mark):
                out += fence_change(fence) if fence_change else fence
                fence, mark = [], ""
        elif opened:
            out += change(run)
            run, fence, mark = [], [line], opened[0]
        else:
            run.append(line)
    return "\n".join(out + fence + change(run))


def _text(lines: list[str], lang: str, asset: Callable[[str], str]) -> str:
    return _outside_fences(lines, lambda run: _prose("\n".join(run), asset).split("\n") if run else [], _fence)


def _fence(lines: list[str]) -> list[str]:
    """Plain info strings: ```{mermaid} -> ```mermaid, ```{.cpp filename=..} -> ```cpp, ```{=html} -> its content."""
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    mark, info = fence_of(lines[0])
    if info == "{=html}":
        return lines[1:-1]
    if not info.startswith("{"):
        return lines
    inner = info.strip("{} ")
    name = inner if re.fullmatch(r"\w+", inner) else next(iter(parse_attrs(info).classes), "")
    body, caption = lines[1:-1], ""
    if name == "mermaid":
        options = [x.strip() for x in body if x.strip().startswith("%%|")]
        body = [x for x in body if not x.strip().startswith("%%|")]
        caption = next((m[1] for o in options if (m := re.match(r"%%\|\s*fig-cap:\s*\"?(.*?)\"?$", o))), "")
    return [f"{indent}{mark}{name}", *body, lines[-1], *(["", f"*{caption}*"] if caption else [])]


def _prose(text: str, asset: Callable[[str], str]) -> str:
    text = _COMMENT.sub("", text)
    lines = []
    for line in text.split("\n"):
        if m := _HEADING.match(line):
            line = m[1]
        elif m := _TABLE_CAPTION.match(line):
            line = f"*{m['text']}*"
        lines.append(line)
    kept: list[str] = []

    def hide(m: re.Match) -> str:
        kept.append(m[0])
        return f"\x00{len(kept) - 1}\x00"

    text = OPAQUE.sub(hide, "\n".join(lines))
    text = _IMAGE.sub(lambda m: _image(m, asset), text)
    text = _QMD_LINK.sub(_page_link, text)
    text = _LINK_ATTRS.sub(r"\1", text)
    text = _SPAN.sub(lambda m: m["text"], text)
    text = _FOOTNOTE.sub(lambda m: f"<sup>{m[1]}</sup>" + (" " if m[2] else ""), text)
    while "\x00" in text:  # an opaque piece may stand inside another (code in a caption)
        text = re.sub(r"\x00(\d+)\x00", lambda m: kept[int(m[1])], text)
    return text


def companion(path: str) -> str | None:
    """The name of the page that is handed out beside the notebook for a .qmd link: a glossary is, another lesson is not."""
    m = _COMPANION.match(path)
    return f"{m[1]}.md" if m else None


def _page_link(m: re.Match) -> str:
    page = companion(m["path"])
    return f"[{m['text']}]({page}{m['anchor'] or ''})" if page else m["text"]


def _image(m: re.Match, asset: Callable[[str], str]) -> str:
    """A figure keeps its caption as a line below it: JupyterLab shows no alt text."""
    attrs = parse_attrs(m["attrs"]).values if m["attrs"] else {}
    alt = attrs.get("fig-alt") or re.sub(r"[\[\]\x00]", "", m["alt"])
    caption = f"\n\n*{m['alt']}*" if m["alt"] and m["attrs"] is not None else ""
    return f"![{alt}]({asset(m['path'])}){caption}"
