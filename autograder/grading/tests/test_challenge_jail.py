"""The walls around a challenge line that the grammar did not stop: the jail, the frame it answers with, and what a broken machine says."""

import json
import platform
import shutil
import stat
import struct
from pathlib import Path

import pytest

from autograder.errors import CourseError
from autograder.grading.challenge import frame
from autograder.grading.challenge import jail as module
from autograder.grading.challenge import judge as judging
from autograder.grading.challenge.jail import Jail, Stopped
from autograder.grading.challenge.judge import ChallengeJudge
from autograder.records import CheckOutcome, Finding, Result
from kernels.compare import challenge_own

KERNEL = "linear_epilogue"
HANDSHAKE = "mbarrier_handshake"
INSIDE = (module.HERE / "inside.py").read_text()


class Answers:
    """A jail that answers what it is told; an exception is raised."""

    def __init__(self, *said):
        self.said, self.asked = list(said), 0

    def run(self, request, most):
        self.asked += 1
        said = self.said[min(self.asked, len(self.said)) - 1]
        if isinstance(said, Exception):
            raise said
        return said


def judge_of(*said, count=3) -> ChallengeJudge:
    made = ChallengeJudge(KERNEL, count=count)
    made._jail = Answers(*said)
    return made


def framed(head, body=b"") -> bytes:
    head = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("!Q", len(head)) + head + body


def good(**over) -> dict:
    return {"error": "", "busy": False, "rows": []} | over


def right_answer(made: ChallengeJudge) -> bytes:
    numbers = b"".join(e.astype("<f8").tobytes() for case in made._cases for e in case.exact)
    return framed(good(rows=[""] * len(made._cases)), numbers)


# -- the frame


def test_a_right_frame_is_right():
    made = judge_of()
    made._jail = Answers(right_answer(made))
    assert made.judge("beta != 0.0f").passed and frame.largest(made._shapes) >= len(right_answer(made))


@pytest.mark.parametrize(
    "data",
    [
        b"x",
        b"\xff" * 8 + b"{}",
        struct.pack("!Q", 2),
        framed(b""),
        framed([]),
        framed(b"[" * 60_000),
        framed(b"\xff\xfe"),
        framed({"rows": [], "error": ""}),
        framed(good(rows=[1])),
        framed(good(rows=[{"error": 5}])),
        framed(good(rows=[{}])),
        framed(good(rows=[{"error": "", "arrays": "x"}])),
        framed(good(rows=[{"error": "", "arrays": 1_000_000_000}])),
        framed(good(rows=None)),
        framed(good(rows=[""] * 4)),
        framed(good(rows=[""] * 3)),
        framed(good(error=5)),
        framed(good(busy=1)),
        framed(good(more=1)),
        framed(good(), b"PK\x03\x04"),
        framed(b'{"rows":[1],"error":""}', b"PK\x03\x04"),
        framed(good(rows=["", "x"]), b"\0" * 16),
        b"\0" * 300_000,
    ],
)
def test_whatever_the_jail_says_gives_an_outcome(data):
    outcome = judge_of(data).judge("beta != 0.0f")
    assert isinstance(outcome, CheckOutcome) and not outcome.passed and outcome.message.zh
    outcome.model_dump_json()


def test_text_of_the_jail_is_cleaned_where_it_comes_in():
    hostile = "<b>\x1b[31mRED\x07 \u202e\ud800\x00 \u2028x\ny"
    for answer in (framed(good(error=hostile)), framed(good(rows=[hostile]))):
        outcome = judge_of(answer).judge("beta != 0.0f")
        assert not outcome.passed and "<b>?[31mRED? ???" in outcome.message.en and "x\ny" in outcome.message.en
        assert all(c.isprintable() or c == "\n" for c in outcome.message.en + outcome.message.zh)
        outcome.model_dump_json()
    assert len(frame.clean("x" * 10_000)) == frame.SHOWN


def test_a_second_output_of_nan_is_wrong():
    made = ChallengeJudge("stream_copy", count=2)
    exact = [[e.astype("<f8").copy() for e in case.exact] for case in made._cases]
    assert len(exact[0]) > 1
    exact[0][-1].flat[0] = float("nan")
    made._jail = Answers(framed(good(rows=["", ""]), b"".join(e.tobytes() for row in exact for e in row)))
    assert not made.judge("latency * bandwidth").passed


# -- what was not judged


def test_a_stop_is_tried_again_and_says_nothing_about_the_line():
    made = judge_of(Stopped("stopped after 150 s"))
    said = made.judge("beta != 0.0f")
    assert (
        isinstance(said, Finding)
        and said.severity == "info"
        and made._jail.asked == judging.TRIES
        and made._known == {}
    )
    assert "not judged" in said.message.en and "没有评判" in said.message.zh
    busy = judge_of(framed(good(rows=["the launch did not end"], busy=True)))
    assert isinstance(busy.judge("beta != 0.0f"), Finding) and busy._jail.asked == judging.TRIES
    second = judge_of(Stopped("once"), framed(good(error="no")))
    assert isinstance(second.judge("beta != 0.0f"), CheckOutcome) and len(second._known) == 1


def test_a_machine_that_stops_everything_is_not_asked_for_ever():
    made = judge_of(Stopped("busy"))
    said = [made.judge(f"beta != {i}.0f") for i in range(20)]
    assert all(isinstance(s, Finding) for s in said) and made._jail.asked == judging.TRIES * judging.PATIENCE


def test_an_unforeseen_failure_costs_nobody_anything():
    said = judge_of(RuntimeError("boom")).judge("beta != 0.0f")
    assert isinstance(said, Finding) and said.code == "challenge_not_judged"


def test_what_is_told_of_a_result():
    from autograder.lesson.rubric import Text

    base = Result(student="ann", lesson="x", lang="en", state="PASS")
    why = Text(zh="读不出来", en="could not be read")
    assert judge_of().told(base) == base
    unread = judge_of().told(base.model_copy(update={"challenge_unread": why}))
    assert [f.code for f in unread.findings] == ["challenge_unread"] and unread.checks == [] and unread.state == "PASS"
    stopped = judge_of(Stopped("busy")).told(base.model_copy(update={"challenge": "beta != 0.0f"}))
    assert [f.code for f in stopped.findings] == ["challenge_not_judged"] and stopped.checks == []
    wrong = judge_of(framed(good(error="no"))).told(base.model_copy(update={"challenge": "beta != 0.0f"}))
    assert [c.passed for c in wrong.checks] == [False] and wrong.findings == []


# -- before grading


def test_a_machine_without_a_jail_says_so_before_anything_is_graded(tmp_path, monkeypatch):
    from autograder.gradebook.course import CourseFolder
    from autograder.gradebook.run import grade_submissions
    from autograder.lesson import load_lesson

    lesson = load_lesson("7")
    (tmp_path / "in" / "ann" / lesson.slug).mkdir(parents=True)
    (tmp_path / "in" / "ann" / lesson.slug / f"{lesson.slug}.ipynb").write_text("{}")
    monkeypatch.setattr(judging, "Jail", lambda: (_ for _ in ()).throw(CourseError("no bubblewrap")))
    with pytest.raises(CourseError, match="no bubblewrap"):
        grade_submissions(
            lesson,
            tmp_path / "in",
            CourseFolder(tmp_path / "course"),
            challenges=True,
            grader=lambda *_: pytest.fail("graded"),
        )


@pytest.mark.bubblewrap
def test_no_compiler_is_said_at_the_start(monkeypatch):
    monkeypatch.setenv("KERNELS_CXX", "no-such-compiler")
    with pytest.raises(CourseError, match="cannot be compiled here.*no-such-compiler") as e:
        Jail()
    assert "--challenges" in e.value.remedy


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo 'setting up uid map: Permission denied' >&2; exit 1", "Permission denied"),
        ("exec sleep 60", "did not answer within 1 s"),
    ],
)
def test_a_bubblewrap_that_does_not_work_is_said_at_the_start(script, says, tmp_path, monkeypatch):
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, *a, **k: str(fake) if name == "bwrap" else which(name, *a, **k))
    monkeypatch.setattr(module, "PROBE_SECONDS", 1)
    with pytest.raises(CourseError, match=says) as e:
        Jail()
    assert "--challenges" in e.value.remedy


@pytest.mark.parametrize("said", [Stopped("stopped after 150 s"), framed(good(error="cc1plus: not found"))])
def test_a_jail_in_which_the_kernels_own_line_fails_is_said_at_the_start(said):
    made = judge_of(said)
    made._jail.warm = made._jail.run
    with pytest.raises(
        CourseError, match="own line does not come out right in the challenge jail: (stopped after|It does not compile)"
    ) as e:
        made.prepare()
    assert "--challenges" in e.value.remedy


@pytest.mark.bubblewrap
@pytest.mark.system_compiler
def test_a_compiler_elsewhere_is_in_the_jail(tmp_path, monkeypatch):
    (tmp_path / "opt").mkdir()
    (tmp_path / "opt" / "g++").symlink_to(Path(shutil.which("g++")).resolve())
    monkeypatch.setenv("KERNELS_CXX", str(tmp_path / "opt" / "g++"))
    made = ChallengeJudge(KERNEL, count=2)
    made.prepare()
    made._jail.run = lambda *_: pytest.fail("the kernel's own line was run again")
    assert made.judge(challenge_own(KERNEL)).passed and made.judge("beta != 0.0f").passed


# -- the jail itself


def instead(tmp_path, monkeypatch, text: str) -> None:
    (tmp_path / "inside.py").write_text(text)
    monkeypatch.setattr(module, "HERE", tmp_path)


@pytest.mark.bubblewrap
def test_the_jail_shows_neither_lessons_nor_network_nor_homes(tmp_path, monkeypatch):
    """The jail's own walls, with a program in place of inside.py that tries what native code could."""
    from autograder.grading.challenge import jail as module
    from autograder.paths import course_root

    secret = tmp_path / "gradebook.db"
    secret.write_text("scores")
    (tmp_path / "inside.py").write_text(
        "import json, os, socket, sys\n"
        "asked = json.load(sys.stdin)\n"
        "def seen(path):\n"
        "    try:\n        return bool(os.listdir(path) if os.path.isdir(path) else open(path).read(1))\n    except OSError:\n        return False\n"
        "def writes(path):\n"
        "    try:\n        open(path, 'w').close(); return True\n    except OSError:\n        return False\n"
        "def net():\n"
        "    try:\n        socket.create_connection(('192.0.2.1', 9), 1); return True\n    except OSError as e:\n        return e.errno not in (101, 99, 13, 1)\n"
        "print(json.dumps({'seen': [p for p in asked['paths'] if seen(p)], 'writes': [p for p in ('/usr/x', '/jail/kernels/x', '/jail/inside.py', '/etc/x') if writes(p)], 'net': net(), 'pids': [p for p in os.listdir('/proc') if p.isdigit()]}))\n"
    )
    monkeypatch.setattr(module, "HERE", tmp_path)
    paths = [
        str(course_root() / "lessons"),
        str(course_root() / "autograder"),
        str(secret),
        "/etc/shadow",
        "/home",
        *(str(p) for p in Path.home().iterdir() if p.is_file()),
    ]

    said = json.loads(Jail(20).run(json.dumps({"paths": paths}).encode()))
    assert said["seen"] == [] and said["writes"] == [] and said["net"] is False and len(said["pids"]) <= 2


@pytest.mark.bubblewrap
def test_a_line_that_never_ends_is_stopped(tmp_path, monkeypatch):
    from autograder.grading.challenge import jail as module

    (tmp_path / "inside.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(module, "HERE", tmp_path)
    with pytest.raises(Stopped, match="stopped after"):
        Jail(1.0).run(b"{}")


def test_without_bubblewrap_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_: None)
    with pytest.raises(CourseError, match="bubblewrap") as e:
        Jail()
    assert "--challenges" in e.value.remedy


@pytest.mark.bubblewrap
def test_a_flood_ends_early_and_is_not_kept(tmp_path, monkeypatch):
    instead(tmp_path, monkeypatch, "import os\nwhile True:\n    os.write(1, b'x' * 65536)\n")
    with pytest.raises(Stopped, match="more than 1000000 bytes"):
        Jail(60).run(b"{}", 1_000_000)


@pytest.mark.bubblewrap
def test_of_standard_error_the_end_is_kept(tmp_path, monkeypatch):
    instead(
        tmp_path,
        monkeypatch,
        "import os, sys\nfor _ in range(300):\n    os.write(2, b'\\x1b' * 65536)\nos.write(2, b' the end')\nsys.exit(3)\n",
    )
    with pytest.raises(Stopped) as e:
        Jail(60).run(b"{}")
    assert str(e.value).endswith("?? the end") and len(str(e.value)) <= 300


@pytest.mark.bubblewrap
def test_folders_hold_so_much_and_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SIZES", {"/tmp": 4 << 20, "/dev/shm": 4 << 20, "/jail/cache": 64 << 20})
    instead(
        tmp_path,
        monkeypatch,
        "import json\n"
        "def holds(path):\n"
        "    n = 0\n"
        "    try:\n"
        "        with open(path, 'wb', buffering=0) as file:\n            while n < 64:\n                n += file.write(bytes(1 << 20)) >> 20\n"
        "    except OSError:\n        pass\n"
        "    return n\n"
        "print(json.dumps({p: holds(p) for p in ('/tmp/x', '/dev/shm/x', '/dev/x', '/x')}))\n",
    )
    made = Jail(60)
    held = json.loads(made.run(b"{}"))
    assert held["/dev/x"] == held["/x"] == 0
    assert not made._sized or held["/tmp/x"] <= 4 >= held["/dev/shm/x"]


@pytest.mark.bubblewrap
def test_the_runners_process_reaches_no_other(tmp_path, monkeypatch):
    """With inside.py's own walls up: what a child tries that is locked as the runner is."""
    tries = (
        "import json, os, resource, socket\n"
        "done = []\n"
        "def attempt(name, do):\n"
        "    try:\n        do(); done.append(name)\n    except (OSError, MemoryError):\n        pass\n"
        "for fd in range(10):\n    attempt(f'fd {fd}', lambda: os.open(f'/proc/1/fd/{fd}', os.O_WRONLY))\n"
        "attempt('memory', lambda: os.open('/proc/1/mem', os.O_RDWR))\n"
        "attempt('fork', lambda: os.fork() or os._exit(0))\n"
        "attempt('socket', lambda: socket.socket(socket.AF_UNIX))\n"
        "attempt('3 GB', lambda: bytearray(3 << 30))\n"
        "print(json.dumps(done))\n"
    )
    instead(
        tmp_path,
        monkeypatch,
        INSIDE.replace('if __name__ == "__main__":\n    main()\n', "")
        + f"import subprocess, seccomp\nclose_off()\nshown = subprocess.run([sys.executable, '-c', {tries!r}], stdout=subprocess.PIPE, preexec_fn=locked).stdout\nos.write(1, shown)\n",
    )
    assert json.loads(Jail(60).run(b"{}")) == []


NATIVE = (
    'asm volatile("syscall" : "=a"(q) : "a"({call}L), "D"({first}), "S"({second}), "d"(0L) : "rcx", "r11", "memory");'
)


@pytest.mark.bubblewrap
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the system calls are x86-64's")
@pytest.mark.parametrize(
    "tried",
    [
        'bool shut = true; for (int fd = 0; fd < 10; ++fd) { char path[] = "/proc/1/fd/0"; path[11] += fd; long q; '
        + NATIVE.format(call=2, first="path", second="1L")
        + " shut = shut && q < 0; }",
        "long q; " + NATIVE.format(call=57, first="0L", second="0L") + " const bool shut = q < 0;",
    ],
)
def test_native_code_past_the_grammar_reaches_neither_pipe_nor_process(tried):
    """Handed to the jail without asking the grammar: the kernel is right only if the system refused."""
    made = ChallengeJudge(HANDSHAKE, count=2)
    made._jail = Jail()
    statement = f"{tried} uint32_t expected = shut ? 2 * HALF_BYTES : 0;"
    assert made._run(statement) is None
    assert made._run(statement.replace("shut ?", "!shut ?")) is not None
