"""A kernel that sits idle is ended and the notebook run again, as where the kernel does not come up; one that works is left alone."""

import socket
from contextlib import ExitStack

import nbformat
import pytest
from jupyter_client import AsyncKernelManager
from nbclient.exceptions import CellExecutionError, DeadKernelError

from autograder.lesson.cells import ATTEMPTS, run_cells


def notebook(*sources):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])


def run(nb, folder, idle=3.0):
    run_cells(nb, idle=idle, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}})


STALLS_ONCE = "import os, time\nfirst = not os.path.exists('seen')\nopen('seen', 'a').write('x')\ntime.sleep(3600 if first else 0)\nprint('second time')"


def test_a_stalled_kernel_is_replaced_once_it_has_been_idle(tmp_path):
    nb = notebook("x = 1", STALLS_ONCE)
    run(nb, tmp_path)
    assert nb.cells[1].outputs[0].text == "second time\n" and (tmp_path / "seen").read_text() == "xx"


def test_one_that_always_stalls_is_given_up(tmp_path):
    nb = notebook("import time\nopen('seen', 'a').write('x')\ntime.sleep(3600)")
    with pytest.raises(RuntimeError):
        run(nb, tmp_path)
    assert (tmp_path / "seen").read_text() == "x" * ATTEMPTS


def test_a_busy_cell_is_no_stall_and_an_error_is_no_reason_to_try_again(tmp_path):
    busy = "import time\nend = time.monotonic() + 4\nwhile time.monotonic() < end:\n    pass\nprint('done')"
    nb = notebook(busy, "open('seen', 'a').write('x')\n1 / 0")
    with pytest.raises(CellExecutionError):
        run(nb, tmp_path, idle=2.0)
    assert nb.cells[0].outputs[0].text == "done\n" and (tmp_path / "seen").read_text() == "x"


def take_the_kernels_port(monkeypatch, times: int) -> tuple[ExitStack, list[int]]:
    """Let another socket have one of the ports that a kernel is given, before the kernel binds it, the first `times` times."""
    held, taken = ExitStack(), []
    written = AsyncKernelManager.write_connection_file

    def write_connection_file(self, **kwargs):
        written(self, **kwargs)
        if len(taken) < times:
            taken.append(self.stdin_port)
            held.enter_context(socket.socket()).bind(("127.0.0.1", self.stdin_port))

    monkeypatch.setattr(AsyncKernelManager, "write_connection_file", write_connection_file)
    return held, taken


def test_a_kernel_whose_port_another_program_took_is_started_again(tmp_path, monkeypatch):
    held, taken = take_the_kernels_port(monkeypatch, 1)
    nb = notebook("print('ran')")
    with held:
        run(nb, tmp_path, idle=20.0)
    assert len(taken) == 1 and nb.cells[0].outputs[0].text == "ran\n"


def test_a_kernel_that_never_comes_up_is_given_up(tmp_path, monkeypatch):
    held, taken = take_the_kernels_port(monkeypatch, ATTEMPTS + 1)
    with held, pytest.raises(RuntimeError, match="before replying"):
        run(notebook("print('ran')"), tmp_path, idle=20.0)
    assert len(taken) == ATTEMPTS


def test_a_kernel_that_a_cell_ends_is_not_started_again(tmp_path):
    nb = notebook("open('seen', 'a').write('x')\nimport os\nos.kill(os.getpid(), 9)")
    with pytest.raises(DeadKernelError):
        run(nb, tmp_path)
    assert (tmp_path / "seen").read_text() == "x"
