"""The reader's network, in PyTorch: an encoder that reads an answer once, and items that look at it.

An item is a causal link, a misconception, or 'asserts something false'. In the lower layers answer and items are read apart, so that a
lesson's items are worked out once; in the upper layers each item attends to itself and to the answer, never the answer to an item, so
that one pass serves all items. Sizes are those of multilingual-e5-small, from whose weights training starts.
"""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F

HIDDEN, INNER, HEADS, POSITIONS, POINTER, POOL = 384, 1536, 12, 512, 128, 4


class Layer(nn.Module):
    """One encoder layer. x: (n, length, 384); memory: (n, m, 384) or None, read beside x; bias: (n, 1, 1, m + length), -10000 at padding."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(HIDDEN, HIDDEN) for _ in range(3))
        self.ao, self.aln = nn.Linear(HIDDEN, HIDDEN), nn.LayerNorm(HIDDEN, 1e-12)
        self.fi, self.fo, self.oln = nn.Linear(HIDDEN, INNER), nn.Linear(INNER, HIDDEN), nn.LayerNorm(HIDDEN, 1e-12)
        self.drop = 0.0

    def forward(self, x, bias, memory=None):
        k, v = self.k(x), self.v(x)
        if memory is not None:
            mk, mv = memory
            k, v = torch.cat([mk, k], 1), torch.cat([mv, v], 1)
        split = lambda y: y.view(y.shape[0], y.shape[1], HEADS, HIDDEN // HEADS).transpose(1, 2)
        q, k, v = split(self.q(x)), split(k), split(v)
        if torch.onnx.is_in_onnx_export():
            a = torch.softmax(q @ k.transpose(-1, -2) * (HIDDEN // HEADS) ** -0.5 + bias, -1) @ v
        else:
            a = F.scaled_dot_product_attention(
                q, k, v, attn_mask=bias.to(q.dtype), dropout_p=self.drop if self.training else 0.0
            )
        x = self.aln(x + F.dropout(self.ao(a.transpose(1, 2).reshape(x.shape)), self.drop, self.training))
        return self.oln(x + F.dropout(self.fo(F.gelu(self.fi(x))), self.drop, self.training))


class Reader(nn.Module):
    """layers: how many in all; apart: how many of them read answer and items apart."""

    def __init__(self, vocabulary: int, layers: int = 12, apart: int = 6):
        super().__init__()
        self.word, self.pos = nn.Embedding(vocabulary, HIDDEN), nn.Embedding(POSITIONS, HIDDEN)
        self.typ, self.ln = nn.Embedding(2, HIDDEN), nn.LayerNorm(HIDDEN, 1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.apart = apart
        self.head = nn.Linear(2 * HIDDEN, 3)
        self.ask, self.show = nn.Linear(HIDDEN, POINTER), nn.Linear(HIDDEN, POINTER)
        self.drop = 0.0

    def dropout(self, p: float) -> None:
        self.drop = p
        for layer in self.layers:
            layer.drop = p

    def embed(self, ids):
        """ids: (n, length) -> (n, length, 384)."""
        return self.enter(self.word(ids), ids.shape[1])

    def enter(self, words, length):
        x = words + self.pos.weight[:length][None] + self.typ.weight[0]
        return F.dropout(self.ln(x), self.drop, self.training)

    @staticmethod
    def bias(mask):
        return ((1.0 - mask) * -10000.0)[:, None, None, :]

    def lower(self, x, mask):
        """What an item is before it meets an answer: its first token and the means of every POOL further ones.

        x: (n, length, 384), mask: (n, length) -> the same with a length of 1 + ceil((length - 1) / POOL).
        """
        bias = self.bias(mask)
        for layer in self.layers[: self.apart]:
            x = layer(x, bias)
        n, length, _ = x.shape
        more = -(length - 1) % POOL
        rest = F.pad(x[:, 1:] * mask[:, 1:, None], (0, 0, 0, more)).view(n, -1, POOL, HIDDEN).sum(2)
        count = F.pad(mask[:, 1:], (0, more)).view(n, -1, POOL).sum(2)
        return torch.cat([x[:, :1], rest / count.clamp(min=1)[:, :, None]], 1), torch.cat(
            [mask[:, :1], (count > 0).to(mask.dtype)], 1
        )

    def forward(self, answers, answer_mask, items, item_mask, owner):
        """answers: (b, a, 384) embedded; items, item_mask: (n, t, 384), (n, t) from `lower`; owner: (n,) which answer each item looks at.

        Returns logits (n, 3) for absent, present, contradicted, and (n, a): does this token belong to what states the item?
        """
        bias = self.bias(answer_mask)
        x = answers
        for layer in self.layers[: self.apart]:
            x = layer(x, bias)
        mine = lambda t: t.index_select(0, owner)  # its gradient adds up in place, that of t[owner] sorts
        both = self.bias(torch.cat([mine(answer_mask), item_mask], 1))
        y = items
        for layer in self.layers[self.apart :]:
            memory = mine(layer.k(x)), mine(layer.v(x))
            y = layer(y, both, memory)
            x = layer(x, bias)
        m = item_mask[:, :, None]
        found = self.head(torch.cat([y[:, 0], (y * m).sum(1) / m.sum(1)], -1))
        tokens = mine(self.show(x))
        where = (tokens @ self.ask(y[:, 0])[:, :, None]).squeeze(-1) * POINTER**-0.5
        return found, where
