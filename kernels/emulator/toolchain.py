"""Compilers, the cache, and the runtime's own build."""


def available() -> tuple[bool, str]:
    """Whether the emulator can run here, and a sentence that says why (which compiler) or why not."""
    raise NotImplementedError
