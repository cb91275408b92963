"""What a kernel is, as data: the registry that `kernels.load`, `course run`, `course races`, `course bench` and the compile test read.

A family registers by a file kernels/specs/<family>.py that defines `SPECS`, a tuple of KernelSpec. Nothing else is needed: the
registry imports every module of that package. A spec's `plan` turns arrays and parameters into launches and stays pure:

    def plan(ctx, a, b):                                # arrays are on the back end already (NumPy on the emulator, CuPy on the GPU)
        m, k, n = *a.shape, b.shape[0]
        d = ctx.empty((m, n), "fp32")                   # poisoned with NaN where ctx.poison is set; ctx.sms: for a persistent grid
        launch = Launch("gemm_tiled", grid=(ceil_div(n, 128), ceil_div(m, 128)), block=(128,),
                        args=[a, b, d, np.int32(m), np.int32(n), np.int32(k)])
        return Plan([launch], d)

    SPECS = (KernelSpec(name="gemm_tiled", source="gemm_tiled.cu", computes="D = A B^T, ...", plan=plan, check=check,
                        reference=reference, example=example, max_registers=128),)

The same launch runs on both back ends: arguments are arrays, NumPy scalars of the parameter's exact C type, TensorMap, or None (null).
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernels.arrays import is_array, to_numpy
from kernels.errors import ArgumentError, KernelError


@dataclass(frozen=True)
class Launch:
    """One launch of an entry. grid, block: 1 to 3 numbers. smem: bytes of dynamic shared memory a block.

    cluster: for the emulator; on the GPU the source's `__cluster_dims__` must say the same. registers: the registers a thread holds at
    launch, for the emulator's budget and setmaxnreg (0: what __launch_bounds__ leaves, 65536 / threads, at most 255).
    defines: preprocessor definitions of this launch's build.
    """

    entry: str
    grid: Sequence[int]
    block: Sequence[int]
    args: Sequence[Any]
    smem: int = 0
    defines: Mapping[str, object] = field(default_factory=dict)
    cluster: Sequence[int] = (1, 1, 1)
    registers: int = 0

    def __post_init__(self):
        most = (2**31 - 1, 65535, 65535)
        if any(have > limit for have, limit in zip(self.grid, most)):
            raise ArgumentError(
                f"{self.entry} would need a grid of {' x '.join(map(str, self.grid))} blocks; CUDA allows {most[0]:,} along x and {most[1]:,} "
                "along y and z. Use smaller arrays, or call it on parts of them."
            )


@dataclass(frozen=True)
class Plan:
    """Launches in order, and what the call returns: an array that they write, or a tuple of such."""

    launches: Sequence[Launch]
    result: Any


@dataclass(frozen=True)
class Bug:
    """A named defect for `course races KERNEL --bug NAME`. defines: what builds it. explains: what is wrong and what it leads to.

    example: arguments that show it, as KernelSpec.example; None for the kernel's own.
    """

    defines: Mapping[str, object]
    explains: str
    example: Callable[..., tuple[tuple, dict]] | None = None


@dataclass(frozen=True)
class Case:
    """One call to compare: what it is after, in a few words, and its arguments."""

    label: str
    arrays: tuple
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """What a call must do at least. flops: floating-point operations. bytes: device memory traffic, each input and output once."""

    flops: float = 0
    bytes: float = 0


@dataclass(frozen=True)
class KernelSpec:
    """A kernel of the course.

    check(*arrays, **params): raises ArgumentError where an argument breaks a rule (use kernels.arrays); runs before anything else, on
    the arrays as given.  plan(ctx, *arrays, **params) -> Plan.  reference(*arrays, **params): the result in float64 on NumPy arrays.
    example(rng, **sizes) -> (arrays, params): random arguments; its keyword defaults are the sizes `course run` uses.
    cases(rng, count) -> Case, Case, ...: inputs that a wrong kernel does not survive (odd sizes, non-uniform values, the boundaries);
    None: `count` examples.  work(*arrays, **params) -> Work.
    tolerance: bound on ||out - reference|| / ||reference||, or a function of the arguments that gives it.
    exercise(function, result, /, *arrays, **params) -> (expected, observed): for a kernel whose lesson asks for another function than the whole
    kernel's (an offset, a coordinate): from that function and the kernel's result, two arrays that must agree.  None: the function takes
    the kernel's arguments and gives its result.
    builds: the sets of defines that the compile test builds (each within max_registers, no spills).
    entries: the source's extern "C" kernels, where they are more than the plan's launches name.
    compared_on_gpu: False for a kernel that has run on the emulator only. `course run` says so, NOTES.md names it, and no lesson may use it,
    until `course bench both_backends` has compared it on a GPU.
    """

    name: str
    source: str
    computes: str
    plan: Callable[..., Plan]
    check: Callable[..., None]
    reference: Callable[..., Any]
    example: Callable[..., tuple[tuple, dict]]
    max_registers: int
    cases: Callable[..., Iterable[Case]] | None = None
    work: Callable[..., Work] | None = None
    tolerance: float | Callable[..., float] = 1e-5
    exercise: Callable[..., tuple[Any, Any]] | None = None
    builds: Sequence[Mapping[str, object]] = ({},)
    entries: Sequence[str] = ()
    bugs: Mapping[str, Bug] = field(default_factory=dict)
    compared_on_gpu: bool = True


def tolerance(spec: KernelSpec, arrays, params) -> float:
    """The spec's bound for this call."""
    if not callable(spec.tolerance):
        return spec.tolerance
    host = lambda a: to_numpy(a) if is_array(a) else a
    return spec.tolerance(*map(host, arrays), **{k: host(v) for k, v in params.items()})


def cases(spec: KernelSpec, rng, count: int) -> Iterable[Case]:
    """The spec's cases, or `count` of its examples."""
    if spec.cases:
        yield from spec.cases(rng, count)
    else:
        for i in range(count):
            given, params = spec.example(rng)
            yield Case(f"example {i + 1}", given, params)


@functools.cache
def registry() -> Mapping[str, KernelSpec]:
    """All kernels by name, from the modules of kernels.specs in alphabetical order."""
    import kernels.specs as package

    found: dict[str, KernelSpec] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda i: i.name):
        module = importlib.import_module(f"kernels.specs.{info.name}")
        for spec in getattr(module, "SPECS", ()):
            if spec.name in found:
                raise KernelError(
                    f"kernels/specs/{info.name}.py registers the kernel {spec.name!r}, which another family has already."
                )
            found[spec.name] = spec
    return found


def get_spec(name: str) -> KernelSpec:
    """The spec of a kernel. Raises KernelError with the names there are."""
    specs = registry()
    if name not in specs:
        raise KernelError(f"There is no kernel named {name!r}. Kernels: {', '.join(sorted(specs)) or 'none'}.")
    return specs[name]


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)
