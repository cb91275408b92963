"""What a blank may name: the built-ins, the attributes and the modules that arithmetic on numbers and arrays needs.

An allow-list: what is not here is refused. Attribute names are checked whatever stands before the dot, so that an alias of a
module opens nothing more. Kept out on purpose: everything that reads files or memory (load, fromfile, memmap, frombuffer, ctypes,
data, tofile, dump), format, attrgetter and methodcaller (they reach attributes by their names in strings), getattr and its like, and
every name that begins with two underscores. The sandbox's type() tells what something is an instance of, and makes no class.
"""

BUILTINS = frozenset(
    """abs all any bin bool complex dict divmod enumerate filter float frozenset callable hasattr hex int isinstance iter len list map max min next oct pow
    print range repr reversed round set slice sorted str sum tuple type zip
    True False None NotImplemented Ellipsis
    Exception ArithmeticError AssertionError AttributeError FloatingPointError IndexError KeyError LookupError NotImplementedError
    OverflowError RuntimeError StopIteration TypeError ValueError ZeroDivisionError""".split()
)

MODULES = frozenset(
    {"collections", "fractions", "functools", "itertools", "math", "numpy", "operator", "sys", "typing", "warnings"}
)
OFFERED = frozenset({"np", "numpy", "math"})  # bound in the exercise whether or not the student imported them

_MATH = """acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp exp2 expm1 fabs factorial floor
    fma fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm
    pi pow prod radians remainder sin sinh sqrt sumprod tan tanh tau trunc ulp"""

_NUMPY = """abs absolute add all allclose amax amin any append arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort
    argwhere around array array_equal asanyarray asarray ascontiguousarray astype atleast_1d atleast_2d average bincount bitwise_and
    bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor block bool bool_ broadcast_arrays broadcast_shapes broadcast_to can_cast
    ceil clip column_stack complex128 complex64 complexfloating concatenate conj conjugate copy copysign copyto cos cosh count_nonzero cross
    cumprod cumsum deg2rad degrees diag diagonal diff divide divmod dot double dstack dtype e einsum empty empty_like equal errstate
    exp exp2 expand_dims expm1 extract eye fabs fill_diagonal finfo fix flatnonzero flip fliplr flipud float16 float32 float64 float_power
    floating floor floor_divide fmax fmin fmod full full_like gcd geomspace greater greater_equal half heaviside hstack hypot identity iinfo
    imag indices inexact inf inner int16 int32 int64 int8 int_ integer interp invert isclose isfinite isin isinf isnan isneginf isposinf
    isrealobj isscalar issubdtype kron lcm ldexp less less_equal linalg linspace log log10 log1p log2 logaddexp logaddexp2 logical_and
    logical_not logical_or logical_xor logspace longdouble matmul max maximum mean median meshgrid min minimum mod modf moveaxis multiply nan nan_to_num
    nanmax nanmean nanmin nansum ndarray ndenumerate ndim ndindex negative newaxis nextafter nonzero not_equal number ones ones_like outer pad permute_dims
    pi positive power prod promote_types ptp put putmask quantile rad2deg radians ravel ravel_multi_index real reciprocal remainder repeat reshape result_type
    right_shift left_shift rint roll rollaxis rot90 round searchsorted select shape sign signbit signedinteger sin sinc single sinh size sort
    spacing split sqrt square squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile trace transpose tri tril
    triu trunc uint16 uint32 uint64 uint8 unique unravel_index unsignedinteger unwrap var vdot vectorize vstack where zeros zeros_like"""

_METHODS = """T norm append bit_count bit_length choose compress count denominator difference extend fill flatten get hex index insert intersection
    is_integer isdigit item items itemsize join keys kind lower lstrip name nbytes numerator pop remove replace reverse rstrip setdefault
    split startswith endswith strip tolist total type union update upper values view eps tiny smallest_normal"""

_OPERATOR = """and_ concat contains countOf eq floordiv ge getitem gt indexOf inv is_ is_not itemgetter le length_hint lshift lt matmul mul ne neg not_ or_
    pos rshift sub truediv truth xor"""

_OTHER = """Fraction limit_denominator catch_warnings filterwarnings simplefilter epsilon float_info maxsize
    reduce partial accumulate chain combinations cycle dropwhile groupby islice pairwise permutations product starmap takewhile zip_longest
    Counter defaultdict deque Any Callable Iterable List Optional Sequence Tuple Union"""  # fractions, warnings, sys; functools, itertools; collections, typing

ATTRIBUTES = frozenset(f"{_MATH} {_NUMPY} {_METHODS} {_OPERATOR} {_OTHER}".split())
