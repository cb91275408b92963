"""A receipt is JSON that every reader takes, also where what was measured is no number."""

import json

from kernels.receipt import MIME, Receipt


def test_a_figure_that_is_no_number_is_still_json():
    receipt = Receipt(
        "k",
        "0" * 64,
        "emulator",
        "cpu",
        "",
        "2026-01-01T00:00:00Z",
        "k()",
        {"error": {"value": float("nan"), "unit": ""}, "time": {"value": 1.5, "unit": "ms"}},
    )
    bundle = receipt._repr_mimebundle_()
    data = json.loads(json.dumps(bundle[MIME], allow_nan=False))
    assert data["figure"] == {"error": {"value": "nan", "unit": ""}, "time": {"value": 1.5, "unit": "ms"}}
    assert "error nan" in bundle["text/plain"] and "time 1.5 ms" in bundle["text/plain"]
