"""Lesson 3: the mbarrier of the hardware against the model of a few lines, event by event."""

from __future__ import annotations

import numpy as np

from kernels.bench import Bench, Session
from kernels.errors import KernelError
from kernels.kernel import load
from kernels.spec import cases, get_spec
from kernels.specs.barriers import step, walk

SCRIPTS = 300


def hardware(session: Session) -> list[dict]:
    """The phase bit after every event of every script, on the device and by the model. A disagreement fails the bench."""
    kernel = load("barrier_script", "gpu")
    points = []
    for case in cases(get_spec("barrier_script"), np.random.default_rng(2026), SCRIPTS):
        (events,), count = case.arrays, case.params["count"]
        seen, modelled = kernel(events, count=count).tolist(), walk(step, events, count)
        if seen != modelled:
            raise KernelError(f"{case.label}: the device's phases {seen} are not the model's {modelled} for {events.tolist()}.")
        points.append({"script": case.label, "count": count, "events": len(events), "phases": int(np.abs(np.diff([0, *seen])).sum()), "agree": 1})
    session.say(f"{len(points)} scripts, {sum(p['events'] for p in points)} events, {sum(p['phases'] for p in points)} phases: all as the model says")
    return points


BENCHES = (
    Bench(
        "lesson03_hardware_barrier",
        f"{SCRIPTS} scripts of arrivals, expectations and landings on an mbarrier of the device: its phase bit against the model after each event",
        ("barrier_script",),
        hardware,
        {
            "script": "what the script is after",
            "count": "arrivals that complete a phase",
            "events": "events played, each compared",
            "phases": "phases that completed",
            "agree": "1: every phase bit was the model's",
        },
    ),
)
