"""What can go wrong with a kernel, said so that a student can act on it."""


class KernelError(Exception):
    """Base of all errors raised by `kernels`: what happened, where, and what to do."""
