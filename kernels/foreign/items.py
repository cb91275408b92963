"""What stands at the top of a CUDA file, one item a declaration, and which of it a kernel needs: the host's code is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kernels.foreign.tokens import Token, angle, closing, split

DEVICE = {"__global__", "__device__", "__constant__", "__shared__", "__managed__"}
_SKIPPED = {
    "alignas",
    "__align__",
    "__attribute__",
    "__launch_bounds__",
    "__cluster_dims__",
    "__declspec",
    "__maxnreg__",
    "decltype",
}
_TYPES = {"struct", "class", "union", "enum"}
KNOWN_NAMESPACES = {
    "std",
    "cuda",
    "cooperative_groups",
    "cg",
    "cde",
    "nvcuda",
    "wmma",
    "device",
    "experimental",
    "ptx",
    "literals",
}


@dataclass
class Item:
    """kind: function, type, variable, alias, using or other.  path: the namespaces around it.  names: what it defines."""

    kind: str
    tokens: list[Token]
    path: tuple[str, ...]
    names: tuple[str, ...]
    marks: frozenset[str]  # __global__, __device__, constexpr, ... in front of it
    template: list[Token] = field(default_factory=list)
    bounds: list[Token] = field(default_factory=list)  # of __launch_bounds__
    cluster: list[Token] = field(default_factory=list)  # of __cluster_dims__

    @property
    def body(self) -> int | None:
        """Index of the { of a function's body."""
        i = 0
        while i < len(self.tokens):
            t = self.tokens[i]
            if t.text == "{":
                return i
            i = closing(self.tokens, i) + 1 if t.text in ("(", "[") else i + 1
        return None

    @property
    def parameters(self) -> list[list[Token]]:
        """A function's parameters."""
        at = _call(self.tokens, len(self.template))
        inside = self.tokens[at + 1 : closing(self.tokens, at)] if at is not None else []
        return [p for p in split(inside, ",", angles=True) if p and [t.text for t in p] != ["void"]]


def items(sequence: Sequence[Token], path: tuple[str, ...] = ()) -> Iterator[Item]:
    """The items of a file, also inside its namespaces and extern "C" blocks."""
    i, n = 0, len(sequence)
    while i < n:
        text = sequence[i].text
        if text in (";", "}"):
            i += 1
        elif text == "inline" and i + 1 < n and sequence[i + 1].text == "namespace":
            i += 1
        elif text == "namespace" and (at := _opens(sequence, i)) is not None:
            end = closing(sequence, at)
            inner = tuple(t.text for t in sequence[i + 1 : at] if t.kind == "word")
            yield from items(sequence[at + 1 : end], (*path, *inner))
            i = end + 1
        elif text == "extern" and i + 2 < n and sequence[i + 1].kind == "string":
            if sequence[i + 2].text == "{":
                end = closing(sequence, i + 2)
                yield from items(sequence[i + 3 : end], path)
                i = end + 1
            else:
                i += 2  # one declaration: the linkage is not needed
        else:
            end = _end(sequence, i)
            yield _item(list(sequence[i:end]), path)
            i = end


def _opens(sequence: Sequence[Token], i: int) -> int | None:
    """Index of the { that opens this namespace; None for an alias."""
    for k in range(i + 1, min(i + 16, len(sequence))):
        if sequence[k].text == "{":
            return k
        if sequence[k].text in ("=", ";"):
            return None
    return None


def _prefix(sequence: Sequence[Token], i: int) -> int:
    """Where a declaration begins behind template <...>."""
    while i + 1 < len(sequence) and sequence[i].text == "template" and sequence[i + 1].text == "<":
        i = angle(sequence, i + 1) + 1
    return i


def _end(sequence: Sequence[Token], start: int) -> int:
    i = _prefix(sequence, start)
    called = assigned = type_ = False
    while i < len(sequence):
        text = sequence[i].text
        if text in _SKIPPED and i + 1 < len(sequence) and sequence[i + 1].text == "(":
            i = closing(sequence, i + 1)
        elif text == "operator" and not called:
            while i + 1 < len(sequence) and (
                sequence[i + 1].text != "(" or sequence[i + 2].text == ")" and sequence[i + 3].text == "("
            ):
                i += 1
                if sequence[i].text == "(":
                    i += 1
        elif text in _TYPES and not called and not assigned:
            type_ = True
        elif text == "=":
            assigned = True
        elif text == "(":
            called, i = True, closing(sequence, i)
        elif text == "[":
            i = closing(sequence, i)
        elif text == ";":
            return i + 1
        elif text == "{":
            i = closing(sequence, i)
            if called and not assigned:
                return i + 1
            assigned = assigned or not type_  # float4 x{...};
            type_ = False
        i += 1
    return len(sequence)


def _call(sequence: Sequence[Token], start: int) -> int | None:
    """Index of the ( of a function's parameters."""
    i = start
    while i < len(sequence):
        text = sequence[i].text
        if text in _SKIPPED and i + 1 < len(sequence) and sequence[i + 1].text == "(":
            i = closing(sequence, i + 1)
        elif text == "operator":
            i += 1
            if sequence[i].text == "(":
                i += 1
            while i + 1 < len(sequence) and sequence[i + 1].text != "(":
                i += 1
        elif text == "(":
            return i
        elif text in ("=", "{", ";"):
            return None
        elif text == "[":
            i = closing(sequence, i)
        i += 1
    return None


def _arguments(sequence: Sequence[Token], word: str) -> list[Token]:
    for i, t in enumerate(sequence[:-1]):
        if t.text == word and sequence[i + 1].text == "(":
            return list(sequence[i + 2 : closing(sequence, i + 1)])
    return []


def _item(tokens: list[Token], path: tuple[str, ...]) -> Item:
    start = _prefix(tokens, 0)
    rest, template = tokens[start:], tokens[:start]
    texts = [t.text for t in rest]
    first = texts[0] if texts else ""
    make = lambda kind, names, marks=frozenset(): Item(
        kind, tokens, path, tuple(dict.fromkeys(names)), frozenset(marks), template
    )
    if first == "using" and "=" not in texts:
        return make("using", [] if "namespace" in texts else [t.text for t in rest if t.kind == "word"][-1:], texts)
    if first == "using" or first == "namespace":
        return make("alias", texts[1:2])
    if first == "typedef":
        return make("alias", [t.text for t in _declarators(rest[1:])])
    if first == "template":
        return make("other", [])  # an explicit instantiation
    at = _call(tokens, start)
    if at is not None and at + 1 < len(tokens) and tokens[at + 1].text in ("*", "&"):  # a pointer to a function
        at = None
    head = tokens[start:at] if at is not None else rest
    first_type = next((i for i, t in enumerate(rest) if t.text in _TYPES), None)
    if first_type is not None and (at is None or at > start + first_type):
        opened = next((i for i in range(first_type, len(rest)) if rest[i].text in ("{", "(", "=", ";")), len(rest) - 1)
        skip = {k for i in range(first_type, opened) for k in ([i] if rest[i].text in _SKIPPED else [])}
        if skip:  # alignas(16) between struct and the name
            i = first_type
            while i < len(rest) and rest[i].text not in ("{", ";"):
                i = closing(rest, i) + 1 if rest[i].text == "(" else i + 1
            opened = min(i, len(rest) - 1)
        if rest[opened].text in ("{", ";"):
            return _type(make, rest, first_type, opened)
    if at is not None and head and head[-1].text not in ("*", "&"):
        marks = {t.text for t in head}
        names = ["operator"] if "operator" in marks else [_name_before(head)]
        made = make("function", [n for n in names if n], marks)
        made.bounds, made.cluster = _arguments(head, "__launch_bounds__"), _arguments(head, "__cluster_dims__")
        return made
    marks = {t.text for t in rest[: next((i for i, t in enumerate(rest) if t.text in ("=", "{", "[")), len(rest))]}
    return make("variable", [t.text for t in _declarators(rest)], marks)


def _type(make, rest: list[Token], first: int, opened: int) -> Item:
    names, i = [], first + 1
    while i < opened:
        if rest[i].text in _SKIPPED and rest[i + 1].text == "(":
            i = closing(rest, i + 1)
        elif rest[i].kind == "word" and rest[i].text not in ("class", "struct", "final"):
            names.append(rest[i].text)
            break
        i += 1
    if rest[opened].text == "{":
        end = closing(rest, opened)
        if rest[first].text == "enum":
            names += [part[0].text for part in split(rest[opened + 1 : end], ",") if part]
        names += [t.text for t in _declarators(rest[end:])]
    return make("type", names, {t.text for t in rest[:first]})


def _name_before(head: list[Token]) -> str:
    i = len(head) - 1
    if i >= 0 and head[i].text == ">":  # f<int>(...): a specialisation
        depth = 0
        while i >= 0:
            depth += (head[i].text == ">") - (head[i].text == "<")
            i -= 1
            if depth == 0:
                break
    return head[i].text if i >= 0 and head[i].kind == "word" else ""


def _declarators(rest: Sequence[Token]) -> list[Token]:
    """The names that a declaration declares."""
    found = []
    for part in split([t for t in rest if t.text != ";"], ",", angles=True):
        name, i = None, 0
        while i < len(part):
            t = part[i]
            if t.text in ("=", "{"):
                break
            if t.text == "[":
                i = closing(part, i)
            elif t.text == "<":
                i = angle(part, i)
            elif t.text == "(":
                inner = part[i + 1 : closing(part, i)]
                if inner and inner[0].text in ("*", "&") and inner[-1].kind == "word":
                    name = inner[-1]
                i = closing(part, i)
            elif t.kind == "word":
                name = t
            i += 1
        if name:
            found.append(name)
    return found


def needed(found: Sequence[Item], roots: Sequence[Item]) -> list[Item]:
    """The items that the roots need, in the file's order: device code, constants and types that are named, directly or not."""
    defined: dict[str, list[int]] = {}
    for i, item in enumerate(found):
        if _usable(item):
            for name in item.names:
                defined.setdefault(name, []).append(i)
    kept = {i for i, item in enumerate(found) if any(item is r for r in roots)}
    queue = sorted(kept)
    operators = [i for i in defined.get("operator", [])]
    queue += [i for i in operators if i not in kept]
    kept.update(operators)
    while queue:
        item = found[queue.pop()]
        for k, t in enumerate(item.tokens):
            if t.kind != "word" or t.text not in defined:
                continue
            for i in _visible(found, defined[t.text], item, k):
                if i not in kept:
                    kept.add(i)
                    queue.append(i)
    everywhere = {i for i, item in enumerate(found) if item.kind == "using" and not item.names and _known(found, item)}
    return [found[i] for i in sorted(kept | everywhere)]


def _usable(item: Item) -> bool:
    if item.kind == "function":
        return bool(item.marks & (DEVICE | {"constexpr"}))
    if item.kind == "variable":
        return bool(item.marks & (DEVICE | {"const", "constexpr"}))
    return item.kind != "other"


def _visible(found: Sequence[Item], candidates: list[int], item: Item, at: int) -> list[int]:
    """Of the items that define a name, those that this use may mean."""
    tokens = item.tokens
    if at > 1 and tokens[at - 1].text == "::" and tokens[at - 2].kind == "word":
        inside = [i for i in candidates if found[i].path[-1:] == (tokens[at - 2].text,)]
        return inside or candidates
    near = [i for i in candidates if found[i].path == item.path[: len(found[i].path)]]
    deepest = max((len(found[i].path) for i in near), default=0)  # an inner namespace's name hides an outer one's
    return [i for i in near if len(found[i].path) == deepest] or candidates


def _known(found: Sequence[Item], item: Item) -> bool:
    spaces = (
        KNOWN_NAMESPACES
        | {p for other in found for p in other.path}
        | {n for other in found if other.kind == "alias" for n in other.names}
    )
    return all(t.text in spaces for t in item.tokens if t.kind == "word" and t.text not in ("using", "namespace"))
