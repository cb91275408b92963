"""From bytes to cells: any encoding, any nbformat from 2 on. Lenient on everything that a person or a tool gets wrong.

nbformat's own reader is not used here: it refuses or repairs by its schema, takes milliseconds a notebook, and reads UTF-8 only.
"""

from __future__ import annotations

import codecs
import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from autograder.grading.read.files import Unreadable

MAX_CELLS = 5_000
MAX_SOURCE = 200_000  # characters of one cell that are looked at
MAX_TEXT = 4_000_000  # characters of all cells together; later ones are read as empty
MAX_ITEMS = 8_000_000  # values in the JSON
MAX_OUTPUT = 20_000  # characters of one output's text that are kept
MAX_OUTPUTS = 200  # outputs of one cell that are looked at
MAX_GUESS = 4 << 20  # bytes by which an encoding is guessed
MAX_REMEMBERED = 5_000  # characters: larger texts are nobody's but one student's
MAX_MARKS = 30  # combining marks on one character; normalising takes quadratic time in them
RECEIPT = "application/vnd.hopper-course.receipt+json"


@dataclass
class NbCell:
    """kind: code, markdown or raw. index: place in the notebook from 0. ids: every name the cell's metadata gives it.

    outputs: text of its outputs; pictures: how many; receipts: their JSON; executed: its execution count.
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


@dataclass
class Notebook:
    cells: list[NbCell]
    lesson: str = ""  # what the metadata claim
    lang: str = ""


def read_notebook(data: bytes, hints: Iterable[str] = ()) -> Notebook:
    """Cells of a notebook. hints: lines of the released notebook, by which one of several possible encodings is chosen. Raises Unreadable."""
    if data.count(b",") > MAX_ITEMS and _STRING.sub(b"", data).count(b",") > MAX_ITEMS:
        raise Unreadable("文件内容过多，无法读取；请清除输出后重新提交。", "The file holds too many values to be read; clear its outputs and hand it in again.")
    document = _json(_text(data, hints), data)
    if not isinstance(document, dict):
        raise Unreadable("文件内容不是笔记本，请交 Jupyter 保存的 .ipynb 文件。", "The file's content is not a notebook; hand in the .ipynb file that Jupyter saved.")
    raw = document.get("cells")
    if not isinstance(raw, list):
        sheets = document.get("worksheets")
        raw = [c for s in sheets if isinstance(s, dict) for c in _list(s.get("cells"))] if isinstance(sheets, list) else None
    if raw is None:
        raise Unreadable("文件里没有单元格，不是笔记本；请交 Jupyter 保存的 .ipynb 文件。", "The file holds no cells, so it is not a notebook; hand in the .ipynb file that Jupyter saved.")
    course = _dict(_dict(document.get("metadata")).get("course"))
    cells, room = [], MAX_TEXT
    for i, one in enumerate(raw[:MAX_CELLS]):
        if isinstance(one, dict):
            cells.append(_cell(one, i, min(room, MAX_SOURCE)))
            room -= len(cells[-1].source)
    return Notebook(cells, _str(course.get("lesson")), _str(course.get("lang")))


_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.S)

# -- bytes to text ---------------------------------------------------------------------------------------------------------

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _text(data: bytes, hints: Iterable[str]) -> str:
    if not data.strip(b"\x00 \t\r\n"):
        raise Unreadable("文件是空的，请重新保存并提交。", "The file is empty; save the notebook and hand it in again.")
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, "replace")
    try:
        text = data.decode("utf-8")
        if "\x00" not in text[:200]:
            return text
    except UnicodeDecodeError:
        pass
    head = data[:200]
    if head[1::2].count(0) > 80 or head[::2].count(0) > 80:
        return data.decode("utf-16-le" if head[1::2].count(0) > 80 else "utf-16-be", "replace")
    return _best_guess(data, [h for h in hints if not h.isascii()])


def _best_guess(data: bytes, hints: list[str]) -> str:
    """No BOM and not UTF-8: the encoding in which most of the released notebook's lines are found."""
    best, score = "", -1.0
    for encoding in ("gb18030", "big5", "utf-8", "cp1252", "latin-1"):
        text = data[:MAX_GUESS].decode(encoding, "replace")
        found = sum(h in text for h in hints)
        value = found - text.count("\ufffd") / max(1, len(text)) * 1000
        if value > score or not best:
            best, score = encoding, value
    return data.decode(best, "replace")


def _json(text: str, data: bytes) -> object:
    try:
        return json.loads(text, parse_int=_int)
    except RecursionError:
        raise Unreadable("文件内部嵌套太深，不是 Jupyter 保存的笔记本。", "The file is nested too deeply to be a notebook that Jupyter saved.") from None
    except MemoryError:
        raise Unreadable("文件太大，无法读取；请清除输出后重新提交。", "The file is too large to be read; clear its outputs and hand it in again.") from None
    except json.JSONDecodeError as e:
        start = text.find("{")
        if 0 < start < 1000 and not text[:start].strip("\ufeff\x00 \t\r\n"):
            return _json(text[start:], data)
        raise _not_json(text, data, e) from None


def _int(digits: str) -> int | float:
    return int(digits) if len(digits) < 400 else float("inf")


def _not_json(text: str, data: bytes, error: json.JSONDecodeError) -> Unreadable:
    """What the file is instead, as far as its beginning tells, and what to do."""
    head = text.lstrip("\ufeff \t\r\n")[:2000].lower()
    if data.startswith(b"%PDF"):
        return Unreadable("这是 PDF，不是笔记本；请交 .ipynb 文件。", "This is a PDF, not a notebook; hand in the .ipynb file.")
    if head.startswith(("<!doctype", "<html", "<?xml")) or "<html" in head:
        return Unreadable("这是网页，不是笔记本；在 Jupyter 里用 File → Download 保存 .ipynb 文件再提交。", "This is a web page, not a notebook; in Jupyter use File → Download to save the .ipynb file and hand that in.")
    if re.search(r"^(<{7} |={7}$|>{7} )", text, re.M):
        return Unreadable("文件里有 Git 合并冲突的标记（<<<<<<<），请解决冲突后重新提交。", "The file holds marks of a Git merge conflict (<<<<<<<); resolve it and hand the notebook in again.")
    if head.startswith("version https://git-lfs"):
        return Unreadable("这是 Git LFS 的指针文件，不是笔记本本身；请先运行 git lfs pull。", "This is a Git LFS pointer, not the notebook itself; run git lfs pull first.")
    if head.startswith(("#", "import ", "from ", "def ", "---")):
        return Unreadable("这是文本或脚本，不是笔记本；请交 Jupyter 保存的 .ipynb 文件。", "This is text or a script, not a notebook; hand in the .ipynb file that Jupyter saved.")
    if head.startswith("{") and not text.rstrip().endswith("}"):
        return Unreadable("文件不完整，后半部分丢失了；请在 Jupyter 里重新保存并提交。", "The file is cut off; save the notebook again in Jupyter and hand it in.")
    return Unreadable(
        f"文件不是有效的笔记本（第 {error.lineno} 行无法读取）；请在 Jupyter 里打开、保存后重新提交。",
        f"The file is not a valid notebook (line {error.lineno} cannot be read); open and save it in Jupyter and hand it in again.",
    )


# -- JSON to cells ---------------------------------------------------------------------------------------------------------


def _dict(x: object) -> dict:
    return x if isinstance(x, dict) else {}


def _list(x: object) -> list:
    return x if isinstance(x, list) else []


def _str(x: object) -> str:
    return x if isinstance(x, str) else ""


def _joined(x: object, limit: int) -> str:
    """nbformat's multi-line strings: a string, or a list of them."""
    text = x if isinstance(x, str) else "".join(s for s in _list(x) if isinstance(s, str))
    return clean(text[:limit])


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
_UNCOMMON = re.compile("[^\x00-\u02ff\u2000-\u206f\u2100-\u23ff\u2460-\u27bf\u3000-\u3029\u3030-\u3098\u309b-\u9fff\uff00-\uffef]")


@lru_cache(maxsize=1)
def _marks() -> re.Pattern:
    """A run of combining marks too long for any script; group 1 is its beginning. U+0F73, U+0F75 and U+0F81 fall apart into marks."""
    marks = "".join(c for c in map(chr, range(0x300, 0x20000)) if unicodedata.combining(c)) + "\u0f73\u0f75\u0f81"
    return re.compile(f"([{marks}]{{{MAX_MARKS}}})[{marks}]+")


def _cell(raw: dict, index: int, room: int) -> NbCell:
    kind = _str(raw.get("cell_type"))
    source = _joined(raw.get("source", raw.get("input")), room)
    if kind == "heading":  # nbformat 3
        level = raw.get("level")
        source, kind = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + source, "markdown"
    if kind not in ("code", "markdown", "raw"):
        kind = "code" if "outputs" in raw or "input" in raw else "markdown"
    metadata = _dict(raw.get("metadata"))
    course, nbgrader = _dict(metadata.get("course")), _dict(metadata.get("nbgrader"))
    ids = [_str(nbgrader.get("grade_id")), _str(raw.get("id")), _str(metadata.get("id"))]
    cell = NbCell(kind, source, index, tuple(dict.fromkeys(i for i in ids if i)), _str(course.get("slot")), _str(course.get("role")) or _str(course.get("check")))
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
