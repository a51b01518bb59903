"""What SymPy prints, said in the language: the table of spellings, each read as the formula that it means.

A spelling is rewritten before a formula is typed, so that every later stage knows the language's own functions alone,
and everything that is printed is in these. What it means has a value where SymPy's function is real, or at fewer
points, and is that function there: `cbrt(x)` is `x**(1/3)`, whose base has to be shown to be nonnegative.
"""

from dataclasses import dataclass
from functools import cache

from recipe_compiler.errors import Place
from recipe_compiler.formula import tree
from recipe_compiler.formula.context import Context
from recipe_compiler.formula.densities import DENSITIES, Density
from recipe_compiler.formula.expression import ELEMENTWISE
from recipe_compiler.formula.names import LANGUAGE
from recipe_compiler.formula.spelled import EXACT, RULES, value_of
from recipe_compiler.formula.syntax import parse
from recipe_compiler.formula.tree import Call, Tree

_Named = Call | tree.Name | tree.Constant


@dataclass(frozen=True, slots=True)
class Spelling:
    """A call or a name as SymPy prints it, and what it means."""

    written: str
    means: str

    @property
    def name(self) -> str:
        """The function or constant."""
        return self.written.partition("(")[0]


SPELLINGS = tuple(
    Spelling(written, means)
    for written, means in {
        "E": "exp(1)",
        "EulerGamma": "-digamma(1)",
        "GoldenRatio": "(1 + sqrt(5))/2",
        "S(x)": "x",
        "Rational(p, q)": "p/q",
        "Rational(p)": "p",
        "Float(x)": "x",
        "Pow(a, b)": "a**b",
        "Abs(x)": "abs(x)",
        "Max(a, b, ...)": "maximum(a, maximum(b, ...))",
        "Min(a, b, ...)": "minimum(a, minimum(b, ...))",
        "Heaviside(x)": "(1 + sign(x))/2",
        "Heaviside(x, h)": "where(x == 0, h, (1 + sign(x))/2)",
        "Piecewise((a, x > 0), (b, True))": "where(x > 0, a, b)",
        "where(x > 0, a, b)": "where(x > 0, a, b)",
        "Eq(a, b)": "a == b",
        "Gt(a, b)": "a > b",
        "Ge(a, b)": "a >= b",
        "Lt(a, b)": "a < b",
        "Le(a, b)": "a <= b",
        "ln(x)": "log(x)",
        "log(x, b)": "log(x)/log(b)",
        "cbrt(x)": "x**(1/3)",
        "root(x, n)": "x**(1/n)",
        "sec(x)": "1/cos(x)",
        "csc(x)": "1/sin(x)",
        "cot(x)": "cos(x)/sin(x)",
        "asin(x)": "2*atan(x/(1 + sqrt(1 - x**2)))",
        "acos(x)": "pi/2 - 2*atan(x/(1 + sqrt(1 - x**2)))",
        "acot(x)": "atan(1/x)",
        "sech(x)": "1/cosh(x)",
        "csch(x)": "1/sinh(x)",
        "coth(x)": "1/tanh(x)",
        "acsch(x)": "asinh(1/x)",
        "acosh(x)": "log(x + sqrt(x - 1)*sqrt(x + 1))",
        "atanh(x)": "(log1p(x) - log1p(-x))/2",
        "acoth(x)": "(log1p(1/x) - log1p(-1/x))/2",
        "asech(x)": "log(1/x + sqrt(1/x - 1)*sqrt(1/x + 1))",
        "beta(x, y)": "exp(loggamma(x) + loggamma(y) - loggamma(x + y))",
        "erfc(x)": "2*ndtr(-sqrt(2)*x)",
        "factorial(n)": "gamma(n + 1)",
        "binomial(n, k)": "exp(loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1))",
        "polygamma(0, x)": "digamma(x)",
        "polygamma(1, x)": "trigamma(x)",
        "Derivative(f, x)": "grad(f, x)",
        "diff(f, x)": "grad(f, x)",
        "Matrix(A)": "A",
        "Transpose(A)": "A.T",
        "Inverse(A)": "inv(A)",
        "Trace(A)": "trace(A)",
        "Determinant(A)": "det(A)",
        "DiagMatrix(v)": "diag(v)",
        "DotProduct(u, v)": "dot(u, v)",
        "HadamardProduct(u, v, ...)": "u*v*...",
        "HadamardPower(v, n)": "v**n",
        "KroneckerProduct(A, B, ...)": "kron(A, kron(B, ...))",
        "gaussian_process(y, x, alpha, rho, sigma)": "multi_normal(y, 0, gp_exp_quad_cov(x, alpha, rho) + sigma**2*I)",
    }.items()
)
"""In the order of the reference."""

MIXTURE = "mixture"
PROCESSES = {"gaussian_process": "multi_normal"}
"""Calls that are spelled out as another density, to its name."""

SPELLED = frozenset(spelling.name for spelling in SPELLINGS) - LANGUAGE
"""Names that are no function of the language, and are read."""


def spelled_out(part: Tree, context: Context) -> Tree | None:
    """Return a tree in the language's own functions, or note the faults; what is repeated is one object.

    A declared name wins over every spelling.
    """
    parts = [spelled_out(child, context) for child in tree.parts(part)]
    new = [child for child in parts if child is not None]
    if len(new) < len(parts):
        return None
    part = tree.with_parts(part, new)
    if not isinstance(part, _Named) or not _is_free(part, context):
        return part
    return _read(part, context)


def is_spelled(part: Call) -> bool:
    """Whether a call has as many arguments as a spelling: `beta(x, y)` is a number, `beta(x, a, b)` a density."""
    return any(_given(spelling, part.args) is not None for spelling in SPELLINGS if spelling.name == part.name)


def density_called(part: tree.Call) -> Density | None:
    """Return the density that a call means; `gamma(x)`, `beta(x, y)` and `binomial(n, k)` are numbers, and none."""
    row = DENSITIES.get(PROCESSES.get(part.name, part.name))
    function = part.name in ELEMENTWISE and len(part.args) == 1
    return None if function or (part.name in DENSITIES and is_spelled(part)) else row


def _is_free(part: _Named, context: Context) -> bool:
    """Whether a name is not the document's."""
    if isinstance(part, tree.Constant) or (isinstance(part, Call) and part.language):
        return True
    scope, name = context.scope, part.name
    taken = (*scope.declarations.sizes, *(draw.name for draw in scope.noise))
    return scope.declarations.find(name) is None and name not in taken


def _read(part: _Named, context: Context) -> Tree | None:
    known = [spelling for spelling in SPELLINGS if spelling.name == part.name]
    if not known:
        return part
    args = part.args if isinstance(part, Call) else ()
    if part.name in DENSITIES and len(args) == len(DENSITIES[part.name].arguments):
        return part  # binomial(y, n, p) is a law, binomial(n, k) a number
    if part.name in RULES:
        return RULES[part.name](part, context) if isinstance(part, Call) else part
    for spelling in known:
        given = _given(spelling, args)
        if given is not None:
            exact = EXACT[part.name](part, context) if isinstance(part, Call) and part.name in EXACT else None
            return exact or _put(_template(spelling.means), given, part.at)
    if part.name in LANGUAGE or not isinstance(part, Call):
        return part
    listed = " or ".join(spelling.written for spelling in known)
    return context.fault(part, f"found {len(args)} arguments of {part.name}(), expected {listed}")


@cache
def _template(text: str) -> Tree:
    return parse(text, "spelling", Place(""))


def _given(spelling: Spelling, args: tuple[Tree, ...]) -> dict[str, Tree] | None:
    """Return the arguments of a spelling by name; None of another number of them, or another literal."""
    pattern = getattr(_template(spelling.written), "args", ())
    if len(pattern) != len(args):
        return None
    pairs = [*zip(pattern, args, strict=True)]
    same = all(value_of(arg) == one.value for one, arg in pairs if isinstance(one, tree.Literal))
    return {one.name: arg for one, arg in pairs if isinstance(one, tree.Name)} if same else None


def _put(meaning: Tree, given: dict[str, Tree], at: tree.At) -> Tree:
    """Return a meaning with arguments for names; its functions and constants are the language's."""
    match meaning:
        case tree.Name(name):
            return given.get(name) or tree.Constant(name, at)
        case Call(name, args):
            return Call(name, tuple(_put(arg, given, at) for arg in args), at, language=True)
        case _:
            return tree.placed(tree.with_parts(meaning, [_put(p, given, at) for p in tree.parts(meaning)]), at)
