"""Matrices whose positive semidefiniteness is known: true ones of every difficulty, and ones that fail in a corner.

Each is a document of the spec language: D over n scalar blocks, everything else declared as parameters.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from loaders import load_dynamics

from recipe_compiler.spec.model import Dynamics

MOTZKIN = "x**4*y**2 + x**2*y**4 - 3*x**2*y**2 + 1"


@dataclass(frozen=True, slots=True)
class Matrix:
    """D as rows of formulas in declared names; `proved`: whether it is positive semidefinite."""

    name: str
    rows: tuple[tuple[str, ...], ...]
    proved: bool
    positive: str = ""
    """Names of parameters that are positive; all other names in `real`."""
    real: str = ""
    assume: tuple[str, ...] = ()
    state: str = ""
    """The state written out, where it is not n real scalar blocks."""

    @property
    def document(self) -> str:
        """The document as text."""
        n = len(self.rows)
        state = self.state or ", ".join(f"z{k}: {{}}" for k in range(n))
        names = [f"{x}: {{is: positive}}" for x in self.positive.split()] + [f"{x}: {{}}" for x in self.real.split()]
        parameters = f"parameters: {{{', '.join(names)}}}\n" if names else ""
        assume = f"assume: [{', '.join(repr(a) for a in self.assume)}]\n" if self.assume else ""
        D = ", ".join("[" + ", ".join(f'"{x}"' for x in row) + "]" for row in self.rows)
        Q = ", ".join("[" + ", ".join("0" for _ in row) + "]" for row in self.rows)
        return f"name: corpus\nstate: {{{state}}}\n{parameters}{assume}H: 0\nD: [{D}]\nQ: [{Q}]\n"

    def load(self) -> Dynamics:
        """Return the document, read."""
        return read(self.document)


def read(document: str) -> Dynamics:
    """Return a document given as text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.yaml"
        path.write_text(document, encoding="utf-8")
        return load_dynamics(path)


def diagonal(*entries: str) -> tuple[tuple[str, ...], ...]:
    """Return a diagonal matrix."""
    return tuple(tuple(x if i == j else "0" for j in range(len(entries))) for i, x in enumerate(entries))


def gram(b: list[list[str]], plus: int = 0) -> tuple[tuple[str, ...], ...]:
    """Return B B.T + plus * I, entry by entry, not multiplied out."""
    return tuple(
        tuple(
            " + ".join(f"({x})*({y})" for x, y in zip(p, q, strict=True)) + (f" + {plus}" if plus and i == j else "")
            for j, q in enumerate(b)
        )
        for i, p in enumerate(b)
    )


def thin(n: int) -> tuple[tuple[str, ...], ...]:
    """Return B B.T + I with Gram matrices that have no interior."""
    b = [[f"{i + 1}*x**{(i + j) % 3} + ({j - i})*y + {(i * j) % 3}" for j in range(n)] for i in range(n)]
    return gram(b, 1)


GENERIC = [["a1", "a2", "a3"], ["a4", "a5", "a6"], ["a7", "a8", "a9"]]
QUARTIC_ROOT = [["1 + x", "y", "x*y"], ["x - y", "2", "x**2"], ["0", "y + 1", "1"]]

TRUE = (
    Matrix("positive constant", (("A",),), True, "A"),
    Matrix("positive diagonal", diagonal("a", "b"), True, "a b"),
    Matrix("rank one", (("1", "x"), ("x", "x**2")), True, real="x"),
    Matrix("A A.T, nine unknowns", gram(GENERIC), True, real=" ".join(f"a{k}" for k in range(1, 10))),
    Matrix("1 + x**2", (("1 + x**2", "x"), ("x", "1")), True, real="x"),
    Matrix("quartic", (("x**4 + 1", "x**2*y"), ("x**2*y", "y**2 + 1")), True, real="x y"),
    Matrix(
        "rational with correlation",
        (("1/(1 + x**2)", "rho/(1 + x**2)"), ("rho/(1 + x**2)", "1/(1 + x**2)")),
        True,
        real="x rho",
        assume=("1 - rho**2 >= 0",),
    ),
    Matrix("singular exponentials", (("exp(x)", "1"), ("1", "exp(-x)")), True, real="x"),
    Matrix("square roots", (("sqrt(1 + x**2)", "x"), ("x", "sqrt(1 + x**2)")), True, real="x"),
    Matrix("absolute values", (("abs(x)", "x"), ("x", "abs(x)")), True, real="x"),
    Matrix("root of an absolute value", (("3/2*sqrt(abs(x**4 - 2*x**2 + 1/2))",),), True, real="x"),
    Matrix(
        "multinomial, two",
        (("p - p**2", "-p*q"), ("-p*q", "q - q**2")),
        True,
        "p q",
        assume=("1 - p - q >= 0",),
    ),
    Matrix(
        "multinomial, three",
        (("p - p**2", "-p*q", "-p*r"), ("-p*q", "q - q**2", "-q*r"), ("-p*r", "-q*r", "r - r**2")),
        True,
        "p q r",
        assume=("1 - p - q - r >= 0",),
    ),
    Matrix(
        "Wright and Fisher", (("a - a**2/(a + b)", "-a*b/(a + b)"), ("-a*b/(a + b)", "b - b**2/(a + b)")), True, "a b"
    ),
    Matrix("Motzkin, no sum of squares", diagonal(MOTZKIN, "1"), True, real="x y"),
    Matrix(
        "Choi, no sum of squares",
        (("x**2 + 2*z**2", "-x*y", "-x*z"), ("-x*y", "y**2 + 2*x**2", "-y*z"), ("-x*z", "-y*z", "z**2 + 2*y**2")),
        True,
        real="x y z",
    ),
    Matrix("sine", (("2", "sin(x)"), ("sin(x)", "1")), True, real="x"),
    Matrix(
        "correlated roots",
        (("a", "rho*sqrt(a*b)"), ("rho*sqrt(a*b)", "b")),
        True,
        "a b",
        "rho",
        assume=("1 - rho**2 >= 0",),
    ),
    Matrix("B B.T of degree 4", gram(QUARTIC_ROOT), True, real="x y"),
    Matrix("exp above its tangent", (("exp(x) - 1 - x",),), True, real="x"),
    Matrix("1e-6 from singular", (("1", "x"), ("x", "x**2 + 1/1000000")), True, real="x"),
    Matrix("on |x| <= 1 only", (("2 - x**2", "x"), ("x", "2 - x**2")), True, real="x", assume=("1 - x**2 >= 0",)),
)

FALSE = (
    Matrix("fails for |x| > 1", (("1", "x"), ("x", "1")), False, real="x"),
    Matrix("small disc", diagonal("(x - 1)**2 + (y - 2)**2 - 1/1000", "1"), False, real="x y"),
    Matrix("thin interval", (("1", "x"), ("x", "x**2 + (x - 3)**2 - 1/1000000")), False, real="x"),
    Matrix("zero leading minors", (("0", "0"), ("0", "-1")), False),
    Matrix("zero diagonal", (("0", "1"), ("1", "x")), False, real="x"),
    Matrix("real diagonal", diagonal("x", "1"), False, real="x"),
    Matrix("not symmetric", (("0", "sqrt(s)*B"), ("A", "0")), False, "s A B"),
    Matrix("noise over budget", (("2*c - e*b", "-e*u"), ("-e*u", "2*k - e*v")), False, "c k e b v", "u"),
    Matrix("exp under its tangent", (("exp(x) - 1 - x - 1/100",),), False, real="x"),
    Matrix("far needle", (("(x - 1000)**2*10000 + (y + 777)**2 - 1/10",),), False, real="x y"),
)

THIN = tuple(Matrix(f"B B.T + I, {n} rows", thin(n), True, real="x y") for n in range(2, 7))
"""Outside the corpus of 32: sums of squares whose Gram matrices lie on a thin face."""

CORPUS = (*TRUE, *FALSE)
