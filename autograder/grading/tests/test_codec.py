"""Values that cross the sandbox: exact, bounded, and nothing but plain types."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.grading.sandbox import codec

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.complex_numbers(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=12,
)
arrays = hnp.arrays(
    st.sampled_from([np.float32, np.float64, np.int64, np.bool_, np.complex64, np.float16]),
    hnp.array_shapes(max_dims=3, max_side=4),
)


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b) or (math.isnan(a) and math.isnan(b))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return a == b


@given(plain)
def test_what_goes_in_comes_out(value):
    assert same(codec.decode(codec.encode(value)), value)


@given(arrays)
def test_arrays_keep_dtype_shape_and_bits(array):
    out = codec.decode(codec.encode(array))
    assert out.dtype == array.dtype and out.shape == array.shape and out.tobytes() == array.tobytes()


def test_numpy_scalars_and_narrow_floats():
    assert type(codec.decode(codec.encode(np.float32(1.5)))) is np.float32
    import ml_dtypes

    value = np.array([1.5, -2], dtype=ml_dtypes.bfloat16)
    assert codec.decode(codec.encode(value)).dtype == value.dtype


def test_long_double_crosses_as_double():
    for value in (np.longdouble(0.1), np.full((2, 3), 0.1, np.longdouble), np.clongdouble(0.1j)):
        out = codec.decode(codec.encode([value]))[0]
        assert out.dtype in (np.float64, np.complex128) and out.shape == np.shape(value) and np.allclose(out, value)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_bad_data(data):
    try:
        codec.decode(data)
    except codec.BadData:
        pass


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda x: st.lists(x, max_size=3) | st.dictionaries(st.sampled_from("tdcanpx"), x, max_size=2),
        max_leaves=8,
    )
)
def test_any_json_is_a_value_or_bad_data(value):
    try:
        codec.decode(json.dumps(value).encode())
    except codec.BadData:
        pass


class Twisted(float):
    def __eq__(self, other):
        return True

    __hash__ = float.__hash__


@pytest.mark.parametrize(
    "value",
    [
        object(),
        Twisted(1.0),
        {1},
        b"bytes",
        range(3),
        len,
        np.array([object()]),
        np.array(["text"]),
        np.ma.array([1.0]),
        np.zeros(3, dtype="f4,f8"),
        1 << 5000,
        type("L", (list,), {})(),
    ],
)
def test_what_is_not_plain_is_refused(value):
    with pytest.raises(codec.NotPlain):
        codec.encode(value)


def test_limits_hold():
    deep = []
    for _ in range(codec.MAX_DEPTH + 2):
        deep = [deep]
    for value in (deep, [0] * (codec.MAX_ITEMS + 1), "x" * (codec.MAX_BYTES + 1), np.zeros(codec.MAX_BYTES)):
        with pytest.raises(codec.NotPlain):
            codec.encode(value)
    with pytest.raises(codec.BadData):
        codec.decode(b"[" * 50_000)
    with pytest.raises(codec.BadData):
        codec.decode(b'{"p":"c"}')  # a probe goes in, never out
    for bad in (
        '{"a":["float32",[2],"AAAA"]}',
        '{"a":["object",[0],""]}',
        '{"a":["float32",[-1],""]}',
        '{"n":["float32","AA=="]}',
        "{}",
        '{"t":1}',
        '{"d":[[[],1]]}',
    ):
        with pytest.raises(codec.BadData):
            codec.decode(bad.encode())
