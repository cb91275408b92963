"""The GPU back end: probe the machine, load a compiled source with CuPy, launch its entries.

Low-level use, for a bench or a new kernel family (everything here works on CuPy arrays and does not synchronise):

    from kernels import gpu, TensorMap
    module = gpu.Module("gemm_tiled.cu", {"TILE_M": 128})            # NVRTC for sm_90a, then cupy.RawModule on the cubin
    module.launch("gemm_tiled", grid=(n // 128, m // 128), block=(384,), smem=196_608,
                  args=[TensorMap(a, (128, 64)), TensorMap(b, (128, 64)), d, np.int32(m), np.int32(n), np.int32(k)])
    module.resources["gemm_tiled"].registers
    ms = gpu.time_ms([lambda: module.launch(...), lambda: cupy.matmul(...)], repeats=50)    # interleaved, device events

Arguments: CuPy arrays, NumPy scalars of the parameter's exact type, TensorMap (passed by value: `const __grid_constant__ TensorMap`),
None (a null pointer). Python int and float are refused, since their C type would be a guess. Clusters: write `__cluster_dims__`
in the source; CuPy's launch has no cluster attribute.
"""

from __future__ import annotations

import functools
import os
import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.errors import ArgumentError, BackendError, ContextDeadError, LaunchError
from kernels.nvrtc import compile_source
from kernels.sources import Source, load_source
from kernels.tensormap import TensorMap

CAPABILITY = (9, 0)  # sm_90a code runs on exactly this
MIN_DRIVER = 12000  # tensor maps and the sm_90a cubin's launch interface came with CUDA 12

# Errors after which the context is dead: CUDA runtime API reference, cudaError_t, "the process must be terminated and relaunched".
STICKY = {
    "IllegalAddress": "a thread read or wrote an address that is not mapped (a null or freed pointer, an index out of bounds)",
    "LaunchFailure": "the kernel died on the device (often a bad shared-memory address or an illegal barrier use)",
    "MisalignedAddress": "a vector access or a bulk copy met an address that is not a multiple of its size",
    "IllegalInstruction": "the device met an instruction it cannot run (setmaxnreg or wgmma used outside its rules)",
    "InvalidPc": "the kernel jumped outside its code",
    "InvalidAddressSpace": "an instruction was given an address of the wrong memory space",
    "HardwareStackError": "the device's call stack overflowed or was corrupted",
    "LaunchTimeout": "the kernel ran past the driver's time limit (a deadlock in a barrier, most likely)",
    "Assert": "an assert in the kernel failed",
}
_dead: list[ContextDeadError] = []  # the first sticky error of this process


@dataclass(frozen=True)
class Device:
    """Whether a GPU here can run the course's kernels. why: a sentence. driver: the driver's CUDA version, "13.0"."""

    usable: bool
    why: str
    name: str = ""
    driver: str = ""
    capability: tuple[int, int] | None = None
    sms: int = 0


@functools.cache
def probe() -> Device:
    """What this machine's first visible GPU is (CUDA_VISIBLE_DEVICES chooses), looked up once a process."""
    try:
        import cupy
    except Exception as e:  # a broken install raises more than ImportError
        return Device(
            False,
            f"CuPy cannot be imported ({type(e).__name__}: {e}). On a machine with a GPU: pip install cupy-cuda13x.",
        )
    return describe(cupy.cuda.runtime)


def describe(runtime) -> Device:
    """The Device that a CUDA runtime module (cupy.cuda.runtime, or a stand-in in tests) tells of. Never raises."""
    try:
        driver = runtime.driverGetVersion()
    except Exception:
        driver = 0
    if not driver:
        return Device(False, "No NVIDIA driver is installed here, so no GPU can be used.")
    text = f"{driver // 1000}.{driver % 1000 // 10}"
    if driver < MIN_DRIVER:
        return Device(
            False,
            f"The NVIDIA driver is too old: it supports CUDA {text}, and CUDA 12.0 is needed. Update the driver.",
            driver=text,
        )
    try:
        if runtime.getDeviceCount() < 1:
            return Device(False, "The driver finds no GPU here.", driver=text)
        p = runtime.getDeviceProperties(0)
    except Exception as e:
        return Device(False, _probe_failure(e, text, runtime), driver=text)
    name = p["name"].decode() if isinstance(p["name"], bytes) else p["name"]
    capability = (p["major"], p["minor"])
    sms = p["multiProcessorCount"]
    if capability != CAPABILITY:
        why = (
            f"{name} has compute capability {capability[0]}.{capability[1]}; the kernels need exactly 9.0 (H100, H200, GH200), "
            "since wgmma and setmaxnreg exist on no other."
        )
        return Device(False, why, name, text, capability, sms)
    return Device(
        True, f"{name} (compute capability 9.0, driver for CUDA {text}) runs the kernels.", name, text, capability, sms
    )


def _probe_failure(e: Exception, driver: str, runtime) -> str:
    name = str(e).split(":")[0]
    if "InsufficientDriver" in name:
        needs = runtime.runtimeGetVersion()
        return (
            f"The NVIDIA driver is too old for this CuPy: it supports CUDA {driver}, CuPy was built for CUDA {needs // 1000}.{needs % 1000 // 10}. "
            "Update the driver, or install the CuPy wheel for your CUDA version."
        )
    if "NoDevice" in name:
        return "The driver finds no GPU here (CUDA_VISIBLE_DEVICES may hide it)."
    return f"The GPU cannot be used: {e}."


class Module:
    """A CUDA source on the GPU. source: a file name in kernels/cuda, or a Source. defines: as in nvrtc.compile_source.

    Raises CompileError; BackendError where no GPU can run it; ContextDeadError after a sticky error in this process.
    """

    def __init__(self, source: str | Source, defines=None, *, options: tuple[str, ...] = ()):
        require()
        import cupy

        self.source = load_source(source) if isinstance(source, str) else source
        self.built = compile_source(self.source, defines, options=options)
        self.resources = self.built.resources
        with tempfile.NamedTemporaryFile(suffix=".cubin", delete=False) as f:  # RawModule takes a cubin by path only
            f.write(self.built.image)
        self._functions: dict[tuple[str, int], Any] = {}
        try:
            self._raw = cupy.RawModule(path=f.name)
            for entry in self.resources:
                self._raw.get_function(entry)
        except Exception as e:
            raise _refused(e, self.source.name) from e
        finally:
            os.unlink(f.name)

    def function(self, entry: str, smem: int = 0):
        """The CuPy kernel of an entry, allowed `smem` bytes of dynamic shared memory. Raises LaunchError for an unknown entry."""
        if (entry, smem) not in self._functions:
            if entry not in self.resources:
                raise LaunchError(
                    f'{self.source.name} has no entry {entry!r}; it has {", ".join(self.resources) or "none"} (extern "C" __global__).'
                )
            f = self._raw.get_function(entry)
            limit = _shared_memory_limit()
            if smem + self.resources[entry].smem > limit:
                raise LaunchError(
                    f"{entry} asks for {smem + self.resources[entry].smem} B of shared memory; a block may have {limit} B."
                )
            if smem:
                f.max_dynamic_shared_size_bytes = smem
            self._functions[entry, smem] = f
        return self._functions[entry, smem]

    def launch(self, entry: str, grid, block, args, smem: int = 0, stream=None) -> None:
        """Launch on the current stream (or `stream`) and return at once. grid, block: 1 to 3 numbers. smem: dynamic bytes a block."""
        f = self.function(entry, smem)
        try:
            f(three(grid), three(block), tuple(pack(a) for a in args), shared_mem=smem, stream=stream)
        except Exception as e:
            raise explain(e, entry) from e


def _refused(e: Exception, name: str) -> Exception:
    """What a driver that does not load a module says, in a sentence: it is older than the compiler, or the GPU is another."""
    if isinstance(explained := explain(e, name), ContextDeadError):
        return explained
    return BackendError(
        f"The GPU's driver does not load {name} ({' '.join(str(e).split())[:160]}): most likely it is older than the NVRTC that compiled it. "
        'Update the driver, or run on the CPU emulator: KERNELS_BACKEND=emulator, or load(name, backend="emulator").'
    )


def three(size) -> tuple[int, int, int]:
    """1 to 3 numbers as CUDA's three."""
    size = (size,) if isinstance(size, int) else tuple(size)
    return tuple(int(s) for s in (*size, 1, 1)[:3])


def pack(arg):
    """An argument as CuPy takes it. Raises ArgumentError for a Python number or a NumPy array."""
    if arg is None:
        return np.uint64(0)
    if isinstance(arg, TensorMap):
        return arg.encode()
    if isinstance(arg, (np.generic,)) or hasattr(arg, "__cuda_array_interface__"):
        return arg
    raise ArgumentError(
        f"A kernel argument of type {type(arg).__name__} was given. Pass CuPy arrays, NumPy scalars of the parameter's C type "
        "(np.int32, np.float32, ...), a TensorMap, or None for a null pointer."
    )


def require() -> Device:
    """The usable GPU. Raises BackendError where there is none, ContextDeadError after a sticky error."""
    if _dead:
        raise ContextDeadError(str(_dead[0]), code=_dead[0].code)
    device = probe()
    if not device.usable:
        raise BackendError(device.why)
    return device


def synchronize(entry: str = "kernel") -> None:
    """Wait for the device and turn what went wrong into a LaunchError that explains it."""
    import cupy

    try:
        cupy.cuda.runtime.deviceSynchronize()
    except Exception as e:
        raise explain(e, entry) from e


def explain(e: Exception, entry: str) -> Exception:
    """The KernelError for what CuPy raised at a launch or a synchronisation. A sticky error is remembered for the process."""
    code = str(e).split(":")[0].strip()
    plain = code.removeprefix("cudaError").removeprefix("CUDA_ERROR_").replace("_", "").lower()
    if isinstance(e, ArgumentError):
        return e
    for name, meaning in STICKY.items():
        if name.lower() == plain or plain == name.lower().replace("launchfailure", "launchfailed"):
            message = (
                f"{entry} failed with {code}: {meaning}. The error is sticky: this process's CUDA context is dead and every later CUDA call "
                "in it fails with the same error, though the process itself runs on. Restart the process (in a notebook: restart the "
                'kernel), then find the cause on the emulator (backend="emulator"), which names the line.'
            )
            _dead.append(ContextDeadError(message, code=code))
            return _dead[-1]
    if plain in ("invalidvalue", "invalidconfiguration", "launchoutofresources"):
        hint = "The grid, block, shared memory or registers are more than the device gives a launch."
        return LaunchError(f"{entry} could not be launched: {e}. {hint}", code=code)
    if plain in ("memoryallocation", "outofmemory") or type(e).__name__ == "OutOfMemoryError":
        return LaunchError(f"{entry}: the GPU's memory is full ({e}). Use smaller arrays, or free others.", code=code)
    return LaunchError(f"{entry} failed: {e}", code=code)


@functools.cache
def _shared_memory_limit() -> int:
    import cupy

    return cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]


def time_ms(calls, repeats: int = 30, warmup: int = 3, inner: int = 1) -> list[list[float]]:
    """Device time of each call in milliseconds, `repeats` readings a call, the calls interleaved.

    calls: functions that enqueue work on the current stream. inner: enqueued this many times between two events (the reading is divided).
    """
    import cupy

    for call in calls:
        for _ in range(warmup):
            call()
    events = [[(cupy.cuda.Event(), cupy.cuda.Event()) for _ in range(repeats)] for _ in calls]
    for r in range(repeats):
        for c, call in enumerate(calls):
            start, stop = events[c][r]
            start.record()
            for _ in range(inner):
                call()
            stop.record()
    synchronize("a timed call")
    return [[cupy.cuda.get_elapsed_time(*pair) / inner for pair in readings] for readings in events]
