"""What of an answer a reader of its page does not plainly see: hidden, struck out, or dressed so that nobody can tell from the text.

The ways to dress a text have no end (styles, classes, colours, sizes, places, LaTeX commands), the plain ones have one. So the plain ones
are listed. What is certainly invisible is cut, what is struck out is withdrawn, and all else that is not plain is for a person to look at.
Positions are those of the answer as submitted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from html.entities import html5

# As Markdown has it: inside a line a tag's attributes are named in ASCII (`I*W<P when ..., I*W>P` is text); a line that begins with
# a tag is handed to the browser, which is not so particular.
_STRICT = r"""(?:\s+[a-z_:][a-z0-9_.:-]*+(?:\s*+=\s*+(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?+)"""
_PLAIN = (
    r"(?:a|abbr|b|big|blockquote|br|center|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|pre|q|s|samp|small|span|strike"
    r"|strong|sub|summary|sup|table|tbody|td|th|thead|tr|tt|u|ul|var)"
)
TAG = re.compile(
    rf"</?{_PLAIN}(?:\s*+/?>|{_STRICT}++\s*+/?>|"
    + "|".join(rf"(?<=^<[a-z]{{{n}}})\b[^<>]*+>" for n in range(1, 5))
    + ")",
    re.I | re.M,
)
_OTHER = re.compile(rf"<(/?)(?!{_PLAIN}(?![a-z0-9-]))([a-z][a-z0-9-]*+)({_STRICT}*+)\s*+/?>", re.I)
_NAME = re.compile(r"</?([a-z][a-z0-9-]*)", re.I)
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:\s*+=\s*+("[^"]*"|'[^']*'|[^\s"'=<>`]+))?""")
_HARMLESS = frozenset(
    "href src alt title start reversed colspan rowspan align valign open lang id name target rel type value cite datetime border".split()
)
_VOID = frozenset("br hr img input col embed source track wbr area link meta base param".split())
_UNCLOSED = frozenset(
    "svg math textarea select option object iframe dialog datalist xmp plaintext desc metadata defs symbol noembed noframes canvas video audio".split()
)
_INVISIBLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*[01](?:px|pt|em|%)?\s*(?:[;\"']|$)|opacity\s*:\s*0(?:\.0+)?\s*(?:[;\"']|$)"
    r"|(?<!background-)color\s*[:=]\s*[\"']?(?:white|#fff(?:fff)?\b|transparent|rgba?\(\s*255\s*,\s*255\s*,\s*255)|(?<![\w-])hidden(?![\w-])",
    re.I,
)
_LINE_THROUGH = re.compile(r"line-through", re.I)

_COMMAND = re.compile(r"\\([a-zA-Z]+)\*?")
_STRIKES = frozenset("sout st cancel bcancel xcancel hcancel cancelto enclose strike".split())
_OPTION = re.compile(r"\s{0,3}(?:\[[^\]\n]{0,40}\])?\s{0,3}(?=\{)")
# Signs (HTML and LaTeX name most of them alike), functions, fonts and frames that leave a text where it is, and as it is.
_KNOWN = frozenset(k.rstrip(";") for k in html5) | frozenset(
    "neq to implies impliedby infty exists nexists ldots cdots dots vdots ddots max min sup inf lim log ln lg exp sin cos tan gcd det arg mod bmod pmod sqrt frac dfrac tfrac cfrac binom gets partial"
    " longrightarrow longleftarrow Longrightarrow longmapsto xrightarrow xleftarrow hat widehat bar overline underline vec tilde widetilde dot ddot check acute grave breve overbrace underbrace stackrel overset underset"
    " mathbb mathcal mathbf mathit mathrm mathsf mathtt mathfrak mathscr boldsymbol bm text textbf textit textrm textsf texttt textnormal emph operatorname mbox boxed left right middle"
    " big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr quad qquad displaystyle textstyle limits nolimits begin end hline substack lvert rvert lVert rVert lbrace rbrace".split()
)
_MATH = re.compile(r"\$++[^$]*+\$++|\\\((?:[^\\]|\\(?!\)))*+\\\)|\\\[(?:[^\\]|\\(?!\]))*+\\\]")
_ONE_TILDE = re.compile(r"(?<![~\\])~(?=[^\s~])[^~\n]+(?<=\S)~(?!~)")  # some pages strike it out, and some do not
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_PROSE = re.compile(r"(?:(?<![a-z])[a-z]{2,}+[^a-z]++){2}[a-z]{2}|(?:[\u3400-\u9fff][^\u3400-\u9fff]*){3}", re.I)


@dataclass(frozen=True)
class Element:
    """An HTML element: start, end: with its tags.  inner: where its content begins and ends.  tag: the opening one.  plain: its name is one that only sets type."""

    name: str
    tag: str
    start: int
    end: int
    inner: tuple[int, int]
    plain: bool

    @property
    def invisible(self) -> bool:
        return bool(_INVISIBLE.search(_attributes(self.tag)))

    @property
    def struck(self) -> bool:
        return self.name in ("s", "del", "strike") or bool(_LINE_THROUGH.search(self.tag))

    @property
    def dressed(self) -> bool:
        return not self.plain or not all(
            _shows(m[1].lower(), (m[2] or "").strip("\"'")) for m in _ATTRIBUTE.finditer(_attributes(self.tag))
        )


def _shows(attribute: str, value: str) -> bool:
    """Does an attribute leave the text as easy to see as before? A dark or strong colour does, and Jupyter's own boxes."""
    if attribute in _HARMLESS:
        return True
    if attribute == "class":
        return bool(_BOX.fullmatch(value.strip().lower()))
    if attribute == "color":
        return _is_seen(value)
    declared = [d.partition(":") for d in value.lower().split(";") if d.strip()]
    return attribute == "style" and all(
        name.strip() == "color" and _is_seen(v) or _WEIGHT.fullmatch(f"{name.strip()}:{v.strip()}")
        for name, _, v in declared
    )


def _is_seen(colour: str) -> bool:
    """Is it far from white? A page's ground is light where it is printed or graded."""
    name = colour.strip().lower()
    if not (m := _HEX.fullmatch(name)):
        return name in _COLOURS
    digits = m[1] if len(m[1]) == 6 else "".join(2 * d for d in m[1])
    red, green, blue = (int(digits[i : i + 2], 16) for i in (0, 2, 4))
    return 0.3 * red + 0.59 * green + 0.11 * blue <= 150


_BOX = re.compile(r"alert(?: alert-(?:block|info|success|warning|danger)){1,2}")
_WEIGHT = re.compile(
    r"font-weight:(?:bold|normal|[4-9]00)|font-style:(?:italic|normal)|text-decoration:underline|text-align:(?:left|center|right|justify)"
)
_HEX = re.compile(r"#([0-9a-f]{3}|[0-9a-f]{6})")
_COLOURS = frozenset(
    "red blue green navy teal purple maroon brown crimson darkred darkblue darkgreen darkorange royalblue steelblue firebrick indigo magenta darkmagenta chocolate forestgreen seagreen slateblue".split()
)


def _attributes(tag: str) -> str:
    return tag[_NAME.match(tag).end() : -1]


def invisible(source: str) -> list[tuple[int, int]]:
    """Elements that no page shows."""
    return [(e.start, e.end) for e in _elements(source) if e.invisible]


def struck(source: str) -> list[tuple[int, int]]:
    """Elements and LaTeX arguments that are crossed out."""
    return [(e.start, e.end) for e in _elements(source) if e.struck] + [
        (a, b) for a, b, name in _arguments(source) if name in _STRIKES
    ]


def dressed(source: str) -> list[tuple[int, int]]:
    """Stretches with words in them that a page may show or not: an element with attributes or an uncommon name, a LaTeX command that is not known
    around prose or in one formula with it, a comment in a formula, prose between single tildes."""
    found = []
    for e in _elements(source):
        start, end = e.inner if e.plain else (e.start, e.end)
        if e.dressed and not e.struck and re.search(r"\w", TAG.sub("", source[start:end])):
            found.append((e.start, e.end))
    found += [
        (a, b)
        for a, b, name in _arguments(source)
        if name not in _STRIKES and name not in _KNOWN and _is_prose(source[a:b])
    ]
    found += [m.span() for m in _ONE_TILDE.finditer(source) if _is_prose(m[0])]
    for m in _MATH.finditer(source):
        strange = any(c[1] not in _KNOWN and c[1] not in _STRIKES for c in _COMMAND.finditer(m[0]))
        if strange and _is_prose(m[0]) or any(_is_prose(c[0]) for c in _COMMENT.finditer(m[0])):
            found.append(m.span())
    return sorted(found)


def _is_prose(text: str) -> bool:
    return bool(_PROSE.search(_COMMAND.sub(" ", text)))


@lru_cache(maxsize=16)  # the reader, the gate and what is struck ask for the same answer
def _elements(source: str) -> tuple[Element, ...]:
    """Every element, by its opening tag; one that is not closed ends with the text. Of an uncommon name, only what is surely a tag: `vector<float>` is none."""
    if "<" not in source:
        return ()
    tags = sorted(
        [(m.start(), m, True) for m in TAG.finditer(source)] + [(m.start(), m, False) for m in _OTHER.finditer(source)],
        key=lambda t: t[0],
    )
    open_: dict[str, list[int]] = {}
    closed: dict[int, tuple[int, int]] = {}
    for n, (_, m, _) in enumerate(tags):
        name = _NAME.match(m[0])[1].lower()
        if m[0][1] == "/":
            if open_.get(name):
                closed[open_[name].pop()] = m.span()
        elif name not in _VOID and not m[0].endswith("/>"):
            open_.setdefault(name, []).append(n)
    out = []
    for n, (start, m, plain) in enumerate(tags):
        name = _NAME.match(m[0])[1].lower()
        if m[0][1] == "/" or not (plain or n in closed or "=" in m[0] or name in _UNCLOSED):
            continue
        alone = name in _VOID
        inner_end, end = (m.end(), m.end()) if alone else closed.get(n, (len(source), len(source)))
        out.append(Element(name, m[0], start, end, (m.end(), inner_end), plain))
    return tuple(out)


@lru_cache(maxsize=16)
def _arguments(source: str) -> tuple[tuple[int, int, str], ...]:
    """LaTeX commands with what stands in the braces behind them: (start, end, name)."""
    if "\\" not in source:
        return ()
    partner: dict[int, int] = {}
    open_: list[int] = []
    for i, c in enumerate(source):
        if c == "{":
            open_.append(i)
        elif c == "}" and open_:
            partner[open_.pop()] = i + 1
    out = []
    for m in _COMMAND.finditer(source):
        end = m.end()
        while True:
            option = _OPTION.match(source, end)
            if not option or option.end() not in partner:
                break
            end = partner[option.end()]
        if end > m.end():
            out.append((m.start(), end, m[1]))
    return tuple(out)
