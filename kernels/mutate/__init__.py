"""Mutation score of the emulator: every kernel broken in one place, in every way that a person breaks one, and run under every policy.

    python -m kernels.mutate                        # all mutants, the table, and what survived
    python -m kernels.mutate --kernel gemm_ring --operator delete

`syntax` finds the statements of a kernel's text, `operators` makes its mutants, `bench` runs them, `table` counts. `equivalent.yml` lists the
mutants that are no bugs, each with its reason; a person has looked at every one.
"""
