"""The files of a download, a folder or a zip, by their place in it. Nothing is unpacked: a file's bytes are read when they are asked for."""

from __future__ import annotations

import contextlib
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from autograder.errors import CourseError
from autograder.gradebook.submissions import MAX_BYTES

JUNK = {"__MACOSX", "__pycache__", ".ipynb_checkpoints", ".git", ".DS_Store", "Thumbs.db", "desktop.ini"}


class NotTaken(Exception):
    """Why a file's bytes cannot be had, and what to do."""


@dataclass(frozen=True)
class File:
    """One file, or a folder with no file in it. place: below the download. time: later is greater, only to be compared within one download.

    read: its bytes; raises NotTaken where there are none to be had.
    """

    place: PurePosixPath
    time: tuple
    read: Callable[[], bytes]


@contextlib.contextmanager
def open_downloads(path: Path) -> Iterator[list[File]]:
    """All files in order of their places; what operating systems and Jupyter leave behind is left out. Raises CourseError."""
    if path.is_dir():
        yield _files(_of_folder(path))
    elif not zipfile.is_zipfile(path):
        raise CourseError(
            "The downloads are neither a folder nor a zip.",
            where=str(path),
            remedy="Name the folder or zip of submissions; unpack another kind of archive first.",
        )
    else:
        try:
            archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, ValueError, NotImplementedError):
            raise CourseError(
                "The zip is damaged.",
                where=str(path),
                remedy="Download it again, or unpack what can be unpacked and name the folder.",
            ) from None
        with archive:
            if any(member.flag_bits & 1 for member in archive.infolist()):
                raise CourseError("The zip has a password.", where=str(path), remedy="Unpack it and name the folder.")
            yield _files(_of_zip(archive))


def _files(found: Iterable[tuple[PurePosixPath, File | None]]) -> list[File]:
    """found: every place with its file, None for a folder. A folder that holds nothing else stands for itself: it may be a student's."""
    files, folders = [], set()
    for place, file in found:
        junk = next((n for n, part in enumerate(place.parts) if part in JUNK or part.startswith("._")), None)
        kept = PurePosixPath(*place.parts[:junk])
        folders |= set(kept.parents if junk is None else (kept, *kept.parents))
        if junk is None and file is not None:
            files.append(file)
        elif junk is None:
            folders.add(place)
    holding = {parent for place in (*folders, *(f.place for f in files)) for parent in place.parents}
    files += [
        File(place, (), partial(_refuse, "the folder holds no file; ask for the .ipynb file"))
        for place in folders - holding
    ]
    return sorted(files, key=lambda f: f.place)


def _refuse(why: str) -> bytes:
    raise NotTaken(why)


def _of_folder(root: Path) -> Iterator[tuple[PurePosixPath, File | None]]:
    for path in root.rglob("*"):
        info = path.lstat()
        place = PurePosixPath(*map(_told, path.relative_to(root).parts))
        yield place, None if stat.S_ISDIR(info.st_mode) else File(place, (info.st_mtime,), partial(_read, path))


def _read(path: Path) -> bytes:
    try:
        info = path.lstat()
        if not stat.S_ISREG(info.st_mode):  # a link is refused wherever it leads, a pipe is not waited for
            raise NotTaken("not an ordinary file; put the file itself here")
        if info.st_size > MAX_BYTES:
            raise NotTaken(_TOO_LARGE)
        return path.read_bytes()
    except OSError as e:
        raise NotTaken(f"it cannot be read: {e.strerror}; make it readable") from None


def _of_zip(archive: zipfile.ZipFile) -> Iterator[tuple[PurePosixPath, File | None]]:
    for member in archive.infolist():
        place = PurePosixPath(
            *(part for part in _member_name(member).replace("\\", "/").split("/") if part not in ("", ".", ".."))
        )
        if place.parts:
            yield (
                place,
                None if member.is_dir() else File(place, member.date_time, partial(_read_member, archive, member)),
            )


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if stat.S_ISLNK(member.external_attr >> 16):
        raise NotTaken("not an ordinary file; put the file itself here")
    try:
        with archive.open(member) as file:
            data = file.read(MAX_BYTES + 1)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        RuntimeError,
        ValueError,
    ):  # RuntimeError: also a compression that Python lacks
        raise NotTaken("damaged in the zip; download it again") from None
    if len(data) > MAX_BYTES:
        raise NotTaken(_TOO_LARGE)
    return data


_TOO_LARGE = "larger than 256 MiB; ask for it without its outputs"


def _told(name: str) -> str:
    """A file's name as text that can be stored: UTF-8, else what a Chinese Windows wrote, else with its bytes spelled out."""
    return _decoded(os.fsencode(name)) or os.fsencode(name).decode("utf-8", "backslashreplace")


def _member_name(member: zipfile.ZipInfo) -> str:
    """Python takes a name without the UTF-8 flag for code page 437; macOS writes UTF-8 there, a Chinese Windows GB 2312."""
    return (
        member.filename
        if member.flag_bits & 0x800
        else _decoded(member.filename.encode("cp437", "replace")) or member.filename
    )


def _decoded(name: bytes) -> str | None:
    for encoding in ("utf-8", "gb2312"):  # not all of GBK: that takes western letters of code page 437 for Chinese
        with contextlib.suppress(UnicodeDecodeError):
            return name.decode(encoding)
    return None
