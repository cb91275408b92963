"""`course preview`: the site on this machine, built again when a source changes."""

import functools
import http.server
import threading
import time
from pathlib import Path
from typing import Annotated

import typer

from autograder.errors import CourseError
from autograder.paths import course_root
from autograder.site import build_site
from autograder.site.build import EDITIONS


def command(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 4200,
    edition: Annotated[str, typer.Option(help="student or answer.")] = "student",
    renderer: Annotated[str, typer.Option(help="auto, quarto or smalldocs.")] = "auto",
    out: Annotated[
        Path | None, typer.Option(help="Folder for the site. Default: _site, and _site-answer for the answer edition.")
    ] = None,
):
    """Build the website, serve it on 127.0.0.1, and build it again when a page changes. Ends with Ctrl-C."""
    out = out or Path(EDITIONS.get(edition, "_site"))
    built = build_site(out, edition=edition, renderer=renderer)
    handler = functools.partial(_Quiet, directory=str(built.out.resolve()))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as e:
        raise CourseError(
            f"Port {port} cannot be used: {e.strerror}.", remedy="Name another with --port, or 0 for a free one."
        ) from e
    threading.Thread(target=server.serve_forever, daemon=True).start()
    typer.echo(f"http://127.0.0.1:{server.server_port}/  (Ctrl-C ends it)")
    seen = _newest(course_root() / "lessons")
    try:
        while True:
            time.sleep(1)
            now = _newest(course_root() / "lessons")
            if now != seen:
                seen = now
                try:
                    build_site(out, edition=edition, renderer=renderer)
                    typer.echo("built again")
                except CourseError as e:  # the old site stays up until the page is mended
                    typer.echo(f"course: {e}", err=True)
    except KeyboardInterrupt:
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def _newest(folder: Path) -> float:
    return max((p.stat().st_mtime for p in folder.rglob("*") if p.is_file()), default=0.0)
