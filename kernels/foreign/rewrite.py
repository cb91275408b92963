"""What a host compiler cannot read in device code, as calls into the emulator: __shared__ variables and asm statements."""

from __future__ import annotations

from collections.abc import Sequence

from kernels.errors import CompileError
from kernels.foreign import ptx
from kernels.foreign.items import Item
from kernels.foreign.tokens import Token, angle, closing, split, words

_ASM = {"asm", "__asm__", "__asm"}
_ALIGN = {"alignas", "__align__"}


def error(t: Token, message: str) -> CompileError:
    return CompileError(f"{t.file}:{t.line}: {message}", file=t.file, line=t.line)


def rewrite(item: Item, shared: dict[str, Item]) -> list[Token]:
    """The item's tokens for a host compiler. shared: the file's __shared__ variables outside functions, by name."""
    tokens = item.tokens
    if item.kind == "variable":
        return _keys(item) if "__shared__" in item.marks else tokens
    if item.kind not in ("function", "type"):
        return tokens
    body = item.body
    out, i = list(tokens[: body + 1]) if body is not None else [], body + 1 if body is not None else 0
    if item.kind == "function" and body is not None:
        used = {t.text for t in tokens[body:]}
        for name, variable in shared.items():
            if name in used:
                out += _declaration(_statement(variable.tokens), tokens[body], with_key=False)
    while i < len(tokens):
        t = tokens[i]
        if t.text in _ASM and t.kind == "word" and (opened := _asm(tokens, i)) is not None:
            end = closing(tokens, opened)
            try:
                out += words(t, ptx.translate(tokens[opened + 1 : end]))
            except ptx.Unknown as e:
                raise error(
                    t,
                    f"the emulator does not know the PTX instruction `{e}`: write this step in CUDA C++, or with an instruction that kernels/cuda/hopper.cuh wraps.",
                ) from None
            i = end + 1
            if i < len(tokens) and tokens[i].text == ";":
                i += 1
        elif t.text == "__shared__":
            start = len(out)
            while start and (
                _is_align(out, start) or out[start - 1].text not in (";", "{", "}", ")", ":")
            ):  # to the statement's begin
                start = _before_align(out, start) if _is_align(out, start) else start - 1
            end = i
            while end < len(tokens) and tokens[end].text != ";":
                end = closing(tokens, end) + 1 if tokens[end].text in ("(", "[", "{") else end + 1
            statement = _statement([*out[start:], *tokens[i:end]])
            del out[start:]
            out += _declaration(statement, t, with_key=True)
            i = end + 1
        else:
            out.append(t)
            i += 1
    return out


def _asm(tokens: Sequence[Token], i: int) -> int | None:
    for k in range(i + 1, min(i + 5, len(tokens))):
        if tokens[k].text == "(":
            return k
        if tokens[k].text not in ("volatile", "__volatile__", "__volatile", "inline"):
            return None
    return None


def _is_align(out: list[Token], end: int) -> bool:
    return _before_align(out, end) is not None


def _before_align(out: list[Token], end: int) -> int | None:
    """Where alignas(...) begins that ends before `end`."""
    if not end or out[end - 1].text != ")":
        return None
    for k in range(end - 2, max(end - 24, -1), -1):
        if out[k].text in _ALIGN and k + 1 < end and closing(out, k + 1) == end - 1:
            return k
    return None


def _statement(tokens: Sequence[Token]) -> tuple[bool, str, list[Token]]:
    """(dynamic, alignment, declaration without the words that only place it)."""
    dynamic, alignment, rest, i = False, "0", [], 0
    tokens = [t for t in tokens if t.text != ";"]
    while i < len(tokens):
        t = tokens[i]
        if t.text in _ALIGN and i + 1 < len(tokens) and tokens[i + 1].text == "(":
            end = closing(tokens, i + 1)
            alignment = "(int)(" + " ".join(x.text for x in tokens[i + 2 : end]) + ")"
            if any(x.kind == "word" and x.text not in ("sizeof",) for x in tokens[i + 2 : end]) and _is_type(
                tokens[i + 2 : end]
            ):
                alignment = f"(int)alignof({' '.join(x.text for x in tokens[i + 2 : end])})"
            i = end
        elif t.text == "__attribute__":
            end = closing(tokens, i + 1)
            inner = [x.text for x in tokens[i + 1 : end]]
            if "aligned" in inner:
                alignment = (
                    "(int)(" + " ".join(inner[inner.index("(", inner.index("aligned")) + 1 :]).split(")")[0] + ")"
                )
            i = end
        elif t.text == "extern":
            dynamic = True
        elif t.text not in ("__shared__", "static", "constexpr", "__device__"):
            rest.append(t)
        i += 1
    return dynamic, alignment, rest


def _is_type(tokens: Sequence[Token]) -> bool:
    return tokens[0].text in (
        "float",
        "double",
        "int",
        "unsigned",
        "float2",
        "float4",
        "int4",
        "uint4",
        "char",
        "uint64_t",
        "barrier",
    )


def _declarators(rest: list[Token]) -> tuple[list[Token], list[tuple[list[Token], Token, list[Token]]]]:
    """(the type, [(its stars, name, dimensions)])."""
    parts, kind = split(rest, ",", angles=True), None
    found: list[tuple[list[Token], Token, list[Token]]] = []
    for part in parts:
        name, i = None, 0
        while i < len(part) and part[i].text != "[":
            if part[i].text in ("=", "{"):
                raise error(
                    part[0],
                    "a __shared__ variable has no initial value in CUDA: assign it in one thread, then __syncthreads().",
                )
            if part[i].text == "<":
                i = angle(part, i)
            elif part[i].kind == "word":
                name = i
            i += 1
        if name is None:
            raise error(
                rest[0], "this __shared__ declaration cannot be read: declare one array or variable a statement."
            )
        stars = 0 if kind is not None else next((k for k in range(name) if part[k].text in ("*", "&")), name)
        kind = part[:stars] if kind is None else kind
        if any(t.text == "=" for t in part[i:]):
            raise error(
                part[0],
                "a __shared__ variable has no initial value in CUDA: assign it in one thread, then __syncthreads().",
            )
        found.append((part[stars:name], part[name], part[name + 1 :]))
    return kind or [], found


def _declaration(statement: tuple[bool, str, list[Token]], at: Token, with_key: bool) -> list[Token]:
    dynamic, alignment, rest = statement
    kind, found = _declarators(rest)
    base, out = " ".join(t.text for t in kind), ""
    place = f'"{at.file}", {at.line}'
    for stars, name, dims in found:
        type_ = " ".join([base, *(t.text for t in stars)])
        n, size = name.text, " ".join(t.text for t in dims)
        if dynamic:
            inner = " ".join(t.text for t in dims[closing(dims, 0) + 1 :]) if dims else ""
            out += f"typedef {type_} {n}_emu_type {inner}; "
            value = f"({n}_emu_type*)emu_shared_dynamic(0, emu::Where{{{place}}})"
            out += f"{n}_emu_type* const {n} = {value}; " if dims else f"{n}_emu_type& {n} = *{value}; "
        else:
            key = f"static char {n}_emu_key; " if with_key else ""
            out += f"{key}typedef {type_} {n}_emu_type {size}; {n}_emu_type& {n} = EMU_STATIC_SHARED({n}_emu_type, {n}, {alignment}, {place}); "
    return words(at, out)


def _keys(item: Item) -> list[Token]:
    """What stands for a __shared__ variable outside functions: its identity."""
    dynamic, _, rest = _statement(item.tokens)
    _, found = _declarators(rest)
    return (
        [] if dynamic else words(item.tokens[0], " ".join(f"static char {name.text}_emu_key;" for _, name, _ in found))
    )
