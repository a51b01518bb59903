"""What SymPy prints, said in the language: the table of spellings, each read as the formula that it means.

A spelling is rewritten before a formula is typed, so that every later stage knows the language's own functions alone,
and everything that is printed is in these. What it means has a value where SymPy's function is real, or at fewer
points, and is that function there: `cbrt(x)` is `x**(1/3)`, whose base has to be shown to be nonnegative.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from recipe_compiler.errors import Place
from recipe_compiler.formula import spelled, tree
from recipe_compiler.formula.context import Context
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.names import LANGUAGE
from recipe_compiler.formula.syntax import parse
from recipe_compiler.formula.tree import Call, Tree

Rule = Callable[[Call, Context], Tree | None]
_Named = Call | tree.Name | tree.Constant


@dataclass(frozen=True, slots=True)
class Spelling:
    """A call or a name as SymPy prints it, and what it means; `read` where the number of its arguments varies."""

    written: str
    means: str
    read: Rule | None = None
    exact: Rule | None = None
    """What it is at whole numbers; None of others."""

    @property
    def name(self) -> str:
        """The function or constant."""
        return self.written.partition("(")[0]


SPELLINGS = (
    Spelling("E", "exp(1)"),
    Spelling("EulerGamma", "-digamma(1)"),
    Spelling("GoldenRatio", "(1 + sqrt(5))/2"),
    Spelling("S(x)", "x"),
    Spelling("Integer(n)", "n", spelled.integer),
    Spelling("Rational(p, q)", "p/q"),
    Spelling("Rational(p)", "p"),
    Spelling("Float(x)", "x"),
    Spelling("Add(a, b, ...)", "a + b + ...", spelled.several),
    Spelling("Mul(a, b, ...)", "a*b*...", spelled.several),
    Spelling("Pow(a, b)", "a**b"),
    Spelling("Abs(x)", "abs(x)"),
    Spelling("Max(a, b, ...)", "maximum(a, maximum(b, ...))", spelled.several),
    Spelling("Min(a, b, ...)", "minimum(a, minimum(b, ...))", spelled.several),
    Spelling("Heaviside(x)", "(1 + sign(x))/2"),
    Spelling("Heaviside(x, h)", "where(x == 0, h, (1 + sign(x))/2)"),
    Spelling("Piecewise((a, x > 0), (b, True))", "where(x > 0, a, b)", spelled.piecewise),
    Spelling("where(x > 0, a, b)", "where(x > 0, a, b)", spelled.where),
    Spelling("Eq(a, b)", "a == b"),
    Spelling("Gt(a, b)", "a > b"),
    Spelling("Ge(a, b)", "a >= b"),
    Spelling("Lt(a, b)", "a < b"),
    Spelling("Le(a, b)", "a <= b"),
    Spelling("ln(x)", "log(x)"),
    Spelling("log(x, b)", "log(x)/log(b)"),
    Spelling("cbrt(x)", "x**(1/3)"),
    Spelling("root(x, n)", "x**(1/n)"),
    Spelling("sec(x)", "1/cos(x)"),
    Spelling("csc(x)", "1/sin(x)"),
    Spelling("cot(x)", "cos(x)/sin(x)"),
    Spelling("asin(x)", "2*atan(x/(1 + sqrt(1 - x**2)))"),
    Spelling("acos(x)", "pi/2 - 2*atan(x/(1 + sqrt(1 - x**2)))"),
    Spelling("acot(x)", "atan(1/x)"),
    Spelling("sech(x)", "1/cosh(x)"),
    Spelling("csch(x)", "1/sinh(x)"),
    Spelling("coth(x)", "1/tanh(x)"),
    Spelling("acsch(x)", "asinh(1/x)"),
    Spelling("acosh(x)", "log(x + sqrt(x - 1)*sqrt(x + 1))"),
    Spelling("atanh(x)", "(log1p(x) - log1p(-x))/2"),
    Spelling("acoth(x)", "(log1p(1/x) - log1p(-1/x))/2"),
    Spelling("asech(x)", "log(1/x + sqrt(1/x - 1)*sqrt(1/x + 1))"),
    Spelling("beta(x, y)", "exp(loggamma(x) + loggamma(y) - loggamma(x + y))"),
    Spelling("erfc(x)", "2*ndtr(-sqrt(2)*x)"),
    Spelling("factorial(n)", "gamma(n + 1)", exact=spelled.factorial),
    Spelling("binomial(n, k)", "exp(loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1))", exact=spelled.binomial),
    Spelling("polygamma(0, x)", "digamma(x)", spelled.polygamma),
    Spelling("logsumexp(a, b, ...)", "log(exp(a) + exp(b) + ...)", spelled.log_sum_exp),
    Spelling("Derivative(f, x)", "grad(f, x)", spelled.derivative),
    Spelling("diff(f, x)", "grad(f, x)", spelled.derivative),
    Spelling("Matrix([[a, b], [c, d]])", "Matrix([[a, b], [c, d]])", spelled.matrix),
    Spelling("ImmutableMatrix([[a, b], [c, d]])", "Matrix([[a, b], [c, d]])", spelled.matrix),
    Spelling("diag(a, b, ...)", "Matrix([[a, 0, ...], [0, b, ...], ...])", spelled.diagonal),
    Spelling("eye(n)", "I", spelled.constant),
    Spelling("Identity(n)", "I", spelled.constant),
    Spelling("zeros(n, m)", "0", spelled.constant),
    Spelling("ZeroMatrix(n, m)", "0", spelled.constant),
    Spelling("ones(n, m)", "ones @ ones.T", spelled.constant),
    Spelling("OneMatrix(n, m)", "ones @ ones.T", spelled.constant),
    Spelling("Transpose(A)", "A.T"),
    Spelling("Inverse(A)", "inv(A)"),
    Spelling("Trace(A)", "trace(A)"),
    Spelling("Determinant(A)", "det(A)"),
    Spelling("DiagMatrix(v)", "diag(v)"),
    Spelling("DotProduct(u, v)", "dot(u, v)"),
    Spelling("HadamardProduct(u, v, ...)", "u*v*...", spelled.several),
    Spelling("HadamardPower(v, n)", "v**n"),
    Spelling("KroneckerProduct(A, B, ...)", "kron(A, kron(B, ...))", spelled.several),
    Spelling(
        "gaussian_process(y, x, alpha, rho, sigma)", "multi_normal(y, 0, gp_exp_quad_cov(x, alpha, rho) + sigma**2*I)"
    ),
)
"""In the order of the reference."""

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
    for spelling in known:
        if spelling.read is not None and isinstance(part, Call):
            return spelling.read(part, context)
        names, meaning = _template(spelling)
        if len(names) == len(args) and spelling.read is None:
            exact = spelling.exact(part, context) if spelling.exact and isinstance(part, Call) else None
            return exact or _put(meaning, dict(zip(names, args, strict=True)), part.at)
    if part.name in LANGUAGE or not isinstance(part, Call):
        return part
    listed = " or ".join(spelling.written for spelling in known)
    context.fault(part, f"found {len(args)} arguments of {part.name}(), expected {listed}")
    return None


@cache
def _template(spelling: Spelling) -> tuple[tuple[str, ...], Tree]:
    """Return the names of the arguments of a spelling, and the tree of what it means."""
    written = parse(spelling.written, "spelling", Place("")) if spelling.read is None else tree.Name("")
    names = tuple(arg.name for arg in written.args if isinstance(arg, tree.Name)) if isinstance(written, Call) else ()
    return names, parse(spelling.means, "spelling", Place("")) if spelling.read is None else tree.Name("")


def _put(meaning: Tree, given: dict[str, Tree], at: tree.At) -> Tree:
    """Return a meaning with arguments for names; its functions and constants are the language's."""
    match meaning:
        case tree.Name(name):
            return given.get(name) or tree.Constant(name, at)
        case Call(name, args):
            return Call(name, tuple(_put(arg, given, at) for arg in args), at, language=True)
        case _:
            return tree.placed(tree.with_parts(meaning, [_put(p, given, at) for p in tree.parts(meaning)]), at)
