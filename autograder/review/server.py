"""The page's server: 127.0.0.1 only, and only for whoever knows the token.

Any other program on the machine, and any web page that is open in the same browser, can send it requests; so the token is asked for each time,
Host must be this server (a name that leads here by DNS is refused), and a request that another page caused is refused by its Origin.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from autograder.errors import CourseError
from autograder.review.session import Session

HERE = Path(__file__).parent
MAX_BODY = 1 << 20  # bytes
HEADER = "X-Review-Token"


class ReviewServer(ThreadingHTTPServer):
    """Serves one session. port 0: any free one. Raises CourseError where the port is taken."""

    daemon_threads = True

    def __init__(self, session: Session, *, port: int = 0, lang: str = "zh", token: str | None = None):
        self.session, self.lang, self.token = session, lang, token or secrets.token_urlsafe(24)
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except OSError as e:
            raise CourseError(
                f"Port {port} cannot be used: {e.strerror}.", remedy="Name another with --port, or leave it out."
            ) from None

    @property
    def hosts(self) -> tuple[str, str]:
        return f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.hosts[0]}/?token={self.token}"


@lru_cache(maxsize=1)
def page() -> tuple[bytes, str]:
    """The page with its own style and script in it, and the policy that admits these two and nothing else."""
    css, script = ((HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    words = (HERE / "words.json").read_text(encoding="utf-8").replace("<", "\\u003c")
    script = f"const WORDS = {words};\n{script}"
    html = (HERE / "page.html").read_text(encoding="utf-8").replace("/*STYLE*/", css).replace("/*SCRIPT*/", script)
    policy = f"default-src 'none'; style-src {_hash(css)}; script-src {_hash(script)}; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return html.encode(), policy


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


class _Handler(BaseHTTPRequestHandler):
    server: ReviewServer
    timeout = 60
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "course-review", ""

    def log_message(self, *args) -> None:
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if not self._admitted(parse_qs(parts.query).get("token", [""])[0]):
            return
        if parts.path == "/":
            body, policy = page()
            self._send(HTTPStatus.OK, body, "text/html; charset=utf-8", {"Content-Security-Policy": policy})
        elif parts.path == "/api/state":
            self._json(HTTPStatus.OK, self.server.session.state() | {"lang": self.server.lang})
        else:
            self._json(HTTPStatus.NOT_FOUND, {"error": "There is nothing here."})

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        size = int(length) if length.isdecimal() else MAX_BODY + 1
        if size > MAX_BODY:
            self.close_connection = True
            return self._json(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": "The request is too large."})
        body = self.rfile.read(size)  # read whatever the answer is: the connection may be used again
        if not self._admitted("", written=True):
            return None
        if self.headers.get_content_type() != "application/json":
            return self._json(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, {"error": "JSON is expected."})
        try:
            data = json.loads(body)
            if self.path == "/api/decide":
                answer = self.server.session.decide(
                    _texts(data["items"]),
                    data["points"],
                    _texts(data["links"]),
                    _texts(data["misconceptions"]),
                    _flag(data["false"]),
                    _text(data["group"]),
                )
            elif self.path == "/api/undo":
                answer = self.server.session.undo()
            else:
                return self._json(HTTPStatus.NOT_FOUND, {"error": "There is nothing here."})
        except CourseError as e:
            return self._json(HTTPStatus.CONFLICT, {"error": str(e)})
        except (ValueError, KeyError, TypeError, RecursionError):
            return self._json(
                HTTPStatus.BAD_REQUEST, {"error": "The request is not of the page's form; load the page again."}
            )
        return self._json(HTTPStatus.OK, answer)

    def _admitted(self, token: str, *, written: bool = False) -> bool:
        """Is this request the page's own? Answers it where not. written: it changes something, so it must say where it comes from."""
        host, origin, site = (
            self.headers.get("Host", ""),
            self.headers.get("Origin"),
            self.headers.get("Sec-Fetch-Site", "none"),
        )
        given = token or self.headers.get(HEADER, "")
        if host not in self.server.hosts:
            why = "This server answers only as 127.0.0.1."
        elif (
            (written and origin is None)
            or origin not in (None, f"http://{host}")
            or site not in ("none", "same-origin")
        ):
            why = "The request comes from another page."
        elif not hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self.server.token.encode()):
            why = "The token is missing or wrong: open the address that `course review` printed."
        else:
            return True
        self._json(HTTPStatus.FORBIDDEN, {"error": why})
        return False

    def _json(self, status: HTTPStatus, data: dict) -> None:
        self._send(status, json.dumps(data, ensure_ascii=True).encode(), "application/json", {})

    def _send(self, status: HTTPStatus, body: bytes, kind: str, more: dict[str, str]) -> None:
        self.send_response(status)
        always = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "X-Frame-Options": "DENY",
        }
        for name, value in (always | {"Cross-Origin-Resource-Policy": "same-origin"} | more).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _texts(value) -> list[str] | None:
    if value is None or (isinstance(value, list) and all(isinstance(x, str) for x in value)):
        return value
    raise TypeError


def _text(value) -> str | None:
    if value is None or (isinstance(value, str) and len(value) <= 100):
        return value
    raise TypeError


def _flag(value) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise TypeError
