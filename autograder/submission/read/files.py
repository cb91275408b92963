"""From a path or bytes to the notebooks in it: regular files of bounded size, out of a folder, a zip or a gzip.

A hand-in may hold several files; which of several notebooks is meant is told by content (pick.py), or here by name alone.
"""

from __future__ import annotations

import gzip
import heapq
import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from autograder.submission.read.kinds import what_it_is
from autograder.submission.read.unreadable import Unreadable

MAX_BYTES = 128 << 20
MAX_MEMBERS = 10_000  # files of a hand-in that are looked at where none is called .ipynb
MAX_BOOKS = 40  # notebooks of one hand-in that are looked into
MAX_DEPTH = 5  # folders below the hand-in
_SKIPPED = ("__MACOSX", ".ipynb_checkpoints", ".git", "__pycache__")
# What lies beside a notebook in a bundle or in nbgrader's folders.
_BESIDE = re.compile(
    r"lesson\.json|requirements(?:-gpu)?\.txt|README(?:\.\w+)?|glossary\.md|timestamp\.txt|submission_secret\.txt|Thumbs\.db|desktop\.ini|.*\.whl|.*\.pyc",
    re.I,
)
_PACKED = (b"PK\x03\x04", b"PK\x05\x06")
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Found:
    """A file that may be the notebook. name: with the folders it lies in, as the student knows it. path: the file on disk that holds it."""

    name: str
    data: bytes
    path: Path | None = None


def notebooks_in(source: Path | bytes, skip: frozenset[str] = frozenset()) -> list[Found]:
    """What a hand-in holds that may be its notebook, the nearest first: at least one, MAX_BYTES together.

    skip: names of folders not to look into. Never follows a link, never waits on a pipe. Raises Unreadable.
    """
    if isinstance(source, bytes):
        return _unpacked(source, "")
    if not _is_folder(source):
        return [replace(f, path=source) for f in _unpacked(read_file(source), source.name)]
    found, room, files = [], MAX_BYTES, files_in(source, skip)
    for path in files:
        data, name = read_file(path), path.relative_to(source).as_posix()
        room -= len(data)
        if room < 0:
            raise _too_large()
        try:
            inside = _unpacked(data, name)
        except Unreadable:
            if len(files) == 1:
                raise
            inside = [Found(name, data)]  # it is told as unreadable beside the others
        found += [replace(f, name=f"{name}/{f.name}" if len(inside) > 1 else name, path=path) for f in inside]
    return found


def read_bytes(path: Path, prefer: str = "") -> bytes:
    """The bytes of the notebook at `path`, in a folder or zip there; of several, of the one whose name alone holds `prefer`. Raises Unreadable."""
    return _by_name(notebooks_in(path), prefer)


def unpack(data: bytes, prefer: str = "") -> bytes:
    """The notebook inside a zip or gzip, whatever the file is called; other bytes as they are. Raises Unreadable."""
    return _by_name(_unpacked(data, ""), prefer)


def _by_name(found: list[Found], prefer: str) -> bytes:
    if len(found) > 1:
        named = [f for f in found if prefer and prefer in PurePosixPath(f.name).name]
        if len(named) != 1:
            raise several([f.name for f in found])
        found = named
    return found[0].data


def several(names: list[str]) -> Unreadable:
    listed = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
    return Unreadable(
        f"提交里有 {len(names)} 个笔记本（{listed}），无法判断批改哪一个，请只交一个。",
        f"There are {len(names)} notebooks in what was handed in ({listed}), and nothing tells which is meant; hand in exactly one.",
    )


# -- files --------------------------------------------------------------------------------------------------------------------


def _lstat(path: Path) -> os.stat_result:
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        raise Unreadable(
            "没有找到提交的文件，请重新提交 .ipynb 文件。",
            "The submitted file was not found; hand in the .ipynb file again.",
        ) from None


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(_lstat(path).st_mode)


def read_file(path: Path) -> bytes:
    """All bytes of one regular file of at most MAX_BYTES. Raises Unreadable."""
    refuse_unfit(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError("changed while it was read")
            data = file.read(MAX_BYTES + 1)
    except OSError as e:
        raise Unreadable(
            f"文件无法读取（{e.strerror}），请重新提交。", f"The file cannot be read ({e.strerror}); hand it in again."
        ) from None
    if len(data) > MAX_BYTES:
        raise _too_large()
    return data


def refuse_unfit(path: Path) -> None:
    """A link is refused wherever it leads: to another student's work as to a file of the machine. Raises Unreadable."""
    info = _lstat(path)
    if stat.S_ISLNK(info.st_mode):
        raise Unreadable("提交的是一个链接，请交文件本身。", "A link was handed in; hand in the file itself.")
    if not stat.S_ISREG(info.st_mode):
        raise Unreadable(
            "提交的不是普通文件，请交 .ipynb 文件。",
            "What was handed in is not an ordinary file; hand in the .ipynb file.",
        )
    if info.st_size > MAX_BYTES:
        raise _too_large()


def _too_large() -> Unreadable:
    size = MAX_BYTES >> 20
    return Unreadable(
        f"文件超过 {size} MiB。请清除输出（Edit → Clear Outputs of All Cells）后重新提交。",
        f"The file is larger than {size} MiB. Clear its outputs (Edit → Clear Outputs of All Cells) and hand it in again.",
    )


def files_in(folder: Path, skip: frozenset[str] = frozenset()) -> list[Path]:
    """Files below a folder that may be the notebook: every .ipynb; where there is none, what may be one under another name.

    skip: names of folders not to look into. Raises Unreadable where there is nothing to take.
    """
    try:
        too_deep: list[str] = []
        nearest = lambda paths: heapq.nsmallest(MAX_MEMBERS, paths, key=lambda p: (len(p.parts), p.name))  # noqa: E731
        books = nearest(p for p in _walk(folder, skip, 0, too_deep) if p.suffix.lower() == ".ipynb")
        files = books or nearest(_walk(folder, skip, 0, []))
    except OSError as e:
        raise Unreadable(
            f"提交的文件夹无法读取（{e.strerror}），请重新提交。",
            f"The folder handed in cannot be read ({e.strerror}); hand it in again.",
        ) from None
    if books:
        for path in () if any(_is_regular(p) for p in books) else books:
            refuse_unfit(path)
        books = [p for p in books if _is_regular(p)]
        if len(books) > MAX_BOOKS:
            raise several([p.relative_to(folder).as_posix() for p in books])
        return books
    others = [p for p in files if not _BESIDE.fullmatch(p.name)]
    others = [p for p in others if _is_regular(p) and _looks_like_a_book(p)][:MAX_BOOKS] or [
        p for p in others[:1] if len(others) == 1 and _is_known(p)
    ]
    if not others:
        zh, en = _there_is([p.relative_to(folder).as_posix() for p in files])
        if too_deep:
            zh, en = (
                f"{zh}；比 {MAX_DEPTH} 层更深的文件夹没有看",
                f"{en}, as deep as it was looked into ({MAX_DEPTH} folders)",
            )
        raise Unreadable(
            f"提交里没有 .ipynb 文件{zh}，请把笔记本放进去重新提交。",
            f"There is no .ipynb file in what was handed in{en}; put the notebook in and hand it in again.",
        )
    return others


def _walk(folder: Path, skip: frozenset[str], depth: int, too_deep: list[str]) -> Iterator[Path]:
    """Every file, but not of folders below MAX_DEPTH, whose names go to too_deep."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _SKIPPED:
                continue
            if not entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)
            elif entry.name not in skip and depth < MAX_DEPTH:
                yield from _walk(Path(entry.path), skip, depth + 1, too_deep)
            elif entry.name not in skip:
                too_deep.append(entry.name)


def _is_regular(path: Path) -> bool:
    return stat.S_ISREG(os.lstat(path).st_mode)


def is_packed(path: Path) -> bool:
    """Is it a zip or gzip, whatever it is called? False where it cannot be read."""
    return _is_packed(_head(path))


def _looks_like_a_book(path: Path) -> bool:
    head = _head(path)
    return (
        head.startswith((*_PACKED, _GZIP))
        or b'"cells"' in head.replace(b"\x00", b"")
        or b'"worksheets"' in head.replace(b"\x00", b"")
    )


def _is_known(path: Path) -> bool:
    """Is it a file of which more can be said than that it is no notebook?"""
    head = _head(path)
    return what_it_is(head, head.decode("utf-8", "replace")) is not None or head.lstrip(
        b"\xef\xbb\xbf \t\r\n"
    ).startswith(b"{")


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(1 << 16)
    except OSError:
        return b""


# -- archives -----------------------------------------------------------------------------------------------------------------


def _unpacked(data: bytes, name: str) -> list[Found]:
    """The notebooks inside a zip or gzip, whatever the file is called, also where that is in a zip itself; other bytes as they are."""
    found = _inside(data, name, MAX_BYTES)
    if not _is_packed(data):
        return found
    inner, refused, room = [], [], MAX_BYTES - sum(len(f.data) for f in found)
    for one in found:
        if not _is_packed(one.data):
            inner.append(one)
            continue
        try:
            books = _inside(one.data, one.name, room)
            if any(_is_packed(f.data) for f in books):
                raise Unreadable(
                    "压缩包里套了好几层压缩包，请直接交 .ipynb 文件。",
                    "The archive holds archives within archives; hand in the .ipynb file itself.",
                )
        except Unreadable as e:
            refused.append((one, e))
        else:
            room -= sum(len(f.data) for f in books)
            inner += [replace(f, name=f"{one.name}/{f.name}") if one.data.startswith(_PACKED) else f for f in books]
    if not inner:
        raise refused[0][1]
    inner += [one for one, e in refused if not e.foreign]  # told as unreadable beside the others
    if len(inner) > MAX_BOOKS:
        raise several([f.name for f in inner])
    return inner


def _is_packed(data: bytes) -> bool:
    return data.startswith((*_PACKED, _GZIP))


def _inside(data: bytes, name: str, room: int) -> list[Found]:
    """What may be the notebook in a zip or gzip, of at most `room` bytes; other bytes as they are."""
    if len(data) > room:
        raise _too_large()
    if data.startswith(_GZIP):
        inner = _bounded(gzip.GzipFile(fileobj=io.BytesIO(data)), room)
        if inner[257:262] == b"ustar":
            raise what_it_is(inner) or _damaged()
        return [Found(name, inner)]
    if not data.startswith(_PACKED):
        return [Found(name, data)]
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = []
            for member in _members(archive):
                if member.flag_bits & 1:
                    raise Unreadable(
                        "压缩包有密码，请直接交 .ipynb 文件。",
                        "The archive has a password; hand in the .ipynb file itself.",
                    )
                with archive.open(member) as file:
                    found.append(Found(member.filename, _bounded(file, room)))
                room -= len(found[-1].data)
            return found
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, KeyError, ValueError, OSError, EOFError, zlib.error):
        raise _damaged() from None


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Every .ipynb; where there is none, the archives."""
    members = [m for m in archive.infolist() if not m.is_dir()]
    if any(m.filename in ("word/document.xml", "xl/workbook.xml", "ppt/presentation.xml") for m in members):
        raise Unreadable(
            "这是 Office 文档，不是笔记本；请交 .ipynb 文件。",
            "This is an Office document, not a notebook; hand in the .ipynb file.",
        )
    members = [
        m
        for m in members
        if not any(s in PurePosixPath(m.filename).parts for s in _SKIPPED)
        and not PurePosixPath(m.filename).name.startswith("._")
    ]
    books = [m for m in members if m.filename.lower().endswith(".ipynb")] or [
        m for m in members if m.filename.lower().endswith((".zip", ".gz", ".tgz"))
    ]
    if not books:
        zh, en = _there_is([m.filename for m in members])
        raise Unreadable(
            f"压缩包里没有 .ipynb 文件{zh}，请把笔记本放进去重新提交。",
            f"There is no .ipynb file in the archive that was handed in{en}; put the notebook in and hand it in again.",
            foreign=True,
        )
    if len(books) > MAX_BOOKS:
        raise several([m.filename for m in books])
    return sorted(books, key=lambda m: (m.filename.count("/"), m.filename))


def _there_is(names: list[str]) -> tuple[str, str]:
    listed = ", ".join(names[:4])[:200]
    return (f"（有 {listed}）", f" (there is {listed})") if listed else ("", "")


def _bounded(file, limit: int) -> bytes:
    try:
        data = file.read(limit + 1)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, ValueError):
        raise _damaged() from None
    if len(data) > limit:
        raise _too_large()
    return data


def _damaged() -> Unreadable:
    return Unreadable("压缩包已损坏，请直接交 .ipynb 文件。", "The archive is damaged; hand in the .ipynb file itself.")
