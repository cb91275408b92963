"""One module a kernel family; each defines SPECS (see kernels.spec)."""
