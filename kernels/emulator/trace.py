"""A launch's trace as rows of a timeline, as the history of its mbarriers, and as a file for chrome://tracing or ui.perfetto.dev."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kernels.emulator.report import Event

State = tuple[int, int, int, int]  # arrivals pending, bytes expected less landed, phase bit, arrivals a phase


def timeline(events: Iterable[Event]) -> dict[str, list[Event]]:
    """The events of each actor ("block (0,0) warp 4", "block (0,0) TMA", ...) in order of time; actors in order of name."""
    rows: dict[str, list[Event]] = {}
    for e in events:
        rows.setdefault(e.who, []).append(e)
    return {who: sorted(rows[who], key=lambda e: (e.time, e.end)) for who in sorted(rows)}


def chrome_trace(events: Iterable[Event]) -> dict:
    """The JSON object of the trace event format: one track an actor; a step (or nominal cycle) is shown as a microsecond."""
    rows = timeline(events)
    out = []
    for track, (who, row) in enumerate(rows.items()):
        out.append({"ph": "M", "name": "thread_name", "pid": 0, "tid": track, "args": {"name": who}})
        for e in row:
            common = {
                "name": f"{e.kind} {e.what}",
                "pid": 0,
                "tid": track,
                "ts": e.time,
                "args": {**e.data, "at": f"{e.file}:{e.line}"},
            }
            out.append(
                {**common, "ph": "X", "dur": e.end - e.time} if e.end > e.time else {**common, "ph": "i", "s": "t"}
            )
    return {"traceEvents": out}


@dataclass(frozen=True)
class BarrierStep:
    """One event of one mbarrier. barrier: "block (0,0) FULL[1]". event: (arrivals, bytes), bytes above 0 expected, below 0 landed.

    before, after: its state. completes: the event completed a phase. time, who, file, line: of the event.
    """

    barrier: str
    event: tuple[int, int]
    before: State
    after: State
    completes: bool
    time: float
    who: str
    file: str = ""
    line: int = 0


def barrier_steps(events: Iterable[Event]) -> list[BarrierStep]:
    """What befell each mbarrier of a trace, in order: every arrival, expectation and landing, with the state before and after it."""
    events, states, steps = list(events), {}, []
    for i, e in enumerate(events):
        if e.kind not in ("init", "arrive", "land"):
            continue
        name, data = f"{e.data['of']} {e.what}", e.data
        if e.kind == "init":
            states[name] = (data["pending"], data["tx"], data["phase"], data["count"])
            continue
        before = states[name]
        following = events[i + 1] if i + 1 < len(events) else None
        completes = following is not None and following.kind == "phase" and f"{following.who} {following.what}" == name
        counted = (data["pending"], data["tx"], data["phase"], before[3])
        states[name] = (before[3], data["tx"], data["phase"] ^ 1, before[3]) if completes else counted
        event = (data["arrivals"], data["bytes"]) if e.kind == "arrive" else (0, -data["bytes"])
        steps.append(BarrierStep(name, event, before, states[name], completes, e.time, e.who, e.file, e.line))
    return steps
