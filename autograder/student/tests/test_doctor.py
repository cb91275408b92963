"""`course doctor`: what is here, what is missing, how to get it."""

import shutil

import pytest

from autograder import cli
from autograder.student import machine


def doctor(capsys, *argv):
    with pytest.raises(SystemExit) as e:
        cli.run(["doctor", *argv])
    return e.value.code or 0, capsys.readouterr().out


def test_everything_is_looked_at_and_said_in_sentences():
    looks = list(machine.looks())
    names = [(x.part, x.name) for x in looks]
    for wanted in ["Python", "packages", "kernels", "GPU", "emulator", "system compiler"]:
        assert ("student", wanted) in names
    for wanted in ["packages", "sandbox", "nbgrader", "alembic", "Quarto", "Chromium", "course folder"]:
        assert ("instructor", wanted) in names
    assert all(x.text for x in looks) and all(x.remedy for x in looks if x.state != "ok")


def test_a_missing_package_is_named_with_the_remedy(monkeypatch, capsys):
    monkeypatch.setattr(machine, "_requires", lambda: ["numpy>=2.1", "no-such-package>=1.0", "nbformat>=99"])
    code, out = doctor(capsys, "--student")
    assert code == 1 and "missing: no-such-package" in out and "nbformat" in out and "needs 99" in out
    assert "pip install -r requirements.txt" in out and "For an instructor" not in out


def test_what_is_optional_does_not_fail(monkeypatch, capsys):
    real = shutil.which
    monkeypatch.setattr(
        machine.shutil, "which", lambda name: None if name in ("quarto", *machine.CHROMIUM) else real(name)
    )
    code, out = doctor(capsys)
    assert "apt install chromium" in out and "renders with smalldocs" in out
    assert code == sum(x.state == "missing" for x in machine.looks()) > 0 or code == 0


def test_no_sandbox_is_said_with_what_is_missing(monkeypatch):
    from autograder.errors import CourseError
    from autograder.grading import sandbox

    def none(*_, **__):
        raise CourseError("This machine offers no sandbox.", remedy="Install bubblewrap.")

    monkeypatch.setattr(sandbox, "Sandbox", none)
    look = machine._sandbox()
    assert look.state == "missing" and "no sandbox" in look.text and "bubblewrap" in look.remedy


def test_a_probe_that_breaks_is_itself_a_finding(monkeypatch):
    def broken():
        raise OSError("gone")

    monkeypatch.setattr(machine, "_gpu", broken)
    look = next(x for x in machine.looks() if x.name == "GPU")
    assert look.state == "missing" and "OSError: gone" in look.text


@pytest.mark.parametrize(
    ("text", "version"), [("2.14.4", (2, 14, 4)), ("1.0rc1", (1, 0)), ("26.4", (26, 4)), ("0.17.1", (0, 17, 1))]
)
def test_versions_compare_as_numbers(text, version):
    assert machine._version(text) == version and machine._version("2.9") < machine._version("2.10")
