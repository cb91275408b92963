"""Everything `course release` writes: the student's bundle (folder and zip) and nbgrader's source and release folders.

    DIR/bundles/<lesson>/         README.md, requirements.txt, requirements-gpu.txt, the wheel, lesson.json,
                                  zh/<lesson>.ipynb, en/<lesson>.ipynb, each with assets/
    DIR/bundles/<lesson>.zip      the same
    DIR/source/<lesson>/          nbgrader: <lesson>.ipynb (the main language), assets/, lesson.json, the other language in a folder
    DIR/release/<lesson>/         the same as source: what is released holds no solution in the first place

A lesson's folders are made aside and then put in place, so that an interrupted run leaves the old ones or the new ones.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import nbformat

from autograder.errors import CourseError
from autograder.lesson.model import LANGS, Lesson
from autograder.release.data import student_lesson
from autograder.release.notebook import companion_pages, notebook_assets, student_notebook
from autograder.release.requirements import pins
from autograder.release.wheel import SOURCE, build_wheel
from autograder.release.words import README
from autograder.student.data import FILE, to_json

STALE_S = 3600  # a release takes seconds


def release(
    lessons: Iterable[Lesson],
    out: Path,
    main_lang: str = "zh",
    progress: Callable[[str], None] = lambda message: None,
    prebuild: bool = False,
) -> list[Path]:
    """Write the release of each lesson into `out`; returns the zips. Running it again changes nothing that is already right.

    main_lang: the language of the notebook that nbgrader hands out under the lesson's name.  prebuild: see build_wheel.
    Raises CourseError where an asset is missing or `out` cannot be written; then nothing of that lesson is changed.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        _sweep(out)
        work = Path(tempfile.mkdtemp(prefix=".release-", dir=out))
    except OSError as e:
        raise CourseError(
            f"The folder cannot be written: {e.strerror}.",
            where=str(out),
            remedy="Make it writable or name another with --out.",
        ) from None
    try:
        progress("the student's wheel")
        wheel = build_wheel(work / "build", prebuild)
        requirements = {
            "requirements.txt": [f"./{wheel.name}", *pins(SOURCE)],
            "requirements-gpu.txt": ["-r requirements.txt", *_gpu_pins()],
        }
        zips = []
        for lesson in lessons:
            told = student_lesson(lesson)
            progress(f"{lesson.slug}, release " + ", ".join(f"{told.release(lang)} ({lang})" for lang in LANGS))
            made = work / lesson.slug
            _bundle(lesson, made / "bundle" / lesson.slug, wheel, requirements)
            _zip(made / "bundle" / lesson.slug, made / f"{lesson.slug}.zip")
            _nbgrader(lesson, made / "nbgrader", main_lang)
            _place(made / "bundle" / lesson.slug, out / "bundles" / lesson.slug)
            _place(made / f"{lesson.slug}.zip", out / "bundles" / f"{lesson.slug}.zip")
            shutil.copytree(made / "nbgrader", made / "nbgrader-release")
            _place(made / "nbgrader", out / "source" / lesson.slug)
            _place(made / "nbgrader-release", out / "release" / lesson.slug)
            zips.append(out / "bundles" / f"{lesson.slug}.zip")
        _settings(out)
        return zips
    except OSError as e:
        gathered = (
            e.args[0] if isinstance(e, shutil.Error) and isinstance(e.args[0], list) else []
        )  # copytree's: (from, to, why)
        why = gathered[0][2] if gathered else e.strerror or e
        raise CourseError(
            f"The release could not be written: {why}.",
            where=str(e.filename or out),
            remedy="Free the place or name another folder with --out, and run it again.",
        ) from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _sweep(out: Path) -> None:
    """Remove what a run that was killed left behind."""
    for left in out.glob(".release-*"):
        if time.time() - left.stat().st_mtime > STALE_S:
            shutil.rmtree(left, ignore_errors=True)


def _gpu_pins() -> list[str]:
    """What a GPU adds to the student's packages."""
    base = set(pins(SOURCE))
    return [p for p in pins(SOURCE, "gpu") if p not in base]


def _bundle(lesson: Lesson, folder: Path, wheel: Path, requirements: dict[str, list[str]]) -> None:
    folder.mkdir(parents=True)
    shutil.copyfile(wheel, folder / wheel.name)
    for name, lines in requirements.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    told = student_lesson(lesson)
    by_lang = {f"title_{lang}": told.title[lang] for lang in LANGS} | {
        f"release_{lang}": told.release(lang) for lang in LANGS
    }
    (folder / "README.md").write_text(README.format(slug=lesson.slug, **by_lang), encoding="utf-8")
    (folder / FILE).write_text(to_json(told), encoding="utf-8")
    for lang in LANGS:
        _notebook(lesson, lang, folder / lang)


def _nbgrader(lesson: Lesson, folder: Path, main_lang: str) -> None:
    _notebook(lesson, main_lang, folder)
    (folder / FILE).write_text(to_json(student_lesson(lesson)), encoding="utf-8")
    for lang in LANGS:
        if lang != main_lang:
            _notebook(lesson, lang, folder / lang)


def _notebook(lesson: Lesson, lang: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{lesson.slug}.ipynb").write_text(
        nbformat.writes(student_notebook(lesson, lang)) + "\n", encoding="utf-8"
    )
    for name, page in companion_pages(lesson, lang).items():
        (folder / name).write_text(page, encoding="utf-8")
    for name, source in notebook_assets(lesson, lang).items():
        if not source.is_file():
            raise CourseError(
                f"The {lang} page shows an image that is not there: {source.name}.",
                where=str(source),
                remedy="Draw it (figures/) or mend the path; `course lint` lists all.",
            )
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)


def _zip(folder: Path, target: Path) -> None:
    """The same files give the same bytes: sorted, one time, plain permissions."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as z:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            info = zipfile.ZipInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}", (1980, 1, 1, 0, 0, 0))
            info.external_attr = 0o644 << 16
            z.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)


def _place(new: Path, target: Path) -> None:
    """Move `new` to `target` by renaming; a target with the same content stays untouched."""
    if _same(new, target):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.is_file():
        os.replace(new, target)
        return
    old = new.with_name(new.name + ".old")  # a folder cannot be replaced in one step: the old one is set aside first
    os.replace(target, old)
    try:
        os.replace(new, target)
    except OSError:
        os.replace(old, target)
        raise


def _same(a: Path, b: Path) -> bool:
    if a.is_file() or b.is_file() or not b.exists():
        return a.is_file() and b.is_file() and filecmp.cmp(a, b, shallow=False)
    names = lambda folder: {p.relative_to(folder) for p in folder.rglob("*") if p.is_file()}
    return names(a) == names(b) and all(filecmp.cmp(a / n, b / n, shallow=False) for n in names(a))


def _settings(out: Path) -> None:
    """nbgrader_config.py, so that nbgrader's own commands work in the folder; one that is there is the instructor's."""
    from autograder.gradebook.settings import CONFIG_NAME, CONFIG_TEXT

    if not (out / CONFIG_NAME).exists():
        (out / CONFIG_NAME).write_text(CONFIG_TEXT, encoding="utf-8")
