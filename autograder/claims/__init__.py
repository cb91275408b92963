"""The claims ledger: every figure a page states, traced to the file that measured it, to what was read, or to arithmetic."""

from autograder.claims.ledger import Entry, Ledger, read_ledger

__all__ = ["Entry", "Ledger", "read_ledger"]
