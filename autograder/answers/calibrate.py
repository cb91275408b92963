"""Fit calibration.json: `python -m autograder.answers.calibrate record LESSON ANSWERS.jsonl` and `... fit`.

Rows are recorded once, when the labelled answers are new to the rules: afterwards rules may be mended by reading those
answers, and rows taken then would make the rules look surer than they are on the next class. `fit` reads the recorded rows
only, so it gives the same weights whatever has happened to the rules since.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import typer

from autograder.answers import calibration
from autograder.answers.score import scorer
from autograder.lesson import find_lesson
from autograder.lesson.rubric import load_rubric

HERE = Path(__file__).parent
ROWS = HERE / "calibration_rows.json"
RIDGE = 0.3  # keeps weights finite where a feature separates the sample; chosen before the held-out answers were written
_FREE = {"bias"}  # not shrunk

app = typer.Typer(add_completion=False, help=__doc__)


@app.command()
def record(lesson: str, answers: Path) -> None:
    """Score labelled answers and append their feature rows to calibration_rows.json (an answer already recorded is refused)."""
    rubric = load_rubric(find_lesson(lesson) / "rubric.yml")
    ready = scorer(rubric)
    data = json.loads(ROWS.read_text()) if ROWS.is_file() else {"features": list(calibration.FEATURES), "rows": []}
    known = {r["answer"] for r in data["rows"]}
    for line in answers.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        if item["id"] in known:
            raise typer.BadParameter(f"{item['id']} is recorded already.")
        found = ready.assess(item["slot"], item["answer"], item["lang"])
        if found.gate.empty:
            continue
        for kind, evidence, truth in (("link", found.links, item["links"]), ("misconception", found.misconceptions, item.get("misconceptions", []))):
            for e in evidence:
                x = [round(v, 4) for v in calibration.features(e.seen)]
                data["rows"].append({"answer": item["id"], "kind": kind, "id": e.id, "y": int(e.id in truth), "x": x})
    body = ",\n".join(json.dumps(r) for r in data["rows"])
    ROWS.write_text(f'{{"features": {json.dumps(data["features"])}, "rows": [\n{body}\n]}}\n')
    typer.echo(f"{len(data['rows'])} rows in {ROWS.name}")


@app.command()
def fit() -> None:
    """Fit the weights to the recorded rows and write calibration.json; thresholds stand as they are."""
    data = json.loads(ROWS.read_text())
    target = HERE / "calibration.json"
    out = json.loads(target.read_text())
    for kind in ("link", "misconception"):
        rows = [r for r in data["rows"] if r["kind"] == kind]
        x, y = np.array([r["x"] for r in rows]), np.array([r["y"] for r in rows], float)
        w = logistic(x, y)
        out["weights"][kind] = {name: round(float(v), 3) for name, v in zip(data["features"], w)}
        p = 1 / (1 + np.exp(-x @ w))
        typer.echo(f"{kind}: {len(rows)} rows, {int(y.sum())} true, log loss {float(-np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))):.3f}")
    target.write_text(json.dumps(out, indent=2) + "\n")


def logistic(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Ridge logistic regression by Newton's method. x: (rows, features), y: (rows,) of 0 and 1."""
    penalty = np.array([0.0 if n in _FREE else RIDGE for n in calibration.FEATURES])
    w = np.zeros(x.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (y - p) - penalty * w
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + np.diag(penalty + 1e-9), gradient)
        w += step
        if np.abs(step).max() < 1e-9:
            break
    return w


if __name__ == "__main__":
    app()
