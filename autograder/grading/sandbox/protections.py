"""What a sandbox keeps a student's code from, as its own self-test measured it."""

from __future__ import annotations

from dataclasses import dataclass, field

# name -> what it means (shown by `course doctor`)
PROTECTIONS = {
    "files": "the lesson sources, the gradebook and the home folder cannot be seen",
    "network": "no network",
    "processes": "no other process can be started",
    "signals": "no other process can be signalled",
    "writing": "no file can be written",
    "memory": "memory is limited",
    "cpu": "CPU time is limited",
    "syscalls": "a system-call filter is on",
}
# A machine without the filter, but with the rest, is good enough: the filter is a second wall.
NEEDED = ("files", "network", "writing", "memory", "cpu")


@dataclass(frozen=True)
class Protections:
    """method: how the sandbox was made. holds: what the warm parent reported. measured: name -> did the self-test find it held."""

    method: str
    holds: tuple[str, ...] = ()
    measured: dict[str, bool] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        return [n for n in NEEDED if not self.measured.get(n)]

    @property
    def sufficient(self) -> bool:
        return not self.missing
