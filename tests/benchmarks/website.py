"""What the website weighs and how long it takes, printed: `python -m tests.benchmarks.website`.

Builds the site twice (the second time the pages' outputs are kept), times one changed page as `course preview` builds it, loads every
kind of page in Chromium and counts what it fetches, and measures the first paint over a connection of 1.6 Mbit/s with 150 ms round
trips, gzip on, caches empty. A page's weight counts every picture down to its end.
"""

from __future__ import annotations

import gzip
import http.server
import shutil
import statistics
import tempfile
import threading
import time
from pathlib import Path

from autograder.lesson import list_lessons
from autograder.paths import lessons_dir
from autograder.site import build_site
from autograder.site.preview import Preview
from tests.support.browser import chromium

RATE, TRIP_MS, READINGS = 1.6e6 / 8, 150, 3
PAGES = ["index.html", "overview/index.html", "claims/index.html", "glossary/index.html", "kernels/gemm_cuh.html"]
ZIPPED = {".html", ".css", ".js", ".json", ".svg"}


class _Zipped(http.server.SimpleHTTPRequestHandler):
    """Files as a static host sends them: text in gzip."""

    protocol_version = "HTTP/1.1"
    root: Path
    sent: dict[str, tuple[int, int]] = {}

    def do_GET(self):
        path = self.root / self.path.split("?")[0].lstrip("/")
        if not path.is_file():
            return self.send_error(404)
        body = path.read_bytes()
        plain = len(body)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        if path.suffix in ZIPPED:
            body = gzip.compress(body, 6)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.sent[self.path] = (plain, len(body))

    def log_message(self, *args):
        pass


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="website-") as work:
        out = Path(work) / "site"
        for what in ("build, both languages, as it comes", "again, outputs kept, no bundles"):
            start = time.perf_counter()
            built = build_site(out, renderer="smalldocs", bundles=what.startswith("build"))
            print(f"{what}: {time.perf_counter() - start:.1f} s for {built.pages} pages")
        _preview(Path(work))
        _Zipped.root = out
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Zipped)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with chromium() as browser:
                _pages(browser, f"http://127.0.0.1:{server.server_port}/")
        finally:
            server.shutdown()
            server.server_close()


def _preview(work: Path) -> None:
    lessons = Path(shutil.copytree(lessons_dir(), work / "lessons", ignore=shutil.ignore_patterns("_site*")))
    preview = Preview(work / "preview", lessons=lessons)
    preview.build()
    preview.warm()
    page = lessons / list_lessons(lessons)[0].name / "en.qmd"
    page.write_text(page.read_text(encoding="utf-8") + "\n\nOne more sentence.\n", encoding="utf-8")
    start = time.perf_counter()
    preview.build([page])
    print(f"preview, one changed page: {time.perf_counter() - start:.2f} s")


def _pages(browser, address: str) -> None:
    pages = PAGES + [f"{p.name}/index.html" for p in list_lessons()]
    print(f"{'page':58} {'KB':>6} {'gzip':>6} {'first paint, 1.6 Mbit/s':>24}")
    for lang in ("en", "zh"):
        for page in (f"{lang}/{p}" for p in pages):
            paints = []
            for _ in range(READINGS):
                _Zipped.sent = {}
                context = browser.new_context(viewport={"width": 390, "height": 844})
                tab = context.new_page()
                devtools = context.new_cdp_session(tab)
                devtools.send("Network.enable")
                devtools.send(
                    "Network.emulateNetworkConditions",
                    {"offline": False, "latency": TRIP_MS, "downloadThroughput": RATE, "uploadThroughput": RATE},
                )
                tab.goto(address + page, wait_until="networkidle")
                paints.append(tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
                if len(paints) == READINGS:  # and what the reader fetches on the way down
                    tab.evaluate("for (const i of document.images) i.loading = 'eager'")
                    tab.wait_for_load_state("networkidle")
                    tab.wait_for_timeout(500)
                context.close()
            plain, zipped = (sum(x[i] for x in _Zipped.sent.values()) / 1000 for i in (0, 1))
            print(
                f"{page:58} {plain:6.0f} {zipped:6.0f} {statistics.median(paints):15.0f} ms ({max(paints):.0f} at most)"
            )


if __name__ == "__main__":
    main()
