"""Measurements on the GPU: one module a lesson or family; each defines BENCHES (see kernels.bench)."""
