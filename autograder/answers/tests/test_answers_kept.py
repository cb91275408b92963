"""Exemplar vectors on disk: the same numbers, whatever stands in the folder."""

import numpy as np
import pytest

from autograder.answers import kept as module
from autograder.answers.kept import folder, kept


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


class Counting:
    def __init__(self):
        self.calls = 0

    def __call__(self, texts):
        self.calls += 1
        return np.array([np.full(512, len(t), np.float32) for t in texts], np.float32).reshape(len(texts), 512)


def test_encoded_once_and_read_back():
    encode = Counting()
    first, second = kept(["a", "bb"], encode), kept(["a", "bb"], encode)
    assert encode.calls == 1 and (first == second).all() and second.dtype == np.float32
    assert (kept(["abb"], encode) == 3).all() and (kept(["ab", "b"], encode)[0] == 2).all() and encode.calls == 3
    assert kept([], encode).shape == (0, 512)


@pytest.mark.parametrize("data", [b"", b"not an array", b"\x93NUMPY\x01\x00"])
def test_a_damaged_file_is_encoded_anew(data):
    encode = Counting()
    kept(["a"], encode)
    (path,) = folder().glob("*.npy")
    path.write_bytes(data)
    assert (kept(["a"], encode) == 1).all() and encode.calls == 2
    assert (kept(["a"], encode) == 1).all() and encode.calls == 2  # mended


def test_wrong_shapes_and_nan_are_not_believed():
    encode = Counting()
    kept(["a"], encode)
    (path,) = folder().glob("*.npy")
    for wrong in (np.zeros((2, 512), np.float32), np.zeros((1, 512)), np.full((1, 512), np.nan, np.float32)):
        np.save(path, wrong)
        assert (kept(["a"], encode) == 1).all()


def test_a_folder_that_cannot_be_written_costs_only_time(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    encode = Counting()
    assert (kept(["a"], encode) == 1).all() and (kept(["a"], encode) == 1).all() and encode.calls == 2


def test_a_new_encoder_does_not_read_old_vectors(monkeypatch):
    encode = Counting()
    kept(["a"], encode)
    monkeypatch.setattr(module, "_version", lambda: b"other")
    kept(["a"], encode)
    assert encode.calls == 2
