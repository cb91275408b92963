"""What one launch on the emulator came to: findings with file and line, counts, and the trace if it was asked for."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from kernels.wording import told

# name: (who runs next, when copies land, when wgmma runs); see the package's docstring.
POLICIES = {
    "friendly": ("rr", "early", "early"),
    "rr": ("rr", "random", "random"),
    "random": ("random", "random", "random"),
    "pct": ("pct", "random", "random"),
    "late": ("pct", "late", "early"),
    "lazy_mma": ("pct", "early", "late"),
    "timed": ("timed", "timed", "timed"),
}

# The worst finding names the launch's status: these, from worst to mildest.
STATUSES = ("crash", "timeout", "out_of_bounds", "misuse", "deadlock", "race", "clean")


@dataclass(frozen=True)
class Place:
    """A place in the source: `file` (name only) and `line`, and who was there ("block (0,0) warp 4 lane 0", "TMA", ...)."""

    file: str
    line: int
    who: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong. `kind` is one of STATUSES but "clean"; `count` says how often it was seen (the message is of the first).

    rule: a short fixed name, e.g. "write-after-read", "missing-proxy-fence", "missing-mbarrier-init-fence", "mbarrier-overflow".
    places: the source lines concerned, the later access first.
    """

    kind: str
    rule: str
    message: str
    places: tuple[Place, ...] = ()
    count: int = 1


@dataclass(frozen=True)
class Event:
    """One event of a trace. `time` is in scheduler steps (policy "timed": nominal cycles); `end` likewise for what has a duration.

    kind: "wait" (thread blocked), "tma_load", "tma_store", "wgmma", "registers", "barrier", "exit", and what befalls an mbarrier:
          "init", "arrive", "land" (bytes of a copy), "phase" (its phase completed). `data` of the first three holds the state after
          the event: pending arrivals, tx (bytes expected less landed), phase, and `of`: the barrier's block. "phase" follows at once.
    who: the actor, e.g. "block (0,0) warp 4" or "block (0,0) TMA". what: the object, e.g. "FULL[1]", with details in `data`.
    """

    time: float
    end: float
    kind: str
    who: str
    what: str
    file: str = ""
    line: int = 0
    data: dict = field(default_factory=dict)


@dataclass
class LaunchReport:
    """One launch. status: "clean" or the kind of its worst finding. seconds: wall time of the launch, its process included.

    steps: scheduler steps taken. switches: fiber switches. notes: remarks that are not errors (for example copies still in flight at exit).
    """

    kernel: str
    status: str
    seed: int
    policy: str
    checks: bool
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    steps: int = 0
    switches: int = 0
    output: str = ""  # what the kernel printed
    trace: list[Event] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return self.status == "clean"

    def __str__(self) -> str:
        head = f"{self.kernel} on the emulator, seed {self.seed}, policy {self.policy}, checks {'on' if self.checks else 'off'}: "
        if self.clean:
            return told("\n".join([head + f"clean, {self.seconds:.2f} s, {self.steps:,} steps", *self.notes]))
        lines = [head + self.status.replace("_", " ").upper()]
        for f in self.findings:
            times = f" (seen {f.count} times)" if f.count > 1 else ""
            lines.append(f"  {f.kind.replace('_', ' ')} [{f.rule}]{times}: " + f.message.replace("\n", "\n    "))
        return told("\n".join(lines + [f"  note: {n}" for n in self.notes]))

    def to_dict(self) -> dict:
        """JSON-able."""
        return asdict(self)
