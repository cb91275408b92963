"""`course preview`: the site on this machine, built again when a source changes."""

import contextlib
import functools
import http.server
import threading
import time
from pathlib import Path
from typing import Annotated

import typer

from autograder.errors import CourseError
from autograder.site.build import EDITIONS
from autograder.site.preview import Preview

WATCH_S = 0.3


def command(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 4200,
    edition: Annotated[str, typer.Option(help="student or answer.")] = "student",
    renderer: Annotated[str, typer.Option(help="auto, quarto or smalldocs.")] = "auto",
    out: Annotated[
        Path | None, typer.Option(help="Folder for the site. Default: _site, and _site-answer for the answer edition.")
    ] = None,
):
    """Build the website, serve it on 127.0.0.1, and build it again when a page changes. Ends with Ctrl-C."""
    preview = Preview(out or Path(EDITIONS.get(edition, "_site")), edition=edition, renderer=renderer)
    preview.build()
    handler = functools.partial(_Handler, directory=str(preview.out.resolve()))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as e:
        raise CourseError(
            f"Port {port} cannot be used: {e.strerror}.", remedy="Name another with --port, or 0 for a free one."
        ) from e
    threading.Thread(target=server.serve_forever, daemon=True).start()
    typer.echo(f"http://127.0.0.1:{server.server_port}/  (Ctrl-C ends it; open pages follow every change)")
    seen = _times(preview.lessons)
    preview.warm()
    try:
        while True:
            time.sleep(WATCH_S)
            now = _times(preview.lessons)
            changed = [p for p in now.keys() | seen.keys() if now.get(p) != seen.get(p)]
            seen = now
            if not changed:
                continue
            try:
                start = time.perf_counter()
                told = preview.build(changed)
                _Handler.version += 1
                typer.echo(f"{told} in {time.perf_counter() - start:.1f} s")
                preview.warm()
            except CourseError as e:  # the old site stays up until the page is mended
                typer.echo(f"course: {e}", err=True)
    except KeyboardInterrupt:
        server.shutdown()


class _Handler(http.server.SimpleHTTPRequestHandler):
    """The site's files, each page with a line that loads it anew after a build."""

    version = 0
    FOLLOW = b"""<script>(() => { let at = null; setInterval(async () => { try { const v = await (await fetch("/__version__")).text();
        if (at !== null && v !== at) location.reload(); at = v; } catch { /* the preview has ended */ } }, 400); })();</script>"""

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() and self.path.split("?")[0].endswith("/") else path
        if self.path == "/__version__":
            return self._send(str(self.version).encode(), "text/plain")
        if path.suffix == ".html" and path.is_file():
            return self._send(path.read_bytes() + self.FOLLOW, "text/html; charset=utf-8")
        super().do_GET()

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *args):
        pass


def _times(folder: Path) -> dict[Path, int]:
    """When each source was last written."""
    found = {}
    for p in folder.rglob("*"):
        if p.is_file() and "_site" not in p.parts:
            with contextlib.suppress(OSError):  # an editor's own file may be gone by now
                found[p] = p.stat().st_mtime_ns
    return found
