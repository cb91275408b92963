"""Bytes and files that a notebook is handed in as. Each takes (notebook, value from cases.yml, released notebook, folder)."""

from __future__ import annotations

import copy
import gzip
import io
import os
import re
import tarfile
import zipfile
from collections.abc import Callable

import nbformat

from autograder.lesson import load_lesson
from autograder.lesson.model import LANGS
from autograder.release.notebook import student_notebook
from tests.hostile.cells import dump, part, put, source_of


def _bytes(encode: Callable[[str], bytes]):
    return lambda nb, value, released, folder: encode(dump(nb).decode("utf-8", "surrogatepass"))


def _raw(nb, value, released, folder):
    return value.encode("utf-8")


def _repeat(nb, value, released, folder):
    return (value["text"] * value["times"] + value.get("then", "")).encode()


def _truncate(nb, value, released, folder):
    data = dump(nb)
    return data[: len(data) * value // 100]


def _bad_byte(nb, value, released, folder):
    data = bytearray(dump(nb))
    data[data.index(b"honest") + 2] = 0xFF
    return bytes(data)


def _nan(nb, value, released, folder):
    return dump(nb).replace(b'"nbformat": 4', b'"loss": NaN, "best": -Infinity, "nbformat": 4')


def _zip(nb, value, released, folder):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in value or ["homework/my notebook.ipynb"]:
            archive.writestr(name, dump(nb))
        archive.writestr("__MACOSX/._my notebook.ipynb", b"\x00\x05")
    return buffer.getvalue()


def _zip_in_zip(nb, value, released, folder):
    """value: the depth, and what lies in the innermost one in place of the notebook."""
    name, data = value.get("member", "homework/my notebook.ipynb"), dump(nb)
    for _ in range(value["depth"]):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, data)
        name, data = "homework.zip", buffer.getvalue()
    return data


def _zip_of_two(nb, value, released, folder):
    """The notebook, and beside it one with another fill, or one that is as it was released. value: that fill, by file name."""
    ((name, fill),) = value.items()
    other = copy.deepcopy(nb) if fill else released
    if fill:
        part(other, "exercise")["source"] = put(source_of(released, "exercise"), fill)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, dump(other))
        archive.writestr("work/mine.ipynb", dump(nb))
    return buffer.getvalue()


def _zip_bomb(nb, value, released, folder):
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("a.ipynb", "w") as member,
    ):
        for _ in range(value):
            member.write(b" " * (1 << 20))
    return buffer.getvalue()


def _in_folder(nb, value, released, folder):
    target = folder / "handed in"
    target.mkdir()
    (target / (value or "final (2).ipynb")).write_bytes(dump(nb))
    return target


def _symlink(nb, value, released, folder):
    link = folder / "link.ipynb"
    os.symlink(value, link)
    return link


def _fifo(nb, value, released, folder):
    path = folder / "pipe.ipynb"
    os.mkfifo(path)
    return path


def _missing(nb, value, released, folder):
    return folder / "not there.ipynb"


def _sparse(nb, value, released, folder):
    path = folder / "sparse.ipynb"
    with path.open("wb") as file:
        file.truncate(value << 20)
    return path


def _mojibake(nb, value, released, folder):
    """UTF-8 that a tool took for another encoding and saved as UTF-8 again."""
    return dump(nb).decode(value).encode()


def _with_bytes(nb, value, released, folder):
    return value["before"].encode() + dump(nb) + value["after"].encode()


def _magic(nb, value, released, folder):
    """A file of another kind, by its first bytes."""
    return bytes.fromhex(value) + dump(nb)[:100]


def _tar_gz(nb, value, released, folder):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        info = tarfile.TarInfo("a.ipynb")
        info.size = len(dump(nb))
        archive.addfile(info, io.BytesIO(dump(nb)))
    return buffer.getvalue()


def _bundle(nb, value, released, folder):
    """The bundle's folder with its notebook of one language worked on. value: "folder" or "zip"."""
    lang = nb["metadata"]["course"]["lang"]
    books = {
        lang: dump(nb),
        **{
            x: nbformat.writes(student_notebook(load_lesson(nb["metadata"]["course"]["lesson"]), x)).encode()
            for x in LANGS
            if x != lang
        },
    }
    name = nb["metadata"]["course"]["lesson"]
    files = {f"{x}/{name}.ipynb": data for x, data in books.items()} | {
        "lesson.json": b"{}",
        "requirements.txt": b"numpy",
        "README.md": b"# x",
    }
    if value == "zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for path, data in files.items():
                archive.writestr(f"{name}/{path}", data)
        return buffer.getvalue()
    for path, data in files.items():
        (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / name / path).write_bytes(data)
    return folder / name


FILES: dict[str, Callable] = {
    "zip_of_two": _zip_of_two, "raw": _raw, "repeat": _repeat, "truncate": _truncate, "bad_byte": _bad_byte, "nan": _nan, "zip": _zip,
    "zip_bomb": _zip_bomb, "in_folder": _in_folder, "symlink": _symlink, "fifo": _fifo, "missing": _missing, "sparse": _sparse, "mojibake": _mojibake,
    "with_bytes": _with_bytes, "magic": _magic, "tar_gz": _tar_gz, "bundle": _bundle, "zip_in_zip": _zip_in_zip,
    "encode": lambda nb, value, released, folder: dump(nb).decode().encode(value, "replace"),
    "bom": _bytes(lambda t: b"\xef\xbb\xbf" + t.encode()),
    "crlf": _bytes(lambda t: t.replace("\n", "\r\n").encode()),
    "utf16": _bytes(lambda t: t.encode("utf-16")),
    "utf16_no_bom": _bytes(lambda t: t.encode("utf-16-le")),
    "gbk": _bytes(lambda t: t.encode("gbk", "replace")),
    "utf32": _bytes(lambda t: t.encode("utf-32")),
    "last_commas": _bytes(lambda t: re.sub(r"([^\s,\[{])(\s*\n\s*[\]}])", r"\1,\2", t).encode()),
    "gzip": _bytes(lambda t: gzip.compress(t.encode())),
}  # fmt: skip
