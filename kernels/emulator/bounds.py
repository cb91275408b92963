"""What a source says of an entry's launch: the __launch_bounds__ and __cluster_dims__ before its name, for the runner to compare."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_WORD = re.compile(r"[A-Za-z_]\w*\s*\(")
_NOT = ("__attribute__", "__declspec", "asm", "alignas")
EXPORTS = "bounds"  # what the compiler calls these lines


def bounds_lines(text: str, entries: list[str]) -> str:
    """C++ lines for the end of the source that export each entry's bounds. Entries whose definition is not found have none."""
    code = _COMMENT.sub(" ", text).replace("\\\n", "  ")
    lines = []
    for entry in entries:
        before = _before(code, entry)
        if before is not None:
            lines.append(f"HOPPER_BOUNDS({entry}, {_calls(before, code)})")
    words = "".join(
        f"#undef {w}\n#define {w}(...) .{f}(__VA_ARGS__)\n"
        for w, f in (("__launch_bounds__", "launch"), ("__cluster_dims__", "cluster"))
    )
    return f'\n{words}#line 1 "{EXPORTS}"\n' + "\n".join(lines) + "\n" if lines else ""


def _before(code: str, entry: str) -> str | None:
    """The text between `__global__` and the entry's name, also where a macro makes the entry."""
    if m := re.search(rf"__global__([^;{{}}]*?)\b{entry}\s*\(", code):
        return m[1]
    for made in re.finditer(rf"^[ \t]*(\w+)\(([^()]*\b{entry}\b[^()]*)\)", code, re.M):
        given = [a.strip() for a in made[2].split(",")]
        macro = re.search(rf"^[ \t]*#[ \t]*define[ \t]+{made[1]}\(([^)]*)\)(.*)$", code, re.M)
        if macro and entry in given:
            names = [n.strip() for n in macro[1].split(",")]
            place = given.index(entry)
            if place < len(names) and (m := re.search(rf"__global__([^;{{}}]*?)\b{names[place]}\s*\(", macro[2])):
                before = m[1]
                for name, value in zip(names, given):
                    before = re.sub(rf"\b{name}\b", value, before)
                return before
    return None


def _calls(before: str, code: str) -> str:
    """The words in it that count, and the macros that may stand for them: those with arguments, and those of this file without."""
    without = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+[^\n]*__(?:launch_bounds|cluster_dims)__", code, re.M)
    found, at = [w for w in re.findall(r"\w+", before) if w in without], 0
    while m := _WORD.search(before, at):
        depth, at = 1, m.end()
        while at < len(before) and depth:
            depth += {"(": 1, ")": -1}.get(before[at], 0)
            at += 1
        if m[0].rstrip("( \t\n") not in _NOT:
            found.append(" ".join(before[m.start() : at].split()))
    return " ".join(found)
