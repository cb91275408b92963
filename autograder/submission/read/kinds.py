"""What a file is instead of a notebook, as far as its bytes tell, and what to do about it."""

from __future__ import annotations

import re

from autograder.submission.read.unreadable import Unreadable

_MAGIC = (
    # the Chinese name stands after "这是": with a blank before Latin letters
    (b"%PDF", " PDF", "a PDF"),
    (b"Rar!\x1a\x07", " RAR 压缩包", "a RAR archive"),
    (b"7z\xbc\xaf'\x1c", " 7z 压缩包", "a 7z archive"),
    (b"\xfd7zXZ\x00", " xz 压缩包", "an xz archive"),
    (b"BZh", " bzip2 压缩包", "a bzip2 archive"),
    (b"\x89PNG\r\n\x1a\n", "图片（PNG）", "a picture (PNG)"),
    (b"\xff\xd8\xff", "图片（JPEG）", "a picture (JPEG)"),
    (b"GIF8", "图片（GIF）", "a picture (GIF)"),
    (b"BM", "图片（BMP）", "a picture (BMP)"),
    (b"RIFF", "图片或媒体文件", "a picture or another media file"),
    (b"\xd0\xcf\x11\xe0", " Office 文档", "an Office document"),
    (b"{\\rtf", " RTF 文档", "an RTF document"),
    (b"\x7fELF", "程序", "a program"),
    (b"MZ", "程序", "a program"),
)
_LINK = re.compile(r"^\[InternetShortcut\]|^\s*https?://\S+\s*$|<key>URL</key>|^\[Desktop Entry\]", re.I)


def what_it_is(data: bytes, text: str = "") -> Unreadable | None:
    """A file that is no JSON. text: its bytes as text. None where nothing is known."""
    head = text.lstrip("\ufeff \t\r\n\x00")[:2000]
    low = head.lower()
    if _LINK.search(head):
        return a_link()
    if data[257:262] == b"ustar":
        return _instead(" tar 压缩包", "a tar archive")
    if not head.startswith("{") or low.startswith("{\\rtf"):
        for magic, zh, en in _MAGIC:
            if data.startswith(magic) and (len(magic) > 2 or not data[:64].isascii()):
                return _instead(zh, en)
        if data[4:8] == b"ftyp":
            return _instead("图片或视频", "a picture or a video")
    if low.startswith(("<!doctype", "<html", "<?xml")) or "<html" in low:
        return Unreadable(
            "这是网页，不是笔记本；在 Jupyter 里用 File → Download 保存 .ipynb 文件再提交。",
            "This is a web page, not a notebook; in Jupyter use File → Download to save the .ipynb file and hand that in.",
        )
    if re.search(r"^[ \t]*(?:<{7} |={7}$|>{7} )", text, re.M):
        return Unreadable(
            "文件里有 Git 合并冲突的标记（<<<<<<<），请解决冲突后重新提交。",
            "The file holds marks of a Git merge conflict (<<<<<<<); resolve it and hand the notebook in again.",
        )
    if low.startswith("version https://git-lfs"):
        return Unreadable(
            "这是 Git LFS 的指针文件，不是笔记本本身；请先运行 git lfs pull。",
            "This is a Git LFS pointer, not the notebook itself; run git lfs pull first.",
        )
    if re.match(r"\\(?:documentclass|begin|input|usepackage)\b", head):
        return _instead(" LaTeX 文件", "a LaTeX file")
    if low.startswith(("#", "import ", "from ", "def ", "---")):
        return Unreadable(
            "这是文本或脚本，不是笔记本；请交 Jupyter 保存的 .ipynb 文件。",
            "This is text or a script, not a notebook; hand in the .ipynb file that Jupyter saved.",
        )
    return None


def a_link() -> Unreadable:
    return Unreadable(
        "这是一个链接，不是笔记本本身；请把 .ipynb 文件下载下来再提交。",
        "This is a link, not the notebook itself; download the .ipynb file and hand that in.",
    )


def _instead(zh: str, en: str) -> Unreadable:
    return Unreadable(
        f"这是{zh}，不是笔记本；请直接交 .ipynb 文件。",
        f"This is {en}, not a notebook; hand in the .ipynb file itself.",
    )
