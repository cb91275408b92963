"""`kernels.load`: a kernel as a Python function of NumPy or CuPy arrays."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any

from kernels import arrays
from kernels.backends import EmulatorBackend, GpuBackend, choose
from kernels.errors import ArgumentError, KernelError
from kernels.receipt import Receipt, toolkit_versions, utc_now
from kernels.sources import Source, load_source
from kernels.spec import KernelSpec, get_spec
from kernels.wording import told

EMULATOR_OPTIONS = ("seed", "policy", "checks", "trace", "timeout", "fp8_reduced", "sms")


def load(
    name: str,
    backend: str | None = None,
    *,
    bug: str | None = None,
    source: Source | str | os.PathLike | None = None,
    poison: bool = False,
    entry: str | None = None,
    **emulator_options: Any,
) -> Kernel:
    """The kernel of that name (see `kernels.registry()`), on the GPU where one can run it, else on the CPU emulator.

    backend: "gpu" or "emulator" forces one, as does the environment variable KERNELS_BACKEND; None chooses.
    bug: the name of one of the kernel's defects, to be built in.  source: an edited source in place of the
    kernel's own, or the path of a file that holds it; reports name its lines by the kernel's own file name.
    poison: fill outputs with NaN before the launch (the emulator always does).
    emulator_options: seed, policy, checks, trace, timeout, fp8_reduced, sms, as kernels.emulator.Module.launch takes them; any of
    them chooses the emulator where no back end is forced.

    name may also be the path of a CUDA file that knows nothing of this course; entry: its kernel, where it has several. The result is then a
    kernels.ForeignKernel, which is launched with grid=, block= and args= on the emulator.

    Raises KernelError for an unknown kernel or bug, BackendError where the back end cannot run here.
    """
    if str(name).endswith((".cu", ".cuh")):
        from kernels.foreign import load_source_kernel

        if backend == "gpu" or bug or source or emulator_options:
            raise KernelError(
                f"{name} is a CUDA file: it runs on the emulator, and its schedule is given at the call: load(path)(grid, block, args, seed=3)."
            )
        return load_source_kernel(name, entry)
    if entry:
        raise KernelError(f"entry= names a kernel of a CUDA file; {name} is a kernel of the course.")
    spec = get_spec(name)
    unknown = set(emulator_options) - set(EMULATOR_OPTIONS)
    if unknown:
        raise KernelError(
            f"load() has no option {', '.join(sorted(unknown))}. The emulator's options: {', '.join(EMULATOR_OPTIONS)}."
        )
    if bug is not None and bug not in spec.bugs:
        raise KernelError(f"{name} has no defect named {bug!r}. It has: {', '.join(sorted(spec.bugs)) or 'none'}.")
    return Kernel(spec, backend, bug, _source(spec, source), poison, emulator_options)


def _source(spec: KernelSpec, source) -> Source | None:
    """An edited source as given, or read from the file that `source` names. Raises KernelError where there is none."""
    if source is None or isinstance(source, Source):
        return source
    if not isinstance(source, (str, os.PathLike)):
        raise KernelError(
            f"source is a Source (kernels.sources.load_source) or the path of a .cu file, not {type(source).__name__}."
        )
    path = Path(source)
    try:
        return load_source(spec.source, path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as e:
        raise KernelError(f"{path} is not UTF-8 text (byte {e.start}): save it as UTF-8.") from None
    except (OSError, ValueError) as e:
        raise KernelError(
            f"source names the file {path}, which cannot be read: {getattr(e, 'strerror', None) or e}."
        ) from None


class Kernel:
    """A loaded kernel. Call it with arrays; what it takes and gives is its spec's (`kernel.spec.computes`).

    backend: "gpu" or "emulator".  why: a sentence on that choice.  receipt: of the last call that ran, None before.
    report: the emulator's report of the last launch (also of one that failed), None on the GPU.
    """

    def __init__(self, spec: KernelSpec, backend, bug, source, poison, options):
        choice = choose(backend, tuple(options))
        self.spec, self.name, self.bug = spec, spec.name, bug
        self.backend, self.why = choice.name, told(choice.why)
        self.source = source or load_source(spec.source)
        self.receipt: Receipt | None = None
        self._poison, self._options = poison, options
        defines = spec.bugs[bug].defines if bug else {}
        if choice.name == "gpu":
            self._backend = GpuBackend(self.source, defines)
        else:
            self._backend = EmulatorBackend(self.source, defines, spec.entries, **options)

    @property
    def report(self):
        return getattr(self._backend, "report", None)

    def __call__(self, *args, **params):
        """Check the arguments, launch, wait, and return the result, in the library (NumPy or CuPy) of the first array.

        Raises ArgumentError before the launch where a rule is broken; LaunchError and its kinds where the launch fails.
        """
        self._check_signature(args, params)
        self.spec.check(*args, **params)
        given = [a for a in (*args, *params.values()) if arrays.is_array(a)]
        if len({arrays.is_cupy(a) for a in given}) > 1:
            raise ArgumentError(
                f"{self.name} was given NumPy and CuPy arrays together. Move them to one: cupy.asarray(x) or x.get()."
            )
        move = lambda a: self._backend.move(a) if arrays.is_array(a) else a
        context = self._backend.context(self._poison)
        plan = self.spec.plan(context, *map(move, args), **{k: move(v) for k, v in params.items()})
        figure = self._backend.run(plan.launches)
        self.receipt = Receipt(
            kernel=self.name,
            source_sha256=self.source.sha256,
            time=utc_now(),
            command=self._command(args, params),
            figure=figure,
            toolkit=toolkit_versions(),
            **self._backend.describe(),
        )
        back = arrays.to_cupy if given and arrays.is_cupy(given[0]) else arrays.to_numpy
        return tuple(map(back, plan.result)) if isinstance(plan.result, tuple) else back(plan.result)

    def reference(self, *args, **params):
        """The same result in float64, computed with NumPy on the host."""
        host = lambda a: arrays.to_numpy(a) if arrays.is_array(a) else a
        return self.spec.reference(*map(host, args), **{k: host(v) for k, v in params.items()})

    def _check_signature(self, args, params) -> None:
        """Raise ArgumentError for a parameter that is unknown, missing or given twice."""
        takes = inspect.signature(self.spec.check)
        try:
            takes.bind(*args, **params)
        except TypeError as e:
            raise ArgumentError(
                f"{self.name} cannot be called like this: {e}. It takes {self.name}{takes.replace(return_annotation=takes.empty)}."
            ) from None

    def _command(self, args, params) -> str:
        show = lambda a: (
            f"<{arrays.NAMES.get(a.dtype, a.dtype)} {'x'.join(map(str, a.shape))}>" if arrays.is_array(a) else repr(a)
        )
        options = {"backend": self.backend, **({"bug": self.bug} if self.bug else {}), **self._options}
        loaded = "".join(f", {k}={v!r}" for k, v in options.items())
        called = ", ".join([*map(show, args), *(f"{k}={show(v)}" for k, v in params.items())])
        return f"kernels.load({self.name!r}{loaded})({called})"

    def __repr__(self) -> str:
        return f"<kernel {self.name} on {self.backend}: {self.spec.computes}>"
