"""One edition of a lesson: sections, cells, slots, links, images, callouts, lists, length."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from autograder.lesson.model import ANSWER_SLOTS, BLANK, CODE_ROLES, Cell, Edition
from autograder.lint.figures import lint_figures
from autograder.lint.form import ROLE_COUNTS, ROLE_ORDER, SECTIONS, WORDS, WORDS_PER_CHARACTER, Section
from autograder.lint.problem import Problem
from autograder.release.divs import Div, Text, closes, fence_of, parse

_HEADING = re.compile(r"^(#{1,6}) +(.*?)\s*(?:\{[^}]*\})?\s*$")
_LINK = re.compile(
    r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<path>[^)\s]+)(?:\s+\"[^\"]*\")?\)(?P<attrs>\{[^}]*\})?"
)
_LIST = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\S")
_LABEL = re.compile(r'"[^"]*"|(?<=\[)(?!\*\])[^\]"]+(?=\])|(?<=\|)[^|"]+(?=\|)')  # [*] is where a state diagram starts
_BREAK = re.compile(r"<br\s*/?>")
_MARKDOWN_BLOCK = re.compile(r"\s*(?:[-+*]|\d+[.)]|#{1,6}|>)(?:\s|$)")
_URL = re.compile(r"^[a-z][a-z0-9+.-]*:|^//")
_CROSSREF = re.compile(r"(?<![\w@`])@(?:fig|tbl|eq|sec|lst)-[\w-]+")


def lint_page(edition: Edition, written: Edition | None = None) -> list[Problem]:
    """Every problem of one page. written: the page with its references as they are written, where it has any."""
    out: list[Problem] = []

    def say(line: int, what: str, remedy: str) -> None:
        out.append(Problem(edition.path, line, what, remedy))

    tree = parse(edition.cells)
    prose = list(_prose(tree))
    _front(edition, say)
    _sections(edition, prose, say)
    _unwritten(edition, prose, say)
    _roles(edition, say)
    _blanks(edition, say)
    _widgets(edition, say)
    _kernels(edition, say)
    _slots(edition, say)
    _solution_is_folded(tree, say)
    _callouts(tree, say)
    _diagrams(tree, say)
    _lists(prose, say)
    _links(edition, prose, say)
    _quarto_only(prose, say)
    lint_figures([*_front_lines(written or edition), *_prose(parse((written or edition).cells))], say)
    _length(edition, prose, say)
    _sources(edition, prose, say)
    return out


Say = Callable[[int, str, str], None]
Line = tuple[int, str, bool]  # number, text, inside the answer edition's part


def plain_page(written: Edition) -> list[Problem]:
    """A page that is no lesson (home, overview, glossary): no figure typed by hand, no dead link, nothing that one renderer alone takes."""
    out: list[Problem] = []
    say = lambda line, what, remedy: out.append(Problem(written.path, line, what, remedy))  # noqa: E731
    tree = parse(written.cells)
    prose = list(_prose(tree))
    lint_figures([*_front_lines(written), *prose], say)
    _callouts(tree, say)
    _diagrams(tree, say)
    _lists(prose, say)
    _links(written, prose, say)
    _quarto_only(prose, say)
    return out


def _front_lines(edition: Edition) -> list[Line]:
    """What the header says to a reader."""
    return [(1, str(edition.front[key]), False) for key in ("title", "subtitle", "description") if key in edition.front]


def _prose(div: Div, answer: bool = False) -> Iterator[Line]:
    """Lines of Markdown outside code fences, in order. An empty line ("") stands for what was left out."""
    for child in div.children:
        if isinstance(child, Div):
            yield from _prose(child, answer or child.answer_edition)
        elif isinstance(child, Cell):
            height = child.source.count("\n") + len(child.options) + 2  # with its fences
            yield from ((n, "", answer) for n in range(child.line - 1, child.line + height))
        else:
            mark = ""
            for n, line in enumerate(child.lines, child.line):
                opened = None if mark else fence_of(line)
                if mark:
                    mark = "" if closes(line, mark) else mark
                    yield n, "", answer
                elif opened:
                    mark = opened[0]
                    yield n, "", answer
                else:
                    yield n, line, answer


def _front(edition: Edition, say: Say) -> None:
    if not edition.front.get("title"):
        say(1, "The page has no title.", "Write `title:` in the YAML header.")
    if edition.front.get("lang") != edition.lang:
        say(
            1,
            f"The page's header says lang: {edition.front.get('lang')}.",
            f"Write `lang: {edition.lang}`, so that the site and screen readers know the language.",
        )


_UNWRITTEN = re.compile(r"^(?:[-*] )?TODO[:：]")


def _unwritten(edition: Edition, prose: list[Line], say: Say) -> None:
    """What `course new` put there."""
    for key in ("title", "description"):
        if re.search(r"\bTODO\b|TODO：", str(edition.front.get(key, ""))):
            say(1, f"The page's {key} is not written.", "Write it.")
    for n, line, _ in prose:
        if _UNWRITTEN.match(line.strip()):
            say(n, f"This is not written yet: {line.strip().lstrip('-* ')[5:].strip()}", "Put the text in its place.")


def headings(prose: list[Line]) -> list[tuple[int, int, str]]:
    """(line, level, text) of the student edition's headings."""
    return [(n, len(m[1]), m[2]) for n, line, answer in prose if not answer and (m := _HEADING.match(line))]


def _sections(edition: Edition, prose: list[Line], say: Say) -> None:
    found = headings(prose)
    at = 0
    place: dict[str, int] = {}
    for section in SECTIONS:
        hits = [
            i
            for i, (_, level, text) in enumerate(found)
            if level == section.level and section.known_by(text, edition.lang)
        ]
        if not hits:
            say(
                0,
                f"The section {_name(section, edition.lang)!r} is missing.",
                f"Add a heading of level {section.level}, e.g. `{'#' * section.level} {_name(section, edition.lang)}`; its place is {_after(section, edition.lang)}.",
            )
            continue
        later = [i for i in hits if i >= at]
        if not later:
            say(
                found[hits[0]][0],
                f"The section {found[hits[0]][2]!r} stands too early.",
                f"Move it: its place is {_after(section, edition.lang)}.",
            )
            continue
        place[section.key] = later[0]
        at = later[0] + 1
    lines = edition.text.split("\n")
    hidden = {n for n, _, answer in prose if answer}
    for i in place.values():
        n, level, text = found[i]
        end = next((m for m, lev, _ in found[i + 1 :] if lev <= level), len(lines) + 1)
        if not any(
            lines[m - 1].strip() and not lines[m - 1].startswith(":::") for m in range(n + 1, end) if m not in hidden
        ):
            say(n, f"The section {text!r} is empty.", "Write it.")


def _name(section: Section, lang: str) -> str:
    return section.example[0 if lang == "zh" else 1]


def _after(section: Section, lang: str) -> str:
    i = SECTIONS.index(section)
    return f"after the section {_name(SECTIONS[i - 1], lang)!r}" if i else "at the top of the page"


def _roles(edition: Edition, say: Say) -> None:
    code = [c for c in edition.cells if c.kind == "code"]
    for cell in code:
        if cell.role is None:
            say(
                cell.line,
                "The code cell has no role.",
                f"Begin it with `#| course_role:` and one of {', '.join(CODE_ROLES)}.",
            )
        elif cell.role not in CODE_ROLES:
            say(cell.line, f"There is no cell role {cell.role!r}.", f"The roles are {', '.join(CODE_ROLES)}.")
    for role, (least, most) in ROLE_COUNTS.items():
        cells = edition.with_role(role)
        if len(cells) < least:
            say(
                0,
                f"The page has no cell with the role {role}.",
                f"Add one: a Python cell that begins with `#| course_role: {role}`.",
            )
        elif len(cells) > most:
            say(cells[most].line, f"The page has {len(cells)} cells with the role {role}.", f"Keep {most}.")
    firsts = [edition.with_role(r)[0] for r in ROLE_ORDER if edition.with_role(r)]
    for before, after in zip(firsts, firsts[1:]):
        if after.line < before.line:
            say(
                after.line,
                f"The {after.role} cell stands before the {before.role} cell.",
                f"The order is {', '.join(ROLE_ORDER)}.",
            )
    for cell in code:
        try:
            ast.parse(_without_magics(cell.source))
        except SyntaxError as e:
            say(
                cell.line + (e.lineno or 1), f"The {cell.role or 'code'} cell is not valid Python: {e.msg}.", "Mend it."
            )


def _without_magics(source: str) -> str:
    return "\n".join("pass" if x.startswith(("%", "!")) else x for x in source.split("\n"))


def _blanks(edition: Edition, say: Say) -> None:
    for cell in edition.cells:
        if cell.kind != "code":
            continue
        n = cell.source.count(BLANK)
        if cell.role == "exercise" and n != 1:
            say(cell.line, f"The exercise has {n} blanks.", f"It must have exactly one, written {BLANK}.")
        elif cell.role == "exercise" and not _blank_is_a_name(cell.source):
            say(
                cell.line,
                "The blank does not stand where an expression can.",
                f"Write it as one, e.g. `return {BLANK}`.",
            )
        elif cell.role == "boundary" and not n:
            say(
                cell.line,
                "The boundary cell leaves nothing to the student.",
                f"Write `my_case = dict(x={BLANK}, ...)` and `my_prediction = {BLANK}`.",
            )
        elif cell.role == "challenge" and not n:
            say(cell.line, "The challenge cell has no blank.", f'Write `my_line = "{BLANK}"`.')
        elif cell.role in ("kernel", "experiment", "solution") and n:
            say(
                cell.line,
                f"The {cell.role} cell holds a blank.",
                "Only exercise, boundary and challenge cells have blanks: fill it in.",
            )
        if cell.role == "boundary" and n:
            names = {
                t.id
                for s in ast.walk(_parsed(cell.source))
                if isinstance(s, ast.Assign)
                for t in s.targets
                if isinstance(t, ast.Name)
            }
            for name in sorted({"my_case", "my_prediction"} - names):
                say(
                    cell.line,
                    f"The boundary cell does not set {name}.",
                    f"Add a line `{name} = ...`; the grader reads it by that name.",
                )
        if cell.role == "exercise" and not any(isinstance(s, ast.Assert) for s in _parsed(cell.source).body):
            say(
                cell.line,
                "The exercise has no visible check.",
                "Add at least one assert on the function, so that a student sees at once whether he is right.",
            )


def _widgets(edition: Edition, say: Say) -> None:
    """interact(...) gives its function back; as a cell's last value it would be shown."""
    for cell in edition.cells:
        if cell.kind != "code" or not (body := _parsed(cell.source).body):
            continue
        last = body[-1].value if isinstance(body[-1], ast.Expr) else None
        name = (
            last.func.id
            if isinstance(last, ast.Call) and isinstance(last.func, ast.Name)
            else last.func.attr
            if isinstance(last, ast.Call) and isinstance(last.func, ast.Attribute)
            else ""
        )
        if name in ("interact", "interact_manual") and not cell.source.rstrip().endswith(";"):
            say(
                cell.line + len(cell.options) + cell.source.rstrip().count("\n"),
                "JupyterLab would show the function that interact gives back.",
                "End the line with a semicolon: interact(...);",
            )


def _kernels(edition: Edition, say: Say) -> None:
    """The kernels that cells load are there, and the challenge's has a line to replace; running the notebook would not show the latter, since its blank stays."""
    from kernels.compare import challenge_text
    from kernels.errors import KernelError
    from kernels.spec import get_spec

    for cell in edition.cells:
        if cell.kind != "code":
            continue
        for call in ast.walk(_parsed(cell.source)):
            called = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
            if called not in ("kernels.load", "challenge", "kernels.challenge") or not (
                call.args and isinstance(call.args[0], ast.Constant)
            ):
                continue
            name, line = str(call.args[0].value), cell.line + call.lineno
            try:
                spec = get_spec(name)
            except KernelError:
                say(line, f"There is no kernel named {name!r}.", "Name one that `course run` lists.")
                continue
            if not spec.compared_on_gpu:
                say(
                    line,
                    f"The kernel {name} has run on the emulator only.",
                    "Compare it with a GPU (`course bench both_backends`), then drop compared_on_gpu=False from its spec.",
                )
            if called != "kernels.load":
                try:
                    challenge_text(name)
                except KernelError:
                    say(
                        line,
                        f"The kernel {name} has no challenge line.",
                        f"Put the line between `// CHALLENGE-BEGIN: what it says` and `// CHALLENGE-END` in kernels/cuda/{spec.source} (this makes its receipts old: measure again), or take a kernel that has one.",
                    )


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(_without_magics(source))
    except SyntaxError:  # reported by _roles
        return ast.Module([], [])


def _blank_is_a_name(source: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == BLANK for n in ast.walk(_parsed(source)))


def _slots(edition: Edition, say: Say) -> None:
    cells = [c for c in edition.cells if c.kind == "answer"]
    for slot in ANSWER_SLOTS:
        count = sum(c.slot == slot for c in cells)
        if count != 1:
            say(
                0 if not count else [c for c in cells if c.slot == slot][1].line,
                f"The answer slot {slot} stands on the page {count} times.",
                f"It must stand there once: `::: {{#{slot} .answer}}` and `:::`.",
            )
    for c in cells:
        if c.slot not in ANSWER_SLOTS:
            say(c.line, f"There is no answer slot {c.slot!r}.", f"The slots are {', '.join(ANSWER_SLOTS)}.")
    order = [c.slot for c in cells if c.slot in ANSWER_SLOTS]
    if sorted(set(order), key=order.index) != [s for s in ANSWER_SLOTS if s in order]:
        say(
            cells[0].line,
            f"The answer slots stand in the order {', '.join(order)}.",
            f"The order is {', '.join(ANSWER_SLOTS)}.",
        )


def _solution_is_folded(tree: Div, say: Say) -> None:
    def visit(div: Div, hidden: bool, folded: bool) -> None:
        for child in div.children:
            if isinstance(child, Div):
                marked = "content-visible" in child.attrs.classes and child.answer_edition
                visit(
                    child,
                    hidden or marked,
                    folded or (child.callout is not None and child.attrs.values.get("collapse") == "true"),
                )
            elif isinstance(child, Cell) and child.role == "solution":
                if not hidden:
                    say(
                        child.line,
                        "The solution would be on the student's page.",
                        'Put it and the reference answers into `::: {.content-visible when-profile="answer"}`.',
                    )
                if not folded:
                    say(
                        child.line,
                        "The reference answer is not folded.",
                        'Put it into a callout with `collapse="true"`, so that nobody reads it by accident.',
                    )

    visit(tree, False, False)


def _callouts(tree: Div, say: Say) -> None:
    for node in tree.walk():
        if isinstance(node, Div) and node.callout and node.children and isinstance(node.children[0], Text):
            first = next(
                ((n, x) for n, x in enumerate(node.children[0].lines, node.children[0].line) if x.strip()), None
            )
            if first and _HEADING.match(first[1]):
                say(
                    first[0],
                    "The callout starts with a heading, which smalldocs loses.",
                    f'Write it as `title="{_HEADING.match(first[1])[2]}"` in the callout\'s braces.',
                )


def _diagrams(tree: Div, say: Say) -> None:
    for node in tree.walk():
        mark, drawn = "", False
        for n, line in enumerate(node.lines, node.line) if isinstance(node, Text) else ():
            opened = None if mark else fence_of(line)
            if opened:
                mark, drawn = opened[0], "mermaid" in line
            elif mark and closes(line, mark):
                mark = ""
            elif mark and drawn:
                for label in (m[0].strip('"') for m in _LABEL.finditer(line)):
                    if any(_MARKDOWN_BLOCK.match(part) for part in _BREAK.split(label)):
                        say(
                            n,
                            f"The diagram's label {label!r} reads as a Markdown list or heading, which Quarto's mermaid refuses to draw.",
                            "Begin it with a word.",
                        )


def _lists(prose: list[Line], say: Say) -> None:
    last_number, last = 0, ""
    for n, line, _ in prose:
        adjacent = n == last_number + 1
        if (
            adjacent
            and _LIST.match(line)
            and last.strip()
            and not _LIST.match(last)
            and not last.startswith((" ", "\t", ">", "|"))
            and not line.startswith((" ", "\t"))
        ):
            say(
                n,
                "The list has no blank line before it, so Quarto shows it as text.",
                "Put a blank line before its first item.",
            )
        last_number, last = n, line


def _links(edition: Edition, prose: list[Line], say: Say) -> None:
    project = edition.path.parent.parent
    for n, line, _ in prose:
        for m in _LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            path, _, anchor = m["path"].partition("#")
            if _URL.match(m["path"]) or not path:
                continue
            target = project / path.lstrip("/") if path.startswith("/") else edition.path.parent / path
            if not target.exists():
                say(
                    n,
                    f"The {'image' if m['image'] else 'link'} leads nowhere: {m['path']}.",
                    "Draw the figure, add the file, or mend the path.",
                )
            elif target.suffix == ".qmd" and target.stem in ("zh", "en") and target.stem != edition.lang:
                say(n, f"The link leads to the other language: {m['path']}.", f"Link to {edition.lang}.qmd.")
            if m["image"] and not m["text"].strip() and "fig-alt" not in (m["attrs"] or ""):
                say(n, f"The image {path} has no alternative text.", 'Add {fig-alt="..."} for those who cannot see it.')


def _quarto_only(prose: list[Line], say: Say) -> None:
    for n, line, _ in prose:
        bare = re.sub(r"`[^`]*`", "", line)
        if m := _CROSSREF.search(bare):
            say(
                n,
                f"The cross-reference {m[0]} works in Quarto only.",
                "Write the figure's number in words, e.g. 'figure 7-1'.",
            )


def words(prose: list[Line]) -> int:
    """Length of the student edition's text; Chinese characters weigh WORDS_PER_CHARACTER."""
    text = "\n".join(line for _, line, answer in prose if not answer)
    text = re.sub(r"\]\([^)]*\)|\{[^}]*\}|\$[^$]*\$", " ", text)
    return round(len(re.findall(r"[\u3400-\u9fff]", text)) * WORDS_PER_CHARACTER) + len(
        re.findall(r"[A-Za-z][\w'-]*", text)
    )


def length(edition: Edition) -> int:
    """`words` of a page."""
    return words(list(_prose(parse(edition.cells))))


def _length(edition: Edition, prose: list[Line], say: Say) -> None:
    n = words(prose)
    if not WORDS[0] <= n <= WORDS[1]:
        characters = (
            f" ({WORDS[0] / WORDS_PER_CHARACTER:.0f} to {WORDS[1] / WORDS_PER_CHARACTER:.0f} characters)"
            if edition.lang == "zh"
            else ""
        )
        say(
            0,
            f"The page has {n} words (a Chinese character counts {WORDS_PER_CHARACTER}).",
            f"A lesson has {WORDS[0]} to {WORDS[1]}{characters}, without code, diagrams and reference answers.",
        )


def _sources(edition: Edition, prose: list[Line], say: Say) -> None:
    section = next(s for s in SECTIONS if s.key == "sources")
    found = headings(prose)
    for i, (n, level, text) in enumerate(found):
        if level == section.level and section.known_by(text, edition.lang):
            end = found[i + 1][0] if i + 1 < len(found) else 10**9
            if not any(_LIST.match(x) for m, x, _ in prose if n < m < end):
                say(
                    n,
                    "The section names no source.",
                    "List what was read: a document and its section, a source path, a paper.",
                )


def asset_paths(edition: Edition) -> list[str]:
    """Image paths of the page, in order."""
    return [m["path"] for _, line, _ in _prose(parse(edition.cells)) for m in _LINK.finditer(line) if m["image"]]
