"""The journal of a grading run: each result is on disk the moment it is known, before it is in the gradebook.

One JSON line a result, appended with a single write. A kill leaves at most one torn last line, which the next run drops.
When everything is in the gradebook the journal is removed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.records import Result


@dataclass(frozen=True)
class Entry:
    """One graded submission with the key it was graded under. timestamp: when it was handed in, UTC, or None."""

    student: str
    source_hash: str
    rubric_hash: str
    timestamp: datetime | None
    result: Result

    def __post_init__(self):
        object.__setattr__(self, "result", storable(self.result))

    def line(self) -> bytes:
        data = {
            "student": self.student,
            "source_hash": self.source_hash,
            "rubric_hash": self.rubric_hash,
            "timestamp": self.timestamp.isoformat() if self.timestamp else None,
            "result": self.result.model_dump(mode="json"),
        }
        return json.dumps(data, ensure_ascii=True).encode() + b"\n"

    @classmethod
    def read(cls, line: bytes) -> Entry:
        data = json.loads(line)
        stamp = data["timestamp"]
        return cls(
            data["student"],
            data["source_hash"],
            data["rubric_hash"],
            datetime.fromisoformat(stamp) if stamp else None,
            Result.model_validate(data["result"]),
        )


def storable(result: Result) -> Result:
    """The result with no text that a database refuses: half a surrogate pair, a NUL. Most results come back as they are."""
    data = result.model_dump(mode="python")
    clean = _clean(data)
    return result if clean == data else Result.model_validate(clean)


def _clean(value):
    if isinstance(value, str):
        return (
            value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
            if "\0" in value or not value.isascii()
            else value
        )
    if isinstance(value, dict):
        return {k: _clean(v) for k, v in value.items()}
    return [_clean(v) for v in value] if isinstance(value, list) else value


class Journal:
    """Open for appending; a torn last line is cut off first."""

    def __init__(self, path: Path):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        self._cut_torn_line()

    def _cut_torn_line(self) -> None:
        size = os.fstat(self._fd).st_size
        end, step = size, 1 << 16
        while end > 0:
            start = max(0, end - step)
            found = os.pread(self._fd, end - start, start).rfind(b"\n")
            if found >= 0:
                os.ftruncate(self._fd, start + found + 1)
                return
            end = start
        os.ftruncate(self._fd, 0)

    def entries(self) -> Iterator[Entry]:
        """What earlier runs left, oldest first. A line that is not an entry (another version wrote it) is passed over."""
        with self.path.open("rb") as file:
            for line in file:
                try:
                    yield Entry.read(line)
                except (ValueError, KeyError, TypeError):
                    continue

    def append(self, entry: Entry) -> None:
        line = entry.line()
        if os.write(self._fd, line) != len(line):
            raise OSError(28, "No space left on device")

    def flush(self) -> None:
        os.fsync(self._fd)

    def close(self) -> None:
        os.close(self._fd)

    def remove(self) -> None:
        """Everything in it is in the gradebook."""
        self.close()
        self.path.unlink()
