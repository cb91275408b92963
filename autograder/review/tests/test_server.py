"""Who may speak to the page's server: this machine, with the token, and no other page."""

import http.client
import json
import threading

import pytest

from autograder.review.server import HEADER, MAX_BODY, ReviewServer


class Fake:
    """In place of a session: says what it was asked."""

    def __init__(self):
        self.asked = []

    def state(self):
        return {"items": {}}

    def decide(self, *given):
        self.asked.append(given)
        return {"decided": {}}

    def undo(self):
        self.asked.append("undo")
        return {"decided": {}}


@pytest.fixture
def server():
    with ReviewServer(Fake(), lang="en") as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


GIVEN = {"items": ["x"], "points": 1, "links": None, "misconceptions": None, "false": None, "group": None}


def ask(server, method, path, body=None, **headers):
    link = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    own = {"Host": f"127.0.0.1:{server.server_port}", HEADER: server.token}
    if method == "POST":
        own |= {"Origin": f"http://127.0.0.1:{server.server_port}", "Content-Type": "application/json"}
    sent = {k: v for k, v in (own | {k.replace("_", "-"): v for k, v in headers.items()}).items() if v is not None}
    link.putrequest(method, path, skip_host=True)
    data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    for name, value in ({"Content-Length": str(len(data))} | sent).items():
        link.putheader(name, value)
    link.endheaders(data)
    answer = link.getresponse()
    out = answer.status, dict(answer.getheaders()), answer.read()
    link.close()
    return out


def test_the_page_with_the_token_and_a_policy_that_admits_nothing_foreign(server):
    status, headers, body = ask(server, "GET", f"/?token={server.token}", **{HEADER: None})
    assert status == 200 and b"<script>" in body
    policy = headers["Content-Security-Policy"]
    assert (
        "default-src 'none'" in policy
        and "unsafe" not in policy
        and "frame-ancestors 'none'" in policy
        and "http" not in policy
    )
    assert (headers["Referrer-Policy"], headers["Cache-Control"], headers["X-Content-Type-Options"]) == (
        "no-referrer",
        "no-store",
        "nosniff",
    )
    assert "Access-Control-Allow-Origin" not in headers
    assert server.server_address[0] == "127.0.0.1"


def test_the_pages_own_requests(server):
    assert json.loads(ask(server, "GET", "/api/state")[2]) == {"items": {}, "lang": "en"}
    assert ask(server, "POST", "/api/decide", GIVEN)[0] == 200 and ask(server, "POST", "/api/undo", {})[0] == 200
    assert server.session.asked == [(["x"], 1, None, None, None, None), "undo"]


REFUSED = [
    {HEADER: None},
    {HEADER: "wrong"},
    {HEADER: "é"},
    {"Host": "evil.example"},
    {"Host": "127.0.0.1"},
    {"Host": ""},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Sec_Fetch_Site": "cross-site"},
    {"Sec_Fetch_Site": "same-site"},
]


@pytest.mark.parametrize("headers", REFUSED)
def test_any_other_is_refused(server, headers):
    for method, path, body in (
        ("GET", "/api/state", None),
        ("GET", "/", None),
        ("POST", "/api/decide", GIVEN),
        ("POST", "/api/undo", {}),
    ):
        status, _, said = ask(server, method, path, body, **headers)
        assert status == 403 and server.token.encode() not in said
    assert server.session.asked == []


def test_a_writing_request_says_where_it_comes_from(server):
    assert ask(server, "POST", "/api/undo", {}, Origin=None)[0] == 403
    assert ask(server, "POST", f"/api/undo?token={server.token}", {}, **{HEADER: None})[0] == 403, (
        "a token in an address is for the page alone"
    )
    assert ask(server, "POST", "/api/undo", {}, Content_Type="text/plain")[0] == 415, (
        "no form of another page sends JSON"
    )
    assert server.session.asked == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"[" * 50000,
        {},
        GIVEN | {"items": "x"},
        GIVEN | {"items": [1]},
        GIVEN | {"links": {"a": 1}},
        GIVEN | {"false": 1},
        GIVEN | {"group": "x" * 101},
    ],
)
def test_a_malformed_request_is_one_sentence(server, body):
    status, _, said = ask(server, "POST", "/api/decide", body)
    assert status == 400 and json.loads(said)["error"] and server.session.asked == []


def test_a_large_request_and_an_unknown_place(server):
    assert ask(server, "POST", "/api/decide", b"", Content_Length=str(MAX_BODY + 1))[0] == 413
    assert ask(server, "POST", "/api/decide", b"", Content_Length="x")[0] == 413
    assert ask(server, "GET", "/../page.js")[0] == 404 and ask(server, "POST", "/api/state", {})[0] == 404
    assert ask(server, "PUT", "/api/state")[0] == 501
