"""Random builds with matrix values, and what is true of them: minors of rational matrices, by no code of the compiler.

SGHMC or SGLD with a linear regression in minibatches. Matrices are drawn near the edge of their kinds; parameters of
the dynamics get them as values, or are bound to formulas of new parameters that have them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random

SPECS = Path(__file__).parents[2] / "specs"
TARGET = """name: line
state:
  theta: {shape: d}
data:
  x: {shape: [N, d]}
  y: {shape: N}
log_prior: -theta.T @ theta / 2
log_likelihood: -(y - x @ theta)**2 / 2
"""
ROWS = "a,b,c,y\n1,0,2,1\n0,1,1,2\n1,1,0,3\n2,1,1,0\n1,2,3,1\n"
FORMULAS = ("{0}", "2*{0}", "{0} + I", "{0} - I", "{0} @ {0}", "-{0}", "{0} @ {0}.T")
"""What a parameter is bound to, of a new one."""

ZERO = Fraction(0)
Matrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class WildBuild:
    """A build and the matrices that its parameters come to."""

    dynamics: str
    stated: tuple[tuple[str, str, Matrix], ...]
    """New parameters: name, kind, value."""
    bound: tuple[tuple[str, str], ...]
    """Parameters of the dynamics and V, with their formulas."""
    values: dict[str, Matrix]
    """What M, C, D and V come to."""
    step_size: Fraction

    @property
    def d(self) -> int:
        """The size of theta."""
        return len(self.values["V"])

    def write(self, folder: Path) -> Path:
        """Write target, data and build; return the build."""
        (folder / "line.yaml").write_text(TARGET, encoding="utf-8")
        (folder / "rows.csv").write_text(ROWS, encoding="utf-8")
        lines = ["name: wild_build", f"dynamics: {SPECS}/dynamics/{self.dynamics}.yaml", "target: line.yaml"]
        given = [(p, formula) for p, formula in self.bound if p != "V"]
        lines += ["bind:", *(f'  {p}: "{formula}"' for p, formula in given)] if given else []
        lines += ["parameters:", *(self._stated(*row) for row in self.stated)] if self.stated else []
        lines += ["scheme: {name: euler}", "variant: minibatch", f'gradient_noise: {{V: "{dict(self.bound)["V"]}"}}']
        columns = ", ".join("abc"[: self.d])
        lines += [f"sizes: {{d: {self.d}}}", f"data: {{file: rows.csv, x: [{columns}], y: y}}"]
        lines += [f"run: {{step_size: {self.step_size}, batch_size: 2}}", ""]
        path = folder / "build.yaml"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    def _stated(self, name: str, kind: str, matrix: Matrix) -> str:
        rows = ", ".join(f"[{', '.join(map(str, row))}]" for row in matrix)
        kinds = f"shape: [d, d], is: {kind}, " if kind else ""
        return f"  {name}: {{{kinds}value: [{rows}]}}"

    def wrong(self) -> set[str]:
        """Return the claims that fail; `fault` for a stated kind that a value does not have."""
        kinds = {"M": definite, "C": semidefinite, "D": semidefinite}
        ours = {name for name, _, _ in self.stated}
        unfit = {p for p, A in self.values.items() if p != "V" and not kinds[p](A)}
        found = {"bindings"} if unfit - ours else set[str]()
        if unfit & ours or any(kind and not OF_KIND[kind](A) for _, kind, A in self.stated):
            found.add("fault")
        V = self.values["V"]
        if not semidefinite(V):
            found.add("gradient_noise")
        noise = self.values["C" if self.dynamics == "sghmc" else "D"]
        taken = V if self.dynamics == "sghmc" else times(noise, times(V, turned(noise)))
        if not semidefinite(minus(scaled(2, noise), scaled(self.step_size, taken))):
            found.add("noise_budget")
        if not semidefinite(noise):
            found.add("d_psd")
        if noise != turned(noise):
            found.add("d_symmetric")
        return found


def wild_build(random: Random) -> WildBuild:
    """Return a random build."""
    dynamics, d = random.choice(("sghmc", "sgld")), random.choice((1, 2, 2, 2, 3))
    stated: list[tuple[str, str, Matrix]] = []
    bound: list[tuple[str, str]] = []
    values: dict[str, Matrix] = {}
    for p in (*(("M", "C") if dynamics == "sghmc" else ("D",)), "V"):
        A = _matrix(random, d)
        if p != "V" and random.random() < 0.3:  # the parameter's own value
            stated.append((p, "", A))
            values[p] = A
            continue
        formula = random.choice(FORMULAS) if random.random() < 0.5 else "{0}"
        kind = next((k for k in _shuffled(random) if OF_KIND[k](A)), "real") if random.random() < 0.9 else "symmetric"
        stated.append((f"{p}0", kind, A))
        bound.append((p, formula.format(f"{p}0")))
        values[p] = _of(formula, A)
    steps = (Fraction(1, 2), Fraction(2, 3), Fraction(1), Fraction(1, 10), Fraction(2, 7))
    return WildBuild(dynamics, tuple(stated), tuple(bound), values, random.choice(steps))


def _shuffled(random: Random) -> list[str]:
    return random.sample(list(OF_KIND), len(OF_KIND))


def _matrix(random: Random, d: int) -> Matrix:
    """Return a matrix near the edge of positive semidefinite: L L.T, often singular, sometimes changed in one place."""
    numbers = tuple(map(Fraction, ("0", "1", "-1", "2", "1/2", "-1/3")))
    L = tuple(tuple(random.choice(numbers) for _ in range(random.choice((d, d, max(1, d - 1))))) for _ in range(d))
    width = min(map(len, L))
    L = tuple(row[:width] for row in L)
    A = [list(row) for row in times(L, turned(L))]
    if random.random() < 0.6:
        A = [[x + Fraction(int(i == j)) for j, x in enumerate(row)] for i, row in enumerate(A)]
    if random.random() < 0.35:
        i, j = random.randrange(d), random.randrange(d)
        change = random.choice((Fraction(-1), Fraction(1, 10), Fraction(-2), Fraction(-1, 1000)))
        A[i][j] += change
        if i != j and random.random() < 0.7:
            A[j][i] += change
    return tuple(map(tuple, A))


def _of(formula: str, A: Matrix) -> Matrix:
    unit = tuple(tuple(Fraction(int(i == j)) for j in range(len(A))) for i in range(len(A)))
    return {
        "{0}": A,
        "2*{0}": scaled(2, A),
        "{0} + I": minus(A, scaled(-1, unit)),
        "{0} - I": minus(A, unit),
        "{0} @ {0}": times(A, A),
        "-{0}": scaled(-1, A),
        "{0} @ {0}.T": times(A, turned(A)),
    }[formula]


def turned(A: Matrix) -> Matrix:
    """Return the transpose."""
    return tuple(zip(*A, strict=True))


def times(A: Matrix, B: Matrix) -> Matrix:
    """Return A B."""
    columns = turned(B)
    return tuple(
        tuple(sum((x * y for x, y in zip(row, col, strict=True)), Fraction(0)) for col in columns) for row in A
    )


def scaled(c: int | Fraction, A: Matrix) -> Matrix:
    """Return c A."""
    return tuple(tuple(c * x for x in row) for row in A)


def minus(A: Matrix, B: Matrix) -> Matrix:
    """Return A - B."""
    return tuple(tuple(x - y for x, y in zip(*rows, strict=True)) for rows in zip(A, B, strict=True))


def determinant(A: Sequence[Sequence[Fraction]]) -> Fraction:
    """Return det A, by the first row."""
    if not A:
        return Fraction(1)
    return sum(
        ((-1) ** j * x * determinant([[*row[:j], *row[j + 1 :]] for row in A[1:]]) for j, x in enumerate(A[0])),
        Fraction(0),
    )


def _minors(A: Matrix) -> list[Fraction]:
    at = [s for k in range(1, len(A) + 1) for s in combinations(range(len(A)), k)]
    return [determinant([[A[i][j] for j in s] for i in s]) for s in at]


def symmetric(A: Matrix) -> bool:
    """Return whether A is its transpose."""
    return turned(A) == A


def semidefinite(A: Matrix) -> bool:
    """Return whether A is symmetric, all its principal minors nonnegative."""
    return symmetric(A) and all(minor >= 0 for minor in _minors(A))


def definite(A: Matrix) -> bool:
    """Return whether A is symmetric and positive definite."""
    return semidefinite(A) and determinant(A) > 0


OF_KIND = {
    "positive definite": definite,
    "positive semidefinite": semidefinite,
    "symmetric": symmetric,
    "real": lambda A: True,
}
