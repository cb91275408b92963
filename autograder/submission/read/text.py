"""From bytes to text, whatever encoding they were saved in; text that went through a wrong encoding is brought back where it can be."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

from autograder.submission.read.unreadable import Unreadable

MAX_GUESS = 4 << 20  # bytes by which an encoding is guessed
MANY = 0.04  # share of characters beyond ASCII from which a text is not English
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_PROSE = re.compile(r"(?:\b[a-z]{2,} ){4}", re.I)
# What stands for characters that an encoding does not have; runs of it, and what such a run may have been
_GONE = re.compile(r"[?\ufffd]")
_RUN = re.compile(r"(?:[^\x00-\x7f]|\?)+")


def text_of(data: bytes, hints: Iterable[str]) -> str:
    """hints: lines that the text is likely to hold, by which one of several possible encodings is chosen. Raises Unreadable."""
    if not data.strip(b"\x00 \t\r\n"):
        raise Unreadable(
            "文件是空的，请重新保存并提交。", "The file is empty; save the notebook and hand it in again.", foreign=True
        )
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, "replace")
    try:
        text = data.decode("utf-8")
        if "\x00" not in text.strip("\x00")[:200]:
            return text
    except UnicodeDecodeError:
        pass
    head = data[:200]
    if head[1::2].count(0) > 80 or head[::2].count(0) > 80:
        return data.decode("utf-16-le" if head[1::2].count(0) > 80 else "utf-16-be", "replace")
    return _best_guess(data, list(hints))


def _best_guess(data: bytes, hints: list[str]) -> str:
    """No BOM and not UTF-8: the encoding in which most of the hints are found."""
    odd = [h for h in hints if not h.isascii()]
    best, score = "", -1.0
    for encoding in ("gb18030", "big5", "utf-8", "cp1252", "latin-1", "shift_jis", "euc_jp", "euc_kr"):
        text = data[:MAX_GUESS].decode(encoding, "replace")
        value = sum(h in text for h in odd) - text.count("\ufffd") / max(1, len(text)) * 1000
        if value > score or not best:
            best, score = encoding, value
    text = data.decode(best, "replace")
    prose = [h for h in hints if _CHINESE.search(h) or _PROSE.search(h)]
    if (
        prose
        and text.lstrip().startswith("{")
        and len(re.findall(r"[^\x00-\x7f]", text)) > MANY * len(text)
        and not any(h in text for h in prose)
    ):
        raise Unreadable(
            "文件的文字编码无法识别，读出来是乱码；请用 UTF-8 保存后重新提交。",
            "The file's text encoding is not known, and its text cannot be read; save it as UTF-8 and hand it in again.",
        )
    return text


def mended(sources: list[str], hints: list[str]) -> list[str]:
    """Texts of UTF-8 that some tool took for another encoding and saved again, as they were; other texts as they are."""
    text = "\n".join(sources)
    if len(text.encode("utf-8", "replace")) - len(text) < MANY * len(text) or any(
        h in text for h in hints if not h.isascii()
    ):
        return sources
    marks = [h for h in hints if len(_CHINESE.findall(h)) >= 4]
    for encoding in ("cp1252", "gb18030"):
        back = [_back(s, encoding) for s in sources]
        if any(h in s for s in back for h in marks):
            return back
    return sources


def _back(text: str, encoding: str) -> str:
    """cp1252 lacks five bytes, which tools keep as they are: latin-1 for those, and for whoever took the text for that."""
    if text.isascii():
        return text
    try:
        data = b"".join(_byte(c) for c in text) if encoding == "cp1252" else text.encode(encoding)
    except UnicodeEncodeError:
        return text
    back = data.decode("utf-8", "replace")
    return back if back.count("\ufffd") * 20 <= len(back) else text


def _byte(c: str) -> bytes:
    try:
        return c.encode("cp1252")
    except UnicodeEncodeError:
        return c.encode("latin-1")


def shadow(line: str) -> str:
    """A line with every run of characters beyond ASCII, or of what replaced them, as one mark."""
    return _RUN.sub("?", line.strip())


def refuse_lost(lines: Iterable[str], known: frozenset[str], shadows: frozenset[str]) -> None:
    """Refuse a text whose Chinese characters are gone: more released lines are there with "?" for their characters than as they were.

    known: the released Chinese lines; shadows: of those. Raises Unreadable.
    """
    lost = kept = 0
    for line in lines:
        line = line.strip()
        if line in known:
            kept += 1
        elif _GONE.search(line) and shadow(line) in shadows:
            lost += 1
    if lost >= 3 and lost > kept:
        raise Unreadable(
            "文件里的中文在保存时丢失了（变成了问号），无法恢复；请从原来的笔记本用 UTF-8 重新保存并提交。",
            "The Chinese text of the file was lost when it was saved (it became question marks); save it again as UTF-8 from the original notebook and hand that in.",
        )
