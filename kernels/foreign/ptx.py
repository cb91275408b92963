"""Inline PTX in a foreign CUDA file, as calls into the emulator: the instructions that hopper.cuh knows, and plain arithmetic.

An asm statement becomes a block of C++: its registers are variables, its labels are labels, each instruction is one statement.
`Unknown` names the first instruction that has no counterpart.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from kernels.foreign.tokens import Token, split

_COUNT = itertools.count()
_TYPES = {
    "u8": "uint8_t", "s8": "int8_t", "b8": "uint8_t", "u16": "uint16_t", "s16": "int16_t", "b16": "uint16_t", "u32": "uint32_t", "s32": "int32_t",
    "b32": "uint32_t", "u64": "uint64_t", "s64": "int64_t", "b64": "uint64_t", "f32": "float", "f64": "double", "pred": "bool",
}  # fmt: skip
_SPECIAL = {
    "laneid": "emu_lane()", "smid": "emu_sm()", "warpid": "((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32)",
    "cluster_ctarank": "emu_cluster_rank()", "cluster_nctarank": "emu_cluster_size()", "clusterid.x": "(blockIdx.x / emu_cluster_size())",
    "nclusterid.x": "(gridDim.x / emu_cluster_size())", "globaltimer": "(uint64_t)emu_clock()", "clock": "(uint32_t)emu_clock()", "clock64": "(uint64_t)emu_clock()",
    **{f"{p}.{a}": f"{c}.{a}" for p, c in (("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim")) for a in "xyz"},
    "lanemask_eq": "(1u << emu_lane())", "lanemask_lt": "((1u << emu_lane()) - 1)", "lanemask_le": "((2u << emu_lane()) - 1)",
    "lanemask_ge": "(~0u << emu_lane())", "lanemask_gt": "(~0u << emu_lane() << 1)",
}  # fmt: skip
_ELEMENTS = {"bf16": "emu::BF16", "f16": "emu::FP16", "e4m3": "emu::E4M3", "tf32": "emu::TF32"}


class Unknown(Exception):
    """An instruction without a counterpart; the argument is its name."""


def translate(inside: Sequence[Token]) -> str:
    """C++ for what stands between the parentheses of an asm statement. Raises Unknown."""
    parts = split([t for u in inside for t in _colons(u)], ":")
    text = "".join(_unquote(t) for t in parts[0] if t.kind == "string")
    operands = []
    for kind, part in zip("oi", parts[1:3]):
        for one in split(part, ",", angles=False):
            if len(one) >= 3 and one[0].kind == "string":
                operands.append(
                    (
                        _unquote(one[0]),
                        "(" + "".join(" " * bool(t.before) + t.text for t in one[2:-1]) + ")",
                        kind == "o",
                    )
                )
    where = f'emu::Where{{"{inside[0].file}", {inside[0].line}}}'
    return _Block(operands, where).run(text)


def _colons(t: Token) -> list[Token]:
    if t.text != "::" or t.kind != "mark":
        return [t]
    return [Token("mark", ":", t.before, t.file, t.line), Token("mark", ":", "", t.file, t.line)]


def _unquote(t: Token) -> str:
    if t.text.startswith(("R", "u8R")):
        return t.text[t.text.index("(") + 1 : t.text.rindex(")")]
    body = t.text[t.text.index('"') + 1 : -1]
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": " "}.get(m[1], m[1]), body)


class _Block:
    def __init__(self, operands: list[tuple[str, str, bool]], where: str):
        self.operands, self.where, self.registers, self.id = operands, where, {}, next(_COUNT)

    def run(self, text: str) -> str:
        text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S).replace("%%", "%")
        out = []
        for piece in text.split(";"):
            piece = " ".join(piece.split())
            while piece:
                if piece[0] in "{}" and not re.match(r"\{[^{}]*\}\s*,", piece):
                    piece = piece[1:].strip()
                elif label := re.match(r"([A-Za-z_$][\w$]*)\s*:(?!:)", piece):
                    out.append(f"{self._label(label[1])}: ;")
                    piece = piece[label.end() :].strip()
                else:
                    out.append(self._instruction(piece))
                    break
        return "{ " + " ".join(o for o in out if o) + " }"

    def _label(self, name: str) -> str:
        return f"emu_label_{re.sub(r'[^A-Za-z0-9_]', '_', name)}_{self.id}"

    def _instruction(self, text: str) -> str:
        text = re.sub(r"\}$", "", text).strip() if text.count("}") > text.count("{") else text
        if not text:
            return ""
        if text.startswith(".reg"):
            return self._declare(text)
        if guard := re.match(r"@(!?)\s*(\S+)\s+(.*)", text):
            return f"if ({guard[1]}{self.value(guard[2])}) {{ {self._instruction(guard[3])} }}"
        op, _, rest = text.partition(" ")
        given = _operands(rest)
        if op in ("bra", "bra.uni"):
            return f"goto {self._label(given[0])};"
        for pattern, make in _TABLE:
            if m := re.fullmatch(pattern, op):
                try:
                    return make(self, m, *given)
                except TypeError as e:  # another number of operands
                    raise Unknown(text.split(" ")[0]) from e
        raise Unknown(op)

    def _declare(self, text: str) -> str:
        _, kind, names = text.split(None, 2)
        type_ = _TYPES.get(kind.lstrip("."))
        if not type_:
            raise Unknown(f".reg {kind}")
        made = []
        for name in re.split(r"\s*,\s*", names):
            if many := re.fullmatch(r"(%?[\w$]+)<(\d+)>", name):
                made += [f"{many[1]}{i}" for i in range(int(many[2]))]
            else:
                made.append(name)
        for name in made:
            self.registers[name.lstrip("%")] = f"emu_reg_{name.lstrip('%').replace('$', '_')}_{self.id}"
        return " ".join(f"{type_} {self.registers[n.lstrip('%')]} = 0;" for n in made)

    def value(self, text: str) -> str:
        """A register, operand, special register or number as an expression."""
        text = text.strip()
        if m := re.fullmatch(r"%(\d+)", text):
            return self.operands[int(m[1])][1] if int(m[1]) < len(self.operands) else _fail(text)
        name = text.lstrip("%")
        if name in self.registers:
            return self.registers[name]
        if text.startswith("%"):
            return _SPECIAL.get(name) or _fail(text)
        if m := re.fullmatch(r"0[fF]([0-9a-fA-F]{8})", text):
            return f"emu_bits<float>(0x{m[1]}u)"
        if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+(\.\d+)?)U?", text):
            return text
        return _fail(text)

    def bits(self, text: str, type_: str) -> str:
        return f"emu_get<{type_}>({self.value(text)})"

    def put(self, text: str, value: str) -> str:
        return "" if text.strip() == "_" else f"emu_put({self.value(text)}, {value});"

    def address(self, text: str, shared: bool) -> str:
        """The pointer that [x], [x + n] or [x, {..}] means."""
        inside = text.strip().strip("[]").strip()
        base, plus, offset = inside.partition("+")
        value = self.value(base)
        pointer = f"emu_smem_pointer(emu_get<uint32_t>({value}), {self.where})" if shared else f"emu_pointer({value})"
        return f"((char*){pointer} + {self.value(offset)})" if plus else pointer

    def list(self, text: str) -> list[str]:
        return [p.strip() for p in text.strip().strip("{}").split(",")]


def _fail(text: str):
    raise Unknown(text)


def _operands(text: str) -> list[str]:
    found, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "[{") - (c in "]}")
        if c == "," and depth == 0:
            found.append(text[start:i].strip())
            start = i + 1
    return [f for f in (*found, text[start:].strip()) if f]


_TABLE: list[tuple[str, Callable]] = []


def _op(pattern: str):
    def keep(make: Callable) -> Callable:
        _TABLE.append((pattern, make))
        return make

    return keep


def _calls(pattern: str, call: str) -> None:
    """An instruction that is one call: $0, $1 are its operands as 32-bit numbers, W its place."""
    count = len(set(re.findall(r"\$\d", call)))

    def make(b: _Block, m, *given: str) -> str:
        if len(given) != count:
            raise TypeError
        out = call
        for i, g in enumerate(given):
            out = out.replace(f"${i}", b.bits(g, "uint32_t"))
        return out.replace("WHERE", b.where) + ";" if out else ""

    _TABLE.append((pattern, make))


_calls(r"wgmma\.fence\.sync\.aligned", "emu_wgmma_fence(WHERE)")
_calls(r"wgmma\.commit_group\.sync\.aligned", "emu_wgmma_commit(WHERE)")
_calls(r"wgmma\.wait_group\.sync\.aligned", "emu_wgmma_wait((int)$0, WHERE)")
_calls(r"setmaxnreg\.inc\.sync\.aligned\.u32", "emu_setmaxnreg((int)$0, true, WHERE)")
_calls(r"setmaxnreg\.dec\.sync\.aligned\.u32", "emu_setmaxnreg((int)$0, false, WHERE)")
_calls(r"barrier\.cluster\.arrive(\.release)?(\.aligned)?", "emu_cluster_arrive(WHERE)")
_calls(r"barrier\.cluster\.wait(\.acquire)?(\.aligned)?", "emu_cluster_wait(WHERE)")
_calls(r"fence\.mbarrier_init\.release\.cluster", "emu_fence_mbarrier_init(WHERE)")
_calls(r"fence\.proxy\.async(\.shared::c(ta|luster))?", "emu_fence_proxy_async(false, WHERE)")
_calls(r"fence\.proxy\.async\.global", "emu_fence_proxy_async(true, WHERE)")
_calls(r"(fence\.(acq_rel|sc)\.(cta|gpu|sys|cluster)|membar\.(cta|gl|sys))", "emu_threadfence(WHERE)")
_calls(r"cp\.async\.bulk\.commit_group", "emu_tma_store_commit(WHERE)")
_calls(r"cp\.async\.bulk\.wait_group", "emu_tma_store_wait((int)$0, false, WHERE)")
_calls(r"cp\.async\.bulk\.wait_group\.read", "emu_tma_store_wait((int)$0, true, WHERE)")
_calls(r"cp\.async\.commit_group", "emu_async_commit(WHERE)")
_calls(r"cp\.async\.wait_group", "emu_async_wait((int)$0, WHERE)")
_calls(r"cp\.async\.wait_all", "emu_async_wait(-1, WHERE)")
_calls(r"nanosleep\.u32", "emu_yield(WHERE); (void)$0")
_calls(r"trap", "emu_trap(WHERE)")
_TABLE.append((r"prefetch(\.tensormap|\.global\.L[12])", lambda b, m, *given: ""))
_TABLE.append(
    (r"createpolicy\.fractional\.L2::evict_(first|last|normal)\.b64", lambda b, m, d, *given: b.put(d, "(uint64_t)0"))
)
_TABLE.append((r"mbarrier\.inval(\.shared(::cta)?)?\.b64", lambda b, m, a: ""))


@_op(r"(bar|barrier)\.(sync|arrive)(\.aligned)?")
def _barrier(b: _Block, m, which, threads="0") -> str:
    wait = "true" if m[2] == "sync" else "false"
    return (
        f"emu_named_barrier((int){b.bits(which, 'uint32_t')}, (int){b.bits(threads, 'uint32_t')}, {wait}, {b.where});"
    )


@_op(r"mbarrier\.init(\.shared(?:::cta)?)?\.b64")
def _init(b: _Block, m, bar, count) -> str:
    return f"emu_mbarrier_init({b.address(bar, bool(m[1]))}, {b.bits(count, 'uint32_t')}, nullptr, -1, {b.where});"


@_op(
    r"mbarrier\.arrive(\.expect_tx)?((?:\.release|\.relaxed)?(?:\.c(?:ta|luster))?)(\.shared(?:::c(?:ta|luster))?)?\.b64"
)
def _arrive(b: _Block, m, token, bar, count="1") -> str:
    arrivals, bytes_ = ("1", b.bits(count, "uint32_t")) if m[1] else (b.bits(count, "uint32_t"), "0")
    if m[3] == ".shared::cluster":
        return f"emu_arrive_at(emu_get<uint32_t>({b.value(bar.strip('[] '))}), {arrivals}, {bytes_}, {str('relaxed' not in m[2]).lower()}, {b.where});"
    at = b.address(bar, bool(m[3]))
    phase = b.put(token, f"(uint64_t)emu_barrier_phase({at})")
    return f"{phase} emu_mbarrier_arrive({at}, {arrivals}, {bytes_}, -1, true, {b.where});"


@_op(r"mbarrier\.(expect|complete)_tx(\.relaxed)?(\.c(ta|luster))?(\.shared(?:::c(?:ta|luster))?)?\.b64")
def _expect(b: _Block, m, bar, count) -> str:
    at = b.address(bar, bool(m[5]))
    if m[1] == "expect":
        return f"emu_mbarrier_arrive({at}, 0, {b.bits(count, 'uint32_t')}, -1, true, {b.where});"
    return f"emu_mbarrier_complete_tx({at}, {b.bits(count, 'uint32_t')}, {b.where});"


@_op(r"mbarrier\.(try|test)_wait(\.parity)?(?:\.acquire)?(\.c(?:ta|luster))?(\.shared(?:::cta)?)?\.b64")
def _wait(b: _Block, m, done, bar, parity, _hint="0") -> str:
    at, phase = b.address(bar, bool(m[4])), b.bits(parity, "uint32_t" if m[2] else "uint64_t")
    if m[3] == ".cluster" and m[1] == "try":
        return f"emu_mbarrier_wait({at}, (uint32_t)({phase}), true, {b.where}); {b.put(done, 'true')}"
    call = "emu_mbarrier_wait_a_while" if m[1] == "try" else "emu_mbarrier_try_wait"
    return b.put(done, f"{call}({at}, (uint32_t)({phase}) & 1, {b.where})")


@_op(r"mapa(\.shared::cluster)?\.u(32|64)")
def _mapa(b: _Block, m, d, a, rank) -> str:
    rank = b.bits(rank, "uint32_t")
    if m[1]:
        return b.put(d, f"emu_smem_map({b.bits(a, 'uint32_t')}, {rank}, {b.where})")
    return b.put(d, f"(uint64_t)emu_cluster_map(emu_pointer({b.value(a)}), {rank}, {b.where})")


@_op(
    r"cp\.async\.bulk\.tensor\.2d\.shared::c(?:luster|ta)\.global(?:\.tile)?\.mbarrier::complete_tx::bytes(\.multicast::cluster)?(\.L2::cache_hint)?"
)
def _load(b: _Block, m, to, source, bar, *more) -> str:
    map_, at = _operands(source.strip().strip("[]"))
    x, y = (b.bits(c, "int32_t") for c in b.list(at))
    blocks = b.bits(more[0], "uint32_t") if m[1] else "0"
    return f"emu_tma_load({b.address(to, True)}, emu_pointer({b.value(map_)}), {x}, {y}, {b.address(bar, True)}, (int){blocks}, {b.where});"


@_op(r"cp\.async\.bulk\.tensor\.2d\.global\.shared::cta(?:\.tile)?\.bulk_group(\.L2::cache_hint)?")
def _store(b: _Block, m, target, source, *more) -> str:
    map_, at = _operands(target.strip().strip("[]"))
    x, y = (b.bits(c, "int32_t") for c in b.list(at))
    return f"emu_tma_store(emu_pointer({b.value(map_)}), {b.address(source, True)}, {x}, {y}, {b.where});"


@_op(
    r"cp\.async\.(ca|cg)\.shared(?:::cta)?\.global(\.L2::cache_hint)?(?:\.L2::(?:64|128|256)B)?(?(2)|(\.L2::cache_hint)?)"
)
def _async_copy(b: _Block, m, to, source, size, *more) -> str:
    if m[2] or m[3]:
        more = more[:-1]
    size = b.bits(size, "uint32_t")
    given = f"emu_async_given({size}, {b.value(more[0])})" if more else size
    return f"emu_async_copy({b.address(to, True)}, {b.address(source, False)}, {size}, {given}, {size}, {b.where});"


@_op(r"cp\.async\.mbarrier\.arrive(\.noinc)?(\.shared(?:::cta)?)?\.b64")
def _async_arrive(b: _Block, m, bar) -> str:
    return f"emu_async_arrive({b.address(bar, bool(m[2]))}, {str(bool(m[1])).lower()}, {b.where});"


@_op(r"mma\.sync\.aligned\.m16n8k(\d+)\.row\.col\.(f32|f16)\.(\w+)\.(\w+)\.(f32|f16)")
def _mma(b: _Block, m, d, a, bd, c) -> str:
    k, element = int(m[1]), _ELEMENTS.get(m[3])
    per_word = {"tf32": 1, "e4m3": 4}.get(m[3], 2)
    if element is None or m[3] != m[4] or k not in (4 * per_word, 8 * per_word):
        raise Unknown(m[0])
    counts = (k // (2 * per_word), k // (4 * per_word), 4 if m[5] == "f32" else 2, 4 if m[2] == "f32" else 2)
    a, bd, c, d = (b.list(x) for x in (a, bd, c, d))
    if tuple(map(len, (a, bd, c, d))) != counts:
        raise Unknown(m[0])
    type_ = {"f32": "float", "f16": "uint32_t"}
    values = lambda names, t: ", ".join(b.bits(n, t) for n in names)
    return (
        f"{{ uint32_t emu_a[] = {{{values(a, 'uint32_t')}}}, emu_b[] = {{{values(bd, 'uint32_t')}}}; {type_[m[5]]} emu_c[] = {{{values(c, type_[m[5]])}}}; "
        f"{type_[m[2]]} emu_d[{len(d)}]; const emu::Mma emu_op = {{{k}, {element}, emu_a, emu_b, emu_c, emu_d, {str(m[5] == 'f16').lower()}, {str(m[2] == 'f16').lower()}}}; "
        f"emu_mma(&emu_op, {b.where}); {' '.join(b.put(n, f'emu_d[{i}]') for i, n in enumerate(d))} }}"
    )


@_op(r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k(\d+)\.(f32|f16)\.(\w+)\.(\w+)")
def _wgmma(b: _Block, m, d, a, bd, scale, *more) -> str:
    if m[4] not in _ELEMENTS or m[4] != m[5]:
        raise Unknown(m[0])
    registers = b.list(d)
    first = f"(void*)&{b.value(registers[0])}"
    together = f"emu_contiguous({first}, &{b.value(registers[-1])}, {4 * (len(registers) - 1)}, {b.where});"
    from_registers = a.startswith("{")
    signs = [b.bits(s, "int32_t") for s in more[:2]]
    turned = [b.bits(t, "int32_t") for t in more[2:]]
    if from_registers:
        turned = ["0", *turned]
    turned += ["0"] * (2 - len(turned))
    plus = " && ".join(f"{s} == 1" for s in signs) or "true"
    words = ", ".join(b.bits(r, "uint32_t") for r in b.list(a)) if from_registers else ""
    fragment = f"uint32_t emu_a[4] = {{{words}}}; " if words else ""
    operation = (
        f"emu::Wgmma emu_op = {{{first}, {m[1]}, {_ELEMENTS[m[4]]}, {str(m[3] == 'f16').lower()}, {'emu_a' if words else 'nullptr'}, "
        f"{'0' if words else b.bits(a, 'uint64_t')}, {b.bits(bd, 'uint64_t')}, (int){turned[0]}, (int){turned[1]}, (int)(bool){b.value(scale)}}};"
    )
    return f'{{ {together} if (!({plus})) emu_refuse("wgmma with a scale of -1 is not modelled: negate the operand.", {b.where}); {fragment}{operation} emu_wgmma(&emu_op, {b.where}); }}'


@_op(r"(st|ld)matrix\.sync\.aligned\.m8n8\.x([124])(\.trans)?\.shared(?:::cta)?\.b16")
def _matrix(b: _Block, m, one, other) -> str:
    row, words = (one, other) if m[1] == "st" else (other, one)
    names, n = b.list(words), int(m[2])
    at, call = b.address(row, True), "emu_matrix_transposed" if m[3] else "emu_matrix"
    if m[1] == "st":
        return f"{{ uint32_t emu_w[{n}] = {{{', '.join(b.bits(w, 'uint32_t') for w in names)}}}; {call}(true, {at}, emu_w, {n}, {b.where}); }}"
    return f"{{ uint32_t emu_w[{n}]; {call}(false, {at}, emu_w, {n}, {b.where}); {' '.join(b.put(w, f'emu_w[{i}]') for i, w in enumerate(names))} }}"


@_op(r"elect\.sync")
def _elect(b: _Block, m, target, mask) -> str:
    lane, _, p = target.partition("|")
    return f"{{ const bool emu_e = emu_collective(emu::ELECT, {b.bits(mask, 'uint32_t')}, 0, 0, 32, {b.where}) != 0; {b.put(p, 'emu_e')} }}"


@_op(
    r"(ld|st)((?:\.(?!global|shared|v[24]\b)[\w:]+)*?)(\.global|\.shared(?:::cta)?)?((?:\.(?!v[24]\b)[\w:]+)*?)(\.v[24])?\.([usbf]\d+)"
)
def _memory(b: _Block, m, one, other) -> str:
    how, type_ = (m[2] or "") + (m[4] or ""), _TYPES[m[6]]
    target, at = (one, other) if m[1] == "ld" else (other, one)
    pointer = f"(({type_}*){b.address(at, bool(m[3]) and 'shared' in m[3])})"
    if "acquire" in how or "release" in how or "relaxed" in how:
        if m[5] or type_ not in ("uint32_t", "int32_t"):
            raise Unknown(m[0])
        order = "ACQUIRE" if "acquire" in how else "RELEASE" if "release" in how else "RELAXED"
        operand = "0u" if m[1] == "ld" else b.bits(target, "uint32_t")
        call = f"emu_atomic_as<uint32_t>((uint32_t*){pointer}, emu::{'LOAD' if m[1] == 'ld' else 'STORE'}, {operand}, 0u, {b.where}, emu::{order})"
        return b.put(target, call) if m[1] == "ld" else f"{call};"
    volatile = "volatile " if "volatile" in how else ""
    names = b.list(target) if m[5] else [target]
    if m[5]:
        size = int(m[5][2:])
        out = f"emu_aligned<{type_}, {size}>({pointer}, {b.where}); "
    else:
        out = ""
    for i, name in enumerate(names):
        place = f"(({volatile}{type_}*){pointer})[{i}]"
        out += f"emu_put({b.value(name)}, ({type_}){place}); " if m[1] == "ld" else f"{place} = {b.bits(name, type_)}; "
    return out


@_op(
    r"(atom|red)\.add((?:\.(?:release|relaxed|acq_rel|acquire))?)(?:\.(?:gpu|cta|sys))?(\.global|\.shared(?:::cta)?)?\.(u32|s32|f32|u64)"
)
def _atomic(b: _Block, m, *given) -> str:
    target, at, value = given if m[1] == "atom" else ("_", *given)
    t, order = _TYPES[m[4]], "RELEASE" if "rel" in m[2] and "relaxed" not in m[2] else "RELAXED"
    call = f"emu_atomic_as<{t}>(({t}*){b.address(at, bool(m[3]) and 'shared' in m[3])}, emu::ADD, {b.bits(value, t)}, {t}(), {b.where}, emu::{order})"
    return b.put(target, call) if m[1] == "atom" else f"{call};"


@_op(r"cvta(\.to)?(\.shared|\.global)?\.u64")
def _cvta(b: _Block, m, d, a) -> str:
    if m[2] != ".shared":
        return b.put(d, b.bits(a, "uint64_t"))
    if m[1]:
        return b.put(d, f"(uint64_t)emu_smem_address(emu_pointer({b.value(a)}), {b.where})")
    return b.put(d, f"(uint64_t)emu_smem_pointer((uint32_t){b.bits(a, 'uint64_t')}, {b.where})")


_CONVERTED = {
    "rn.bf16x2.f32": "(uint32_t)emu::float_to_bf16($1) | (uint32_t)emu::float_to_bf16($0) << 16", "rn.f16x2.f32": "(uint32_t)emu::float_to_fp16($1) | (uint32_t)emu::float_to_fp16($0) << 16",
    "rn.bf16.f32": "emu::float_to_bf16($0)", "rn.f16.f32": "emu::float_to_fp16($0)", "rn.satfinite.e4m3x2.f32": "(uint16_t)(emu::float_to_e4m3($1) | emu::float_to_e4m3($0) << 8)",
}  # fmt: skip


@_op(r"cvt\.([\w.]+)")
def _convert(b: _Block, m, d, *given) -> str:
    if m[1] in _CONVERTED:
        out = _CONVERTED[m[1]]
        for i, g in enumerate(given):
            out = out.replace(f"${i}", b.bits(g, "float"))
        return b.put(d, out)
    if m[1] == "f32.f16":
        return b.put(d, f"emu::fp16_to_float({b.bits(given[0], 'uint16_t')})")
    whole = re.fullmatch(r"([us]\d+)\.([us]\d+)", m[1])
    if whole and len(given) == 1:
        return b.put(d, f"({_TYPES[whole[1]]}){b.bits(given[0], _TYPES[whole[2]])}")
    raise Unknown(m[0])


@_op(r"mov\.([usbf]\d+|pred)")
def _mov(b: _Block, m, d, a) -> str:
    if a.startswith("{") or d.startswith("{"):
        raise Unknown(m[0])
    return b.put(d, b.bits(a, _TYPES[m[1]]))


@_op(r"setp\.(eq|ne|lt|le|gt|ge)\.([usbf]\d+)")
def _setp(b: _Block, m, p, x, y) -> str:
    sign = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}[m[1]]
    return b.put(p, f"({b.bits(x, _TYPES[m[2]])} {sign} {b.bits(y, _TYPES[m[2]])})")


@_op(r"selp\.([usbf]\d+)")
def _selp(b: _Block, m, d, x, y, p) -> str:
    return b.put(d, f"({b.value(p)} ? {b.bits(x, _TYPES[m[1]])} : {b.bits(y, _TYPES[m[1]])})")


@_op(r"(add|sub|mul(?:\.lo|\.rn)?|and|or|xor|shl|shr|min|max)(?:\.rn)?(?:\.ftz)?\.([usbf]\d+)")
def _arithmetic(b: _Block, m, d, x, y) -> str:
    t, name = _TYPES[m[2]], m[1].split(".")[0]
    x, y = b.bits(x, t), b.bits(y, t if name not in ("shl", "shr") else "uint32_t")
    if name in ("min", "max"):
        return b.put(d, f"({t}){name}({x}, {y})")
    sign = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>"}[name]
    return b.put(d, f"({t})({x} {sign} {y})")


@_op(r"(?:fma\.rn(?:\.ftz)?|mad\.lo)\.([usf]\d+)")
def _fma(b: _Block, m, d, x, y, z) -> str:
    t = _TYPES[m[1]]
    x, y, z = (b.bits(v, t) for v in (x, y, z))
    return b.put(d, f"fma({x}, {y}, {z})" if m[1].startswith("f") else f"({t})({x} * {y} + {z})")


@_op(r"(ex2|lg2|rcp|rsqrt|sqrt|sin|cos|tanh|neg|abs)(?:\.approx|\.rn)?(?:\.ftz)?\.f32")
def _function(b: _Block, m, d, x) -> str:
    call = {"ex2": "exp2f(", "lg2": "log2f(", "rcp": "(1.0f / ", "rsqrt": "rsqrtf(", "neg": "(-", "abs": "fabsf("}.get(
        m[1], f"{m[1]}f("
    )
    return b.put(d, f"{call}{b.bits(x, 'float')})")
