"""A JupyterLab of one's own and a headless Chromium that looks at it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

# All cells in the page at once, and no questions about news.
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
}
PATIENCE_MS = 60_000


@contextlib.contextmanager
def jupyterlab(
    folder: Path, home: Path, env: dict[str, str] | None = None, python: str = sys.executable
) -> Iterator[str]:
    """Serve `folder`; yields the address of its notebook view, to which a path and `?token=t` are added. home: for its settings."""
    for name, values in SETTINGS.items():
        path = home / "settings" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    environment = {
        **os.environ,
        **(env or {}),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_DATA_DIR": str(home / "data"),
    }
    command = [
        python,
        "-m",
        "jupyter",
        "lab",
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--IdentityProvider.token=t",
        f"--ServerApp.root_dir={folder}",
    ]
    with open(home / "lab.log", "w") as log:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_for(port, server, home / "lab.log")
            yield f"http://127.0.0.1:{port}/lab/tree/"
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait_for(port: int, server: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start: {log.read_text()[-2000:]}")


class Lab:
    """A notebook opened in the browser. asked: the hosts that the page asked for anything."""

    def __init__(self, browser, address: str, notebook: str):
        self.page = browser.new_page(viewport={"width": 1300, "height": 1500})
        self.page.set_default_timeout(PATIENCE_MS)
        self.asked: set[str] = set()
        self.page.on(
            "request", lambda r: self.asked.add(r.url.split("/")[2]) if r.url.startswith(("http", "ws")) else None
        )
        self.page.goto(f"{address}{notebook}?token=t&reset")
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        self.page.wait_for_function("document.querySelector('#jp-bottom-panel')?.innerText.includes('| Idle')")

    def cell(self, text: str):
        """The code cell that holds a piece of text."""
        return (
            self.page.locator(".jp-Notebook .jp-CodeCell")
            .filter(has=self.page.locator(".jp-InputArea", has_text=text))
            .first
        )

    def output(self, text: str, says: str) -> str:
        """Wait until the cell's output says something; returns the whole output."""
        from playwright.sync_api import expect

        area = self.cell(text).locator(".jp-OutputArea").first
        expect(area).to_contain_text(says, timeout=PATIENCE_MS)
        return area.inner_text()

    def run_all(self) -> None:
        """Run > Run All Cells, and wait for the end; a cell that fails stops the run."""
        self._menu("Run All Cells")

    def run(self, text: str) -> None:
        self.cell(text).locator(".jp-InputPrompt").click()
        self.page.keyboard.press("Control+Enter")
        self.settle()

    def edit(self, text: str, new: str) -> None:
        """Replace a code cell's text as a student would: click into it, select all, type."""
        self.cell(text).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(new)
        self.page.keyboard.press("Escape")

    def settle(self) -> None:
        self.page.wait_for_timeout(300)
        self.page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
        self.page.wait_for_function(
            "!Array.from(document.querySelectorAll('.jp-InputPrompt')).some(p => p.textContent.includes('[*]'))"
        )

    def save(self) -> None:
        self.page.keyboard.press("Control+s")
        self.page.wait_for_timeout(1500)

    def picture(self, path: Path) -> None:
        """The whole notebook on one picture."""
        height = self.page.evaluate("document.querySelector('.jp-WindowedPanel-outer').scrollHeight") + 150
        self.page.set_viewport_size({"width": 1300, "height": min(int(height), 12_000)})
        self.page.wait_for_timeout(800)
        self.page.screenshot(path=str(path))
        self.page.set_viewport_size({"width": 1300, "height": 1500})

    def _menu(self, entry: str) -> None:
        self.page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click()
        self.page.locator(".lm-Menu-itemLabel", has_text=entry).first.click()
        self.settle()
