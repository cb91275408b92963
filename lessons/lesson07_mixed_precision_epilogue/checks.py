"""Hidden checks of lesson 7. Never released.

The exercise is `linear_epilogue(acc, alpha, beta, c=None)`, which returns alpha*acc + beta*c and, where beta is 0,
does not read c. Normal cases have a non-zero beta and a c; boundary cases are those on the guard itself: what
may stand in c when beta is 0, and how near to 0 a beta may be before c must be read after all.

Factors and elements of every size and either sign, arrays of every rank, NaN and Inf in acc stand in each draw, so that no tolerance, cut or
special case passes by luck.

Left open on purpose: beta != 0 with c = None (the caller's error, which the real kernel refuses before the launch),
and alpha = 0 with a NaN in acc (the accumulator is in registers by then, so nothing is saved by not looking at it).
"""

from __future__ import annotations

import numpy as np

FUNCTION = "linear_epilogue"
INF = float("inf")
RANGES = {"acc": (-INF, INF), "alpha": (-1e3, 1e3), "beta": (-1e3, 1e3), "c": (-INF, INF), "return": (-INF, INF)}
VISIBLE = (3.0, 2.0)  # acc and alpha of the asserts with beta = 0, where c is None or NaN

UNTOUCHABLE = {"$probe": "untouchable"}
# acc and c are float32 in the kernel. One multiply and one fused add lose at most two roundings of each product.
F32 = float(np.finfo(np.float32).eps)


def reference(acc, alpha, beta, c=None):
    """alpha*acc + beta*c, elementwise; c is not read where beta == 0 (BLAS: C need not be set on input)."""
    return alpha * acc if beta == 0 else alpha * acc + beta * c


def is_boundary(args: dict) -> bool:
    """A student's own input counts when it can betray a read of c: beta is 0, and c is absent, NaN or infinite.

    beta = 0 with an ordinary c does not count: the version without a guard passes it too. Nor does what the visible asserts have.
    """
    beta, c = args.get("beta"), args.get("c")
    if isinstance(beta, bool) or not isinstance(beta, (int, float)) or beta != 0:
        return False
    numbers = args.get("acc"), args.get("alpha")
    if (
        (c is None or isinstance(c, float) and c != c)
        and all(isinstance(x, (int, float)) for x in numbers)
        and numbers == VISIBLE
    ):
        return False
    if c is None:
        return True
    try:
        return not bool(np.all(np.isfinite(np.asarray(c, dtype=np.float64))))
    except (TypeError, ValueError):
        return False


def _case(
    zh: str, en: str, acc, alpha, beta, c, rtol: float = 1e-12, atol: float = 0.0, untouched: bool = False
) -> dict:
    expect = reference(acc, alpha, beta, c)
    case = {
        "name": {"zh": zh, "en": en},
        "args": {"acc": acc, "alpha": alpha, "beta": beta, "c": c},
        "expect": expect,
        "rtol": rtol,
        "atol": atol,
    }
    if untouched:
        case["untouched"] = ["c"]
    return case


def _normal32(rng, shape) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


# (acc or c, alpha or beta): each of each size; the products are near each other
SIZES = [
    (3.1e-13, 613.7),
    (7.7e-8, 83.1),
    (0.37, 7.9),
    (47.9, 0.017),
    (8.3e4, 2.3e-7),
    (6.1e8, 4.3e-10),
    (7.1e14, 5.9e-15),
]
OTHER = [
    (8.9e-13, 331.9),
    (4.3e-8, 59.3),
    (0.71, 3.3),
    (23.1, 0.047),
    (4.7e5, 7.7e-8),
    (2.9e9, 7.1e-11),
    (3.7e13, 8.3e-14),
]
TINY = 4  # from here on a guard with a tolerance takes the factor for 0


def _uneven(*shape: int, scale: float = 1.0) -> np.ndarray:
    """The same array in each draw, no two elements alike."""
    return scale * np.random.default_rng([11, *shape]).standard_normal(shape)


def _either_sign(sizes: slice) -> list[tuple[float, float, float, float]]:
    """(acc, alpha, beta, c) of these sizes, in both signs; the two terms of one sum have one sign."""
    pairs = list(zip(SIZES, OTHER))[sizes]
    return [row for (x, f), (y, g) in pairs for row in ((x, -f, g, -y), (-y, g, -f, x))]


def normal_cases(rng) -> list[dict]:
    """beta is not 0 and c is there. Values are unlike each other, so a swapped or dropped factor shows."""
    acc, c = rng.standard_normal((13, 29)), rng.standard_normal((13, 29))
    acc32, c32 = _normal32(rng, (7, 31)), _normal32(rng, (7, 31))
    scale = float(3 * np.abs(acc32).max() + 3 * np.abs(c32).max())
    vector, other = rng.uniform(-5, 5, 17), rng.uniform(-5, 5, 17)
    table, line = _uneven(3, 5), _uneven(5, 3).T
    spoilt = _uneven(2, 7)
    spoilt[0, 3], spoilt[1, 6], spoilt[1, 0] = np.nan, np.inf, -np.inf
    return [
        _case("公开检查的输入", "the input of a visible check", *VISIBLE, 0.5, 4.0, rtol=0.0),
        _case(
            "标量，alpha 与 beta 都不是 1",
            "scalars, neither alpha nor beta is 1",
            float(rng.uniform(2, 5)),
            1.75,
            -0.625,
            float(rng.uniform(6, 9)),
        ),
        _case("整数标量", "integer scalars", 7, 3, 2, 5),
        *(_case("各种大小与正负的标量", "scalars of every size and sign", *row) for row in _either_sign(slice(TINY))),
        _case("各种大小与正负的标量", "scalars of every size and sign", 5.3, -23.7, 41.9, 2.9e-13),
        _case("acc 与 c 都很大", "acc and c are both large", -7.3e8, 517.3, -389.7, 3.1e9),
        _case("acc 为 0：只剩 beta*c", "acc is 0: only beta*c remains", 0.0, 3.7, -5.3, 2.9),
        _case("NumPy 标量", "NumPy scalars", np.float64(2.3), -1.9, 0.7, np.float64(-4.1)),
        _case("非方阵，float64", "non-square matrix, float64", acc, 1.3, 0.7, c, atol=1e-12),
        _case(
            "非方阵，float32（内核里的类型）",
            "non-square matrix, float32 (the kernel's type)",
            acc32,
            2.5,
            -1.25,
            c32,
            rtol=4 * F32,
            atol=4 * F32 * scale,
        ),
        _case("一维到三维", "one to three dimensions", _uneven(7), 1.3, -0.9, _uneven(7)[::-1], atol=1e-12),
        _case("一维到三维", "one to three dimensions", table, -2.3, 3.7, line, atol=1e-12),
        _case("一维到三维", "one to three dimensions", _uneven(2, 5, 3), 0.7, 1.9, _uneven(3, 5, 2).T, atol=1e-12),
        _case("大到 FP16 装不下的元素", "elements too large for FP16", 1e5 * table, -1.7, 2.3, 3e6 * line, atol=1e-6),
        _case(
            "acc 中的 NaN 与 Inf 必须传到结果里",
            "NaN and Inf in acc must reach the result",
            spoilt,
            -1.3,
            0.6,
            _uneven(7, 2).T,
            atol=1e-12,
        ),
        _case("beta 为负", "negative beta", vector, 0.9, -2.25, other, atol=1e-12),
        _case("beta 恰好为 1（残差相加）", "beta exactly 1 (residual add)", vector, 0.3, 1.0, other, atol=1e-12),
        _case("alpha 为 0：只剩 beta*c", "alpha is 0: only beta*c remains", acc, 0.0, 1.7, c, atol=1e-12),
        _case("alpha 为 0：只剩 beta*c", "alpha is 0: only beta*c remains", 3.1, 0.0, -1.7, 5.9),
        _case("alpha 为负", "negative alpha", acc[:5, :11], -1.1, 0.4, c[:5, :11], atol=1e-12),
        _case("c 中有 0", "c holds zeros", vector, 1.5, 0.5, np.where(np.arange(17) % 3 == 0, 0.0, other), atol=1e-12),
        _case("c 是标量 0，beta 不为 0", "c is the scalar 0, beta is not 0", 1.7, 1.25, 0.5, 0.0),
        _case(
            "两项几乎抵消：中途转成 FP16 会丢光结果",
            "the two terms nearly cancel: a cast to FP16 on the way loses the result",
            3.0009765625,
            2.0,
            -1.5,
            4.0,
            rtol=0.0,
        ),
    ]


def boundary_cases(rng) -> list[dict]:
    """On the guard: what c may be when beta is 0, and what must still be read when beta is merely small."""
    acc = _normal32(rng, (11, 19))
    nan = np.full((11, 19), np.nan, dtype=np.float32)
    inf = np.full((11, 19), -np.inf, dtype=np.float32)
    mixed = _normal32(rng, (11, 19))
    mixed[3, 7], mixed[10, 0], mixed[0, 18] = np.nan, np.inf, -np.inf
    x = float(rng.uniform(2, 5))
    tol = {"rtol": 4 * F32, "atol": 0.0}
    spoilt = _uneven(5, 2)
    spoilt[0, 1], spoilt[4, 0], spoilt[2, 1] = np.nan, np.inf, -np.inf
    absent = (None, float("nan"), -INF)
    every_size = [(v, f) for (x_, f_), (y, g) in zip(SIZES, OTHER) for v, f in ((x_, -f_), (-y, g))]
    return [
        _case("公开检查的输入：beta 为 0", "the input of a visible check: beta is 0", *VISIBLE, 0.0, None, rtol=0.0),
        _case(
            "公开检查的输入：beta 为 0",
            "the input of a visible check: beta is 0",
            *VISIBLE,
            0.0,
            float("nan"),
            rtol=0.0,
        ),
        _case(
            "beta 为 0，任何对 c 的使用都会被记录",
            "beta is 0, and any use of c is recorded",
            2.7,
            1.5,
            0.0,
            UNTOUCHABLE,
            untouched=True,
        ),
        _case(
            "beta 为 0，acc 是矩阵，任何对 c 的使用都会被记录",
            "beta is 0, acc is a matrix, and any use of c is recorded",
            acc,
            -0.75,
            0.0,
            UNTOUCHABLE,
            untouched=True,
            **tol,
        ),
        _case("beta 为整数 0，c 不存在", "beta is the integer 0, c is absent", x, 3, 0, None),
        _case("beta 为整数 0，c 不存在", "beta is the integer 0, c is absent", -70_001, 3, 0, None),
        _case("beta 为 -0.0，c 不存在", "beta is -0.0, c is absent", acc, 1.25, -0.0, None, **tol),
        _case("beta 为 0，c 是 NaN 标量", "beta is 0, c is the scalar NaN", x, 2.0, 0.0, float("nan")),
        _case("beta 为 0，c 是 Inf 标量", "beta is 0, c is the scalar Inf", x, -2.0, 0.0, float("inf")),
        _case(
            "beta 为 0，c 全是 NaN（未初始化的显存）",
            "beta is 0, c is all NaN (uninitialised memory)",
            acc,
            0.5,
            0.0,
            nan,
            **tol,
        ),
        _case("beta 为 0，c 全是 -Inf", "beta is 0, c is all -Inf", acc, 0.5, 0.0, inf, **tol),
        _case(
            "beta 为 -0.0，c 中混有 NaN 与 Inf",
            "beta is -0.0, NaN and Inf scattered in c",
            acc,
            1.0,
            -0.0,
            mixed,
            **tol,
        ),
        _case("alpha 与 beta 都是 0，c 不存在", "alpha and beta are both 0, c is absent", 3.7, 0.0, 0.0, None),
        _case("acc 与 beta 都是 0，c 不存在", "acc and beta are both 0, c is absent", 0.0, -2.9, 0.0, None),
        *(
            _case(
                "beta 为 0，acc 与 alpha 有大有小、有正有负",
                "beta is 0, acc and alpha of every size and sign",
                v,
                f,
                (0.0, 0, -0.0)[i % 3],
                absent[i // 2 % 3],
            )
            for i, (v, f) in enumerate(every_size)
        ),
        _case("beta 为 0，acc 与 alpha 都很大", "beta is 0, acc and alpha are both large", -7.3e8, -517.3, 0.0, None),
        _case(
            "beta 为 0，acc 与 alpha 都很大",
            "beta is 0, acc and alpha are both large",
            1e5 * _uneven(5, 3).T,
            317.9,
            0.0,
            np.full((3, 5), np.nan),
        ),
        _case("beta 为 0，一维到三维", "beta is 0, one to three dimensions", _uneven(7), -1.9, 0.0, np.full(7, np.inf)),
        _case("beta 为 0，一维到三维", "beta is 0, one to three dimensions", _uneven(3, 5), 2.7, 0, None),
        _case(
            "beta 为 0，一维到三维",
            "beta is 0, one to three dimensions",
            _uneven(2, 5, 3),
            -0.7,
            -0.0,
            np.full((2, 5, 3), np.nan),
        ),
        _case(
            "beta 为 0：acc 中的 NaN 与 Inf 必须传到结果里",
            "beta is 0: NaN and Inf in acc must reach the result",
            spoilt,
            -1.3,
            0.0,
            None,
        ),
        *(
            _case("beta 很小但不是 0：c 必须读", "beta is tiny but not 0: c must be read", *row)
            for row in _either_sign(slice(TINY, None))
        ),
        _case("beta 很小但不是 0：c 必须读", "beta is tiny but not 0: c must be read", x, 1.0, 1e-9, 3e9),
        _case("beta 很小但不是 0：c 必须读", "beta is tiny but not 0: c must be read", 2.3, 1.0, 7e-31, 3e30),
        _case(
            "beta 很小但不是 0：c 必须读", "beta is tiny but not 0: c must be read", 2.3, 1.0, -3e-38, 1e38
        ),  # near the least normal float32
        _case(
            "beta 不为 0：c 中的 NaN 必须传到结果里",
            "beta is not 0: a NaN in c must reach the result",
            acc,
            1.0,
            0.5,
            mixed,
            rtol=4 * F32,
            atol=1e-5,
        ),
        _case(
            "beta 不为 0：c 中的 NaN 必须传到结果里",
            "beta is not 0: a NaN in c must reach the result",
            _uneven(2, 5).T,
            1.0,
            0.5,
            spoilt,
            atol=1e-12,
        ),
    ]
