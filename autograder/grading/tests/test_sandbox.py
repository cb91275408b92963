"""The second wall: code that has already got past the syntax allow-list still reaches nothing and stops nobody."""

from __future__ import annotations

import builtins
import os
import struct
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import pytest

from autograder.errors import CourseError
from autograder.grading.sandbox import PROTECTIONS, Broken, Limits, Reply, Room, Sandbox, codec, launch
from autograder.grading.sandbox.protections import NEEDED, Protections

ALL = sorted(n for n in dir(builtins) if not n.startswith("__"))
# Reaches any loaded module through the class tree, as real escapes do, and the true type() as well.
ESCAPE = """
type = ().__class__.__class__
def module(name):
    for c in ().__class__.__base__.__subclasses__():
        if c.__name__ == "_wrap_close":
            return c.__init__.__globals__["sys"].modules[name]
"""
METHODS = [pytest.param("bubblewrap", marks=pytest.mark.bubblewrap), "own", "filter"]


@pytest.fixture(scope="module", params=METHODS)
def sandbox(request):
    with made(request.param, Limits(cpu_s=1, wall_s=6.0)) as sandbox:
        yield sandbox


def made(method, limits=Limits()):
    try:
        return Sandbox(method, limits)
    except CourseError as e:
        pytest.skip(str(e))


def call(sandbox, source, **args):
    with sandbox.program(ESCAPE + source, "f", ALL) as session:
        return session.call(args)


def test_the_self_test_finds_every_protection_here(sandbox):
    assert sandbox.protections.measured == dict.fromkeys(PROTECTIONS, True)


def test_the_escape_is_real(sandbox):
    """Otherwise the tests below would show nothing."""
    reply = call(sandbox, "def f():\n    return module('os').__name__")
    assert (reply.kind, reply.value) == ("value", "os")


@pytest.mark.parametrize(
    "attempt",
    [
        "module('os').open('/etc/passwd', 0)",
        "module('os').listdir('/')",
        "module('os').stat('/')",
        "open('/proc/self/mem', 'rb')",
        "open('/proc/1/environ')",
        "module('os').open('/tmp/x', 65, 384)",
        "module('os').fork()",
        "module('os').execv('/bin/sh', ['sh'])",
        "module('os').kill(1, 9)",
        "module('os').kill(module('os').getppid(), 9)",
        "module('os').killpg(0, 9)",
        "module('socket').socket()",
        "module('socket').socketpair()",
        "module('os').pipe()",
        "module('os').chroot('/')",
        "module('os').setuid(0)",
        "module('os').mkdir('/x')",
        "module('os').sendfile(1, 0, None, 10)",
        "module('resource').setrlimit(0, (-1, -1))",
        "module('os').memfd_create('x')",
        "module('signal').pidfd_send_signal(0, 9)",
    ],
)
def test_system_calls_are_refused(sandbox, attempt):
    reply = call(
        sandbox,
        f"def f():\n    try:\n        {attempt}\n    except (OSError, ValueError):\n        return 'refused'\n    return 'done'",
    )
    assert (reply.kind, reply.value) == ("value", "refused"), reply


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("while True: pass", {"timeout"}),
        ("module('signal').signal(24, 1)\n    while True: pass", {"timeout"}),
        ("module('time').sleep(100)", {"raised", "starved"}),
        ("module('os').read(3, 1)\n    module('os').read(3, 1)", {"starved", "violation"}),
        ("module('os')._exit(0)", {"crashed"}),
        ("module('os').abort()", {"crashed"}),
        ("raise SystemExit", {"raised"}),
        ("raise KeyboardInterrupt", {"raised"}),
        ("return bytearray(10**9)", {"memory"}),
        ("return module('ctypes').string_at(1)", {"crashed", "raised"}),
        (
            "def g(n): return g(n + 1)\n    module('sys').setrecursionlimit(10**9)\n    g(0)",
            {"crashed", "raised", "memory", "timeout"},
        ),
        ("module('os').close(3)\n    return 1", {"crashed", "raised"}),
        ("module('os').write(3, b'\\xff' * 4)\n    return 1", {"violation"}),
        ("module('os').write(3, b'\\x00\\x00\\x00\\x02{}')\n    return 1", {"violation"}),
        ("module('os').write(3, b'\\x00' * 10**6)\n    return 1", {"violation", "timeout", "crashed"}),
        ("return object()", {"not_plain"}),
        ("return type('T', (float,), {'__eq__': lambda s, o: True})(1)", {"not_plain"}),
        ("return module('numpy').ones(3).view(type('A', (module('numpy').ndarray,), {}))", {"not_plain"}),
        ("return type('L', (list,), {'__iter__': lambda s: iter(int, 1)})()", {"not_plain"}),
        ("return module('numpy').array([1, None], dtype=object)", {"not_plain"}),
        ("return lambda: 1", {"not_plain"}),
        ("return (x for x in [1])", {"not_plain"}),
    ],
)
def test_it_ends_in_a_plain_way_and_the_next_fill_runs(sandbox, body, kinds):
    start = time.monotonic()
    reply = call(sandbox, f"def f():\n    {body}")
    assert reply.kind in kinds, reply
    assert time.monotonic() - start < 30  # it ended by a limit, not by chance
    assert call(sandbox, "def f(x):\n    return x + 1", x=1).value == 2


def test_a_forged_reply_is_taken_for_the_wrong_call(sandbox):
    """It can answer early, but not rightly: it does not know what the next inputs are, and the true reply then comes too late."""
    reply = codec.encode(("value", 1.0, [], []))
    forged = f"module('os').write(3, {struct.pack('!I', len(reply)) + reply!r})"
    with sandbox.program(ESCAPE + f"def f(x):\n    {forged}\n    return x", "f", ALL) as session:
        values = [session.call({"x": float(n)}).value for n in (10, 20, 30)]
    assert values != [10.0, 20.0, 30.0]


def test_a_broken_codec_in_the_child_hurts_only_the_child(sandbox):
    source = "def f(x):\n    module('codec').encode = lambda *a: b'{\"t\": [\"value\", 1e999, [], []]}'\n    return x"
    assert call(sandbox, source, x=1.0).value != 1.0
    assert call(sandbox, "def f(x):\n    return x", x=1.0).value == 1.0


def test_nothing_survives_into_the_next_process(sandbox):
    call(sandbox, "def f():\n    module('math').pi = 3\n    module('numpy').pi = 3")
    assert call(sandbox, "def f():\n    return (module('math').pi, module('numpy').pi)").value == (np.pi, np.pi)


def test_the_child_has_no_file_but_its_own(sandbox):
    """Descriptors 0-2 are /dev/null, 3 is the link; none of the grader's is inherited."""
    source = "def f():\n    os = module('os')\n    held = []\n    for n in range(64):\n        try:\n            os.lseek(n, 0, 1)\n            held.append(n)\n        except OSError as e:\n            if e.errno != 9: held.append(n)\n    return held"
    assert call(sandbox, source).value == [0, 1, 2, 3]


def test_the_child_knows_nothing_of_the_course(sandbox):
    source = "def f():\n    names = [m for m in module('sys').modules if 'autograder' in m or 'lesson' in m]\n    return [names, sorted(module('os').environ)]"
    names, environment = call(sandbox, source).value
    assert names == []
    assert not {"HOME", "COURSE_ROOT", "PATH"} & set(environment)


def test_a_probe_records_use_and_spoils_the_result(sandbox):
    probe = codec.ProbeArgument("c")
    source = "def f(c, how):\n    return {0: lambda: c is None, 1: lambda: 0.0 * c, 2: lambda: c == 1, 3: lambda: np.asarray(c), 4: lambda: c[0], 5: lambda: c.shape, 6: lambda: bool(c)}[how]()"
    with sandbox.program(source.replace("np.", "numpy."), "f", ALL) as session:
        replies = [session.call({"c": probe, "how": n}) for n in range(7)]
    assert replies[0].value is False and replies[0].touched == ()
    assert all(r.touched == ("c",) for r in replies[1:]), replies
    assert np.isnan(replies[1].value)


def test_type_tells_what_a_value_is_and_makes_no_class(sandbox):
    source = "def f(x):\n    return [type(x) is float, type(x) in (int, float), type(numpy.ones(2)) is numpy.ndarray]"
    with sandbox.program(source, "f", ALL) as session:
        assert session.call({"x": 1.0}).value == [True, True, True]
    for body in ("type(type(x))", "type(int)", "type('T', (float,), {})", "type(x, (), {})"):
        with sandbox.program(f"def f(x):\n    return {body}", "f", ALL) as session:
            assert session.call({"x": 1.0}) == Reply("raised", detail="TypeError")


def test_one_dead_warm_parent_is_replaced():
    with Sandbox() as sandbox:
        sandbox._process.kill()
        sandbox._process.wait()
        assert call(sandbox, "def f():\n    return 1").value == 1


def parents(sandbox):
    """The process that the grader started and those that it started in turn: bubblewrap or an outer one, and the one that forks fills."""
    outer = psutil.Process(sandbox._process.pid)
    return [outer, *outer.children(recursive=True)]


@pytest.mark.parametrize("which", [0, -1], ids=["outermost", "innermost"])
@pytest.mark.parametrize("method", METHODS)
def test_a_warm_parent_that_dies_takes_its_fill_with_it_and_is_a_broken_sandbox(method, which):
    """Neither a crash of the fill nor a result: whatever ended is no longer what was started. The next program starts another parent."""
    with made(method) as sandbox:
        parent = parents(sandbox)[which]
        with sandbox.program("def f():\n    return 1", "f", ALL) as session:
            assert session.call({}).value == 1
            parent.kill()
            session.link.settimeout(60)
            assert session.link.recv(1) == b""  # the fill's process has ended
            sandbox._process.wait(60)
            for _ in range(2):
                with pytest.raises(Broken):
                    session.call({})
            assert call(sandbox, "def f():\n    return 2").value == 2
            with pytest.raises(Broken):  # and the old session touches nothing of the new parent
                session.call({})
            assert call(sandbox, "def f():\n    return 3").value == 3


@pytest.mark.parametrize("which", [0, -1], ids=["outermost", "innermost"])
@pytest.mark.parametrize("method", METHODS)
def test_a_warm_parent_that_dies_while_a_call_is_waited_for(method, which):
    with made(method, Limits(cpu_s=300, wall_s=300.0)) as sandbox, ThreadPoolExecutor(1) as pool:
        parent = parents(sandbox)[which]
        with sandbox.program("def f():\n    while True: pass", "f", ALL) as session:
            waiting = pool.submit(session.call, {})
            parent.kill()
            with pytest.raises(Broken):
                waiting.result(200)
        assert call(sandbox, "def f():\n    return 1").value == 1


def test_closing_ends_every_process():
    sandbox = Sandbox()
    pid = sandbox._process.pid
    sandbox.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(Broken):
        sandbox._fork(b"f")


def test_without_a_sandbox_grading_is_refused_unless_told(monkeypatch):
    weak = {n: n != "files" for n in PROTECTIONS}
    monkeypatch.setattr(launch.Sandbox, "_self_test", lambda self, method: Protections(method, (), weak))
    with pytest.raises(CourseError) as refused:
        Sandbox()
    assert "files" in refused.value.what and launch.UNSAFE_ENV in refused.value.remedy
    with Sandbox(allow_unsafe=True) as made:
        assert made.protections.missing == ["files"]
    monkeypatch.setenv(launch.UNSAFE_ENV, "1")
    Sandbox().close()


def test_what_is_needed_is_a_part_of_what_is_tested():
    assert set(NEEDED) < set(PROTECTIONS)
    assert not Protections("x", (), {}).sufficient


def test_the_time_of_a_fill_is_what_it_is_waited_for():
    """A grader that takes long over a reply, or gets no turn, must not find the fill starved."""
    with Sandbox(limits=Limits(wall_s=0.6)) as quick, quick.program("def f(x):\n    return x", "f", ALL) as session:
        for n in range(3):
            time.sleep(0.4)
            assert session.call({"x": n}).value == n


def test_a_reply_has_the_room_it_is_given(sandbox):
    with sandbox.program("def f(x):\n    return [x] * x", "f", ALL, Room(items=100, bytes=2000)) as session:
        assert session.call({"x": 50}).value == [50] * 50
        assert session.call({"x": 10**6}) == Reply("not_plain", detail="too many items")
        assert session.call({"x": 50}).value == [50] * 50
    with sandbox.program("def f(x):\n    return np.zeros(x)", "f", ALL, Room(items=100, bytes=2000)) as session:
        assert session.call({"x": 100}).value.shape == (100,) and session.call({"x": 300}) == Reply(
            "not_plain", detail="too large"
        )


def test_an_argument_changed_in_place_is_told(sandbox):
    source = "def f(a, b, n):\n    if n == 1: a *= 2\n    if n == 2: b.append(n)\n    if n == 3: b[0] = a\n    if n == 4: a.shape = (2, 1)\n    if n == 5:\n        a[0] = 9\n        raise ValueError\n    a = a * 2\n    b = b + [1]\n    return n"
    with sandbox.program(source, "f", ALL) as session:
        told = [session.call({"a": np.array([1.0, np.nan]), "b": [1], "n": n}).changed for n in range(6)]
    assert told == [(), ("a",), ("b",), ("b",), ("a",), ("a",)]


def test_the_order_of_a_set_is_the_same_in_every_sandbox(sandbox):
    """Else the same line could be right for one student and wrong for another."""
    source, orders = "def f():\n    return list({chr(97 + i) * 5 for i in range(20)})", set()
    for _ in range(2):
        with Sandbox(sandbox._method, sandbox.limits) as other:
            orders.add(tuple(call(other, source).value))
    assert len(orders) == 1
