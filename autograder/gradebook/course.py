"""The course folder: nbgrader's layout, its configuration and its gradebook, opened with errors a person can act on.

source/<lesson>/      release/<lesson>/      written by `course release`
submitted/<student>/<lesson>/<lesson>.ipynb  what was handed in, byte for byte
autograded/<student>/<lesson>/               what formgrader shows
feedback/<student>/<lesson>/<lesson>.html    what a student gets
gradebook.db                                 nbgrader's database (or PostgreSQL, by URL)
grading/                                     journal and lock of the run that is going on, exports and reports
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.gradebook.settings import CONFIG_NAME, CONFIG_TEXT

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

STEPS = ("source", "release", "submitted", "autograded", "feedback")


class CourseFolder:
    """Paths, settings and gradebook of one course. Nothing is written before `prepare` is called."""

    def __init__(self, root: Path, *, db_url: str | None = None):
        self.root = Path(root).resolve()
        self._db_url = db_url
        self._config = None

    def step(self, step: str, student: str, lesson: str) -> Path:
        """A student's folder in one of nbgrader's steps, e.g. autograded/<student>/<lesson>."""
        return self.root / step / student / lesson

    @property
    def grading(self) -> Path:
        return self.root / "grading"

    def prepare(self) -> None:
        """Make the folders and nbgrader_config.py where they are missing. Raises CourseError where that cannot be done."""
        _ = self.db_url  # refuses a folder that can have no gradebook, before anything is made in it
        try:
            for name in (*STEPS, "grading"):
                (self.root / name).mkdir(parents=True, exist_ok=True)
            config = self.root / CONFIG_NAME
            if not config.exists():
                write_atomically(config, CONFIG_TEXT)
        except (FileExistsError, NotADirectoryError) as e:
            at = Path(e.filename or self.root)
            file = next((p for p in (at, *at.parents) if p.exists()), at)
            raise CourseError(
                "The course folder cannot be written: a file stands where it needs a folder.",
                where=str(file),
                remedy="Move the file away, or name another course folder with --course.",
            ) from None
        except OSError as e:
            raise CourseError(
                f"The course folder cannot be written: {e.strerror}.",
                where=str(self.root),
                remedy="Make it writable or name another with --course.",
            ) from None

    @property
    def config(self):
        """The folder's nbgrader_config.py as a traitlets Config; the default settings where it has none."""
        if self._config is None:
            from traitlets.config import Config
            from traitlets.config.loader import PyFileConfigLoader

            if (self.root / CONFIG_NAME).is_file():
                try:
                    self._config = PyFileConfigLoader(CONFIG_NAME, path=str(self.root)).load_config()
                except Exception as e:  # an instructor's file may raise anything
                    raise CourseError(
                        f"The settings cannot be read: {type(e).__name__}: {e}.",
                        where=str(self.root / CONFIG_NAME),
                        remedy="Mend the file.",
                    ) from e
            else:
                from autograder.gradebook.settings import configure

                settings = Config()
                configure(settings, str(self.root / CONFIG_NAME))
                return settings  # not kept: the file may be made later
        return self._config

    def forget_config(self) -> None:
        """Read the settings again when they are asked for next: a file that they rest on has changed."""
        self._config = None

    @property
    def db_url(self) -> str:
        """The gradebook's URL: given, or from the settings, or SQLite in this folder. Raises CourseError where it is none that keeps a gradebook."""
        if self._db_url:
            return usable(self._db_url)
        url = self.config.get("CourseDirectory", {}).get("db_url")
        if isinstance(url, str) and url:
            return usable(url)
        if {"?", "%"} & set(str(self.root)):  # parts of a URL: the gradebook would stand in another folder
            raise CourseError(
                "A course folder's name can hold neither ? nor %.",
                where=str(self.root),
                remedy="Name another with --course.",
            )
        return f"sqlite:///{self.root / 'gradebook.db'}"

    @property
    def sqlite_file(self) -> Path | None:
        """The database file, or None where the gradebook is on a server."""
        from sqlalchemy.engine import make_url

        url = make_url(self.db_url)
        return (
            Path(url.database)
            if url.get_backend_name() == "sqlite" and url.database and "uri" not in url.query
            else None
        )

    @contextlib.contextmanager
    def gradebook(self, *, must_exist: bool = False, write: bool = False) -> Iterator[Gradebook]:
        """nbgrader's Gradebook, with our table beside its own.

        Every database error inside the block becomes one CourseError: locked, read-only, not a database, no server.
        must_exist: reading commands must not make an empty gradebook.  write: refuse before any work where it cannot be written.
        """
        file = self.sqlite_file
        if must_exist and file and not file.is_file():
            raise CourseError(
                "There is no gradebook.",
                where=str(file),
                remedy="Run `course grade` first, or name the course folder with --course.",
            )
        if file and write:
            _refuse_read_only(file)
        from nbgrader.api import InvalidEntry
        from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError

        gradebook = None
        try:
            gradebook = open_gradebook(self.db_url)
            if write:
                _probe(gradebook)
            yield gradebook
        except DBAPIError as e:
            raise _explain(e, self.db_url, isinstance(e, OperationalError)) from e
        except InvalidEntry as e:  # nbgrader's own wrapping of a database error
            raise _explain(e, self.db_url, True) from e
        except (NoSuchModuleError, ModuleNotFoundError) as e:
            raise CourseError(
                f"The driver for this gradebook is not installed ({e}).", where=_safe(self.db_url), remedy=_DRIVERS
            ) from None
        except ArgumentError as e:  # a URL of the right form that its database does not take
            raise CourseError(
                f"This is no URL of a gradebook ({' '.join(str(e).split())[:80]}).",
                where=_safe(self.db_url),
                remedy=_URLS,
            ) from None
        finally:
            if gradebook is not None:
                gradebook.close()


_URLS = "Write it like sqlite:////folder/gradebook.db or postgresql+psycopg://user@host/name; without --db it is gradebook.db in the course folder."
_DRIVERS = 'The course keeps its gradebook in SQLite, which needs no driver, or in PostgreSQL: pip install "psycopg[binary]" and a URL postgresql+psycopg://user@host/name.'


def usable(url: str) -> str:
    """The same URL, if it has the form of one and what is written there stays. Raises CourseError."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        found = make_url(url)
    except (ArgumentError, ValueError):
        raise CourseError(
            "This is no URL of a gradebook.", where=re.sub(r":[^:@]*@", ":***@", url), remedy=_URLS
        ) from None
    if found.get_backend_name() == "sqlite" and (
        found.database in (None, "", ":memory:") or ":memory:" in url or "mode=memory" in url
    ):
        raise CourseError(
            "This SQLite URL names no file: the gradebook would be gone when the command ends.", where=url, remedy=_URLS
        )
    return url


def open_gradebook(db_url: str) -> Gradebook:
    """nbgrader's Gradebook at this URL, with our result table. Raises SQLAlchemy's errors."""
    from nbgrader.api import Gradebook

    from autograder.gradebook.tables import metadata

    _stamp_new(db_url)
    gradebook = Gradebook(db_url)
    metadata.create_all(gradebook.engine)
    return gradebook


def _stamp_new(db_url: str) -> None:
    """The version of its layout, as the first thing in a database that holds nothing.

    nbgrader writes it after all tables and asks a process `alembic` for it: one that is killed, or not on PATH, costs the run, and leaves a
    gradebook that `nbgrader db upgrade` takes for an older one. Stopped at any moment, this way is gone on with at the next opening.
    """
    from sqlalchemy import create_engine, inspect, text

    engine = create_engine(db_url)
    try:
        if inspect(engine).get_table_names():
            return
        from alembic.script import ScriptDirectory
        from nbgrader.dbutil import ALEMBIC_DIR

        head = ScriptDirectory(ALEMBIC_DIR).get_current_head()
        with engine.begin() as connection:  # another lesson's run may make the same gradebook at this moment
            connection.execute(text("CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) NOT NULL)"))
            connection.execute(
                text(
                    "INSERT INTO alembic_version (version_num) SELECT :head WHERE NOT EXISTS (SELECT 1 FROM alembic_version)"
                ),
                {"head": head},
            )
    finally:
        engine.dispose()


def _refuse_read_only(file: Path) -> None:
    """Also for an administrator, whom the mode bits do not stop: a gradebook marked read-only is meant to be kept."""
    target = file if file.exists() else file.parent
    if target.exists() and (not os.access(target, os.W_OK) or not target.stat().st_mode & 0o222):
        raise CourseError(
            "The gradebook is read-only.",
            where=str(target),
            remedy=f"Make it writable (chmod u+w {target}) or name another course folder with --course.",
        )


def _probe(gradebook: Gradebook) -> None:
    """Write nothing, as a write: a locked or read-only gradebook is told before any work, not after it."""
    from sqlalchemy import text

    with gradebook.engine.connect() as connection:
        connection.execute(text("DELETE FROM course_result WHERE assignment IS NULL"))
        connection.rollback()


def _safe(url: str) -> str:
    from sqlalchemy.engine import make_url

    return make_url(url).render_as_string(hide_password=True)


def _explain(e: Exception, url: str, operational: bool) -> CourseError:
    said = " ".join(str(getattr(e, "orig", e)).split())
    where = _safe(url)
    if "database is locked" in said:
        return CourseError(
            "The gradebook is locked by another program.",
            where=where,
            remedy="Close formgrader's or nbgrader's running job and run the same command again; nothing graded is lost.",
        )
    if "readonly database" in said or "read-only" in said:
        return CourseError(
            "The gradebook is read-only.",
            where=where,
            remedy="Make it writable, or name another course folder with --course.",
        )
    if "not a database" in said or "malformed" in said:
        return CourseError(
            "The gradebook file is damaged or not a database.",
            where=where,
            remedy="Restore it from a copy, or move it away and run `course grade` again.",
        )
    if "disk is full" in said:
        return CourseError(
            "The disk that holds the gradebook is full.",
            where=where,
            remedy="Make room, then run the same command again; nothing graded is lost.",
        )
    if "unable to open" in said:
        return CourseError(
            "The gradebook cannot be opened.", where=where, remedy="Check that its folder exists and can be written."
        )
    if "no such column" in said or "no such table" in said:
        return CourseError(
            f"The gradebook has another layout than this nbgrader ({said}).",
            where=where,
            remedy="Back it up and run `nbgrader db upgrade` in the course folder.",
        )
    if operational and url.startswith("sqlite"):
        return CourseError(
            f"The gradebook file cannot be used: {said}.",
            where=where,
            remedy="Check the disk, the quota and the permissions, then run the same command again; nothing graded is lost.",
        )
    if operational:
        return CourseError(
            f"The gradebook's server cannot be used: {said}.",
            where=where,
            remedy="Check the URL, the server and the permissions, then run the same command again.",
        )
    return CourseError(
        f"The gradebook refused the data: {said}.",
        where=where,
        remedy="Run the same command again; if it happens again, report it with this message.",
    )


_SIDES = ("", "-journal", "-wal", "-shm")  # what SQLite keeps beside a database is a part of it


def refuse_own(path: Path, course: CourseFolder, submissions: Path | None = None) -> None:
    """A file that the user named must not be one that the course folder lives on, by whatever name, nor lie among the submissions. Nor may
    it be a notebook that is there: somebody's work. Raises CourseError."""
    at, gradebook = path.resolve(), course.sqlite_file
    if submissions is not None and at.is_relative_to(submissions.resolve()):
        raise CourseError(
            "This lies in the folder of submissions.",
            where=str(path),
            remedy="Name a file outside it: what the students handed in stays as it is.",
        )
    if at.suffix.lower() == ".ipynb" and at.exists():
        raise CourseError(
            "This is a notebook, which would be written over.", where=str(path), remedy="Name another file."
        )
    own = [course.root / name for name in (*STEPS, CONFIG_NAME)] + [
        gradebook.resolve().with_name(gradebook.resolve().name + end) for end in _SIDES if gradebook
    ]
    same = gradebook is not None and path.exists() and gradebook.exists() and path.samefile(gradebook)
    if (
        same
        or any(at.is_relative_to(p) for p in own)
        or (at.parent == course.grading and at.suffix in (".jsonl", ".lock"))
    ):
        raise CourseError(
            "This is the gradebook itself, or another file that the course folder lives on.",
            where=str(path),
            remedy="Name another file.",
        )


def write_output(path: Path, data: str, course: CourseFolder) -> None:
    """Write a file that the user named, whole or not at all. A link is followed; a device or pipe, such as /dev/stdout, is written to and
    stays what it is. Raises OSError, and CourseError where the file is the course folder's own.
    """
    refuse_own(path, course)
    found = path.stat() if path.exists() else None
    if found is not None and os.path.samestat(
        found, os.fstat(1)
    ):  # /dev/stdout, perhaps sent to a file: what else is printed follows it
        sys.stdout.flush()
        with open(1, "wb", closefd=False) as out:
            out.write(data.encode("utf-8", "replace"))
    elif found is not None and not stat.S_ISREG(found.st_mode):
        path.write_text(data, encoding="utf-8", errors="replace")
    else:
        write_atomically(path.resolve(), data, mode=stat.S_IMODE(found.st_mode) if found else 0o644)


def write_atomically(path: Path, data: str | bytes, mode: int = 0o644) -> None:
    """Write a file whole or not at all. What a kill leaves behind has a fixed name, which the next run takes over."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        temporary.write_bytes(data.encode("utf-8", "replace") if isinstance(data, str) else data)
        temporary.chmod(mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
