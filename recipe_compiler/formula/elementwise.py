"""The elementwise functions of the language, a row each: all that formulas, index calculus and emission know of one.

The second engine states what it uses by itself, in `algebra/scalars/elementwise.py`, and `recheck.py` once more: facts
that two of them share would prove nothing. `docs/howto_function.md` adds a function.

Rules are written in the language, of `x`: `1/(1 + x**2)` is the derivative of `atan`. An omitted fact is never used: a
function that is not stated to be bounded counts as unbounded. SymPy, NumPy and flint are imported when a function is
called: commands that compute nothing read the table, and so does the process that follows a step.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from recipe_compiler.errors import CompilerError

if TYPE_CHECKING:
    from recipe_compiler.formula.arrays import Array


class Corner(StrEnum):
    """The regularity of a function inside its domain, at 0; it is smooth elsewhere."""

    NONE = "smooth"
    KINK = "Lipschitz, with a kink at 0"
    JUMP = "a jump at 0"


class Parity(StrEnum):
    """The symmetry of a function under x -> -x."""

    EVEN = "f(-x) = f(x)"
    ODD = "f(-x) = -f(x)"


class Size(StrEnum):
    """A bound of a function, away from its poles."""

    POWER = "|f(x)| <= C (1 + |x|)**k"
    EXPONENTIAL = "|f(x)| <= exp(|x|), for all x"
    FACTORIAL = "|f(x)| <= |x|**|x|"


@dataclass(frozen=True, slots=True)
class Elementwise:
    """A function of one real number, applied entry by entry: the result has the shape of the argument."""

    name: str
    words: str
    """What `help` says it returns."""
    corner: Corner
    size: Size
    emitted: str
    """What computes it in an emitted module: of `math`, of Python, or of `emit/support`."""
    _: KW_ONLY
    latex: str = ""
    """The operator, or the whole with `#` for the argument; by default the name, upright."""
    sympy: str = ""
    """SymPy's name of it, where that is another; where it has none, `sympy_functions` has one of the row's name."""
    slope: str = ""
    """The derivative; without one, differentiating it is an error."""
    stated_slope: str = ""
    """The derivative as emitted code computes it, where `slope` would cancel."""
    ufunc: str = ""
    """NumPy's name of it; steps that `lint` follows may call it."""
    array: Callable[[Any], Any] | None = None
    """The function of a NumPy array, where there is no such name and `math` does not have it either."""
    at_zero: str = ""
    """The value at 0."""
    square: str = ""
    """What `f(x)**2` is rewritten as, to see that sums of squares vanish."""
    parity: Parity | None = None
    homogeneous: Fraction | None = None
    """k, where `f(c x) = c**k f(x)` for c > 0."""
    total: bool = False
    """Whether it is defined at every real number, and bounded on bounded sets."""
    positive: bool = False
    """Whether it is > 0 wherever it is defined."""
    increasing: bool = False
    """Whether it never falls, on a domain that is an interval without an upper end."""
    periodic: bool = False
    """Whether `f(x + 2*pi) = f(x)`."""
    tame: bool = False
    """Whether no combination of it with powers is steeper than a power; not so `tanh`, since `1/(1 - tanh(x))` is."""
    ends: tuple[int, int] | None = None
    """(a, b) of a total function: f(x) - a*x is bounded as x -> -oo, f(x) - b*x as x -> oo; softplus has (0, 1)."""
    logarithm_of: str = ""
    """u, where `f(x) = log(u)`."""

    def __post_init__(self) -> None:
        if not (self.ufunc or self.array or hasattr(math, self.emitted.removeprefix("math."))):
            raise CompilerError(f"the row of {self.name} lacks `array`: neither NumPy nor math has it")

    def latex_of(self, arg: str) -> str:
        """Return it in LaTeX, of an argument in LaTeX."""
        whole = self.latex or rf"\operatorname{{{self.name}}}"
        return whole.replace("#", arg) if "#" in whole else rf"{whole}\left({arg}\right)"

    @property
    def smooth(self) -> bool:
        """Whether it has all derivatives at every real number."""
        return self.total and self.corner is Corner.NONE

    @property
    def bounded(self) -> bool:
        """Whether it stays between two numbers."""
        return self.ends == (0, 0)


def _exprel_of_array(x: "Array") -> "Array":
    """Return (exp(x) - 1)/x, and 1 at 0."""
    import numpy as np

    return np.where(x == 0.0, 1.0, np.expm1(x) / np.where(x == 0.0, 1.0, x))


def _sqrtcoth_of_array(x: "Array") -> "Array":
    """Return sqrt(x) coth(sqrt(x)), 1 at 0, sqrt(-x) cot(sqrt(-x)) for x < 0; not a number from -pi**2 on."""
    import numpy as np

    r = np.sqrt(np.where(x == 0.0, 1.0, np.abs(x)))
    turned = np.where(r < math.pi, r / np.tan(np.where(x < 0.0, r, 1.0)), math.nan)
    return np.where(x == 0.0, 1.0, np.where(x < 0.0, turned, r / np.tanh(r)))


def _reciprocal_of_array(x: "Array") -> "Array":
    """Return 1/x where x > 0."""
    import numpy as np

    return np.where(x > 0.0, 1.0 / np.where(x > 0.0, x, 1.0), math.nan)


def _softplus_of_array(x: "Array") -> "Array":
    """Return max(x, 0) + log1p(exp(-|x|)): no overflow."""
    import numpy as np

    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def _sigmoid_of_array(x: "Array") -> "Array":
    """Return e/(1 + e) with e = exp(-|x|) for x < 0, else 1/(1 + e): no overflow, small values kept."""
    import numpy as np

    e = np.exp(-np.abs(x))
    return np.where(x < 0.0, e, 1.0) / (1.0 + e)


def _ndtr_of_array(x: "Array") -> "Array":
    """Return P(z <= x), z of N(0, 1)."""
    from scipy import special

    return special.ndtr(x)


def _log_ndtr_of_array(x: "Array") -> "Array":
    """Return log P(z <= x), z of N(0, 1)."""
    from scipy import special

    return special.log_ndtr(x)


def _inverse_mills_of_array(x: "Array") -> "Array":
    """Return phi(x)/Phi(x) of N(0, 1), by exp(z**2) erfc(z): small probabilities kept."""
    from scipy import special

    return math.sqrt(2 / math.pi) / special.erfcx(-x / math.sqrt(2))


def _digamma_of_array(x: "Array") -> "Array":
    """Return the derivative of log gamma."""
    import flint

    return entrywise(lambda value: float(flint.arb(value).digamma()))(x)


def _trigamma_of_array(x: "Array") -> "Array":
    """Return zeta(2, x), the second derivative of log gamma."""
    import flint

    return entrywise(lambda value: float(flint.arb(2).zeta(flint.arb(value))))(x)


def entrywise(function: Callable[[float], float]) -> "Callable[[Array], Array]":
    """Return a function of numbers as one of arrays; NaN where it raises that it has no value there."""

    def at(value: float) -> float:
        try:
            return function(value)
        except (ValueError, OverflowError):
            return math.nan

    def applied(x: "Array") -> "Array":
        import numpy as np

        return np.array([at(float(value)) for value in x.reshape(-1)]).reshape(x.shape)

    return applied


SMOOTH, KINK, JUMP = Corner.NONE, Corner.KINK, Corner.JUMP
EVEN, ODD = Parity.EVEN, Parity.ODD
POWER, EXPONENTIAL, FACTORIAL = Size.POWER, Size.EXPONENTIAL, Size.FACTORIAL

_ROWS = (
    Elementwise(
        "exp", "e**x", SMOOTH, EXPONENTIAL, "_exp",
        latex=r"\exp", slope="exp(x)", ufunc="exp", at_zero="1", total=True, positive=True,
        increasing=True,
    ),
    Elementwise(
        "log", "the natural logarithm", SMOOTH, POWER, "math.log",
        latex=r"\log", slope="1/x", ufunc="log", increasing=True, tame=True, logarithm_of="x",
    ),
    Elementwise(
        "log1p", "log(1 + x)", SMOOTH, POWER, "math.log1p",
        slope="1/(1 + x)", ufunc="log1p", at_zero="0", increasing=True, tame=True, logarithm_of="1 + x",
    ),
    Elementwise(
        "expm1", "exp(x) - 1", SMOOTH, EXPONENTIAL, "math.expm1",
        slope="exp(x)", ufunc="expm1", at_zero="0", total=True, increasing=True,
    ),
    Elementwise(
        "exprel", "(exp(x) - 1)/x, and 1 at 0", SMOOTH, EXPONENTIAL, "_exprel",
        array=_exprel_of_array, positive=True,
    ),
    Elementwise(
        "sqrtcoth", "sqrt(x) coth(sqrt(x)), 1 at 0, and sqrt(-x) cot(sqrt(-x)) for -pi**2 < x < 0",
        SMOOTH, POWER, "_sqrtcoth",
        array=_sqrtcoth_of_array, at_zero="1", increasing=True,
    ),
    Elementwise(
        "reciprocal", "1/x where x > 0, else not a number", SMOOTH, POWER, "_reciprocal",
        slope="-x**(-2)", array=_reciprocal_of_array, positive=True, tame=True,
    ),
    Elementwise(
        "sqrt", "the square root", SMOOTH, POWER, "math.sqrt",
        latex=r"\sqrt{#}", slope="1/(2*sqrt(x))", ufunc="sqrt", at_zero="0", homogeneous=Fraction(1, 2),
        increasing=True, tame=True,
    ),
    Elementwise(
        "abs", "the absolute value", KINK, POWER, "abs",
        latex=r"\left|#\right|", sympy="Abs", slope="sign(x)", ufunc="absolute", at_zero="0", parity=EVEN,
        homogeneous=Fraction(1), total=True, tame=True, ends=(-1, 1),
    ),
    Elementwise(
        "sign", "the sign (0 at 0)", JUMP, POWER, "_sign",
        slope="0", ufunc="sign", at_zero="0", parity=ODD, homogeneous=Fraction(0), total=True,
        increasing=True, tame=True, ends=(0, 0),
    ),
    Elementwise(
        "sin", "the sine", SMOOTH, POWER, "math.sin",
        latex=r"\sin", slope="cos(x)", ufunc="sin", at_zero="0", square="1 - cos(x)**2", parity=ODD,
        total=True, periodic=True, tame=True, ends=(0, 0),
    ),
    Elementwise(
        "cos", "the cosine", SMOOTH, POWER, "math.cos",
        latex=r"\cos", slope="-sin(x)", ufunc="cos", at_zero="1", parity=EVEN, total=True, periodic=True,
        tame=True, ends=(0, 0),
    ),
    Elementwise(
        "tan", "the tangent", SMOOTH, POWER, "math.tan",
        latex=r"\tan", slope="1 + tan(x)**2", ufunc="tan", at_zero="0", parity=ODD, periodic=True,
    ),
    Elementwise(
        "tanh", "the hyperbolic tangent", SMOOTH, POWER, "math.tanh",
        latex=r"\tanh", slope="1 - tanh(x)**2", stated_slope="cosh(x)**(-2)", ufunc="tanh", at_zero="0",
        parity=ODD, total=True, increasing=True, ends=(0, 0),
    ),
    Elementwise(
        "atan", "the arc tangent", SMOOTH, POWER, "math.atan",
        latex=r"\arctan", slope="1/(1 + x**2)", ufunc="arctan", at_zero="0", parity=ODD, total=True,
        increasing=True, tame=True, ends=(0, 0),
    ),
    Elementwise(
        "asinh", "the inverse hyperbolic sine", SMOOTH, POWER, "math.asinh",
        slope="(1 + x**2)**(-1/2)", ufunc="arcsinh", at_zero="0", parity=ODD, total=True,
        increasing=True, tame=True,
    ),
    Elementwise(
        "cosh", "the hyperbolic cosine", SMOOTH, EXPONENTIAL, "math.cosh",
        latex=r"\cosh", slope="sinh(x)", ufunc="cosh", at_zero="1", square="1 + sinh(x)**2",
        parity=EVEN, total=True, positive=True,
    ),
    Elementwise(
        "sinh", "the hyperbolic sine", SMOOTH, EXPONENTIAL, "math.sinh",
        latex=r"\sinh", slope="cosh(x)", ufunc="sinh", at_zero="0", parity=ODD, total=True,
        increasing=True,
    ),
    Elementwise(
        "softplus", "log(1 + exp(x))", SMOOTH, POWER, "_softplus",
        slope="sigmoid(x)", array=_softplus_of_array, at_zero="log(2)", total=True, positive=True, increasing=True,
        ends=(0, 1),
    ),
    Elementwise(
        "sigmoid", "1/(1 + exp(-x))", SMOOTH, POWER, "_sigmoid",
        slope="sigmoid(x) - sigmoid(x)**2", stated_slope="sigmoid(x)*sigmoid(-x)", array=_sigmoid_of_array,
        at_zero="1/2", total=True, positive=True, increasing=True, ends=(0, 0),
    ),
    Elementwise(
        "erf", "the error function", SMOOTH, POWER, "math.erf",
        slope="2*pi**(-1/2)*exp(-x**2)", at_zero="0", parity=ODD, total=True, increasing=True,
        ends=(0, 0),
    ),
    Elementwise(
        "ndtr", "P(z <= x), z of N(0, 1)", SMOOTH, POWER, "_ndtr",
        latex=r"\Phi", slope="(2*pi)**(-1/2)*exp(-x**2/2)", array=_ndtr_of_array, at_zero="1/2", total=True,
        positive=True, increasing=True, ends=(0, 0),
    ),
    Elementwise(
        "log_ndtr", "log P(z <= x), z of N(0, 1)", SMOOTH, POWER, "_log_ndtr",
        latex=r"\log\Phi", slope="inverse_mills(x)", array=_log_ndtr_of_array, at_zero="-log(2)", total=True,
        increasing=True, logarithm_of="ndtr(x)",
    ),
    Elementwise(
        "inverse_mills", "phi(x)/P(z <= x), z of N(0, 1) and phi its density", SMOOTH, POWER, "_inverse_mills",
        slope="-x*inverse_mills(x) - inverse_mills(x)**2", array=_inverse_mills_of_array,
        at_zero="2**(1/2)*pi**(-1/2)", total=True, positive=True, ends=(-1, 0),
    ),
    Elementwise(
        "gamma", "the gamma function", SMOOTH, FACTORIAL, "math.gamma",
        latex=r"\Gamma", slope="gamma(x)*digamma(x)",
    ),
    Elementwise(
        "loggamma", "the logarithm of the gamma function", SMOOTH, POWER, "math.lgamma",
        latex=r"\log\Gamma", slope="digamma(x)", tame=True,
    ),
    Elementwise(
        "digamma", "the derivative of loggamma", SMOOTH, POWER, "_digamma",
        latex=r"\psi", slope="trigamma(x)", array=_digamma_of_array, increasing=True, tame=True,
    ),
    Elementwise(
        "trigamma", "the second derivative of loggamma", SMOOTH, POWER, "_trigamma",
        latex=r"\psi_1", array=_trigamma_of_array, tame=True,
    ),
)  # fmt: skip

FUNCTIONS: Mapping[str, Elementwise] = {row.name: row for row in _ROWS}


def named(which: Callable[[Elementwise], bool]) -> frozenset[str]:
    """Return the names of the functions whose rows satisfy a condition."""
    return frozenset(row.name for row in _ROWS if which(row))


LOGARITHMS = named(lambda row: bool(row.logarithm_of))
