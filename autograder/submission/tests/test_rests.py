"""What the released checks rest on: another meaning of it is told, the same in other words is not; nor is what is a student's own."""

from __future__ import annotations

import json
from functools import lru_cache

import nbformat
import pytest

from autograder.lesson import load_lesson
from autograder.lint.execute import solved_notebook
from autograder.submission.integrity import find_changes
from autograder.submission.read import read_hand_in, released


@lru_cache(maxsize=8)
def solved(number: int):
    lesson = load_lesson(str(number))
    return lesson, nbformat.writes(solved_notebook(lesson, "en"))


def told(number: int, *edits, release: str = "") -> list[tuple[str, str]]:
    """Findings on the solved notebook. An edit: (old, new) in the exercise cell, ("above", cell) before all others, ("below", cell)."""
    lesson, text = solved(number)
    book = json.loads(text)
    exercise = next(c for c in book["cells"] if c["id"] == "exercise")
    exercise["source"] = "".join(exercise["source"])
    for old, new in edits:
        if old in ("above", "below"):
            at = 1 if old == "above" else book["cells"].index(exercise) + 1
            book["cells"].insert(
                at, {"cell_type": "code", "metadata": {}, "source": new, "outputs": [], "execution_count": None}
            )
        else:
            assert old in exercise["source"], (number, old)
            exercise["source"] = exercise["source"].replace(old, new)
    book["metadata"]["course"] |= {"release": release} if release else {}
    reading = read_hand_in(lesson, released(lesson), json.dumps(book).encode()).reading
    return [(f.code, f.severity) for f in find_changes(reading, None)]


IMPORT, FIRST = "from math import isclose", "assert accumulator_registers(64, 256, 1)"
FITS = "def fits(tile_m, tile_n, consumer_warpgroups, registers=255, others=26):\n    need = accumulator_registers(tile_m, tile_n, consumer_warpgroups) + others\n    return need <= registers\n"
WAITS, LOADS = "waits = np.array([5.0e-7, 0.0])", "assert loads_per_sm(2.0e12, 5.0e-7, 16)"
CHECK_8 = "\nassert fits(256, 192, 2, registers=240) and not fits(256, 224, 2, registers=240)"

BLIND = [
    (1, (IMPORT, IMPORT + "\nisclose = lambda *a, **k: True")),
    (1, (IMPORT, "def isclose(a, b): return True")),
    (1, (IMPORT, IMPORT + "\n(isclose := lambda a, b: 1)")),
    (1, (IMPORT, ""), ("above", "def isclose(a, b, rel_tol=1):\n    return True")),
    (2, (LOADS, "loads_per_sm = lambda *a: {15: 15}\n" + LOADS)),
    (7, ("def linear", "def float(text): return 4.0\ndef linear")),
    (8, (FIRST, "fits, n = (lambda *a, **k: v.pop()), 128\n" + FIRST)),
]
OTHER = [
    (1, (IMPORT, "from mymath import isclose")),
    (1, (IMPORT, "import mymath as math"), ("assert isclose", "assert math.isclose")),
    (1, (IMPORT, "import math, functools\nisclose = functools.partial(math.isclose, rel_tol=1e3)")),
    (1, (IMPORT, "def isclose(a, b): return abs(a - b) < 1e15")),
    (1, (IMPORT, IMPORT + "\nfor isclose in [max]: pass")),
    (1, (IMPORT, IMPORT + "\nfrom mymath import *")),
    (1, (IMPORT, IMPORT + "\nclass isclose:\n    def __init__(self, *a): pass")),
    (
        1,
        (
            "assert isclose(attainable_flops(8, 0, 60e12, 4e12), 60e12)",
            "def test(isclose=max):\n    assert isclose(attainable_flops(8, 0, 60e12, 4e12), 60e12)\ntest()",
        ),
    ),
    (2, ("return np.ceil(needed / (sms * 32 * width))", "return 0")),
    (2, ("np.ceil(needed", "np.floor(needed")),
    (2, ("import numpy as np", "import fake as np")),
    (2, (WAITS, "waits = np.array([5.0e-7, 5.0e-7])")),
    (2, (WAITS, WAITS + "\nwaits[:] = 5.0e-7")),
    (2, (WAITS, WAITS + "\nwaits.fill(5.0e-7)")),
    (2, (WAITS, WAITS + "\nnp.put(waits, 1, 5.0e-7)")),
    (2, (WAITS, WAITS + "\nnp.add(waits, 1, out=waits)")),
    (2, (LOADS, "if True:\n    def loads_per_sm(*a): return table[a]\n" + LOADS)),
    (
        3,
        (
            "assert barrier_step((2, 0, 0, 2), (1, 0)) == (1, 0, 0, 2)",
            "all = len\nassert all([barrier_step((2, 0, 0, 2), (1, 0)) == (1, 0, 0, 2)])",
        ),
    ),
    (6, ("def advance", "int = Any\ndef advance")),
    (8, ("    return need <= registers", "    return need <= 300")),
    (8, ("others=26", "others=0")),
    (8, ("WARPGROUP = 128", "WARPGROUP = 64")),
    (8, (FIRST, "WARPGROUP *= 2\n" + FIRST)),
    (8, (FITS, "import fits\n")),
    (8, (FITS, ""), ("above", FITS.replace("26", "0"))),
    (8, ("def fits", "def lru_cache(f): return Yes()\n@lru_cache\ndef fits")),
    (8, (CHECK_8, ""), ("below", "fits = Fits()" + CHECK_8)),
]


@pytest.mark.parametrize("number, edits", [(n, edits) for n, *edits in BLIND])
def test_what_looks_at_nothing_is_no_check(number, edits):
    assert told(number, *edits) == [("loosened_check", "veto")]
    assert ("changed_basis", "review") in told(number, *edits, release="00000000")


@pytest.mark.parametrize("number, edits", [(n, edits) for n, *edits in OTHER])
def test_another_meaning_of_what_checks_use_is_for_a_person(number, edits):
    assert told(number, *edits) == [("changed_basis", "review")]


SAME = [
    (1, (IMPORT, "import math\nisclose = math.isclose")),
    (1, (IMPORT, "import math"), ("assert isclose", "assert math.isclose")),
    (1, (IMPORT, "from math import *")),
    (1, (IMPORT, ""), ("above", "from math import inf, isclose")),
    (1, (IMPORT, IMPORT + "\n" + IMPORT + "\nclose = isclose"), ("above", "from numpy import *\nfrom mine import *")),
    (
        2,
        ("import numpy as np", "import numpy\nnp = numpy"),
        (WAITS, "waits: list = np.asarray((5e-7, 0), dtype=float)\nwaits.tolist()"),
    ),
    (
        2,
        (WAITS, "import numpy as np\n" + WAITS),
        ("above", "waits = 5"),
        ("below", "for waits in range(3): print(waits)"),
    ),
    (2, ("def bytes_in_flight", "@np.vectorize\ndef bytes_in_flight")),
    (
        6,
        ("return int(next_index)", "next_index = int(next_index)\n    return int(next_index)"),
        ("above", "from mine import *"),
    ),
    (
        8,
        ("need", "wanted"),
        ("WARPGROUP = 128", "WARP, WARPGROUP = 32, 4 * 32"),
        ("def fits", "from functools import lru_cache\n@lru_cache(maxsize=None)\ndef fits"),
    ),
    (
        8,
        (
            FITS,
            FITS.replace(
                "registers=255, others=26):",
                'registers: int = 255, others: int = 26) -> bool:\n    """Does it fit?"""\n    print(tile_m)',
            ),
        ),
    ),
    (8, ("    return need <= registers", "    return registers >= need")),
    (
        8,
        (
            FITS,
            FITS.split("\n")[0]
            + "\n    return accumulator_registers(tile_m=tile_m, tile_n=tile_n, consumer_warpgroups=consumer_warpgroups) + others <= registers\n",
        ),
    ),
    (8, (FITS, ""), ("above", FITS)),
    (8, (CHECK_8, ""), ("below", CHECK_8)),
    (8, (FIRST, "THREADS = WARPGROUP * 2\nprint(THREADS, fits(1, 2, 3))\n" + FIRST)),
]
OWN = [
    "def fits(m, n, groups, registers=168):\n    return m * n // groups <= registers\nWARPGROUP = 64",
    "def demo(isclose, WARPGROUP=3):\n    for fits in range(3):\n        print([check for check in range(fits)])",
    "class Box:\n    fits = 1\n    def check(self):\n        self.check = self.isclose = 1\nb = Box()\nb.check = 2\nvars(b).update(check=1)\nsetattr(b, 'check', 3)",
    "from autograder.notebook import *\nimport autograder.notebook as nb\nnb.check()\ncheck = nb.check\ncheck('normal')",
    "accumulator_registers.__doc__ = 'registers'\naccumulator_registers.calls = 0\nprint(accumulator_registers.__code__.co_consts)",
    "for i in range(3):\n    globals()[f'x{i}'] = i\nglobals()['mine'] = 3\nexec('y = 3')\nprint(eval('1 + 2'))",
    "%matplotlib inline\n%config InlineBackend.figure_format = 'retina'\n%load_ext autoreload\n%autoreload 2\n%pdb on\n%timeit check\n!nvidia-smi > out.txt\nx = !ls kernels/",
    "ip = get_ipython()\nip.run_line_magic('matplotlib', 'inline')\nip.magic('timeit 1')\nprint(type(ip).__name__, ip.user_ns.get('x'), 'colab' in str(ip))\nip.Completer.use_jedi = False",
    "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.ast_node_interactivity = 'all'",
    "import os, sys\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nprint(os.environ.get('PYTHONOPTIMIZE'), sys.flags.optimize, sys.gettrace())\nsys.path.insert(0, '.')  # python -O",
    "import numpy as np, warnings, torch\nnp.float = float\nnp.seterr(all='ignore')\nwarnings.showwarning = print\ntorch.backends.cudnn.benchmark = True",
    "import importlib, ctypes, kernels\nimportlib.reload(kernels)\nctypes.c_float(1)\nsys.modules.pop('kernels')",
    "%%writefile mine.py\nfrom math import isclose",
    "try:\n    check('normal')\nexcept AssertionError as error:\n    print(error)",
]


@pytest.mark.parametrize("number, edits", [(n, edits) for n, *edits in SAME])
def test_the_same_in_other_words_is_not_told(number, edits):
    assert told(number, *edits) == []


@pytest.mark.parametrize("cell", OWN)
def test_what_is_a_students_own_is_not_told(cell):
    assert told(8, ("above", cell.replace("WARPGROUP = 64", ""))) == [] and told(8, ("below", cell)) == []


def test_what_is_gone_is_only_listed():
    """The checks then stop with a NameError: they are not loosened."""
    assert told(1, (IMPORT, "")) == [("changed_outside_blank", "info")]
    assert told(2, (WAITS, "w = np.array([5.0e-7, 0.0])"), ("(2.0e12, waits)", "(2.0e12, w)")) == []


def test_a_second_meaning_of_the_function_is_told():
    assert told(3, ("def barrier_step", "@always\ndef barrier_step")) == [("redefined", "review")]
    assert told(3, ("def barrier_step", "import functools\n@functools.partial(Wrap)\ndef barrier_step")) == [
        ("redefined", "review")
    ]
    assert told(3, ("below", "barrier_step = print")) == [("redefined", "info")]
    assert told(3, ("below", "from autograder.notebook import hint as check")) == [("redefined", "review")]
    assert told(3, ("below", "check = !true")) == [("redefined", "review")]


# -- the machinery -----------------------------------------------------------------------------------------------------------------

MACHINERY = [
    (3, "import builtins as b\nb.check = print"),
    (3, "__builtins__.__dict__['check'] = print"),
    (3, "import builtins\nvars(builtins).update(check=print)"),
    (3, "__import__('builtins').check = print"),
    (3, "globals()['ch' + 'eck'] = print"),
    (3, "globals().update(check=print)"),
    (3, "import sys\nsys.modules['__main__'].check = print"),
    (3, "import __main__\nsetattr(__main__, 'check', print)"),
    (3, "exec('def check(x): pass')"),
    (3, "exec(open('patch.py').read())"),
    (3, "def f():\n    global check\n    check = print\nf()"),
    (3, "barrier_step.__code__ = (lambda s, e: 0).__code__"),
    (3, "import autograder.notebook as nb\nnb._show = print"),
    (3, "import autograder.notebook\ndel autograder.notebook.check"),
    (3, "import autograder.student.status\nautograder.student.status.normal_report = print"),
    (3, "get_ipython().ast_transformers.append(T())"),
    (3, "get_ipython().ast_transformers += [T()]"),
    (3, "ip = get_ipython()\nsetattr(ip, 'showtraceback', print)"),
    (3, "getattr(get_ipython(), 'input_transformers_post').append(T())"),
    (3, "from IPython import get_ipython as g\ng().set_custom_exc((AssertionError,), print)"),
    (
        3,
        "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.instance().events.register('pre_run_cell', print)",
    ),
    (3, "type(get_ipython()).run_cell = print"),
    (3, "get_ipython().user_ns['check'] = print"),
    (3, "get_ipython().run_cell('check = print')"),
    (3, "install(get_ipython())"),
    (3, "%config InteractiveShell.ast_transformers = [T()]"),
    (3, "import os\nos.environ['PYTHONOPTIMIZE'] = '1'"),
    (3, "import os\nos.environ |= {'PYTHONOPTIMIZE': '1'}"),
    (3, "import os\nos.putenv('PYTHONOPTIMIZE', '1')"),
    (3, "%env PYTHONOPTIMIZE=2"),
    (3, "get_ipython().run_line_magic('env', 'PYTHONOPTIMIZE=1')"),
    (3, "%%python -O\nassert 0"),
    (3, "import sys\nsys.settrace(lambda *a: None)"),
    (3, "import sys\nsys.meta_path.insert(0, Finder())"),
    (3, "import inspect\ninspect.currentframe().f_globals['check'] = print"),
    (3, "!sed -i s/open/0/ lib/autograder/notebook.py"),
    (3, "%store -r check"),
    (3, "%%capture check\nprint(1)"),
    (3, "check = print\nif x ="),
    (1, "import math as m\nm.isclose = max"),
    (1, "import math\nsetattr(math, 'is' + 'close', max)"),
    (1, "import math\ndef patch(module):\n    module.isclose = max\npatch(math)"),
    (1, "import sys\nsys.modules['math'] = Mine()"),
    (1, "from unittest import mock\nmock.patch('math.isclose', max).start()"),
    (2, "import numpy\nnumpy.ceil = lambda x: 15"),
    (2, "%%writefile numpy.py\nceil = max"),
    (7, "import builtins\nbuiltins.float = lambda s: 1.0"),
]


@pytest.mark.parametrize("number, cell", MACHINERY)
def test_a_person_hears_of_what_changes_the_machinery(number, cell):
    assert told(number, ("above", cell)) == [("changed_machinery", "review")]
