"""The course website: plain Quarto sources staged by language and edition, rendered, and closed to other hosts."""

from autograder.site.build import build_site

__all__ = ["build_site"]
