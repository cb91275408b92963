"""From a CUDA file that knows nothing of this course to one unit for the host compiler: read, preprocess, leave the host's code out."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kernels.emulator import toolchain
from kernels.errors import ArgumentError, CompileError
from kernels.foreign.items import Item, items, needed
from kernels.foreign.rewrite import error, rewrite
from kernels.foreign.tokens import Token, text_of, tokens

MOST_BYTES = 1_000_000
MOST_FILES = 64
COMPAT = toolchain.HERE / "compat"
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<[^>\n]+>|\w+)[^\n]*', re.M)
_VOCABULARY = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"hopper\.cuh"', re.M)  # a kernel in the course's own words
_NOT_CODE = re.compile(
    r'//(?:[^\n\\]|\\.)*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.S
)
# The headers here that are not always read, and the words that ask for them. (NVIDIA's headers include one another: what a kernel
# uses says more than what the file includes.)
_HEADERS = {
    "cuda_small_floats.h": re.compile(
        r"_{0,2}(nv_)?(half|bfloat16)\d*(_raw)?|__\w*(half|bfloat16)\w*|h2?(exp|log|sqrt|rsqrt|rcp|tanh|sin|cos)\w*|__h(?!ost)\w+"
    ),
    "cuda_fp8.h": re.compile(r"__nv_fp8\w*|__nv_cvt_\w*fp8\w*"),
    "cuda_groups.h": re.compile(r"cooperative_groups"),
    "cuda_async.h": re.compile(r"\w*memcpy_async|\w*pipeline\w*|aligned_size_t"),
    "cuda_wmma.h": re.compile(r"nvcuda|wmma"),
}
_DEFINES = {
    "__CUDACC__": "1", "__NVCC__": "1", "__CUDA_ARCH__": "900", "__CUDA_ARCH_FEAT_SM90_ALL": "1", "__CUDACC_VER_MAJOR__": "12", "__CUDACC_VER_MINOR__": "6",
    "CUDART_VERSION": "12060", "CUDA_VERSION": "12060", "__CUDA_NO_HALF_OPERATORS_": "1",
}  # fmt: skip
# Names that CUDA has and the emulator has not, with what to write instead.
_REFUSED = {
    **dict.fromkeys(("tex1Dfetch", "tex1D", "tex2D", "tex3D", "tex2DLod", "surf2Dread", "surf2Dwrite"), "textures and surfaces are not modelled: read the array through a pointer."),
    **dict.fromkeys(("__shfl", "__shfl_down", "__shfl_up", "__shfl_xor", "__ballot", "__any", "__all"), "sm_90 has no warp operation without _sync: add _sync and the mask as the first argument."),
    **dict.fromkeys(("malloc", "free"), "device code cannot allocate on the emulator: pass an array as an argument."),
    **dict.fromkeys(("cudaDeviceSynchronize", "cudaStreamCreateWithFlags"), "a kernel cannot launch or wait for kernels on the emulator: launch them one after another from the host."),
    **dict.fromkeys(
        ("fopen", "open", "creat", "remove", "unlink", "rename", "mkdir", "system", "popen", "fork", "execv", "execve", "execl", "socket", "connect", "mmap", "syscall", "dlopen", "getenv", "kill", "pthread_create"),
        "a kernel has no files, sockets or processes: pass what it needs as arguments.",
    ),
    "<<<": "a kernel cannot launch kernels on the emulator: launch them one after another from the host.",
}  # fmt: skip


_HOPPER_EXPORT = """extern "C" __attribute__((visibility("default"))) const emu::Kernel emu_kernel_entry = {{
HopperEntry<&{0}>::call, (const void*)&{0}, HopperEntry<&{0}>::parameters, HopperEntry<&{0}>::count, __start_hopper_capped, __stop_hopper_capped}};
"""


@dataclass(frozen=True)
class Parameter:
    """A kernel's parameter: its name, and its type as written."""

    name: str
    type: str


@dataclass(frozen=True)
class Entry:
    """A kernel of a file: its name with namespaces, its template parameters as written ("" if none), its parameters and where it is."""

    name: str
    template: str
    parameters: tuple[Parameter, ...]
    file: str
    line: int


def read(path: Path) -> str:
    """The text of a source file. Raises CompileError where it cannot be a CUDA source."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise CompileError(
                f"{path.name} has {size:,} bytes; a CUDA source may have {MOST_BYTES:,}: leave out what the kernel does not need.",
                file=path.name,
            )
        data = path.read_bytes()
    except OSError as e:
        raise CompileError(f"{path} cannot be read: {e.strerror or e}.", file=path.name) from None
    return decode(data, path.name)


def decode(data: bytes, name: str) -> str:
    for mark, encoding in ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16")):
        if data.startswith(mark):
            raise CompileError(f"{name} is {encoding}, and a CUDA source is UTF-8: save it as UTF-8.", file=name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise CompileError(
            f"{name}:{line}: byte 0x{data[e.start]:02x} is not UTF-8: save the file as UTF-8.", file=name, line=line
        ) from None
    if "\0" in text:
        raise CompileError(f"{name} holds zero bytes: it is no source text.", file=name)
    return text.replace("\r\n", "\n")


def flatten(text: str, name: str, folder: Path | None) -> str:
    """The text with what it includes by quotes and is there; all other includes are left out (the emulator has CUDA's words itself)."""
    seen: dict[Path, bool] = {}
    total = [len(text)]

    def one(text: str, name: str, folder: Path | None, depth: int) -> str:
        text = _NOT_CODE.sub(lambda m: m[0] if m[0][0] not in "/" else " " + "\n" * m[0].count("\n"), text)

        def include(m: re.Match) -> str:
            line = text.count("\n", 0, m.start()) + 1
            path = (folder / m[1]).resolve() if folder and m[1] and not Path(m[1]).is_absolute() else None
            if (
                path is None
                or not path.is_file()
                or path.suffix not in (".h", ".cuh", ".cu", ".hpp", ".inl", ".inc", ".hxx")
            ):
                return ""
            body = read(path)
            if path in seen and seen[path]:
                return ""
            seen[path] = "#pragma once" in body
            total[0] += len(body)
            if len(seen) > MOST_FILES or total[0] > 4 * MOST_BYTES or depth > 32:
                raise CompileError(
                    f"{name}:{line}: the included files are too many or too long: leave out what the kernel does not need.",
                    file=name,
                    line=line,
                )
            return f'#line 1 "{path.name}"\n{one(body, path.name, path.parent, depth + 1)}\n#line {line + 1} "{name}"'

        return _INCLUDE.sub(include, text)

    return f'#line 1 "{name}"\n' + one(text, name, folder, 0)


def preprocess(text: str, name: str, defines: Mapping[str, object]) -> str:
    """The text after the preprocessor, as for sm_90; no header is read."""
    given = {
        **_DEFINES,
        **{k: "1" if v is None else str(int(v) if isinstance(v, bool) else v) for k, v in defines.items()},
    }
    command = [
        *toolchain.compiler().command,
        "-E",
        "-x",
        "c++",
        "-std=c++17",
        "-nostdinc",
        "-w",
        *(f"-D{k}={v}" for k, v in given.items()),
        "-",
    ]
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace", timeout=60)
    except subprocess.TimeoutExpired:
        raise CompileError(
            f"{name}: the preprocessor did not end within 60 s: its macros grow without bound.", file=name
        ) from None
    if done.returncode:
        m = toolchain._ERROR.search(done.stderr)
        if m:
            raise CompileError(
                f"{Path(m['file']).name}:{m['line']}: {m['message']}",
                file=Path(m["file"]).name,
                line=int(m["line"]),
                log=done.stderr,
            )
        raise CompileError(f"{name} cannot be preprocessed: {done.stderr[-500:]}", file=name, log=done.stderr)
    if len(done.stdout) > 16 * MOST_BYTES:
        raise CompileError(
            f"{name} has {len(done.stdout):,} bytes when its macros are expanded: leave out what the kernel does not need.",
            file=name,
        )
    return done.stdout


class Program:
    """A foreign CUDA file, read: `entries` are its kernels. `unit(...)` is what the host compiler gets for some of them."""

    def __init__(self, text: str, name: str, folder: Path | None = None, defines: Mapping[str, object] | None = None):
        self.name = name
        self.vocabulary = bool(_VOCABULARY.search(text))
        flat = flatten(text, name, folder)
        self._items = list(items(tokens(preprocess(flat, name, defines or {}), name)))
        self._kernels = [i for i in self._items if i.kind == "function" and "__global__" in i.marks and i.names]
        entries: dict[str, Entry] = {}
        for item in self._kernels:
            full = "::".join((*item.path, item.names[0]))
            if item.body is not None or full not in entries:
                entries[full] = Entry(
                    full,
                    _text(item.template),
                    tuple(map(_parameter, item.parameters)),
                    item.tokens[0].file,
                    item.tokens[0].line,
                )
        self.entries = tuple(entries.values())

    def find(self, wanted: str | None) -> tuple[Entry, str]:
        """(the kernel, its name with template arguments). wanted: "name", "space::name" or "name<args>"; None where there is one kernel.

        Raises ArgumentError with the names there are.
        """
        if not self.entries:
            raise CompileError(f"{self.name} has no kernel: no function is marked __global__.", file=self.name)
        listing = ", ".join(f"{e.name}<{_names(e.template)}>" if e.template else e.name for e in self.entries[:20]) + (
            ", ..." if len(self.entries) > 20 else ""
        )
        if wanted is None:
            if len(self.entries) > 1:
                raise ArgumentError(
                    f"{self.name} has {len(self.entries)} kernels: {listing}. Name one: --entry NAME, or entry=."
                )
            wanted = self.entries[0].name
        name, _, arguments = wanted.replace(" ", "").partition("<")
        found = [e for e in self.entries if e.name == name] or [e for e in self.entries if e.name.endswith("::" + name)]
        if not found:
            raise ArgumentError(f"{self.name} has no kernel named {name!r}. It has: {listing}.")
        if len(found) > 1:
            raise ArgumentError(
                f"{self.name} has more than one kernel named {name!r}: {', '.join(e.name for e in found)}. Write the namespace as well."
            )
        entry = found[0]
        needs = entry.template and any("=" not in p for p in _split_template(entry.template))
        if needs and not arguments:
            raise ArgumentError(
                f"{entry.name} is a template <{_names(entry.template)}>: name an instantiation, as --entry '{entry.name}<...>'."
            )
        return entry, entry.name + (f"<{wanted.partition('<')[2]}" if arguments else "<>" if entry.template else "")

    def unit(
        self, wanted: str | None, initial: Mapping[str, bytes] | None = None
    ) -> tuple[Entry, str, tuple[int, int, int] | None]:
        """(the kernel, the unit's text, what __cluster_dims__ says). The unit exports the kernel as `entry`.

        initial: bytes of __constant__ and __device__ variables by name.
        """
        entry, full = self.find(wanted)
        roots = [i for i in self._kernels if "::".join((*i.path, i.names[0])) == entry.name]
        named = tokens(full.partition("<")[2], self.name)
        if named:  # types and constants that the template's arguments name
            roots.append(Item("other", named, (), (), frozenset()))
            kept = needed([*self._items, roots[-1]], roots)
            kept = [i for i in kept if i is not roots[-1]]
        else:
            kept = needed(self._items, roots)
        self._refuse(kept)
        shared = {n: i for i in kept if i.kind == "variable" and "__shared__" in i.marks for n in i.names}
        parts = [
            '#include "hopper.cuh"'
            if self.vocabulary
            else _prelude({t.text for i in [*kept, *roots] for t in i.tokens if t.kind == "word"})
        ]
        path: tuple[str, ...] = ()
        for item in kept:
            if item.path != path:
                parts.append("}" * len(path) + "\n" + " ".join(f"namespace {p} {{" for p in item.path))
                path = item.path
            parts.append(text_of(rewrite(item, shared)))
        parts.append("}" * len(path) + '\n#line 1 "exports"\n')
        main = next((i for i in roots if i.body is not None), roots[0])
        if self.vocabulary:
            if main.template:
                raise error(
                    main.tokens[0],
                    f"the kernel {entry.name} includes hopper.cuh and is a template: such a kernel is launched by its plain name, so give it a fixed type.",
                )
            parts.append(_HOPPER_EXPORT.format(full))
        else:
            parts.append(f"EMU_EXPORT(entry, {int(bool(main.bounds))}, {full})\n")
        if main.bounds or main.cluster:
            limits = [" ".join(t.text for t in main.bounds)] if main.bounds and not main.template else []
            literal = _literals(main.cluster)
            if limits or literal:
                first = limits[0].split(",")[0] if limits else "0"
                cluster = ", ".join(map(str, literal or (0, 0, 0)))
                parts.append(
                    f'extern "C" __attribute__((visibility("default"))) const emu::Bounds emu_bounds_entry = {{(unsigned)({first}), 0, {{{cluster}}}}};\n'
                )
        for name, data in (initial or {}).items():
            parts.append(self._initial(name, data, kept))
        return entry, "\n".join(parts), _literals(main.cluster)

    def _initial(self, name: str, data: bytes, kept: list[Item]) -> str:
        variable = next(
            (
                i
                for i in kept
                if i.kind == "variable" and name in i.names and i.marks & {"__constant__", "__device__", "__managed__"}
            ),
            None,
        )
        if variable is None:
            have = sorted(
                {
                    n
                    for i in kept
                    if i.kind == "variable" and i.marks & {"__constant__", "__device__", "__managed__"}
                    for n in i.names
                }
            )
            raise ArgumentError(
                f"The kernel uses no __constant__ or __device__ variable named {name!r}; it uses: {', '.join(have) or 'none'}."
            )
        full = "::".join(("", *variable.path, name))
        values = ",".join(map(str, data))
        return (
            f"__attribute__((constructor)) static void emu_initial_{name}() {{ static const unsigned char data[] = {{{values}}};\n"
            f'static_assert(sizeof data == sizeof {full}, "the value given for {name} has another number of bytes than {name} has");\n'
            f"__builtin_memcpy((void*)&{full}, data, sizeof data); }}\n"
        )

    def _refuse(self, kept: list[Item]) -> None:
        own = {n for i in kept for n in i.names}
        for item in kept:
            body = item.body if item.kind == "function" else 0
            for k, t in enumerate(item.tokens):
                if body is None or k < body or t.text in own:
                    continue
                if t.text == "new" and k + 1 < len(item.tokens) and item.tokens[k + 1].text != "(":
                    raise error(t, _REFUSED["malloc"])
                if t.text in _REFUSED and (
                    t.text == "<<<" or k + 1 < len(item.tokens) and item.tokens[k + 1].text in ("(", "<")
                ):
                    if item.tokens[k - 1].text not in (".", "->"):
                        raise error(t, _REFUSED[t.text])


def _prelude(used: set[str]) -> str:
    wanted = [h for h, pattern in _HEADERS.items() if any(pattern.fullmatch(w) for w in used)]
    return "\n".join(f'#include "{h}"' for h in ("cuda_words.h", "cuda_math.h", "cuda_export.h", *wanted))


def _text(sequence: list[Token]) -> str:
    return " ".join(t.text for t in sequence)


def _split_template(template: str) -> list[str]:
    inside = template[template.index("<") + 1 : template.rindex(">")]
    return [p.strip() for p in inside.split(",") if p.strip()]


def _names(template: str) -> str:
    return ", ".join(p.partition("=")[0].split()[-1] for p in _split_template(template))


def _parameter(sequence: list[Token]) -> Parameter:
    texts = [t.text for t in sequence]
    texts = texts[: texts.index("=")] if "=" in texts else texts
    at = next(
        (
            i
            for i in range(len(texts) - 1, -1, -1)
            if sequence[i].kind == "word" and (i + 1 == len(texts) or texts[i + 1] == "[")
        ),
        len(texts) - 1,
    )
    return Parameter(
        texts[at],
        " ".join(t for t in texts[:at] if t not in ("__restrict__", "__restrict", "restrict", "__grid_constant__"))
        + ("*" if "[" in texts else ""),
    )


def _literals(sequence: list[Token]) -> tuple[int, int, int] | None:
    values = [t.text for t in sequence if t.text != ","]
    if not values or not all(v.isdigit() for v in values):
        return None
    return (*map(int, values), 1, 1)[:3]
