"""What a student wrote, made safe to show in formgrader's page, where it stands beside the instructor's session.

formgrader renders Markdown and outputs as HTML with scripts allowed (its template does not use nbconvert's sanitiser), so a
script in an answer could set grades. Text keeps its look: a word joiner, invisible and without width, breaks what a browser
would read as a tag and what MathJax would read as an attribute command.
"""

from __future__ import annotations

import re

from autograder.student.hints import MIME as HINT_MIME

JOINER = "\u2060"
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_SCHEME = re.compile(r"(?i)\b(javascript|vbscript|data)(?=\s*(?::|&colon;|&#0*58;|&#x0*3a;))")
_TEX = re.compile(r"\\(?=(?:href|style|class|cssId|unicode|require|html\w*|data)\b)")

PLAIN_TYPES = ("text/plain", "image/png", "image/jpeg")
MAX_OUTPUT = 40_000  # characters of text of one cell's outputs
MAX_IMAGE = 700_000  # characters of one base64 image


def safe_markdown(source: str) -> str:
    """Markdown that renders as before, with no tag, no script address and no HTML from TeX."""
    source = _TAG.sub("<" + JOINER, source)
    source = _SCHEME.sub(lambda m: m[1] + JOINER, source)
    return _TEX.sub(lambda m: "\\" + JOINER, source)


def safe_outputs(outputs: object) -> list[dict]:
    """A code cell's outputs with plain text and bitmap images only, cut to a size. Anything malformed is dropped."""
    kept: list[dict] = []
    room = MAX_OUTPUT
    for output in outputs if isinstance(outputs, list) else []:
        made = _output(output, room) if isinstance(output, dict) else None
        if made is None:
            continue
        kept.append(made)
        room -= len(str(made.get("text", ""))) + len(str(made.get("data", {}).get("text/plain", "")))
        if room <= 0:
            kept.append({"output_type": "stream", "name": "stdout", "text": "…\n"})
            break
    return kept


def _output(output: dict, room: int) -> dict | None:
    kind = output.get("output_type")
    if kind == "stream":
        return {
            "output_type": "stream",
            "name": "stderr" if output.get("name") == "stderr" else "stdout",
            "text": _text(output.get("text"))[:room],
        }
    if kind == "error":
        lines = output.get("traceback")
        traceback = [_text(x)[:2000] for x in lines[:40]] if isinstance(lines, list) else []
        return {
            "output_type": "error",
            "ename": _text(output.get("ename"))[:200],
            "evalue": _text(output.get("evalue"))[:2000],
            "traceback": traceback,
        }
    if kind in ("display_data", "execute_result", "pyout"):
        data = output.get("data") if isinstance(output.get("data"), dict) else {}
        shown = {}
        for mime in PLAIN_TYPES:
            value = _text(data.get(mime))
            if value and mime == "text/plain":
                shown[mime] = value[:room]
            elif value and len(value) <= MAX_IMAGE and re.fullmatch(r"[A-Za-z0-9+/=\s]+", value):
                shown[mime] = value
        return {"output_type": "display_data", "data": shown, "metadata": {}} if shown else None
    return None


def _text(value: object) -> str:
    if isinstance(value, list):
        value = "".join(x for x in value if isinstance(x, str))
    return value if isinstance(value, str) else ""


def hints_seen(outputs: object) -> list[int]:
    """The hint levels that a cell's outputs show."""
    levels = []
    for output in outputs if isinstance(outputs, list) else []:
        data = output.get("data") if isinstance(output, dict) else None
        shown = data.get(HINT_MIME) if isinstance(data, dict) else None
        level = shown.get("level") if isinstance(shown, dict) else None
        if isinstance(level, int) and 1 <= level <= 4:
            levels.append(level)
    return levels
