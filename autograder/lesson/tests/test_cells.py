"""A kernel that sits idle is ended and the notebook run again; one that works is left alone."""

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

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
