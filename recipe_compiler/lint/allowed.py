"""What a step may be written with so that it depends on its arguments, its draws and its file alone: nothing else is.

A name that is missing here is no fault of a step: what depends on it was not traced, and the finding names it.
"""

from recipe_compiler.formula.elementwise import FUNCTIONS

EXCEPTIONS = (
    "ArithmeticError", "AssertionError", "Exception", "FloatingPointError", "IndexError", "KeyError", "LookupError",
    "NotImplementedError", "OverflowError", "RuntimeError", "TypeError", "ValueError", "ZeroDivisionError",
)  # fmt: skip
BUILTINS = frozenset({
    "NotImplemented", "abs", "all", "any", "bool", "classmethod", "complex", "dict", "divmod", "enumerate", "filter",
    "float", "int", "iter", "len", "list", "map", "max", "min", "next", "object", "pow", "property", "range",
    "reversed", "round", "slice", "sorted", "staticmethod", "sum", "super", "tuple", "zip", *EXCEPTIONS,
})  # fmt: skip
"""Names of Python whose answers follow from what they are given."""

ASKED = frozenset({"isinstance", "hasattr", "getattr", "callable", "type"})
"""Names of Python that ask what a value is: only for what stops the step."""
TEXTS = frozenset({"str", "repr", "format", "ascii"})
"""Names of Python that write values out, by options that others may set: only for what is printed or raised."""

PRINTS = frozenset({"print", "sys.stdout.write", "sys.stderr.write", "sys.stdout.flush", "sys.stderr.flush"})
"""What may be called for what it writes, its answer not used."""
STREAMS = frozenset({"sys.stdout", "sys.stderr"})

FINITE = frozenset({f"{module}.{name}" for module in ("numpy", "math") for name in ("isfinite", "isnan", "isinf")})
"""Of real numbers all are finite; which doubles are is not followed, so that these only stop the step."""

KINDS = frozenset(f"numpy.{name}" for name in ("floating", "generic", "integer", "ndarray", "number"))
"""Types that values are asked for, and that nothing is made with."""

_ELEMENTWISE = frozenset(row.ufunc for row in FUNCTIONS.values() if row.ufunc)
_NUMPY = frozenset({
    "abs", "absolute", "add", "all", "amax", "amin", "any", "append", "apply_along_axis", "arange", "argmax", "argmin",
    "argsort", "array", "ceil", "floor", "max", "min", "pow", "searchsorted", "sort", "asanyarray", "asarray",
    "ascontiguousarray", "atleast_1d", "atleast_2d", "average", "block", "bool_", "broadcast_to", "cbrt", "clip",
    "column_stack", "concatenate", "copy", "copyto", "cos", "cross", "cumprod", "cumsum", "deg2rad", "diag",
    "diag_indices", "diagflat", "diagonal", "diff", "divide", "dot", "dstack", "e", "einsum", "empty", "empty_like",
    "equal", "exp2", "expand_dims", "eye", "fabs", "fill_diagonal", "finfo", "flip", "float64", "fmax",
    "fmin", "full", "full_like", "greater", "greater_equal", "heaviside", "hsplit", "hstack", "hypot", "identity",
    "inf", "inner", "int64", "isscalar", "ix_", "kron", "less", "less_equal", "linspace", "logaddexp",
    "logical_and", "logical_not", "logical_or", "matmul", "maximum", "mean", "meshgrid", "minimum", "moveaxis",
    "multiply", "nan", "ndim", "negative", "newaxis", "not_equal", "ones", "ones_like", "outer",
    "pad", "pi", "positive", "power", "prod", "ravel", "reciprocal", "repeat", "reshape", "roll", "shape", "size",
    "split", "square", "squeeze", "stack", "std", "subtract", "sum", "swapaxes", "take", "tensordot", "tile", "trace",
    "transpose", "tri", "tril", "tril_indices", "triu", "triu_indices", "true_divide", "var", "vdot", "vstack",
    "where", "zeros", "zeros_like", *_ELEMENTWISE,
})  # fmt: skip
_LINALG = frozenset({
    "cholesky", "det", "eigh", "eigvalsh", "inv", "matrix_power", "multi_dot", "norm", "qr", "slogdet", "solve", "svd",
})  # fmt: skip
_DRAWS = (
    "exponential", "multivariate_normal", "normal", "rand", "randn", "random", "random_sample", "ranf", "sample",
    "standard_exponential", "standard_normal", "uniform",
)  # fmt: skip
_MAKERS = ("Generator", "RandomState", "default_rng", "seed")
_OF_BITS = ("MT19937", "PCG64", "Philox", "SFC64")
_BITS = (*_OF_BITS, "SeedSequence")
GENERATORS = frozenset({*(f"numpy.random.{name}" for name in _MAKERS), "random.seed"})
"""What makes a generator, or seeds the one that all share."""
SEEDS = frozenset(f"numpy.random.{name}" for name in _BITS)
"""What generators are made of."""
BITS = frozenset(f"numpy.random.{name}" for name in _OF_BITS)
"""Of these, what is another one whenever it is made of nothing."""
_MATH = frozenset({
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "comb", "copysign", "cos", "cosh",
    "degrees", "dist", "e", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "factorial", "floor", "fmod", "fsum",
    "gamma", "hypot", "inf", "isqrt", "lgamma", "log", "log10", "log1p", "log2", "nan", "perm", "pi", "pow", "prod",
    "radians", "sin", "sinh", "sqrt", "sumprod", "tan", "tanh", "tau", "trunc",
})  # fmt: skip
_OF_MODULES = {
    "numpy": _NUMPY,
    "numpy.linalg": _LINALG,
    "numpy.random": (*_DRAWS, *_MAKERS, *_BITS),
    "numpy.typing": ("ArrayLike", "NDArray"),
    "math": _MATH,
    "random": ("expovariate", "gauss", "normalvariate", "random", "seed", "uniform"),
    "numba": ("float64", "guvectorize", "int64", "jit", "njit", "prange", "types", "vectorize", "void"),
    "collections": ("Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"),
    "abc": ("ABC", "abstractmethod"),
    "dataclasses": ("dataclass", "field", "replace"),
    "fractions": ("Fraction",),
    "functools": ("cache", "cached_property", "lru_cache", "partial", "reduce", "wraps"),
    "itertools": ("accumulate", "chain", "combinations", "count", "cycle", "islice", "pairwise", "permutations",
                  "product", "repeat", "starmap", "zip_longest"),
    "operator": ("add", "itemgetter", "matmul", "mul", "neg", "sub", "truediv"),
    "numbers": ("Integral", "Number", "Real"),
    "collections.abc": ("Callable", "Iterable", "Iterator", "Mapping", "Sequence"),
    "typing": ("Any", "Callable", "Final", "NamedTuple", "Optional", "Protocol", "TYPE_CHECKING", "Tuple"),
    "types": ("SimpleNamespace",),
    "sys": ("float_info", "maxsize"),
}  # fmt: skip
NAMES = frozenset(f"{module}.{name}" for module, names in _OF_MODULES.items() for name in names)
"""Names of modules whose answers follow from what they are given."""
MODULES = frozenset(_OF_MODULES)
NEEDED = frozenset(name.partition(".")[0] for name in MODULES) | {"builtins", "sys"}
"""Modules that steps are written with, or that say how Python itself is."""
SHARED = frozenset(
    f"{module}.{name}"
    for module in ("numpy.random", "random")
    for name in _OF_MODULES[module]
    if name not in (*_MAKERS, *_BITS)
)
"""Draws from the generator that all share."""
BASES = frozenset(
    {"object", "abc.ABC", "typing.NamedTuple", "typing.Protocol", *EXCEPTIONS} - {"IndexError", "LookupError"}
)
"""What a class may be made of besides the file's own: nothing that keeps more than it shows."""
MAKES_ARRAYS = frozenset(
    f"numpy.{name}" for name in ("array", "asarray", "empty", "eye", "full", "identity", "ones", "zeros")
)
"""Functions that may be told a type by its place."""

ATTRIBUTES = frozenset({
    # of arrays and numbers
    "T", "all", "any", "argmax", "argmin", "argsort", "astype", "at", "clip", "conj", "conjugate", "copy", "cumprod",
    "cumsum", "diagonal", "dot", "fill", "flat", "flatten", "imag", "item", "max", "mean", "min", "ndim", "prod",
    "ravel", "real", "repeat", "reshape", "shape", "size", "squeeze", "std", "sum", "swapaxes", "take", "tolist",
    "trace", "transpose", "var",
    # of NumPy's functions, and of what tells of numbers
    "accumulate", "outer", "reduce", "denominator", "eps", "epsilon", "numerator", "tiny",
    # of generators
    *_DRAWS, "expovariate", "gauss", "normalvariate",
    # of containers
    "append", "appendleft", "clear", "count", "extend", "get", "index", "insert", "pop", "popleft", "remove", "reverse",
    "setdefault", "sort", "update", "values",
    # of a class that another is made of
    "__init__",
})  # fmt: skip
"""What may be asked of a value, whatever it is: of a function or a module there is nothing among it."""
VIEWS = frozenset({"items", "keys"})
"""What is gone through in the order in which it was put together; as a set it has an order of its own."""
IN_ORDER = frozenset({"dict", "enumerate", "iter", "len", "list", "max", "min", "sorted", "sum", "tuple", "zip"})

CHANGES = frozenset({
    "add", "append", "appendleft", "clear", "discard", "extend", "fill", "insert", "itemset", "pop", "popitem",
    "popleft", "put", "remove", "resize", "reverse", "setdefault", "setfield", "sort", "update",
})  # fmt: skip
"""Methods that change what they are called of."""
EFFECTS = frozenset({
    "__init__", "at", "expovariate", "gauss", "map", "filter", "next", "iter", "classmethod", "normalvariate",
    "numpy.copyto", "numpy.fill_diagonal", "property", "staticmethod", "super", *_DRAWS, *CHANGES,
})  # fmt: skip
"""What may be called, though not in what only stops a step or is printed: it does more than answer."""

SPECIAL = frozenset({
    "__abs__", "__add__", "__call__", "__contains__", "__eq__", "__ge__", "__getitem__", "__gt__", "__iadd__",
    "__imul__", "__init__", "__isub__", "__iter__", "__le__", "__len__", "__lt__", "__matmul__", "__mul__", "__ne__",
    "__neg__", "__next__", "__pos__", "__post_init__", "__pow__", "__radd__", "__rmatmul__", "__rmul__", "__rsub__",
    "__rtruediv__", "__setitem__", "__slots__", "__sub__", "__truediv__",
})  # fmt: skip
"""Names that a class may give its methods: Python calls them where the step says so."""

LOOSE = frozenset({
    "logging.basicConfig", "numpy.seterr", "numpy.set_printoptions", "os.environ.setdefault", "os.environ.update",
    "print", "sys.path.append", "sys.path.insert", "warnings.filterwarnings", "warnings.simplefilter",
})  # fmt: skip
"""What a file may call when it is loaded, of constants: nothing that is listed here answers by it."""
ELSEWHERE = frozenset({"setattr", "delattr", "exec", "eval", "compile", "globals", "vars", "locals", "__import__"})
"""Names of Python by which a file that is loaded may change what is not its own."""
