"""Lines that change how a notebook runs its code, or what its checks are made of: built-ins, the shell, modules patched from outside.

None of it moves a point, since no cell of a submission is run. But what the notebook then showed says nothing, and a person should hear.
The ways to the interpreter's inside have no end, the plain uses of it have one: of the shell the plain uses are listed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from autograder.submission.bound import PATH
from autograder.submission.reach import dotted
from autograder.submission.source import NotPython, as_run, parse

SHELL = "<shell>"
HERE = "__main__"  # the notebook's own names
_PLAIN_SHELL = frozenset(
    """ast_node_interactivity run_line_magic run_cell_magic magic system getoutput user_ns kernel config set_next_input execution_count history_manager
    display_formatter display_pub colors Completer __name__ __module__ has_trait line_magic find_magic enable_matplotlib enable_gui""".split()
)
_PLAIN_CALLS = frozenset("str repr print type isinstance bool hasattr dir id getattr vars".split())
_NAMESPACES = ("globals", "locals", "vars")
_WRITES = frozenset({"update", "setdefault", "__setitem__", "__ior__"})
_CALLS = re.compile(
    r"(?:sys|threading)\.set(?:trace|profile)(?:_all_threads)?|sys\.(?:monitoring\.\w+|addaudithook|(?:meta_path|path_hooks)\.\w+)|os\.exec\w+|gc\.get_referents"
)
_STORES = re.compile(r"sys\.(?:excepthook|meta_path|path_hooks|modules)|(?:builtins|autograder|kernels)\..*")
_INSIDE = frozenset({"f_globals", "f_locals", "f_builtins", "__globals__", "pythonapi"})
_OF_FUNCTIONS = frozenset({"__code__", "__defaults__", "__kwdefaults__", "__class__", "__dict__", "__call__", "__eq__"})
_OPTIMISE = "PYTHONOPTIMIZE"
_READS = frozenset({"get", "getenv", "print", "pop"})
# 1: the line's magic
_MAGIC = re.compile(r"^[ \t]*(%{1,2})(\w+)([^\n]*)$|^[ \t]*!([^\n]*)$", re.M)
_BINDING_MAGICS = frozenset(
    {
        "store",
        "macro",
        "capture",
        "script",
        "bash",
        "sh",
        "sx",
        "system",
        "xdel",
        "reset_selective",
        "edit",
        "alias_magic",
    }
)
_OWN_FILES = re.compile(
    r"(?:^|[\s\"'/])(?:autograder/|kernels/|\.ipython/|(?:numpy|math|autograder|kernels|builtins|sitecustomize|usercustomize|ipython_config|ipython_kernel_config)\.py\b)"
)
MAX_DEPTH = 3  # of exec in exec


def tampered(sources: list[str], space: Mapping[str, str], names: frozenset[str], paths: frozenset[str]) -> list[str]:
    """Such lines of these cells, each once. space: what names mean, as rests.Space. names: of the notebook, that checks use. paths: of
    what they use in modules, as numpy.ceil."""
    look = _Look({n: m.removeprefix(PATH) for n, m in space.items() if m.startswith(PATH)}, names, paths)
    trees = []
    for source in sources:
        try:
            trees.append((source, parse(source)))
        except NotPython:
            trees.append((source, None))
    for _, tree in trees:
        if tree is not None:
            look.learn(tree)
    found = []
    for source, tree in trees:
        lines = as_run(source).split("\n")
        try:
            found += [
                lines[n - 1].strip()[:200]
                for n in sorted({*look.magics(source), *(look.tree(tree) if tree is not None else look.unread(source))})
            ]
        except RecursionError:  # deeper than what anybody writes
            continue
    return list(dict.fromkeys(found))


class _Look:
    def __init__(self, roots: dict[str, str], names: frozenset[str], paths: frozenset[str]):
        self.roots, self.names, self.paths = roots, names, paths
        self.handed: set[str] = set()  # parameters and loop variables: they may stand for a module
        self.leaves = {p.split(".")[-1] for p in paths if "." in p}

    def learn(self, tree: ast.Module) -> None:
        """What names stand for, in whatever scope: modules, the shell."""
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=names):
                    self.roots |= {
                        a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in names
                    }
                case ast.ImportFrom(module=module, names=names):
                    self.roots |= {a.asname or a.name: f"{module or ''}.{a.name}" for a in names}
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.NamedExpr(target=ast.Name(id=name), value=value)
                    | ast.withitem(context_expr=value, optional_vars=ast.Name(id=name))
                ):
                    path = self.path(value)
                    if path and not path.startswith(f"{HERE}."):
                        self.roots[name] = path
                case ast.For(target=ast.Name(id=name)):
                    self.handed.add(name)
                case ast.arg(arg=name) if name not in ("self", "cls"):
                    self.handed.add(name)

    # -- what an expression stands for -------------------------------------------------------------------------------------------

    def path(self, node: ast.expr) -> str:
        """The absolute path of what it names: numpy.ceil, builtins.check, <shell>.showtraceback, __main__.check; "" where that is not told.
        "*" is a name that is worked out."""
        match node:
            case ast.Name(id="__builtins__"):
                return "builtins"
            case ast.Name(id=name):
                return self.roots.get(name, f"{HERE}.{name}")
            case ast.Attribute(
                value=ast.Call(func=ast.Name(id="__import__"), args=[ast.Constant(value=str() as module), *_]),
                attr=attr,
            ):
                return f"{module.split('.')[0]}.{attr}"
            case ast.Attribute(value=value, attr=attr) if base := self.path(value):
                return (
                    base
                    if attr == "__dict__"
                    else HERE
                    if base == SHELL and attr in ("user_ns", "user_global_ns")
                    else f"{base}.{attr}"
                )
            case ast.Subscript(value=value, slice=index):
                return self._item(value, index)
            case ast.Call(func=func, args=args):
                return self._made(func, args)
        return ""

    def _made(self, func: ast.expr, args: list[ast.expr]) -> str:
        name = dotted(func)
        match name, args:
            case (
                "__import__" | "import_module" | "importlib.import_module",
                [ast.Constant(value=str() as module), *_],
            ):
                return module
            case ("globals" | "locals" | "vars", []):
                return HERE
            case ("vars", [one]):
                return self.path(one)
            case ("type", [one]) if self.path(one) == SHELL:
                return f"{SHELL}.__class__"
            case ("getattr", [one, ast.Constant(value=str() as attr), *_]) if base := self.path(one):
                return f"{base}.{attr}"
        path = self.path(func)
        if (
            path.endswith(".get_ipython")
            or path.endswith(".instance")
            and path.split(".")[-2].endswith("InteractiveShell")
        ):
            return SHELL
        if path == f"{HERE}.get" and args:  # globals().get("__builtins__")
            return self._item(ast.Call(ast.Name("globals"), [], []), args[0])
        return ""

    def _item(self, value: ast.expr, index: ast.expr) -> str:
        base = self.path(value)
        if base == "sys.modules":
            return (
                index.value
                if isinstance(index, ast.Constant) and isinstance(index.value, str)
                else HERE
                if dotted(index) == "__name__"
                else ""
            )
        space = (
            isinstance(value, ast.Call)
            and dotted(value.func) in _NAMESPACES
            or isinstance(value, ast.Attribute)
            and value.attr in ("__dict__", "user_ns", "user_global_ns")
        )
        if not space or not base:
            return ""
        name = _name(index)
        return "builtins" if (base, name) == (HERE, "__builtins__") else f"{base}.{name}"

    # -- what is done to it -----------------------------------------------------------------------------------------------------

    def changes(self, path: str) -> bool:
        """Is a store to this path one that checks would feel?"""
        root, _, rest = path.partition(".")
        if root == HERE:
            name, _, inner = rest.partition(".")
            if inner:  # of a function: its code; a counter beside it is nobody's business
                return (
                    name in self.names
                    and inner in _OF_FUNCTIONS
                    or name in self.handed
                    and name not in self.roots
                    and inner in self.leaves
                )
            return name in self.names or name.endswith("*") and any(n.startswith(name[:-1]) for n in self.names)
        leaf = path.split(".")[-1]
        if root == SHELL:
            return not _is_plain(path)
        if root == "IPython":
            return leaf not in _PLAIN_SHELL
        if leaf == "*":
            return any(p.startswith(path[:-1]) for p in (*self.paths, "builtins."))
        return (
            bool(_STORES.fullmatch(path))
            or any(p == path or p.startswith(f"{path}.") for p in self.paths)
            or path.startswith(("numpy.testing.", "unittest.case."))
        )

    def tree(self, tree: ast.AST, depth: int = 0) -> Iterator[int]:
        for node in ast.walk(tree):
            if self._does(node, depth):
                yield getattr(node, "lineno", 1)

    def _does(self, node: ast.AST, depth: int) -> bool:
        match node:
            case ast.Attribute(attr=attr, ctx=ctx):
                path = self.path(node)
                if attr in _INSIDE and path != f"{HERE}.{attr}":
                    return True
                return self.changes(path) if not isinstance(ctx, ast.Load) else not _is_plain(path)
            case ast.Subscript(value=value, slice=index, ctx=ast.Store()):
                return (
                    _name(index) == _OPTIMISE
                    or self.path(value) == "sys.modules"
                    or self.changes(self._item(value, index))
                )
            case ast.Dict(keys=keys):
                return any(isinstance(k, ast.Constant) and k.value == _OPTIMISE for k in keys)
            case ast.keyword(arg="PYTHONOPTIMIZE"):
                return True
            case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
                inner = [n for s in body for n in ast.walk(s)]
                told = {n for x in inner if isinstance(x, ast.Global) for n in x.names}
                return bool(told & self.names & {n for x in inner if (n := _bound(x)) is not None})
            case ast.Call():
                return self._call(node, depth)
        return False

    def _call(self, node: ast.Call, depth: int) -> bool:
        func, args = node.func, node.args
        name, path = dotted(func), self.path(func)
        last = path.split(".")[-1] or (func.attr if isinstance(func, ast.Attribute) else "")
        if _CALLS.fullmatch(path) or name == "getattr" and not _is_plain(self.path(node)):
            return True
        if last not in _READS and any(isinstance(a, ast.Constant) and a.value == _OPTIMISE for a in args[:1]):
            return True
        if last in ("setattr", "__setattr__") and len(args) >= 2:  # setattr(math, "isclose", f), and as a method
            *held, attr, _ = (
                args if len(args) >= 3 else (func.value if isinstance(func, ast.Attribute) else func, *args)
            )
            base = self.path(held[-1]) if held else ""
            return bool(base) and self.changes(f"{base}.{_name(attr)}")
        if last in _WRITES and isinstance(func, ast.Attribute):
            return any(self.changes(p) for p in self._written(func.value, node))
        if path.startswith(("unittest.mock.patch", "mock.patch")):
            return self._patched(path, args)
        if name in ("exec", "eval") and args:
            return self._executed(name, args, depth)
        if path.startswith(f"{SHELL}."):
            return (
                last in ("run_line_magic", "magic")
                and all(isinstance(a, ast.Constant) for a in args)
                and any(True for _ in self.magics("%" + " ".join(str(a.value) for a in args)))
            )
        if (
            last in ("open", "Path")
            and args
            and isinstance(args[0], ast.Constant)
            and _OWN_FILES.search(str(args[0].value))
        ):
            return last == "Path" or any(
                isinstance(a, ast.Constant) and re.search("[wax+]", str(a.value))
                for a in (*args[1:2], *(k.value for k in node.keywords if k.arg == "mode"))
            )
        return last not in _PLAIN_CALLS and any(self.path(a) == SHELL for a in args)

    def _written(self, value: ast.expr, call: ast.Call) -> Iterator[str]:
        keys: list[ast.expr] = [k for a in call.args if isinstance(a, ast.Dict) for k in a.keys if k is not None]
        keys += [a for a in call.args[:1] if isinstance(a, (ast.Constant, ast.JoinedStr, ast.Name))] + [
            ast.Constant(k.arg) for k in call.keywords if k.arg
        ]
        return (self._item(value, k) for k in keys)

    def _patched(self, path: str, args: list[ast.expr]) -> bool:
        match args:
            case [ast.Constant(value=str() as what), *_]:
                return self.changes(what)
            case [what, attr, *_] if path.endswith(".object"):
                return self.changes(f"{self.path(what)}.{_name(attr)}")
        return path.endswith(".dict")

    def _executed(self, name: str, args: list[ast.expr], depth: int) -> bool:
        """A text is looked at like a cell; one that is worked out may do anything, in names of its own it may."""
        if not isinstance(args[0], ast.Constant) or not isinstance(args[0].value, str):
            return (name == "exec" and len(args) == 1) or any(
                isinstance(n, ast.Call) and dotted(n.func) in ("compile", "open") for n in ast.walk(args[0])
            )
        try:
            tree = parse(args[0].value)
        except NotPython:
            return False
        self.learn(tree)
        bound = {n for x in ast.walk(tree) if (n := _bound(x)) is not None}
        return bool(bound & self.names) or depth < MAX_DEPTH and any(True for _ in self.tree(tree, depth + 1))

    # -- IPython's own lines ---------------------------------------------------------------------------------------------------

    def magics(self, source: str) -> Iterator[int]:
        text = as_run(source)
        for m in _MAGIC.finditer(text):
            if self._magic(m):
                yield text.count("\n", 0, m.start()) + 1

    def _magic(self, m: re.Match) -> bool:
        signs, magic, rest, shell = m[1], m[2], m[3] or "", m[4]
        if f"{_OPTIMISE}=" in m[0]:
            return True
        if shell is not None:
            return bool(
                re.search(r"(?:sed\s+-i|\bpatch\s).*\b(?:autograder|kernels)\b", shell)
                or re.search(r"sed\s+-i|>|\btee\b|\b(?:cp|mv|rm|ln|patch)\s", shell)
                and _OWN_FILES.search(shell)
            )
        if magic in ("env", "set_env"):
            return rest.split("=")[0].split()[:1] == [_OPTIMISE] and len(rest.split()) + rest.count("=") > 1
        if signs == "%%" and magic.startswith(("python", "script")) and re.search(r"\s-O", rest):
            return True
        if magic in ("writefile", "file"):
            return bool(_OWN_FILES.search(rest))
        if magic == "config":
            return bool(re.search(r"Shell\w*\.\w*(?:transform|hook|exec|runner)", rest))
        return magic in _BINDING_MAGICS and bool(set(re.findall(r"\w+", rest)) & self.names)

    def unread(self, source: str) -> Iterator[int]:
        """Of a cell that is not Python: its lines that bind a name which checks use."""
        names = "|".join(map(re.escape, sorted(self.names & {"check"})))
        text = as_run(source)
        for m in re.finditer(
            rf"^(?:(?:{names})[ \t]*=(?!=)|(?:def|class)[ \t]+(?:{names})\b|(?:import|from)\b.*[ \t]as[ \t]+(?:{names})\b)",
            text,
            re.M,
        ):
            yield text.count("\n", 0, m.start()) + 1


def _is_plain(path: str) -> bool:
    """False of what stands for a part of the shell that a notebook has no plain use for."""
    parts = path.split(".")
    part = next((p for p in parts[1:] if p != "__class__"), None)
    return parts[0] != SHELL or part is None or part in _PLAIN_SHELL


def _name(index: ast.expr) -> str:
    """A key as a name; "x*" where it only begins so, "*" where it is worked out."""
    match index:
        case ast.Constant(value=value):
            return str(value)
        case ast.JoinedStr(values=[ast.Constant(value=str() as head), *_]):
            return f"{head}*"
    return "*"


def _bound(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.alias(name=name, asname=asname):
            return asname or name.split(".")[0]
    return None
