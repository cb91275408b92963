"""CUDA files that know nothing of this course, on the emulator.

    report = kernels.run_source("saxpy.cu", grid=4, block=256, args={"n": 1000, "a": 2.0, "x": x, "y": y})

What happens to such a file: `tokens` and `items` read it after the preprocessor (as for sm_90), `items.needed` keeps what the kernel
uses and leaves the host's code out, `rewrite` and `ptx` turn __shared__ and asm into calls of the emulator, and the headers in
kernels/emulator/compat give it CUDA's words. `prepare` puts these together, `build` compiles and launches, `arguments` reads a command line.
"""

from kernels.foreign.build import ForeignKernel, load_source_kernel, run_source
from kernels.foreign.prepare import Entry, Program

__all__ = ["Entry", "ForeignKernel", "Program", "load_source_kernel", "run_source"]
