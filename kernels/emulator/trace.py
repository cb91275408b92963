"""A launch's trace as rows of a timeline, and as a file for chrome://tracing or ui.perfetto.dev."""

from __future__ import annotations

from collections.abc import Iterable

from kernels.emulator.report import Event


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
            common = {"name": f"{e.kind} {e.what}", "pid": 0, "tid": track, "ts": e.time, "args": {**e.data, "at": f"{e.file}:{e.line}"}}
            out.append({**common, "ph": "X", "dur": e.end - e.time} if e.end > e.time else {**common, "ph": "i", "s": "t"})
    return {"traceEvents": out}
