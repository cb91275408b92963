"""Lesson 13: one launch for 64 ragged groups against a loop of cuBLAS calls, torch's grouped call, and a scalar search."""

from __future__ import annotations

import numpy as np

from kernels.bench import Bench, Session
from kernels.benches.ready import TIMES, compile_all, enqueue, graph_of, time_shuffled, torch_graph_of
from kernels.errors import KernelError
from kernels.specs.gemm_grouped import SEARCHES, launch_of

GROUPS, N, K = 64, 2048, 4096
REPEATS = 15
# Mean rows of a group: what a layer of 64 experts gets of 512 to 16,384 tokens, two experts each.
MEANS = (16, 64, 256, 512)


def heights(mean: int, seed: int = 13) -> np.ndarray:
    """Ragged: a Dirichlet draw of the tokens, so that some groups have several times the mean and some none. (GROUPS,) int32."""
    rng = np.random.default_rng(seed + mean)
    share = rng.dirichlet(np.full(GROUPS, 1.0))
    rows = np.floor(share * mean * GROUPS).astype(np.int32)
    rows[rng.permutation(GROUPS)[:3]] = 0
    return rows


def grouped(session: Session) -> list[dict]:
    """CUDA graphs of one pass each, in another order each round; results are compared with cuBLAS's before anything is timed."""
    import cupy
    import torch

    compile_all([("gemm_grouped.cu", {"OUT": "bf16", "SCALAR_SEARCH": s}) for s in SEARCHES.values()])
    generator = torch.Generator(device="cuda").manual_seed(13)
    normal = lambda *shape: torch.randn(*shape, device="cuda", generator=generator).bfloat16()
    ours = lambda t: cupy.from_dlpack(t.view(torch.int16)).view(np.uint16)
    b = normal(GROUPS, N, K)
    points = []
    for mean in MEANS:
        rows = heights(mean)
        total = int(rows.sum())
        a, d, expected = (
            normal(total, K),
            torch.empty(total, N, device="cuda", dtype=torch.bfloat16),
            torch.empty(total, N, device="cuda", dtype=torch.bfloat16),
        )
        ends = np.cumsum(rows)
        parts = [(slice(int(e - r), int(e)), g) for g, (e, r) in enumerate(zip(ends, rows)) if r]

        def loop(a=a, expected=expected, parts=parts):
            for at, g in parts:
                torch.matmul(a[at], b[g].T, out=expected[at])

        rows_there = cupy.asarray(rows)
        calls = {"cuBLAS, a call a group": torch_graph_of([loop])}
        offsets = torch.tensor(ends, device="cuda", dtype=torch.int32)
        if hasattr(torch, "_grouped_mm"):
            try:
                transposed = b.transpose(1, 2)
                calls["torch._grouped_mm"] = torch_graph_of([lambda: torch._grouped_mm(a, transposed, offs=offsets)])
            except Exception as e:
                session.say(f"torch._grouped_mm does not take this: {type(e).__name__}: {e}")
        for search in SEARCHES:
            launch = launch_of(
                ours(a),
                ours(b.view(GROUPS * N, K)),
                ours(d),
                rows_there,
                None,
                (GROUPS, N, K),
                search,
                "bf16",
                session.device.sms,
            )
            ready = enqueue("gemm_grouped.cu", launch)
            loop()
            d.zero_()
            ready()
            torch.cuda.synchronize()
            error = float((d.float() - expected.float()).norm() / expected.float().norm())
            if error > 4e-3:
                raise KernelError(f"gemm_grouped, {search} search, mean {mean}: error {error}.")
            calls[f"gemm_grouped, {search} search"] = graph_of([ready])
        flops = 2.0 * total * N * K
        times = time_shuffled(
            calls, repeats=REPEATS, inner=max(3, round(4e-3 / (flops / 500e12 + 2.0 * b.numel() / 4e12)))
        )
        for name, t in times.items():
            points.append({"mean_rows": mean, "groups": GROUPS, "empty": int((rows == 0).sum()), "largest": int(rows.max()), "rows": total, "n": N, "k": K,
                           "variant": name, "tflop_per_s": flops / t["ms"] / 1e9, "of_loop": times["cuBLAS, a call a group"]["ms"] / t["ms"], **t})  # fmt: skip
        session.say(f"mean {mean}: " + "; ".join(f"{n} {t['ms'] * 1e3:.0f} us" for n, t in times.items()))
    return points


BENCHES = (
    Bench(
        "lesson13_grouped",
        f"{GROUPS} ragged groups (N = {N}, K = {K}) in one launch against a cuBLAS call a group and torch's grouped call; ballot and scalar search",
        ("gemm_grouped",),
        grouped,
        {
            "mean_rows": "mean rows of a group",
            "groups": "groups",
            "empty": "groups without rows",
            "largest": "rows of the largest group",
            "rows": "rows of all groups",
            "n": "N",
            "k": "K",
            "variant": "what ran",
            "tflop_per_s": "2 rows N K / median time",
            "of_loop": "the loop's median time over this one's: above 1 it is faster",
            **TIMES,
        },
    ),
)
