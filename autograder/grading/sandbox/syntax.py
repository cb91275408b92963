"""A program as its syntax tree, in text: what runs in the sandbox is the very tree that was admitted, not a spelling of it.

Python's own way back to text does not always lead to the same tree: a name that NFKC turns into a keyword is a name in the tree and a
keyword in the text, and before Python 3.12 not every f-string can be written. Both sides use this file; it imports nothing of the course.

JSON form: a node {"n": type, "f": [its fields in order]}, a list [..], a constant as itself but {"c": [re, im]}, {"b": hex} and {"e": 0}
for complex, bytes and Ellipsis. Positions are left out: programs that mean the same have the same text.
"""

import ast
import json


def dumps(tree):
    """The text of a tree; an equal text is an equal program."""
    return json.dumps(_pack(tree), separators=(",", ":"))


def _pack(x):
    if isinstance(x, ast.AST):
        return {
            "n": type(x).__name__,
            "f": [None if f == "type_comment" else _pack(getattr(x, f, None)) for f in x._fields],
        }
    if isinstance(x, list):
        return [_pack(y) for y in x]
    if isinstance(x, complex):
        return {"c": [x.real, x.imag]}
    if isinstance(x, bytes):
        return {"b": x.hex()}
    return {"e": 0} if x is ... else x


def loads(text):
    """The tree of a text that dumps() wrote, ready to compile."""
    return ast.fix_missing_locations(_unpack(json.loads(text)))


def _unpack(x):
    if isinstance(x, list):
        return [_unpack(y) for y in x]
    if not isinstance(x, dict):
        return x
    if "n" in x:
        kind = getattr(ast, x["n"])
        return kind(**dict(zip(kind._fields, map(_unpack, x["f"]), strict=True)))
    if "c" in x:
        return complex(*x["c"])
    return bytes.fromhex(x["b"]) if "b" in x else ...
