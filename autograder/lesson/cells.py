"""Running a notebook's cells in a Jupyter kernel, to the end or to a cell that fails.

The notebook is run again in a new kernel where that is no fault of its own:
- the kernel sits idle while its client waits for it (it is ended then): a message between the two has been seen to get lost (ipykernel
  7.4, nbclient 0.11, notebooks with widgets; one run in some twenty), after which both wait for ever;
- the kernel dies before it has answered at all: jupyter_client chooses free TCP ports and lets go of them before the kernel binds them,
  and another program may take one in between ("Address already in use").
"""

from __future__ import annotations

import atexit
import copy
import os
import signal
import threading

import psutil
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode

ATTEMPTS = 3
IDLE_S = 20.0  # without any CPU time of the kernel and its children: a cell that computes is not idle


def run_cells(nb: NotebookNode, *, execute: dict | None = None, idle: float = IDLE_S, **client) -> None:
    """Execute every cell of nb in place. client: for NotebookClient; execute: for its execute(). Raises what nbclient raises:
    CellExecutionError, DeadKernelError, TimeoutError; outputs up to there stand in nb."""
    pristine = copy.deepcopy(nb)
    for attempt in range(1, ATTEMPTS + 1):
        nb.cells, nb.metadata = copy.deepcopy(pristine.cells), copy.deepcopy(pristine.metadata)
        up: list[NotebookNode] = []
        runner = NotebookClient(nb, on_notebook_start=lambda notebook: up.append(notebook), **client)
        with _Watch(runner, idle) as watch:
            try:
                runner.execute(**(execute or {}))
                return
            except (DeadKernelError, TimeoutError, RuntimeError):  # RuntimeError: the kernel did not come up
                atexit.unregister(
                    runner._cleanup_kernel
                )  # nbclient forgets to where the kernel did not come up: a traceback at exit
                if attempt == ATTEMPTS or (up and not watch.stalled):
                    raise


class _Watch(threading.Thread):
    """Ends the runner's kernel once it has used no CPU time for `idle` seconds. stalled: has it?"""

    def __init__(self, runner: NotebookClient, idle: float):
        super().__init__(daemon=True)
        self._runner, self._idle, self._over = runner, idle, threading.Event()
        self.stalled = False

    def __enter__(self) -> _Watch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        spent, quiet = -1.0, 0.0
        step = min(1.0, self._idle / 4)
        while not self._over.wait(step):
            pid = getattr(getattr(getattr(self._runner, "km", None), "provisioner", None), "pid", None)
            now = _cpu_seconds(pid)
            if now is None:
                quiet = 0.0
                continue
            quiet = quiet + step if now - spent < 0.02 else 0.0
            spent = now
            if quiet >= self._idle:
                self.stalled = True
                os.kill(pid, signal.SIGKILL)
                return


def _cpu_seconds(pid: int | None) -> float | None:
    """CPU time of a process and all below it, None where there is none."""
    try:
        root = psutil.Process(pid) if pid else None
        times = [p.cpu_times() for p in (root, *root.children(recursive=True))] if root else []
    except psutil.Error:
        return None
    return sum(t.user + t.system + t.children_user + t.children_system for t in times) if times else None
