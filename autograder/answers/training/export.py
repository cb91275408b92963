"""A trained reader as the files that are shipped: python -m autograder.answers.training.export TRAINED.npz BASE [MODEL]

Writes into MODEL (autograder/answers/model): reader.onnx, whose matrices stay in 8 bits until a session is made of it and are then
computed with in float32 (8-bit products differ between processors); words.npz, the word embeddings of the base in blocks of 4 bits;
vocabulary.json; reader.json with the hashes of the three. Needs the package `onnx`; nothing else of training does not.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HEADS, SIZE, POINTER = 12, 32, 128


class Graph:
    """Nodes by function calls: each returns the name of its value."""

    def __init__(self, weights: dict[str, np.ndarray]):
        self.weights, self.nodes, self.tensors, self.count = weights, [], {}, 0

    def op(self, kind: str, *inputs: str, **attributes) -> str:
        self.count += 1
        out = f"{kind}_{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def const(self, value, dtype=np.float32) -> str:
        array = np.asarray(value, dtype)
        name = f"c_{hashlib.sha256(array.tobytes() + str((array.dtype, array.shape)).encode()).hexdigest()[:12]}"
        self.tensors[name] = numpy_helper.from_array(array, name)
        return name

    def half(self, name: str) -> str:
        """A vector of the network, in float32."""
        if name not in self.tensors:
            self.tensors[name] = numpy_helper.from_array(self.weights[name].astype(np.float32), name)
        return name

    def matrix(self, name: str) -> str:
        """A matrix of the network, transposed for x @ W; one in 8 bits is unpacked once, when the session is made."""
        done = name + "@"
        if any(done in n.output for n in self.nodes):
            return done
        w = self.weights[name]
        if w.dtype != np.int8:
            self.tensors[done] = numpy_helper.from_array(np.ascontiguousarray(w.astype(np.float32).T), done)
            return done
        self.tensors[name] = numpy_helper.from_array(np.ascontiguousarray(w.T), name)
        scale = self.const(self.weights[name + ".scale"].astype(np.float32).T)
        cast = self.op("Cast", name, to=TensorProto.FLOAT)
        self.nodes.append(helper.make_node("Mul", [cast, scale], [done]))
        return done

    def linear(self, x: str, name: str) -> str:
        return self.op("Add", self.op("MatMul", x, self.matrix(name + ".weight")), self.half(name + ".bias"))

    def norm(self, x: str, name: str) -> str:
        return self.op(
            "LayerNormalization", x, self.half(name + ".weight"), self.half(name + ".bias"), axis=-1, epsilon=1e-12
        )

    def heads(self, x: str, perm=(0, 2, 1, 3)) -> str:
        return self.op("Transpose", self.op("Reshape", x, self.const([0, 0, HEADS, SIZE], np.int64)), perm=list(perm))

    def layer(
        self, n: int, x: str, bias: str = "", memory: tuple[str, str] | None = None
    ) -> tuple[str, tuple[str, str]]:
        """Returns the layer's output and its (keys, values), as memory for items. bias: of x's own padding; memory has none."""
        at = f"layers.{n}."
        q = self.op("Mul", self.heads(self.linear(x, at + "q")), self.const(SIZE**-0.5))
        k = self.heads(self.linear(x, at + "k"), (0, 2, 3, 1))
        v = self.heads(self.linear(x, at + "v"))
        scores = self.op("MatMul", q, k)
        if bias:
            scores = self.op("Add", scores, bias)
        if memory:
            seen = self.op("MatMul", q, memory[0])
            both = self.op("Softmax", self.op("Concat", seen, scores, axis=-1), axis=-1)
            length = self.op("Gather", self.op("Shape", seen), self.const([3], np.int64), axis=0)
            end = self.const([2**31 - 1], np.int64)
            zero, axis = self.const([0], np.int64), self.const([3], np.int64)
            of_memory = self.op("MatMul", self.op("Slice", both, zero, length, axis), memory[1])
            of_own = self.op("MatMul", self.op("Slice", both, length, end, axis), v)
            mixed = self.op("Add", of_memory, of_own)
        else:
            mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        flat = self.op(
            "Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self.const([0, 0, HEADS * SIZE], np.int64)
        )
        x = self.norm(self.op("Add", x, self.linear(flat, at + "ao")), at + "aln")
        inner = self.linear(x, at + "fi")
        erf = self.op("Erf", self.op("Mul", inner, self.const(2**-0.5)))
        gelu = self.op("Mul", self.op("Mul", inner, self.const(0.5)), self.op("Add", erf, self.const(1.0)))
        return self.norm(self.op("Add", x, self.linear(gelu, at + "fo")), at + "oln"), (k, v)


def build(weights: dict[str, np.ndarray], apart: int) -> onnx.ModelProto:
    """The graph. In: words (1, a, 384), an answer's embedded words; items (n, t, 384), item_mask (n, t).
    Out: lower (1, a, 384), what an item is if its words are given as `words`; found (n, 3); where (n, a)."""
    g = Graph(weights)
    layers = 1 + max(int(k.split(".")[1]) for k in weights if k.startswith("layers."))
    x = g.norm("words", "ln")
    for n in range(apart):
        x, _ = g.layer(n, x)
    lower = g.op("Identity", x)
    mask = g.op("Unsqueeze", "item_mask", g.const([1, 2], np.int64))
    bias = g.op("Mul", g.op("Sub", g.const(1.0), mask), g.const(-10000.0))
    y = "items"
    for n in range(apart, layers):
        below = x
        x, memory = g.layer(n, below)
        y, _ = g.layer(n, y, bias, memory)
    first = g.op(
        "Squeeze",
        g.op("Slice", y, g.const([0], np.int64), g.const([1], np.int64), g.const([1], np.int64)),
        g.const([1], np.int64),
    )
    m = g.op("Unsqueeze", "item_mask", g.const([2], np.int64))
    total = g.op("ReduceSum", g.op("Mul", y, m), g.const([1], np.int64), keepdims=0)
    mean = g.op("Div", total, g.op("ReduceSum", m, g.const([1], np.int64), keepdims=0))
    found = g.op("Softmax", g.linear(g.op("Concat", first, mean, axis=-1), "head"), axis=-1)
    shown = g.op("Squeeze", g.op("Transpose", g.linear(x, "show"), perm=[0, 2, 1]), g.const([0], np.int64))
    logits = g.op("Mul", g.op("MatMul", g.linear(first, "ask"), shown), g.const(POINTER**-0.5))
    where = g.op("Sigmoid", logits)
    for name, value in (("lower", lower), ("found", found), ("where", where)):
        g.nodes.append(helper.make_node("Identity", [value], [name]))
    real = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(
        g.nodes, "reader",
        [real("words", [1, "a", 384]), real("items", ["n", "t", 384]), real("item_mask", ["n", "t"])],
        [real("lower", [1, "a", 384]), real("found", ["n", 3]), real("where", ["n", "a"])], list(g.tensors.values()),
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="hopper-course")
    model.ir_version = 9
    onnx.checker.check_model(model)
    return model


def export(trained: Path, base: Path, out: Path) -> None:
    weights = dict(np.load(trained))
    told = json.loads(trained.with_suffix(".json").read_text(encoding="utf-8"))
    out.mkdir(parents=True, exist_ok=True)
    onnx.save(build(weights, int(told["options"]["apart"])), str(out / "reader.onnx"))
    words = np.load(base / "base.npz")["emb.word"]
    np.savez(out / "words.npz", blocks=words, pos=weights["pos.weight"], typ=weights["typ.weight"][0])
    shutil.copyfile(base / "vocabulary.json", out / "vocabulary.json")
    digest = {
        name: hashlib.sha256((out / name).read_bytes()).hexdigest()
        for name in ("reader.onnx", "words.npz", "vocabulary.json")
    }
    (out / "reader.json").write_text(
        json.dumps({"sha256": digest, "training": told}, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: python -m autograder.answers.training.export TRAINED.npz BASE [MODEL]")
    export(
        Path(sys.argv[1]),
        Path(sys.argv[2]),
        Path(sys.argv[3]) if len(sys.argv) == 4 else Path(__file__).parents[1] / "model",
    )
