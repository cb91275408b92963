"""From a path to the notebook's bytes: one regular file of bounded size, out of a folder or a zip where that is clear."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from autograder.lesson.rubric import Text

MAX_BYTES = 128 << 20
MAX_MEMBERS = 10_000
_SKIPPED = ("__MACOSX", ".ipynb_checkpoints", ".git")


class Unreadable(Exception):
    """The submission cannot be read. why: what to do about it, for the student."""

    def __init__(self, zh: str, en: str):
        self.why = Text(zh=zh, en=en)
        super().__init__(en)


def read_bytes(path: Path, prefer: str = "") -> bytes:
    """The bytes of the file at `path`; of a folder or zip, those of its only notebook, or of the one whose name holds `prefer`.

    Never follows a link, never waits on a pipe, never reads more than MAX_BYTES. Raises Unreadable.
    """
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        raise Unreadable("没有找到提交的文件，请重新提交 .ipynb 文件。", "The submitted file was not found; hand in the .ipynb file again.") from None
    if stat.S_ISLNK(info.st_mode):
        raise Unreadable("提交的是一个链接，请交文件本身。", "A link was handed in; hand in the file itself.")
    if stat.S_ISDIR(info.st_mode):
        return read_bytes(_only_notebook_in(path, prefer), prefer)
    if not stat.S_ISREG(info.st_mode):
        raise Unreadable("提交的不是普通文件，请交 .ipynb 文件。", "What was handed in is not an ordinary file; hand in the .ipynb file.")
    if info.st_size > MAX_BYTES:
        raise _too_large()
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError("changed while it was read")
            data = file.read(MAX_BYTES + 1)
    except OSError as e:
        raise Unreadable(f"文件无法读取（{e.strerror}），请重新提交。", f"The file cannot be read ({e.strerror}); hand it in again.") from None
    return unpack(data, prefer)


def _too_large() -> Unreadable:
    size = MAX_BYTES >> 20
    return Unreadable(f"文件超过 {size} MiB。请清除输出（Edit → Clear Outputs of All Cells）后重新提交。", f"The file is larger than {size} MiB. Clear its outputs (Edit → Clear Outputs of All Cells) and hand it in again.")


def _only_notebook_in(folder: Path, prefer: str) -> Path:
    try:
        found = sorted(p for p in folder.iterdir() if p.suffix.lower() == ".ipynb" and not p.is_symlink() and p.is_file())
    except OSError as e:
        raise Unreadable(f"提交的文件夹无法读取（{e.strerror}），请重新提交。", f"The folder handed in cannot be read ({e.strerror}); hand it in again.") from None
    return folder / _choose([p.name for p in found], prefer)


def _choose(candidates: list[str], prefer: str) -> str:
    if not candidates:
        raise Unreadable("提交里没有 .ipynb 文件，请把笔记本放进去重新提交。", "There is no .ipynb file in what was handed in; put the notebook in and hand it in again.")
    if len(candidates) > 1:
        named = [c for c in candidates if prefer and prefer in PurePosixPath(c).name]
        if len(named) != 1:
            listed = ", ".join(PurePosixPath(c).name for c in candidates[:4])
            raise Unreadable(f"提交里有 {len(candidates)} 个笔记本（{listed}），请只交一个。", f"There are {len(candidates)} notebooks in what was handed in ({listed}); hand in exactly one.")
        candidates = named
    return candidates[0]


def unpack(data: bytes, prefer: str = "") -> bytes:
    """The notebook inside a zip or gzip, whatever the file is called; other bytes as they are."""
    if len(data) > MAX_BYTES:
        raise _too_large()
    if data[:2] == b"\x1f\x8b":
        return _bounded(gzip.GzipFile(fileobj=io.BytesIO(data)))
    if data[:4] not in (b"PK\x03\x04", b"PK\x05\x06"):
        return data
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [m for m in archive.infolist()[:MAX_MEMBERS] if not m.is_dir()]
            if any(m.filename in ("word/document.xml", "xl/workbook.xml", "ppt/presentation.xml") for m in members):
                raise Unreadable("这是 Office 文档，不是笔记本；请交 .ipynb 文件。", "This is an Office document, not a notebook; hand in the .ipynb file.")
            books = [m.filename for m in members if m.filename.lower().endswith(".ipynb") and not any(s in PurePosixPath(m.filename).parts for s in _SKIPPED)]
            name = _choose([b for b in books if not PurePosixPath(b).name.startswith("._")], prefer)
            member = archive.getinfo(name)
            if member.flag_bits & 1:
                raise Unreadable("压缩包有密码，请直接交 .ipynb 文件。", "The archive has a password; hand in the .ipynb file itself.")
            with archive.open(member) as file:
                return _bounded(file)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, KeyError, ValueError, OSError, EOFError, zlib.error):
        raise _damaged() from None


def _bounded(file) -> bytes:
    try:
        data = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, ValueError):
        raise _damaged() from None
    if len(data) > MAX_BYTES:
        raise _too_large()
    return data


def _damaged() -> Unreadable:
    return Unreadable("压缩包已损坏，请直接交 .ipynb 文件。", "The archive is damaged; hand in the .ipynb file itself.")
