"""`course release`: what is in the bundle, what is not, and that a rerun changes nothing."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.errors import CourseError
from autograder.lesson import load_lesson
from autograder.release.bundle import release
from autograder.release.requirements import pins
from autograder.release.tests.fixture_lesson import SLUG, SOLUTION, write_lesson
from autograder.release.wheel import COMMANDS, LESSON, MODULES, PACKAGES, SOURCE
from autograder.student.data import from_json


@pytest.fixture(scope="module")
def out(lesson, tmp_path_factory):
    folder = tmp_path_factory.mktemp("release") / "course"
    release([lesson], folder)
    return folder


def every_text(folder):
    """(name, text) of every file, those inside zips and wheels too."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as z:
                for name in z.namelist():
                    data = z.read(name)
                    if name.endswith(".whl"):
                        continue  # the same file lies unzipped beside
                    yield f"{path.name}!{name}", data.decode("utf-8", "replace")
        else:
            yield path.name, path.read_text(encoding="utf-8", errors="replace")


def test_nothing_hidden_and_no_answer_leaves_the_house(out):
    seen = 0
    for name, text in every_text(out):
        seen += 1
        for secret in (
            SOLUTION,
            "31337",
            "秘密",
            "A secret",
            "Hidden checks of",
            "隐藏的正常输入",
            'args.get("stages") == 1',
            "能分辨两圈",
            "two rounds are told apart",
        ):
            assert secret not in text, f"{secret} in {name}"
    assert seen > 60
    names = {name.split("!")[-1] for name, _ in every_text(out)}
    assert not any(
        re.search(r"(^|/)(checks\.py|rubric\.yml|answers\.jsonl|[^/]+\.qmd)$|/gradebook/|/answers/|(^|/)lessons/", n)
        for n in names
    )


def test_the_wheel_has_kernels_and_the_students_part(out):
    wheel = next((out / "bundles" / SLUG).glob("*.whl"))
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "autograder/notebook.py",
        "kernels/cuda/linear_epilogue.cu",
        "kernels/cuda/hopper.cuh",
        "kernels/emulator/__init__.py",
    } <= names
    assert {f"autograder/commands/{c}.py" for c in COMMANDS} <= names
    held = {n for n in names if n.startswith("autograder/")}
    of_packages = {
        p.relative_to(SOURCE).as_posix()
        for package in PACKAGES
        for p in (SOURCE / "autograder" / package).rglob("*.py")
        if "tests" not in p.parts
    }
    modules = {f"autograder/{n}" for n in MODULES} | {f"autograder/lesson/{n}.py" for n in LESSON}
    assert {n for n in held if not n.startswith("autograder/commands/") and n.endswith(".py")} == of_packages | modules
    assert not any(re.search(r"sandbox|pipeline|evidence|verdict|/checks|store|jail|judge|answers/", n) for n in held)
    sources = {
        p.relative_to(SOURCE).as_posix()
        for p in (SOURCE / "kernels").rglob("*")
        if p.suffix in {".py", ".cu", ".cuh", ".h", ".cpp"} and "tests" not in p.parts
    }
    assert sources <= names


def test_bundle_folder_and_zip_hold_the_same(out):
    folder = out / "bundles" / SLUG
    with zipfile.ZipFile(out / "bundles" / f"{SLUG}.zip") as z:
        assert {n.removeprefix(SLUG + "/"): z.read(n) for n in z.namelist()} == {
            p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
        }
    told = from_json((folder / "lesson.json").read_text(encoding="utf-8"))
    for lang in ("zh", "en"):
        nb = nbformat.read(folder / lang / f"{SLUG}.ipynb", as_version=4)
        assert nb.metadata.course.lang == lang
        assert nb.metadata.course.release == told.release(lang) and told.release(lang) in (
            folder / "README.md"
        ).read_text(encoding="utf-8")
        for image in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", "\n".join(c.source for c in nb.cells)):
            assert (folder / lang / image).is_file()
        assert "](glossary.md)" in "\n".join(c.source for c in nb.cells) and (folder / lang / "glossary.md").is_file()


def test_requirements_are_exact_and_whole(out):
    lines = (out / "bundles" / SLUG / "requirements.txt").read_text().splitlines()
    assert re.fullmatch(r"\./hopper_course-[\d.]+\+[0-9a-f]{12}-py3-none-any\.whl", lines[0])
    assert all(re.match(r"[A-Za-z0-9._-]+==[^=]+$", x.split(" ;")[0]) for x in lines[1:])
    names = {x.split("==")[0] for x in lines[1:]}
    assert {"jupyterlab", "numpy", "ml-dtypes", "ziglang", "ipykernel"} <= names
    assert not {"nbgrader", "jupytext", "smalldocs", "pytest", "distributed", "cupy-cuda13x"} & names
    assert any("cupy" in x for x in pins(SOURCE, "gpu"))


def test_a_rerun_changes_nothing(lesson, out):
    before = {p: (p.stat().st_mtime_ns, p.stat().st_ino) for p in out.rglob("*") if p.is_file()}
    release([lesson], out)
    assert {p: (p.stat().st_mtime_ns, p.stat().st_ino) for p in out.rglob("*") if p.is_file()} == before
    assert not list(out.glob(".release-*"))


def test_a_relative_output_folder_is_taken_from_where_one_stands(lesson, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (bundle,) = release([lesson], Path("here"))
    assert (tmp_path / bundle).is_file()


def test_a_missing_image_leaves_the_old_release(tmp_path, monkeypatch):
    from autograder.release import bundle

    monkeypatch.setattr(bundle, "build_wheel", _stand_in_wheel)
    folder = write_lesson(tmp_path)
    release([load_lesson(folder)], tmp_path / "out")
    before = {p: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    (folder / "ring.en.svg").unlink()
    (folder / "zh.qmd").write_text(
        (folder / "zh.qmd").read_text(encoding="utf-8").replace("第 42 课", "新的标题"), encoding="utf-8"
    )
    with pytest.raises(CourseError, match="image that is not there: ring.en.svg"):
        release([load_lesson(folder)], tmp_path / "out")
    assert {p: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()} == before


def _stand_in_wheel(work, prebuild=False):
    work.mkdir(parents=True)
    wheel = work / "hopper_course-0-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    return wheel


def test_what_a_killed_run_left_is_swept_away(lesson, tmp_path, monkeypatch):
    from autograder.release import bundle

    monkeypatch.setattr(bundle, "build_wheel", _stand_in_wheel)
    old, running = tmp_path / "out" / ".release-old", tmp_path / "out" / ".release-running"
    old.mkdir(parents=True)
    running.mkdir()
    os.utime(old, (1, 1))
    release([lesson], tmp_path / "out")
    assert not old.exists() and running.exists()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("course_role: exercise", "course_role: experiment", "0 cells with the role exercise"),
        ("course_role: boundary", "course_role: experiment", "0 cells with the role boundary"),
        ("{.answer #q2}", "{.answer #q9}", "answer slot q2 stands on the page 0 times"),
    ],
)
def test_a_page_without_a_needed_part_is_not_released(tmp_path, monkeypatch, old, new, says):
    from autograder.release import bundle

    monkeypatch.setattr(bundle, "build_wheel", _stand_in_wheel)
    folder = write_lesson(tmp_path)
    (folder / "en.qmd").write_text((folder / "en.qmd").read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(CourseError, match=says) as e:
        release([load_lesson(folder)], tmp_path / "out")
    assert "en.qmd" in e.value.where and "course lint" in e.value.remedy
    assert [p for p in (tmp_path / "out").rglob("*") if p.is_file()] == []


def test_the_commands_release_and_list(lesson_folder, tmp_path, monkeypatch, capsys):
    from autograder import cli
    from autograder.release import bundle

    monkeypatch.setenv("COURSE_ROOT", str(lesson_folder.parent.parent))
    monkeypatch.setattr(bundle, "build_wheel", _stand_in_wheel)
    with pytest.raises(SystemExit) as e:
        cli.run(["release", "42", "--out", str(tmp_path / "out"), "--lang", "en"])
    assert not e.value.code and f"{SLUG}.zip" in capsys.readouterr().out
    assert (
        nbformat.read(tmp_path / "out" / "release" / SLUG / f"{SLUG}.ipynb", as_version=4).metadata.course.lang == "en"
    )
    with pytest.raises(SystemExit) as e:
        cli.run(["release", "41", "--out", str(tmp_path / "none")])
    assert e.value.code == 1 and "no lesson '41'" in capsys.readouterr().err and not (tmp_path / "none").exists()
    with pytest.raises(SystemExit) as e:
        cli.run(["list"])
    assert not e.value.code and "ring_index(step, stages)" in capsys.readouterr().out


def test_a_folder_that_cannot_be_written_is_one_clear_sentence(lesson, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CourseError, match="cannot be written"):
        release([lesson], tmp_path / "file" / "out")


def test_a_full_disk_while_folders_are_copied_is_named(lesson, tmp_path, monkeypatch):
    """copytree gathers what went wrong and has no errno of its own."""

    def full(source, target, **_):
        raise shutil.Error([(str(source), str(target), "[Errno 28] No space left on device")])

    monkeypatch.setattr(shutil, "copytree", full)
    with pytest.raises(CourseError, match="No space left on device"):
        release([lesson], tmp_path / "out")


def test_nbgraders_generate_assignment_takes_source_and_gives_the_same_notebook(out, tmp_path):
    """nbgrader's own command, with our settings and a gradebook of its own."""
    course = tmp_path / "course"
    shutil.copytree(out / "source", course / "source")
    shutil.copy2(out / "nbgrader_config.py", course)
    env = {
        **os.environ,
        "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"],
        "JUPYTER_CONFIG_DIR": str(tmp_path / "jupyter"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", SLUG],
        cwd=course,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    made = nbformat.read(course / "release" / SLUG / f"{SLUG}.ipynb", as_version=4)
    ours = nbformat.read(out / "release" / SLUG / f"{SLUG}.ipynb", as_version=4)
    assert [(c.id, c.source) for c in made.cells] == [(c.id, c.source) for c in ours.cells]
    assert (course / "release" / SLUG / "assets" / "ring.zh.svg").is_file()


STUDENTS_MACHINE = """
import importlib.metadata, re, sys
allowed = set(open("requirements.txt").read().split())
class OnlyStudentsPackages:
    blocked = {"nbgrader", "jupytext", "smalldocs", "distributed", "hypothesis", "pytest", "click", "httpx_", "onnxruntime", "tokenizers"}
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path[:] = [f for f in sys.meta_path if "editable" not in repr(f).lower()]  # the checkout's own install
sys.meta_path.insert(0, OnlyStudentsPackages())
from autograder import cli
cli.run(sys.argv[1:])
"""


def on_a_students_machine(out, tmp_path, *argv, cwd="."):
    """Run `course` from the wheel, where the course's checkout and the instructor's packages are out of reach."""
    home = tmp_path / SLUG
    if not home.exists():
        with zipfile.ZipFile(out / "bundles" / f"{SLUG}.zip") as z:
            z.extractall(tmp_path)
        with zipfile.ZipFile(next(home.glob("*.whl"))) as z:
            z.extractall(tmp_path / "site")
        (home / "machine.py").write_text(STUDENTS_MACHINE)
    env = {
        **os.environ,
        "PYTHONPATH": str(tmp_path / "site"),
        "COURSE_ROOT": str(tmp_path / "nowhere"),
        "NO_COLOR": "1",
        "PYTHONIOENCODING": "gbk",
    }
    return subprocess.run(
        [sys.executable, "machine.py", *argv], cwd=home / cwd, env=env, capture_output=True, encoding="gbk"
    )


def test_the_bundle_works_without_the_course(out, tmp_path):
    done = on_a_students_machine(out, tmp_path, "check", f"en/{SLUG}.ipynb")
    assert done.returncode == 1 and "Q1: still empty" in done.stdout and "The blank is still empty" in done.stdout, (
        done.stderr
    )
    done = on_a_students_machine(out, tmp_path, "hint", "42", "1", "--lang", "en")
    assert done.returncode == 0 and "look at the remainder" in done.stdout, done.stderr
    done = on_a_students_machine(out, tmp_path, "grade")
    assert done.returncode == 1 and "not part of the student's install" in done.stderr
    assert "Traceback" not in done.stderr
    done = on_a_students_machine(out, tmp_path, "doctor")
    assert "For a student" in done.stdout and "For an instructor" not in done.stdout, done.stderr
