"""From bytes to cells: any encoding, any nbformat from 2 on. Lenient on everything that a person or a tool gets wrong.

nbformat's own reader is not used here: it refuses or repairs by its schema, takes milliseconds a notebook, and reads UTF-8 only.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from autograder.submission.read.kinds import a_link, what_it_is
from autograder.submission.read.text import mended, text_of
from autograder.submission.read.unreadable import Unreadable

MAX_CELLS = 5_000
MAX_SOURCE = 200_000  # characters of one cell that are looked at
MAX_TEXT = 4_000_000  # characters of all cells together; later ones are read as empty
MAX_ITEMS = 8_000_000  # values in the JSON
MAX_OUTPUT = 20_000  # characters of one output's text that are kept
MAX_OUTPUTS = 200  # outputs of one cell that are looked at
MAX_REMEMBERED = 5_000  # characters: larger texts are nobody's but one student's
MAX_MARKS = 30  # combining marks on one character; normalising takes quadratic time in them
RECEIPT = "application/vnd.hopper-course.receipt+json"


@dataclass
class NbCell:
    """kind: code, markdown or raw. index: place in the notebook from 0. ids: every name the cell's metadata gives it.

    outputs: text of its outputs; pictures: how many; receipts: their JSON; executed: its execution count. cut: its source is longer than
    what is kept of it.
    """

    kind: str
    source: str
    index: int
    ids: tuple[str, ...] = ()
    slot: str = ""
    role: str = ""
    outputs: list[str] = field(default_factory=list)
    pictures: int = 0
    receipts: list[dict] = field(default_factory=list)
    executed: int | None = None
    attachments: int = 0
    cut: bool = False


@dataclass
class Notebook:
    """lesson, lang, release: what the metadata claim. cut: it has more cells, or more text in them, than is looked at.
    missed: and there is text in what is not."""

    cells: list[NbCell]
    lesson: str = ""
    lang: str = ""
    release: str = ""
    cut: bool = False
    missed: bool = False


def read_notebook(data: bytes, hints: Iterable[str] = ()) -> Notebook:
    """Cells of a notebook. hints: lines of the released notebook, by which one of several possible encodings is chosen. Raises Unreadable."""
    if data.count(b",") > MAX_ITEMS and _STRING.sub(b"", data).count(b",") > MAX_ITEMS:
        raise Unreadable(
            "文件内容过多，无法读取；请清除输出后重新提交。",
            "The file holds too many values to be read; clear its outputs and hand it in again.",
        )
    hints = list(hints)
    text = text_of(data, hints)
    document = _json(text, data)
    if not isinstance(document, dict):
        raise what_it_is(data, text) or Unreadable(
            "文件内容不是笔记本，请交 Jupyter 保存的 .ipynb 文件。",
            "The file's content is not a notebook; hand in the .ipynb file that Jupyter saved.",
        )
    raw = document.get("cells")
    if not isinstance(raw, list):
        sheets = document.get("worksheets")
        raw = (
            [c for s in sheets if isinstance(s, dict) for c in _list(s.get("cells"))]
            if isinstance(sheets, list)
            else None
        )
    if raw is None and isinstance(document.get("url"), str):  # Google Drive's shortcut
        raise a_link()
    if raw is None:
        raise Unreadable(
            "文件里没有单元格，不是笔记本；请交 Jupyter 保存的 .ipynb 文件。",
            "The file holds no cells, so it is not a notebook; hand in the .ipynb file that Jupyter saved.",
        )
    course = _dict(_dict(document.get("metadata")).get("course"))
    cells, room, cut = [], MAX_TEXT, False
    for i, one in enumerate(raw[:MAX_CELLS]):
        if isinstance(one, dict):
            cells.append(_cell(one, i, min(room, MAX_SOURCE)))
            cut |= cells[-1].cut and room < MAX_SOURCE
            room = max(0, room - len(cells[-1].source))
    for cell, source in zip(cells, mended([c.source for c in cells], hints), strict=True):
        cell.source = source
    return Notebook(
        cells,
        _str(course.get("lesson")),
        _str(course.get("lang")),
        _str(course.get("release"))[:40],
        cut or len(raw) > MAX_CELLS,
        cut or any(_has_text(c) for c in raw[MAX_CELLS:]),
    )


_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.S)

# -- text to JSON ----------------------------------------------------------------------------------------------------------


def _json(text: str, data: bytes) -> object:
    text = text.lstrip("\ufeff\x00 \t\r\n")
    decoder = json.JSONDecoder(
        parse_int=_int, strict=False
    )  # strict refuses a tab or a line break in a string, which hand-edited files have
    try:
        try:
            document, end = decoder.raw_decode(text)
        except json.JSONDecodeError:
            whole = _without_last_commas(text)
            if whole == text:
                raise
            text = whole
            document, end = decoder.raw_decode(text)
    except RecursionError:
        raise Unreadable(
            "文件内部嵌套太深，不是 Jupyter 保存的笔记本。",
            "The file is nested too deeply to be a notebook that Jupyter saved.",
        ) from None
    except MemoryError:
        raise Unreadable(
            "文件太大，无法读取；请清除输出后重新提交。",
            "The file is too large to be read; clear its outputs and hand it in again.",
        ) from None
    except json.JSONDecodeError as e:
        raise _not_json(text, data, e) from None
    if (
        text[end : end + 1000].lstrip("\ufeff\x00 \t\r\n").startswith("{")
    ):  # other text after the notebook is a mail's signature or the like
        raise Unreadable(
            "文件里前后接着两个笔记本，请只留一个。",
            "The file holds two notebooks, one after the other; leave only one in it.",
        )
    return document


# All up to a comma before a closing bracket; of a string without an end all that is left, so that this takes linear time.
_TO_LAST_COMMA = re.compile(r'((?:[^",]++|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|,(?!\s*[}\]]))*+),?', re.S)


def _without_last_commas(text: str) -> str:
    """JSON without the commas after a last item, which an edit or a merge leaves behind."""
    return "".join(_TO_LAST_COMMA.findall(text)) if re.search(r",\s*[}\]]", text) else text


def _int(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float("inf")


def _not_json(text: str, data: bytes, error: json.JSONDecodeError) -> Unreadable:
    """What the file is instead, and what to do."""
    known = what_it_is(data, text)
    if known is not None:
        return known
    if text.startswith("{") and (
        error.pos >= len(text.rstrip("\x00 \t\r\n")) or error.msg.startswith("Unterminated string")
    ):
        return Unreadable(
            "文件不完整，后半部分丢失了；请重新提交你电脑上的那一份。如果那一份在 Jupyter 里也打不开，就把写的内容抄进重新下载的笔记本再提交。",
            "The file is cut off; hand in the one on your own machine again. If Jupyter cannot open that one either, copy your work into a freshly downloaded notebook and hand that in.",
        )
    return Unreadable(
        f"文件不是有效的笔记本（第 {error.lineno} 行无法读取），Jupyter 也打不开它。请改正这一行，或者把写的内容抄进重新下载的笔记本再提交。",
        f"The file is not a valid notebook (line {error.lineno} cannot be read), and Jupyter cannot open it either. Mend that line, or copy your work into a freshly downloaded notebook and hand that in.",
    )


# -- JSON to cells ---------------------------------------------------------------------------------------------------------


def _dict(x: object) -> dict:
    return x if isinstance(x, dict) else {}


def _list(x: object) -> list:
    return x if isinstance(x, list) else []


def _str(x: object) -> str:
    return x if isinstance(x, str) else ""


def _joined(x: object, limit: int) -> str:
    return clean(_whole(x)[:limit])


def _whole(x: object) -> str:
    """nbformat's multi-line strings: a string, or a list of them."""
    return x if isinstance(x, str) else "".join(s for s in _list(x) if isinstance(s, str))


def _has_text(raw: object) -> bool:
    return bool(_whole(_dict(raw).get("source", _dict(raw).get("input"))).strip())


def _before_last_statement(code: str) -> str:
    """Code that was cut off, without the statement in which it ends."""
    last = max((m.start() for m in re.finditer(r"\n(?=[^\s)\]}#])", code)), default=0)
    return code[:last]


def clean(text: str) -> str:
    """Newlines as \\n; no characters that no text or database can hold (lone surrogates, NUL)."""
    return _remembered(text) if len(text) <= MAX_REMEMBERED else _cleaned(text)


@lru_cache(maxsize=512)
def _remembered(text: str) -> str:
    """Most cells are as they were released, the same in every notebook of the class."""
    return _cleaned(text)


def _cleaned(text: str) -> str:
    if "\r" in text or "\x00" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return unicodedata.normalize("NFC", _marks().sub(r"\1", text) if _UNCOMMON.search(text) else text)


# Beside ASCII, Latin, punctuation, arrows, mathematics, kana, Chinese and full width: none of the common characters is a combining mark.
_UNCOMMON = re.compile(
    "[^\x00-\u02ff\u2000-\u206f\u2100-\u23ff\u2460-\u27bf\u3000-\u3029\u3030-\u3098\u309b-\u9fff\uff00-\uffef]"
)


@lru_cache(maxsize=1)
def _marks() -> re.Pattern:
    """A run of combining marks too long for any script; group 1 is its beginning. U+0F73, U+0F75 and U+0F81 fall apart into marks."""
    marks = "".join(c for c in map(chr, range(0x300, 0x20000)) if unicodedata.combining(c)) + "\u0f73\u0f75\u0f81"
    return re.compile(f"([{marks}]{{{MAX_MARKS}}})[{marks}]+")


def _cell(raw: dict, index: int, room: int) -> NbCell:
    kind = _str(raw.get("cell_type"))
    whole = _whole(raw.get("source", raw.get("input")))
    source = clean(whole[:room])
    if kind == "heading":  # nbformat 3
        level = raw.get("level")
        source, kind = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + source, "markdown"
    if kind not in ("code", "markdown", "raw"):
        kind = "code" if "outputs" in raw or "input" in raw else "markdown"
    cut = len(whole) > room
    if cut and kind == "code":
        source = _before_last_statement(source)
    metadata = _dict(raw.get("metadata"))
    course, nbgrader = _dict(metadata.get("course")), _dict(metadata.get("nbgrader"))
    ids = [_str(nbgrader.get("grade_id")), _str(raw.get("id")), _str(metadata.get("id"))]
    cell = NbCell(
        kind,
        source,
        index,
        tuple(dict.fromkeys(i for i in ids if i)),
        _str(course.get("slot")),
        _str(course.get("role")) or _str(course.get("check")),
    )
    cell.cut = cut
    cell.attachments = len(_dict(raw.get("attachments")))
    count = raw.get("execution_count", raw.get("prompt_number"))
    cell.executed = count if isinstance(count, int) and not isinstance(count, bool) else None
    for output in _list(raw.get("outputs"))[:MAX_OUTPUTS]:
        _add_output(cell, _dict(output))
    return cell


def _add_output(cell: NbCell, output: dict) -> None:
    data = _dict(output.get("data"))
    if not data:  # nbformat 3 keeps the data in the output itself, under short names
        data = {"text/plain": output.get("text"), "image/png": output.get("png"), "image/svg+xml": output.get("svg")}
    for name in ("text/plain", "text/markdown", "text/html"):
        if text := _joined(data.get(name), MAX_OUTPUT):
            cell.outputs.append(text)
            break
    if isinstance(output.get("text"), (str, list)) and data.get("text/plain") is not output.get("text"):
        cell.outputs.append(_joined(output["text"], MAX_OUTPUT))
    if output.get("ename") or output.get("evalue"):
        cell.outputs.append(clean(f"{output.get('ename')}: {output.get('evalue')}"[:MAX_OUTPUT]))
    cell.pictures += any(name.startswith("image/") and data.get(name) for name in data)
    receipt = data.get(RECEIPT)
    if isinstance(receipt, str):
        try:
            receipt = json.loads(receipt)
        except (ValueError, RecursionError):
            receipt = None
    if isinstance(receipt, dict):
        cell.receipts.append(receipt)
