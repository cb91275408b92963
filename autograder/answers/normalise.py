"""A submitted answer in one canonical form, with a map back to the original characters.

Every later step reads the canonical text; every quote is cut from the original by the map, so that it stands literally in
what the student wrote. Removed on the way: zero-width and other invisible characters, HTML tags, markdown marks, LaTeX
marks. Text that a reader of the rendered page would not see (HTML comments, scripts, hidden elements, invisible "tag"
characters) is cut out and reported in `hidden`.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache

from autograder.answers import markup
from autograder.answers.hanzi import simplified

BREAK = "\n"  # ends a sentence in the canonical text

_NEVER_SHOWN = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|template|noscript|head|title)\b.*?(?:</\1\s*>|\Z)", re.I | re.S
)
# A link's definition stands on no page, whatever its title says. A comment is commonly written as one.
_DEFINITION = re.compile(
    r"^ {0,3}\[(?://|comment)\]:[^\n]*$|^ {0,3}\[[^\]\n]+\]:[ \t]*\n?[ \t]*(?:<[^>\n]*>|[^\s<]\S*)(?:(?:[ \t]+|[ \t]*\n[ \t]*)(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*$",
    re.I | re.M,
)
_DEFINED = re.compile(r"^ {0,3}\[([^\]\n]+)\]:", re.M)
_REFERENCE = re.compile(r"(?<!\\)\]\[([^\[\]\n]+)\]")
_WORD = re.compile(r"(?<![\w/.:-])[A-Za-z]{2,}(?![\w/:-])|[\u3400-\u9fff]")
_SAYS = 10  # words in a link's title: of an answer, not of a page
_VALUES = re.compile(r"""(?<![\w:.-])[\w:.-]++\s*+=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+)""")
_WORDS_IN_TAG = re.compile(r"\s(?!(?:hidden|open|reversed|compact|nowrap)\b)\w")
_BLOCK_TAG = re.compile(r"</?(?:br|p|div|li|h[1-6]|hr|tr|td|blockquote|summary|details|dd|dt|ul|ol|table)\b", re.I)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8}\d?);", re.I)
# Where a link or picture leads, and its title: no page shows them. A title may hold brackets and stand on the next line, and pages differ
# in what they take without a place or a blank before it; here all of it is taken. What is written in neither form ends at the bracket.
_STRING = r"{0}(?:[^{0}\\\n]|\\.|\n(?![ \t]*\n)){{0,4000}}+{0}"
_TITLE = "|".join((_STRING.format('"'), _STRING.format("'"), r"\((?:[^()\\\n]|\\.|\n(?![ \t]*\n)){0,4000}+\)"))
_TARGET = re.compile(
    rf"(?<!\\)\](?:\(\s*+(<[^<>\n]*+>|(?:[^\s()<\"']|\((?:[^\s()]|\([^\s()]*+\))*+\))*+)\s*+({_TITLE})?+\s*+\)|\([^)\n]{{0,2000}}+\))"
)
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n]*$", re.M)
_LINE_MARK = re.compile(
    r"[ \t]*(?:>[ \t]?)*(?:#{1,6}[ \t]+|[-*+•·▪◦●■–][ \t]+|\(?\d{1,2}[.)、．](?=\D)[ \t]*|（\d{1,2}）[ \t]*|[①-⑳][ \t]*|\|[ \t]*)?"
)
_LATEX = re.compile(r"\\([a-zA-Z]+)\*?")
_LATEX_WORDS = {
    "times": "*", "cdot": "*", "ast": "*", "neq": "!=", "ne": "!=", "leq": "<=", "le": "<=", "geq": ">=", "ge": ">=", "approx": "~", "sim": "~", "to": "->",
    "rightarrow": "->", "Rightarrow": "->", "implies": "->", "longrightarrow": "->", "infty": "inf", "pm": "+-", "gets": "=", "leftarrow": "=",
    "text": "", "textbf": "", "textit": "", "mathrm": "", "mathbf": "", "mathit": "", "mathtt": "", "texttt": "", "operatorname": "", "left": "", "right": "",
    "quad": " ", "qquad": " ", "frac": "", "displaystyle": "", "big": "", "Big": "",
}  # fmt: skip
_GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "epsilon",
    "σ": "sigma",
    "λ": "lambda",
    "μ": "mu",
    "Δ": "delta",
    "Σ": "sigma",
}
_SIGN = {
    "×": "*", "·": "*", "∙": "*", "⋅": "*", "∗": "*", "≠": "!=", "≤": "<=", "≥": ">=", "→": "->", "⇒": "->", "⟶": "->", "⟹": "->", "➡": "->", "➔": "->",
    "∞": "inf", "≈": "~", "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "′": "'", "「": '"', "」": '"', "『": '"', "』": '"', "−": "-", "‐": "-", "‑": "-",
    "–": "-", "⁓": "~",
}  # fmt: skip
_TERMINAL = tuple(".!?。！？；;:：,，")


@lru_cache(maxsize=20_000)
def invisible(ch: str) -> bool:
    """Format and control characters, fillers and selectors: nothing of them shows on a page (tab and newline do)."""
    return (
        (unicodedata.category(ch) in ("Cf", "Cc", "Co", "Cs") and ch not in "\t\n\r")
        or ch in "\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5"
        or 0xFE00 <= ord(ch) <= 0xFE0F
    )


@dataclass(frozen=True)
class Span:
    """A half-open interval of an answer's canonical text."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class Normal:
    """original: as submitted.  text: canonical.  at[i]: index in `original` of the character that gave text[i]; len(at) == len(text)."""

    original: str
    text: str
    at: tuple[int, ...]
    hidden: tuple[str, ...] = ()
    odd: tuple[str, ...] = field(
        default=()
    )  # kinds of trickery seen: "zero_width", "hidden_html", "tag_characters", "bidi"

    def quote(self, start: int, end: int) -> str:
        """The original text behind text[start:end], trimmed. It is always a substring of `original`."""
        if end <= start or start >= len(self.at):
            return ""
        end = min(end, len(self.at))
        return self.original[self.at[start] : self.at[end - 1] + 1].strip()

    def find(self, original_start: int) -> int:
        """First canonical index that stands at or after an original index."""
        return bisect_left(self.at, original_start)

    def without(self, spans: list[Span]) -> Normal:
        """The same answer with spans of the canonical text cut out; each leaves a sentence break, so that no words grow together."""
        text, at, pos = [], [], 0
        for span in sorted(spans, key=lambda s: (s.start, s.end)):
            start, end = max(pos, span.start), min(span.end, len(self.text))
            if end <= start:
                continue
            text += self.text[pos:start] + BREAK
            at += [*self.at[pos:start], self.at[start]]
            pos = end
        text += self.text[pos:]
        at += self.at[pos:]
        return Normal(self.original, "".join(text), tuple(at), self.hidden, self.odd)

    def replaced(self, edits: list[tuple[int, int, str]]) -> Normal:
        """The same answer with words exchanged (spelling); each edit is (start, end, new word), in order, without overlap."""
        text, at, pos = [], [], 0
        for start, end, word in edits:
            text.append(self.text[pos:start])
            at += self.at[pos:start]
            for i, ch in enumerate(word):
                text.append(ch)
                at.append(self.at[min(start + i, end - 1)] if i < len(word) - 1 else self.at[end - 1])
            pos = end
        text.append(self.text[pos:])
        at += self.at[pos:]
        return Normal(self.original, "".join(text), tuple(at), self.hidden, self.odd)


@lru_cache(maxsize=16)  # an answer is read by several readers, one after another
def normalise(answer: str) -> Normal:
    """Bring an answer into canonical form: NFKC, lower case, visible text only, Greek letters and LaTeX as words, `==` as `=`."""
    chars: list[tuple[str, int]] = []
    hidden: list[str] = []
    odd: set[str] = set()
    source = answer
    blocks = _blocks(source, hidden, odd)
    pos = 0
    for start, end, put in blocks:
        _plain(source, pos, start, chars, odd)
        chars += [(c, start) for c in put]
        pos = end
    _plain(source, pos, len(source), chars, odd)
    tags = "".join(chr(ord(c) - 0xE0000) for c in source if 0xE0020 <= ord(c) <= 0xE007E)
    if tags:
        hidden.append(tags)
        odd.add("tag_characters")
    chars = _lines(chars)
    chars = _math(chars)
    chars = simplified(chars)
    chars = _fold(chars)
    return Normal(
        answer,
        "".join(c for c, _ in chars),
        tuple(i for _, i in chars),
        tuple(h for h in hidden if h.strip()),
        tuple(sorted(odd)),
    )


def _blocks(source: str, hidden: list[str], odd: set[str]) -> list[tuple[int, int, str]]:
    """What is cut or replaced before anything else: (start, end, replacement), in order, without overlap."""
    found = []
    taken = bytearray(len(source))

    def put(start: int, end: int, text: str) -> None:
        found.append((start, end, text))
        taken[start:end] = b"\1" * (end - start)

    for start, end in _apart(
        [m.span() for pattern in (_NEVER_SHOWN, _DEFINITION) for m in pattern.finditer(source)]
        + markup.invisible(source)
    ):
        put(start, end, BREAK)
        hidden.append(source[start:end])
        odd.add("hidden_html")
    for start, end, bracket, shown in _targets(source):
        if shown == "!" and not any(taken[bracket - 1 : end]):
            put(bracket - 1, end, " ")
        elif shown != "!" and not taken[bracket] and not any(taken[start:end]):
            put(bracket, bracket + 1, "")
            put(start, end, "")
            if len(_WORD.findall(source[start:end])) >= _SAYS:
                hidden.append(source[start:end])
                odd.add("hidden_html")
    for pattern, text in ((_FENCE, lambda m: BREAK), (markup.TAG, lambda m: BREAK if _BLOCK_TAG.match(m[0]) else "")):
        for m in pattern.finditer(source):
            if not any(taken[m.start() : m.end()]):
                put(m.start(), m.end(), text(m))
                if pattern is markup.TAG and _WORDS_IN_TAG.search(_VALUES.sub("", m[0])):
                    hidden.append(m[0])  # "I<P then x>y" may be meant as text, and no page shows it
                    odd.add("hidden_html")
    for m in _ENTITY.finditer(source):
        if not any(taken[m.start() : m.end()]) and (plain := html.unescape(m[0])) != m[0]:
            put(m.start(), m.end(), "".join(c for c in plain if not invisible(c)))
    return sorted(found)


def _targets(source: str) -> list[tuple[int, int, int, str]]:
    """Of links and pictures: (start and end of what stands behind the words shown, the bracket before them, "!" of a picture). The inner first."""
    if "](" not in source and "][" not in source:
        return []
    partner: dict[int, int] = {}
    open_: list[int] = []
    for m in re.finditer(r"(?<!\\)[\[\]]", source):
        if m[0] == "[":
            open_.append(m.start())
        elif open_:
            partner[m.start()] = open_.pop()
    behind = [m.span() for m in _TARGET.finditer(source)]
    labels = {_label(m[1]) for m in _DEFINED.finditer(source)}
    behind += [m.span() for m in _REFERENCE.finditer(source) if _label(m[1]) in labels]
    return [(a, b, partner[a], source[max(0, partner[a] - 1) : partner[a]]) for a, b in sorted(behind) if a in partner]


def _label(text: str) -> str:
    return " ".join(text.casefold().split())


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping spans as one."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def _plain(source: str, start: int, end: int, out: list[tuple[str, int]], odd: set[str]) -> None:
    for i in range(start, end):
        ch = source[i]
        if " " <= ch <= "~" or "\u4e00" <= ch <= "\u9fff":
            out.append((ch, i))
            continue
        if ch == "\r":
            if i + 1 >= len(source) or source[i + 1] != "\n":
                out.append(("\n", i))
            continue
        if invisible(ch):
            if ch in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068":
                odd.add("bidi")
            elif ch in "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e" and i > 0:
                odd.add("zero_width")
            continue
        out.append((ch, i))


def _lines(chars: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Drop marks at the line's start; join hard-wrapped lines; every other newline is a break."""
    lines: list[list[tuple[str, int]]] = [[]]
    ends: list[int] = []
    for c in chars:
        if c[0] in "\n\u2028\u2029\x0b\x0c\x85":
            ends.append(c[1])
            lines.append([])
        else:
            lines[-1].append(c)
    texts = ["".join(c for c, _ in line) for line in lines]
    cuts = [mark.end() if (mark := _LINE_MARK.match(t)) else 0 for t in texts]
    marked = [bool(t[:cut].strip()) for t, cut in zip(texts, cuts)]
    full = _full_width([t.strip() for t in texts], marked)
    out: list[tuple[str, int]] = []
    for n, (line, text, cut) in enumerate(zip(lines, texts, cuts)):
        if n:
            before, body = texts[n - 1].strip(), text[cut:].strip()
            wide = sum(2 if ord(c) > 0x2E7F else 1 for c in before)
            wrapped = full[n - 1] or (
                wide >= 56 and body and not marked[n] and not before.endswith(_TERMINAL) and not body[:1].isupper()
            )
            if not wrapped:
                out.append((BREAK, ends[n - 1]))
            elif not (ord(before[-1]) > 0x2E7F and ord(body[0]) > 0x2E7F):  # Chinese has no blank between characters
                out.append((" ", ends[n - 1]))
        out += line[cut:]
    return out


def _full_width(lines: list[str], marked: list[bool]) -> list[bool]:
    """Which lines are full, so that the next goes on where they end: an editor wrapped their paragraph, all lines but the last being about equally long."""
    full = [False] * len(lines)
    start = 0
    while start < len(lines):
        end, longest = start + 1, len(lines[start])
        while (
            lines[start]
            and end < len(lines)
            and lines[end]
            and not marked[end]
            and not _ends_paragraph(lines[end - 1], longest)
        ):
            longest = max(longest, len(lines[end]))
            end += 1
        sizes = [len(t) for t in lines[start : end - 1]]
        longest = max(sizes, default=0)  # the last line need not be full
        if (
            len(sizes) >= 2
            and longest >= (32 if lines[start].isascii() else 20)
            and min(sizes) >= 0.8 * longest
            and len(lines[end - 1]) <= longest + 4
        ):
            full[start : end - 1] = [True] * len(sizes)
        start = end
    return full


def _ends_paragraph(line: str, longest: int) -> bool:
    """Does a sentence end here well before the line is full? longest: of the paragraph's lines so far."""
    return line.endswith(_TERMINAL[:6]) and len(line) < 0.8 * longest


def _math(chars: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """LaTeX commands as words or signs, dollar signs and braces dropped, emphasis marks dropped."""
    text = "".join(c for c, _ in chars)
    out: list[tuple[str, int]] = []
    i, n = 0, len(text)
    latex = "\\" in text or "$" in text
    while i < n:
        ch = text[i]
        if ch == "\\":
            m = _LATEX.match(text, i)
            if m:
                word = _LATEX_WORDS.get(m[1], m[1])
                out += [(c, chars[i][1]) for c in word]
                if word:
                    out[-1] = (word[-1], chars[m.end() - 1][1])
                i = m.end()
                continue
            if i + 1 < n and not text[i + 1].isalnum():  # \( \[ \_ \* and the like
                if text[i + 1] not in "()[],;!{} ":
                    out.append(chars[i + 1])
                i += 2
                continue
        if ch in "`$" or (latex and ch in "{}"):
            i += 1
            continue
        if ch in "*_~" and not _operator(text, i):
            i += 1
            continue
        out.append(chars[i])
        i += 1
    return out


def _operator(text: str, i: int) -> bool:
    """Is this * _ or ~ part of a product or a name, not an emphasis mark?"""
    ch = text[i]
    before, after = text[i - 1 : i], text[i + 1 : i + 2]
    if ch in (before, after):
        return False
    word = re.compile(r"[0-9A-Za-z_)\]αβ}]")
    if ch == "_":
        return bool(word.match(before or " ")) or bool(after and re.match(r"[0-9A-Za-z]", after) and before == "_")
    if ch == "~":
        return True
    left, right = text[:i].rstrip(" ")[-1:], text[i + 1 :].lstrip(" ")[:1]
    even = (before == " ") == (after == " ")
    return bool(even and word.match(left or " ") and re.match(r"[0-9A-Za-z(\[αβ\\{]", right or " "))


@lru_cache(maxsize=20_000)
def _folded(ch: str) -> tuple[str, ...]:
    """What one character becomes: NFKC, lower case, Greek and signs; blanks as one kind, invisible ones as nothing."""
    if ch in _GREEK or ch.lower() in _GREEK:
        return tuple(_GREEK.get(ch) or _GREEK[ch.lower()])
    if ch in _SIGN:
        return tuple(_SIGN[ch])
    out: list[str] = []
    for c in unicodedata.normalize("NFKC", ch).lower():
        if c in _SIGN:
            out += _SIGN[c]
        elif not invisible(c):
            out.append(BREAK if c == "\n" else " " if c.isspace() else c)
    return tuple(out)


def _fold(chars: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Each character folded; then `==` to `=`, no blanks around operators, single blanks elsewhere."""
    known = {ch: _folded(ch) for ch in {ch for ch, _ in chars}}
    flat = [(c, i) for ch, i in chars for c in known[ch]]
    out: list[tuple[str, int]] = []
    for c, i in flat:
        prev = out[-1][0] if out else BREAK
        if c == " " and prev in (" ", BREAK):
            continue
        if c == BREAK:
            while out and out[-1][0] == " ":
                out.pop()
            if not out or out[-1][0] == BREAK:
                continue
        if c == "=" and prev == "=" and (len(out) < 2 or out[-2][0] not in "<>!"):
            out[-1] = ("=", out[-1][1])
            continue
        if c == "=" and prev == "!" and len(out) > 2 and out[-2][0] == " ":
            del out[-2]
        if c in "=<>*+" and prev == " " and len(out) > 1 and out[-2][0] != BREAK:
            out.pop()
            prev = out[-1][0]
        if c == " " and prev in "=<>*+":
            continue
        out.append((c, i))
    while out and out[-1][0] in (" ", BREAK):
        out.pop()
    return out
