"""Tune the GEMM ladder on a GPU: many variants, checked first, then timed against cuBLAS in one run. A development tool.

    python -m kernels.benches.gemm_tune check INDEX      one variant against float64 on odd sizes, in this process
    python -m kernels.benches.gemm_tune time OUT.json INDEX...
    python -m kernels.benches.gemm_tune all OUT_DIR      every variant checked in a process of its own (a hang ends with it), the good timed
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from kernels.specs.gemm import OUT, RUNGS, TILE_K, arguments, example, pitch
from kernels.tensormap import TensorMap

SHAPES = ((4096, 4096, 4096), (8192, 8192, 8192), (8192, 8192, 512), (8192, 8192, 1024))
ODD = ((1, 1, 1), (127, 61, 67), (197, 331, 457), (257, 521, 1031), (512, 768, 2048), (1000, 3001, 131), (2304, 2560, 640))


def variants():
    v = []

    def add(rung, label="", **defines):
        r = RUNGS[rung]
        r = replace(r, defines=defines, stages=int(defines.get("STAGES", r.stages)), cluster=int(defines.get("CLUSTER", r.cluster)), buffers=int(defines.get("BUFFERS", r.buffers)))
        v.append((f"{rung} {label}".strip(), r))

    for stages, buffers in ((3, 4), (4, 2)):
        for cluster, band in ((1, 16), (2, 8), (4, 4)):
            for wait in (0, 1):
                add("gemm_store", f"s{stages} b{buffers} c{cluster} wait {wait}", STAGES=stages, BUFFERS=buffers, BAND=band, CLUSTER=cluster, **({} if wait else {"NO_OVERLAP": 1}))
    add("gemm_store", "s4 b2 c4 wait 0 band 2", STAGES=4, BUFFERS=2, BAND=2, CLUSTER=4, NO_OVERLAP=1)
    add("gemm_store", "s4 b2 c4 wait 0 band 8", STAGES=4, BUFFERS=2, BAND=8, CLUSTER=4, NO_OVERLAP=1)
    for tile, stages, cluster, store, band in (
        ((128, 128), 6, 1, 2, 16), ((128, 128), 6, 2, 2, 8), ((128, 128), 6, 4, 2, 4), ((128, 192), 4, 2, 3, 8), ((128, 192), 4, 1, 3, 16), ((128, 192), 4, 4, 3, 4),
    ):  # fmt: skip
        defines = {"TILE_M": tile[0], "TILE_N": tile[1], "STAGES": stages, "CLUSTER": cluster, "STORE": store, "BAND": band}
        r = replace(RUNGS["gemm_pingpong"], name="gemm_x_pingpong", tile=tile, stages=stages, cluster=cluster, buffers=store, defines=defines)
        v.append((f"x_pingpong {tile[0]}x{tile[1]} s{stages} c{cluster} store{store} band {band}", r))
    return v


class Runner:
    """A variant compiled and bound to arrays."""

    def __init__(self, rung, out="bf16"):
        from kernels import gpu

        self.rung, self.out = rung, out
        self.module = gpu.Module(f"{rung.name}.cu", {"OUT": OUT[out], **rung.defines}, options=("--no-cache",))
        self.sms = gpu.probe().sms

    def smem(self):
        r = self.rung
        if r.buffers and r.extra:
            ring = r.stages * ((r.tile[0] + r.tile[1]) * TILE_K * 2 + 16) + r.extra
            return -(-ring // 1024) * 1024 + 2 * r.buffers * 64 * 128
        return r.smem

    def bind(self, a, b, d, m, n, k):
        r = self.rung
        if r.name == "gemm_x_pingpong":
            args = arguments(replace(r, buffers=0), a, b, d, m, n, k)
            args.insert(2, TensorMap(d[:, :n], (64, 128 // d.itemsize), dtype="bfloat16" if d.itemsize == 2 else "float32"))
        else:
            args = arguments(r, a, b, d, m, n, k)
        args = [x.encode() if isinstance(x, TensorMap) else x for x in args]
        grid, block, smem = r.grid(m, n, self.sms), r.threads if isinstance(r.threads, tuple) else (r.threads,), self.smem()
        return lambda: self.module.launch(r.name, grid, block, args, smem)


def check(index: int) -> None:
    import cupy

    label, rung = variants()[index]
    rng = np.random.default_rng(index)
    worst = {}
    for out in ("bf16", "fp32"):
        run = Runner(rung, out)
        for m, n, k in ODD:
            (a, b), _ = example(rng, m, n, k)
            pa, pb = (np.zeros((x.shape[0], pitch(k)), np.uint16) for x in (a, b))
            pa[:, :k], pb[:, :k] = a.view(np.uint16), b.view(np.uint16)
            d = cupy.full((m, pitch(n)), 0xFFFF if out == "bf16" else np.nan, np.uint16 if out == "bf16" else np.float32)
            run.bind(cupy.asarray(pa), cupy.asarray(pb), d, m, n, k)()
            cupy.cuda.runtime.deviceSynchronize()
            got = d.get()[:, :n]
            got = (got.astype(np.uint32) << 16).view(np.float32) if out == "bf16" else got
            ref = a.astype(np.float64) @ b.astype(np.float64).T
            error = float(np.linalg.norm(got - ref) / np.linalg.norm(ref))
            worst[out] = max(worst.get(out, 0.0), error) if error == error else float("nan")
            if not error < (4e-3 if out == "bf16" else 1e-5):
                sys.exit(f"WRONG {label} {out} {(m, n, k)}: {error}")
    print(f"ok {label}: bf16 {worst['bf16']:.1e}, fp32 {worst['fp32']:.1e}; {run.module.resources[rung.name].registers} registers {run.module.built.remarks}")


def times(out: Path, indices: list[int], rounds: int = 11) -> None:
    import cupy
    import torch

    torch.manual_seed(0)
    runners = {i: Runner(variants()[i][1]) for i in indices}
    results = []
    for m, n, k in SHAPES:
        sets = max(2, min(6, int(400e6 // (2 * (m * k + n * k + m * n)))))
        inner = max(4, int(6e-3 / (2 * m * n * k / 700e12)))
        ts = [(torch.randn(m, k, device="cuda").bfloat16(), torch.randn(n, k, device="cuda").bfloat16(), torch.empty(m, n, device="cuda", dtype=torch.bfloat16)) for _ in range(sets)]
        cs = [[cupy.from_dlpack(t.view(torch.int16)).view(np.uint16) for t in s] for s in ts]
        cublas = [lambda s=s: torch.matmul(s[0], s[1].T, out=s[2]) for s in ts]
        bound = {}
        for i in indices:
            if runners[i].rung.name in ("gemm_naive", "gemm_tiled") and k > 4096:
                continue
            bound[i] = [runners[i].bind(*s, m, n, k) for s in cs]
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

        def burst(calls, repeat):
            for j in range(2):
                calls[j % sets]()
            start.record()
            for j in range(repeat):
                calls[j % sets]()
            stop.record()
            stop.synchronize()
            return start.elapsed_time(stop) / repeat

        ms = {i: [] for i in bound}
        ref = {i: [] for i in bound}
        for r in range(rounds):
            for i, calls in bound.items():
                slow = runners[i].rung.name in ("gemm_naive", "gemm_tiled")
                if slow and r > 0:
                    continue
                pair = [lambda: ms[i].append(burst(calls, 1 if slow else inner)), lambda: ref[i].append(burst(cublas, inner))]
                for f in pair if r % 2 else pair[::-1]:
                    f()
        flops = 2 * m * n * k
        rows = [(variants()[i][0], flops / statistics.median(ms[i]) / 1e9, flops / statistics.median(ref[i]) / 1e9, ms[i], ref[i]) for i in bound]
        print(f"--- {m}x{n}x{k} ({sets} sets, {inner} a burst)")
        for label, tf, cb, *_ in sorted(rows, key=lambda r: -r[1] / r[2]):
            print(f"{label:44s} {tf:7.1f}  cuBLAS {cb:6.1f}  {100 * tf / cb:6.1f} %")
        results.append({"shape": [m, n, k], "rows": rows})
        out.write_text(json.dumps(results))
        sys.stdout.flush()


def tensors(m, n, k, sets):
    import cupy
    import torch

    torch.manual_seed(0)
    ts = [(torch.randn(m, k, device="cuda").bfloat16(), torch.randn(n, k, device="cuda").bfloat16(), torch.empty(m, n, device="cuda", dtype=torch.bfloat16)) for _ in range(sets)]
    return ts, [[cupy.from_dlpack(t.view(torch.int16)).view(np.uint16) for t in s] for s in ts]


def sustain(indices):
    """Half a second of each at 8192 cubed, with the SM clock and the power read meanwhile."""
    import threading

    import pynvml
    import torch

    pynvml.nvmlInit()
    h = pynvml.nvmlDeviceGetHandleByIndex(0)
    for m, n, k, seconds in ((8192, 8192, 8192, 0.6), (4096, 4096, 4096, 0.4)):
        ts, cs = tensors(m, n, k, 3)
        calls = {"cuBLAS": [lambda s=s: torch.matmul(s[0], s[1].T, out=s[2]) for s in ts]}
        for i in indices:
            calls[variants()[i][0]] = [Runner(variants()[i][1]).bind(*s, m, n, k) for s in cs]
        calls["cuBLAS again"] = calls["cuBLAS"]
        print(f"--- sustained {m}x{n}x{k}")
        for label, fs in calls.items():
            count = int(seconds / (2 * m * n * k / 690e12))
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            for j in range(count // 4):
                fs[j % 3]()
            samples, done = [], threading.Event()

            def sample():
                while not done.wait(0.02):
                    samples.append((pynvml.nvmlDeviceGetClockInfo(h, 1), pynvml.nvmlDeviceGetPowerUsage(h) / 1000))

            start.record()
            for j in range(count):
                fs[j % 3]()
            stop.record()
            t = threading.Thread(target=sample)
            t.start()
            stop.synchronize()
            done.set()
            t.join()
            tf = 2 * m * n * k * count / start.elapsed_time(stop) / 1e9
            mhz = statistics.mean(x[0] for x in samples[1:]) if len(samples) > 2 else float("nan")
            watt = statistics.mean(x[1] for x in samples[1:]) if len(samples) > 2 else float("nan")
            print(f"{label:44s} {tf:7.1f} TFLOP/s  {mhz:6.0f} MHz  {watt:5.0f} W  tensor busy {tf * 1e12 / (132 * 4096 * mhz * 1e6) * 100:5.1f} %")


def cool(indices, k_sizes=(512, 1024, 4096, 8192), rest=0.012, repeats=5):
    """Single launches with rests between them, so that the clock stays up: cycles per k-block and per tile, apart from power."""
    import torch

    labels = ["cuBLAS"] + [variants()[i][0] for i in indices]
    runners = [None] + [Runner(variants()[i][1]) for i in indices]
    table = {}
    for m, n, k in [(8192, 8192, k) for k in k_sizes] + [(4096, 4096, 4096)]:
        ts, cs = tensors(m, n, k, 2)
        calls = [[(lambda s=s: torch.matmul(s[0], s[1].T, out=s[2])) for s in ts] if r is None else [r.bind(*s, m, n, k) for s in cs] for r in runners]
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        ms = [[] for _ in calls]
        for r in range(repeats):
            for j, fs in enumerate(calls):
                time.sleep(rest)
                fs[0]()
                start.record()
                fs[1]()
                stop.record()
                stop.synchronize()
                ms[j].append(start.elapsed_time(stop))
        table[m, n, k] = [2 * m * n * k / statistics.median(x) / 1e9 for x in ms]
    print("cool:" + " " * 39 + "  ".join("x".join(map(str, s)) for s in table))
    for j, label in enumerate(labels):
        print(f"{label:44s}" + "  ".join(f"{t[j]:7.1f} {100 * t[j] / t[0]:5.1f}%" for t in table.values()))


def one_launch(index):
    """For ncu: one launch at 8192 cubed after a warm-up; -1 is cuBLAS."""
    import torch

    m = n = k = 8192
    ts, cs = tensors(m, n, k, 1)
    f = (lambda: torch.matmul(ts[0][0], ts[0][1].T, out=ts[0][2])) if index < 0 else Runner(variants()[index][1]).bind(*cs[0], m, n, k)
    f()
    torch.cuda.synchronize()
    f()
    torch.cuda.synchronize()


def everything(folder: Path) -> None:
    me = [sys.executable, "-m", "kernels.benches.gemm_tune"]

    def one(i):
        try:
            r = subprocess.run([*me, "check", str(i)], capture_output=True, text=True, timeout=100)
            return i, r.returncode, (r.stdout + r.stderr[-1500:])
        except subprocess.TimeoutExpired:
            return i, 124, "TIMEOUT " + variants()[i][0]

    began = time.time()
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(one, range(len(variants()))))
    for i, rc, text in done:
        print(text.strip())
    print(f"checks took {time.time() - began:.0f} s", flush=True)
    good = [str(i) for i, rc, _ in done if rc == 0]
    subprocess.run([*me, "time", str(folder / "tune.json"), *good], timeout=300)


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "check":
        check(int(rest[0]))
    elif what == "sustain":
        sustain([int(i) for i in rest])
    elif what == "cool":
        cool([int(i) for i in rest])
    elif what == "one":
        one_launch(int(rest[0]))
    elif what == "time":
        times(Path(rest[0]), [int(i) for i in rest[1:]])
    else:
        everything(Path(rest[0]))
