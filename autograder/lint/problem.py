"""One thing that is wrong with a lesson."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, order=True)
class Problem:
    """what: a sentence, what is wrong. remedy: a sentence, how to mend it. line: 1-based, 0 where the file as a whole is meant."""

    file: Path
    line: int
    what: str
    remedy: str

    def text(self, root: Path) -> str:
        try:
            file = self.file.relative_to(root)
        except ValueError:
            file = self.file
        return f"{file}{f':{self.line}' if self.line else ''}: {self.what} {self.remedy}".rstrip()
