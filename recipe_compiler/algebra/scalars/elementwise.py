"""What the second engine knows of the elementwise functions: their meaning as SymPy scalars, domains, signs and balls.

Stated apart from the first engine's table, `formula/elementwise.py`, from which nothing is taken: that the two agree is
what the identities show. `FUNCTIONS` are those of the language; `SCALAR_FUNCTIONS` are SymPy's functions that they
reduce to, softplus(x) being log(1 + exp(x)). `docs/howto_function.md` adds one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

import sympy
from flint import arb
from sympy import Expr

from recipe_compiler.formula.sympy_functions import Phi, SqrtCoth, inverse_mills, log_ndtr, ndtr, sqrtcoth


class Corner(StrEnum):
    """Where a function is not differentiable inside its domain: nowhere, or at 0."""

    NONE = "nowhere"
    KINK = "continuous at 0"
    JUMP = "not continuous at 0"


class Signs(StrEnum):
    """The sign of a function, wherever it is defined."""

    UNKNOWN = "unknown"
    POSITIVE = "positive"
    NEGATIVE = "negative"
    OF_ARGUMENT = "that of its argument, 0 at 0 alone"
    POSITIVE_AT_POSITIVE = "positive where its argument is"


@dataclass(frozen=True, slots=True)
class Need:
    """A condition on the argument, x + offset op 0 or cos(x) + offset op 0; where it holds, all derivatives exist."""

    op: str
    """`>` or `!=`."""
    offset: int = 0
    cosine: bool = False
    closed: bool = False
    """Whether there is a value where `>` is `=`."""

    def of(self, x: Expr) -> Expr:
        """Return the expression that is compared with 0."""
        return (sympy.cos(x) if self.cosine else x) + self.offset


EVERYWHERE: tuple[Need, ...] = ()
POSITIVE = (Need(">"),)
BEFORE_THE_POLE = (Need(">", 9),)
"""x > -9, where sqrt(-x) < pi: a number that proves need not reach the pole itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function of the language."""

    scalar: Callable[[Expr], Expr]
    needs: tuple[Need, ...]
    corner: Corner = Corner.NONE
    signs: Signs = Signs.UNKNOWN
    between: tuple[int, int] | None = None
    """Numbers between which it lies at every real number, reaching neither unless `reached`."""
    reached: bool = False
    emitted: str
    """What an emitted module calls: read back, it means `scalar`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarFunction:
    """A function of SymPy of one argument. `sympy.diff` knows its derivative."""

    of: type[Any]
    needs: tuple[Need, ...]
    corner: Corner = Corner.NONE
    ball: Callable[[arb], arb] | None = None
    """The ball of its values on a ball; not finite where it may have none."""
    exact: Mapping[Fraction, Fraction] = field(default_factory=dict[Fraction, Fraction])
    """Rational arguments with a rational value."""
    bound: Fraction | None = None
    """What |f| is at most, where f is odd and has the sign of its argument."""
    elementary: Callable[[Expr], Expr] | None = None
    """The same by exponentials, sine and cosine."""

    @property
    def name(self) -> str:
        """Its name in SymPy."""
        return self.of.__name__


def _log1p(x: Expr) -> Expr:
    return sympy.log(1 + x)


def _expm1(x: Expr) -> Expr:
    return sympy.exp(x) - 1


def _exprel(x: Expr) -> Expr:
    return (sympy.exp(x) - 1) / x


def _reciprocal(x: Expr) -> Expr:
    return 1 / x


def _softplus(x: Expr) -> Expr:
    return sympy.log(1 + sympy.exp(x))


def _sigmoid(x: Expr) -> Expr:
    return 1 / (1 + sympy.exp(-x))


def _digamma(x: Expr) -> Expr:
    return sympy.polygamma(0, x)


def _trigamma(x: Expr) -> Expr:
    return sympy.polygamma(1, x)


FUNCTIONS: Mapping[str, Function] = {
    "exp": Function(scalar=sympy.exp, needs=EVERYWHERE, signs=Signs.POSITIVE, emitted="_exp"),
    "log": Function(scalar=sympy.log, needs=POSITIVE, emitted="math.log"),
    "log1p": Function(scalar=_log1p, needs=(Need(">", 1),), signs=Signs.OF_ARGUMENT, emitted="math.log1p"),
    "expm1": Function(scalar=_expm1, needs=EVERYWHERE, signs=Signs.OF_ARGUMENT, emitted="math.expm1"),
    "exprel": Function(scalar=_exprel, needs=(Need("!="),), signs=Signs.POSITIVE, emitted="_exprel"),
    "sqrtcoth": Function(scalar=sqrtcoth, needs=BEFORE_THE_POLE, emitted="_sqrtcoth"),
    "reciprocal": Function(scalar=_reciprocal, needs=POSITIVE, signs=Signs.POSITIVE, emitted="_reciprocal"),
    "sqrt": Function(scalar=sympy.sqrt, needs=(Need(">", closed=True),), emitted="math.sqrt"),
    "abs": Function(scalar=sympy.Abs, needs=EVERYWHERE, corner=Corner.KINK, emitted="abs"),
    "sign": Function(scalar=sympy.sign, needs=EVERYWHERE, corner=Corner.JUMP, signs=Signs.OF_ARGUMENT, emitted="_sign"),
    "sin": Function(scalar=sympy.sin, needs=EVERYWHERE, between=(-1, 1), reached=True, emitted="math.sin"),
    "cos": Function(scalar=sympy.cos, needs=EVERYWHERE, between=(-1, 1), reached=True, emitted="math.cos"),
    "tan": Function(scalar=sympy.tan, needs=(Need("!=", cosine=True),), emitted="math.tan"),
    "tanh": Function(
        scalar=sympy.tanh, needs=EVERYWHERE, signs=Signs.OF_ARGUMENT, between=(-1, 1), emitted="math.tanh"
    ),
    "atan": Function(scalar=sympy.atan, needs=EVERYWHERE, signs=Signs.OF_ARGUMENT, emitted="math.atan"),
    "asinh": Function(scalar=sympy.asinh, needs=EVERYWHERE, signs=Signs.OF_ARGUMENT, emitted="math.asinh"),
    "cosh": Function(scalar=sympy.cosh, needs=EVERYWHERE, signs=Signs.POSITIVE, emitted="math.cosh"),
    "sinh": Function(scalar=sympy.sinh, needs=EVERYWHERE, signs=Signs.OF_ARGUMENT, emitted="math.sinh"),
    "softplus": Function(scalar=_softplus, needs=EVERYWHERE, signs=Signs.POSITIVE, emitted="_softplus"),
    "sigmoid": Function(scalar=_sigmoid, needs=EVERYWHERE, signs=Signs.POSITIVE, between=(0, 1), emitted="_sigmoid"),
    "erf": Function(scalar=sympy.erf, needs=EVERYWHERE, signs=Signs.OF_ARGUMENT, between=(-1, 1), emitted="math.erf"),
    "ndtr": Function(scalar=ndtr, needs=EVERYWHERE, signs=Signs.POSITIVE, between=(0, 1), emitted="_ndtr"),
    "log_ndtr": Function(scalar=log_ndtr, needs=EVERYWHERE, signs=Signs.NEGATIVE, emitted="_log_ndtr"),
    "inverse_mills": Function(scalar=inverse_mills, needs=EVERYWHERE, signs=Signs.POSITIVE, emitted="_inverse_mills"),
    "gamma": Function(scalar=sympy.gamma, needs=POSITIVE, signs=Signs.POSITIVE_AT_POSITIVE, emitted="math.gamma"),
    "loggamma": Function(scalar=sympy.loggamma, needs=POSITIVE, emitted="math.lgamma"),
    "digamma": Function(scalar=_digamma, needs=POSITIVE, emitted="_digamma"),
    "trigamma": Function(scalar=_trigamma, needs=POSITIVE, emitted="_trigamma"),
}  # of the language


def _log_ball(x: arb) -> arb:
    """Return log x, without the base that python-flint would accept."""
    return x.log()  # its second argument is none of ours


def _loggamma_ball(x: arb) -> arb:
    return x.lgamma()


def _ndtr_ball(x: arb) -> arb:
    """Return the standard normal distribution function of x."""
    return (-x / arb(2).sqrt()).erfc() / 2


def _sqrtcoth_ball(x: arb) -> arb:
    """Return the ball by its ends, as it increases; not finite where it may reach the pole."""
    return _sqrtcoth_end(x.lower()).union(_sqrtcoth_end(x.upper()))


def _sqrtcoth_end(x: arb) -> arb:
    """Return sqrt(x) coth(sqrt(x)) at a point, by cot for x < 0; not a number beyond -9, near the pole."""
    if x > 0:
        return x.sqrt() * x.sqrt().coth()
    if x == 0:
        return arb(1)
    return (-x).sqrt() * (-x).sqrt().cot() if x > -9 else arb.nan()


def _sinh(x: Expr) -> Expr:
    return (sympy.exp(x) - sympy.exp(-x)) / 2


def _cosh(x: Expr) -> Expr:
    return (sympy.exp(x) + sympy.exp(-x)) / 2


def _tanh(x: Expr) -> Expr:
    return (sympy.exp(2 * x) - 1) / (sympy.exp(2 * x) + 1)


def _tan(x: Expr) -> Expr:
    return sympy.sin(x) / sympy.cos(x)


_0, _1 = Fraction(0), Fraction(1)
_SCALAR_FUNCTIONS = (
    ScalarFunction(of=sympy.exp, needs=EVERYWHERE, ball=arb.exp, exact={_0: _1}),
    ScalarFunction(of=sympy.log, needs=POSITIVE, ball=_log_ball, exact={_1: _0}),
    ScalarFunction(of=sympy.Abs, needs=EVERYWHERE, corner=Corner.KINK),
    ScalarFunction(of=sympy.sign, needs=EVERYWHERE, corner=Corner.JUMP, bound=_1),
    ScalarFunction(of=sympy.sin, needs=EVERYWHERE, ball=arb.sin, exact={_0: _0}),
    ScalarFunction(of=sympy.cos, needs=EVERYWHERE, ball=arb.cos, exact={_0: _1}),
    ScalarFunction(of=sympy.tan, needs=(Need("!=", cosine=True),), ball=arb.tan, exact={_0: _0}, elementary=_tan),
    ScalarFunction(of=sympy.sinh, needs=EVERYWHERE, ball=arb.sinh, exact={_0: _0}, elementary=_sinh),
    ScalarFunction(of=sympy.cosh, needs=EVERYWHERE, ball=arb.cosh, exact={_0: _1}, elementary=_cosh),
    ScalarFunction(of=sympy.tanh, needs=EVERYWHERE, ball=arb.tanh, exact={_0: _0}, elementary=_tanh),
    ScalarFunction(  # pi/2 < 11/7
        of=sympy.atan, needs=EVERYWHERE, ball=arb.atan, exact={_0: _0}, bound=Fraction(11, 7)
    ),
    ScalarFunction(of=sympy.asinh, needs=EVERYWHERE, ball=arb.asinh, exact={_0: _0}),
    ScalarFunction(of=SqrtCoth, needs=BEFORE_THE_POLE, ball=_sqrtcoth_ball, exact={_0: _1}),
    ScalarFunction(of=sympy.erf, needs=EVERYWHERE, ball=arb.erf, exact={_0: _0}, bound=_1),
    ScalarFunction(of=Phi, needs=EVERYWHERE, ball=_ndtr_ball, exact={_0: Fraction(1, 2)}),
    ScalarFunction(of=sympy.gamma, needs=POSITIVE, ball=arb.gamma),
    ScalarFunction(of=sympy.loggamma, needs=POSITIVE, ball=_loggamma_ball),
)  # of SymPy

SCALAR_FUNCTIONS: Mapping[type[Any], ScalarFunction] = {row.of: row for row in _SCALAR_FUNCTIONS}
SMOOTH = tuple(row.of for row in _SCALAR_FUNCTIONS if not row.needs and row.corner is Corner.NONE)
"""Functions with all derivatives at every real number."""


def minimum(a: Expr, b: Expr) -> Expr:
    """Return min(a, b) as (a + b - |a - b|)/2."""
    return (a + b - sympy.Abs(a - b)) / 2


def maximum(a: Expr, b: Expr) -> Expr:
    """Return max(a, b) as (a + b + |a - b|)/2."""
    return (a + b + sympy.Abs(a - b)) / 2
