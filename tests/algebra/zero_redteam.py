"""True identities, near-misses that must not be called zero, and large residuals of right samplers."""

from collections.abc import Callable, Iterator

import sympy
from sympy import Abs, Expr, Rational, cos, exp, gamma, log, sign, sin, sqrt, symbols, tan, tanh

from recipe_compiler.algebra.dynamics.system import System, drift, residual
from recipe_compiler.algebra.scalars.matrices import Rows

x, y = symbols("x y", positive=True)
u, v, a, b, c = symbols("u v a b c", real=True)
PERTURBATION = Rational(1, 10**30)

IDENTITIES: dict[str, Expr] = {
    "log(xy) - log x - log y": log(x * y) - log(x) - log(y),
    "sqrt x sqrt y - sqrt(xy)": sympy.Mul(sqrt(x), sqrt(y), evaluate=False) - sqrt(x * y),
    "exp(log x/2) - sqrt x": exp(log(x) / 2) - sqrt(x),
    "sqrt(u^2) - |u|": sqrt(u**2) - Abs(u),
    "sqrt((1 + u^2)^2) - 1 - u^2": sqrt((1 + u**2) ** 2) - (1 + u**2),
    "sqrt(1 + 2x + x^2) - 1 - x": sqrt(1 + 2 * x + x**2) - 1 - x,
    "sqrt(1 + 2u + u^2) - |1 + u|": sqrt(1 + 2 * u + u**2) - Abs(1 + u),
    "sin^2 + cos^2 - 1": sin(u) ** 2 + cos(u) ** 2 - 1,
    "sin 2u - 2 sin u cos u": sin(2 * u) - 2 * sin(u) * cos(u),
    "cos(u + v) - cos cos + sin sin": cos(u + v) - cos(u) * cos(v) + sin(u) * sin(v),
    "tan 2u - 2 tan/(1 - tan^2)": tan(2 * u) - 2 * tan(u) / (1 - tan(u) ** 2),
    "tanh by exponentials": tanh(u) - (exp(u) - exp(-u)) / (exp(u) + exp(-u)),
    "sqrt(3 + 2 sqrt 2) - 1 - sqrt 2": sqrt(3 + 2 * sqrt(2)) - 1 - sqrt(2),
    "x^a x^b - x^(a+b)": x**a * x**b - x ** (a + b),
    "|u|^2 - u^2": Abs(u) ** 2 - u**2,
    "|uv| - |u||v|": Abs(u * v) - Abs(u) * Abs(v),
    "sign(u)|u| - u": sign(u) * Abs(u) - u,
    "exp(u + v) - exp u exp v": exp(u + v) - exp(u) * exp(v),
    "sqrt(exp u) - exp(u/2)": sqrt(exp(u)) - exp(u / 2),
    "atan x + atan 1/x - pi/2": sympy.atan(x) + sympy.atan(1 / x) - sympy.pi / 2,
    "gamma(x + 1) - x gamma x": gamma(x + 1) - x * gamma(x),
    "erf is odd": sympy.erf(u) + sympy.erf(-u),
    "sqrt(x)^3 - x sqrt x": sqrt(x) ** 3 - x * sqrt(x),
    "x^(1/4)^2 - sqrt x": (x ** Rational(1, 4)) ** 2 - sqrt(x),
    "softplus: log(1 + e^u) - u - log(1 + e^-u)": log(1 + exp(u)) - u - log(1 + exp(-u)),
    "sqrt(a + b/c^2)|c| - sqrt(a c^2 + b)": sqrt(a + b / c**2) * Abs(c) - sqrt(a * c**2 + b),
}
"""Identities that hold wherever both sides are defined."""

FALSE: dict[str, Expr] = {
    "pi - 22/7": sympy.pi - Rational(22, 7),
    "1e-30": x**2 - x**2 + PERTURBATION,
    "1e-12 exp(-x)": Rational(1, 10**12) * exp(-x),
    "|u| - u": Abs(u) - u,
    "sqrt(u^2) - u": sqrt(u**2) - u,
    "sqrt(1 + 2u + u^2) - 1 - u": sqrt(1 + 2 * u + u**2) - 1 - u,
    "log u^2 - 2 log|u| + 1e-30 u": log(u**2) - 2 * log(Abs(u)) + PERTURBATION * u,
    "|u + v| - |u| - |v|": Abs(u + v) - Abs(u) - Abs(v),
    "sign(uv) - sign u": sign(u * v) - sign(u),
    "sin 3u - 3 sin u": sin(3 * u) - 3 * sin(u),
    "sqrt(a + b/c^2) c - sqrt(a c^2 + b)": sqrt(a + b / c**2) * c - sqrt(a * c**2 + b),
}
"""Not zero: perturbations of 1e-30, identities of one sign only, wrong branches."""


def near_misses() -> Iterator[tuple[str, Expr]]:
    """Yield every identity with a perturbation of 1e-30, and the false ones."""
    yield from FALSE.items()
    for name, identity in IDENTITIES.items():
        yield f"{name} + 1e-30", identity + PERTURBATION
        yield f"{name} + 1e-30 (1 + u^2)", identity + PERTURBATION * (1 + u**2)


def rational_metric(d: int) -> Expr:
    """Return the residual of SGRLD with a dense rational metric and a correlated target."""
    t = symbols(f"t1:{d + 1}", real=True)
    q = 1 + sum(s**2 for s in t)
    U = sum((t[i] - t[i - 1] ** 2) ** 2 for i in range(d)) + log(q)
    D = tuple(tuple((1 if i == j else 0) / q + t[i] * t[j] / q**2 for j in range(d)) for i in range(d))
    return _residual(System(t, U, D, _zeros(d)))


def exponential_metric(d: int) -> Expr:
    """Return the residual of SGRLD with a dense metric of exponentials."""
    t = symbols(f"t1:{d + 1}", real=True)
    s = sum(exp(z) for z in t)
    U = log(s) + sum(z**2 for z in t)
    D = tuple(tuple((exp(-t[i]) / s if i == j else 0) + exp(2 * t[0]) for j in range(d)) for i in range(d))
    return _residual(System(t, U, D, _zeros(d)))


def root_metric(d: int) -> Expr:
    """Return the residual of SGRHMC with G^(-1/2) = diag(sqrt(theta))."""
    t, r = symbols(f"t1:{d + 1}", positive=True), symbols(f"r1:{d + 1}", real=True)
    H = sum(s - log(s) / 3 for s in t) + log(1 + sum(t)) + sum(s**2 for s in r) / 2
    return _residual(_hamiltonian(t, r, H, [sqrt(s) for s in t]))


def potential_metric(U: Callable[[Expr], Expr]) -> Expr:
    """Return the residual of SGRHMC with G^(-1) = 3/2 sqrt|U + 1/2| in one dimension."""
    t, r = symbols("t r", real=True)
    K = sqrt(Rational(3, 2) * sqrt(Abs(U(t) + Rational(1, 2))))
    return _residual(_hamiltonian((t,), (r,), U(t) + r**2 / 2, [K]))


RESIDUALS: dict[str, Callable[[], Expr]] = {
    **{f"SGRLD, dense rational metric, d = {d}": lambda d=d: rational_metric(d) for d in (2, 5, 10)},
    **{f"SGRHMC, root metric, d = {d}": lambda d=d: root_metric(d) for d in (1, 3, 10)},
    "SGRHMC, potential metric, t^4 - 2 t^2": lambda: potential_metric(lambda t: t**4 - 2 * t**2),
    "SGRHMC, potential metric, t^2/2": lambda: potential_metric(lambda t: t**2 / 2),
    **{f"SGRLD, metric of exponentials, d = {d}": lambda d=d: exponential_metric(d) for d in (2, 6)},
}
"""Residuals of right samplers, by name."""


def _residual(s: System) -> Expr:
    return residual(s, drift(s))


def _zeros(d: int) -> Rows:
    return tuple(tuple(sympy.Integer(0) for _ in range(d)) for _ in range(d))


def _hamiltonian(t: tuple[sympy.Symbol, ...], r: tuple[sympy.Symbol, ...], H: Expr, K: list[Expr]) -> System:
    """Return SGRHMC with a diagonal K: D_rr = K^2, Q = [[0, -K], [K, 0]]."""
    d = len(t)
    zero = sympy.Integer(0)
    D = tuple(tuple(K[i - d] ** 2 if i == j >= d else zero for j in range(2 * d)) for i in range(2 * d))
    Q = tuple(tuple(-K[i] if j == i + d else K[j] if i == j + d else zero for j in range(2 * d)) for i in range(2 * d))
    return System((*t, *r), H, D, Q)
