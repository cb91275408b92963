"""What a cell that was run shows where no kernel is alive: widgets replaced by what they drew at their first values.

ipywidgets.interact draws into an Output widget, whose text and pictures are in the notebook's widget state and not in the
cell's outputs; an error in there raises nothing either. A page shows that first drawing, never the widget's empty box.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import nbformat
from nbformat import NotebookNode

_STATE = "application/vnd.jupyter.widget-state+json"
_VIEW = "application/vnd.jupyter.widget-view+json"
_FUNCTION = re.compile(r"<(?:bound method|function) [^>]*>+$")  # interact(...) gives its function back


def still_outputs(nb: NotebookNode, cell: NotebookNode) -> list[NotebookNode]:
    """The cell's outputs, each widget's view replaced by the outputs that the widget holds."""
    models = nb.metadata.get("widgets", {}).get(_STATE, {}).get("state", {})
    out: list[NotebookNode] = []
    widgets = False
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if _VIEW in data:
            widgets = True
            out += [nbformat.from_dict(o) for o in _held(data[_VIEW].get("model_id", ""), models, set())]
        elif not (widgets and output.output_type == "execute_result" and _FUNCTION.match(data.get("text/plain", ""))):
            out.append(output)
    return out


def _held(model: str, models: dict, seen: set[str]) -> Iterator[dict]:
    """The outputs of an Output widget, or of those inside a box, in order."""
    if model in seen or model not in models:
        return
    seen.add(model)
    state = models[model]["state"]
    if models[model].get("model_name") == "OutputModel":
        yield from state.get("outputs", ())
    for child in state.get("children", ()):
        yield from _held(str(child).removeprefix("IPY_MODEL_"), models, seen)
