"""Random builds with matrix values, and what is true of them: minors of rational matrices, by no code of the compiler.

SGHMC or SGLD with a linear regression in minibatches. Matrices are drawn near the edge of their kinds; parameters of
the dynamics get them as values, or are bound to formulas of new parameters that have them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Any

from flint import fmpq, fmpq_mat
from parts import Files, build

TARGET = {
    "name": "line",
    "state": {"theta": {"shape": "d"}},
    "data": {"x": {"shape": ["N", "d"]}, "y": {"shape": "N"}},
    "log_prior": "-theta.T @ theta / 2",
    "log_likelihood": "-(y - x @ theta)**2 / 2",
}
ROWS = "a,b,c,y\n1,0,2,1\n0,1,1,2\n1,1,0,3\n2,1,1,0\n1,2,3,1\n"
FORMULAS: dict[str, Callable[[fmpq_mat, fmpq_mat], Any]] = {
    "{0}": lambda A, one: A,
    "2*{0}": lambda A, one: 2 * A,
    "{0} + I": lambda A, one: A + one,
    "{0} - I": lambda A, one: A - one,
    "{0} @ {0}": lambda A, one: A * A,
    "-{0}": lambda A, one: -1 * A,
    "{0} @ {0}.T": lambda A, one: A * A.transpose(),
}
"""What a parameter is bound to, of a new one, and what that comes to."""


def is_semidefinite(A: fmpq_mat) -> bool:
    """Return whether A is symmetric, all its principal minors nonnegative."""
    at = [s for k in range(1, A.nrows() + 1) for s in combinations(range(A.nrows()), k)]
    return is_symmetric(A) and all(fmpq_mat([[A[i, j] for j in s] for i in s]).det() >= 0 for s in at)


def is_symmetric(A: fmpq_mat) -> bool:
    """Return whether A is its transpose."""
    return A.transpose() == A


def is_definite(A: fmpq_mat) -> bool:
    """Return whether A is symmetric and positive definite."""
    return is_semidefinite(A) and A.det() > 0


OF_KIND = {
    "positive definite": is_definite,
    "positive semidefinite": is_semidefinite,
    "symmetric": is_symmetric,
    "real": lambda A: True,
}


@dataclass(frozen=True)
class WildBuild:
    """A build and the matrices that its parameters come to."""

    dynamics: str
    stated: dict[str, tuple[str, fmpq_mat]]
    """Parameters to their kinds and values."""
    bound: dict[str, str]
    """Parameters of the dynamics and V, with their formulas."""
    values: dict[str, fmpq_mat]
    """What M, C, D and V come to."""
    step_size: fmpq

    def files(self) -> Files:
        """Return target, data and build."""
        d = self.values["V"].nrows()
        given = {p: formula for p, formula in self.bound.items() if p != "V"}
        kinds = {name: {"shape": ["d", "d"], "is": kind} if kind else {} for name, (kind, _) in self.stated.items()}
        whole = build(
            "wild_build", self.dynamics,
            **({"bind": given} if given else {}),
            parameters={name: {**kinds[name], "value": A.tolist()} for name, (_, A) in self.stated.items()},
            scheme={"name": "euler"}, variant="minibatch", gradient_noise={"V": self.bound["V"]}, sizes={"d": d},
            data={"file": "rows.csv", "x": list("abc"[:d]), "y": "y"},
            run={"step_size": self.step_size, "batch_size": 2},
        )  # fmt: skip
        return {"target.yaml": TARGET, "rows.csv": ROWS, "build.yaml": whole}

    def wrong(self) -> set[str]:
        """Return the claims that fail; `fault` for a stated kind that a value does not have."""
        V, noise = self.values["V"], self.values["C" if self.dynamics == "sghmc" else "D"]
        taken = V if self.dynamics == "sghmc" else noise * V * noise.transpose()
        kinds = {"M": is_definite, "C": is_semidefinite, "D": is_semidefinite}
        unfit = {p for p, A in self.values.items() if p != "V" and not kinds[p](A)}
        unlike = any(kind and not OF_KIND[kind](A) for kind, A in self.stated.values())
        fails = {
            "bindings": bool(unfit - {*self.stated}),
            "fault": unlike or bool(unfit & {*self.stated}),
            "gradient_noise": not is_semidefinite(V),
            "noise_budget": not is_semidefinite(2 * noise - self.step_size * taken),
            "d_psd": not is_semidefinite(noise),
            "d_symmetric": not is_symmetric(noise),
        }
        return {claim for claim, failing in fails.items() if failing}


def wild_build(random: Random) -> WildBuild:
    """Return a random build."""
    dynamics, d = random.choice(("sghmc", "sgld")), random.choice((1, 2, 2, 2, 3))
    made = WildBuild(dynamics, {}, {}, {}, fmpq(0))
    for p in (*(("M", "C") if dynamics == "sghmc" else ("D",)), "V"):
        A = _matrix(random, d)
        if p != "V" and random.random() < 0.3:  # the parameter's own value
            made.stated[p], made.values[p] = ("", A), A
            continue
        formula = random.choice([*FORMULAS]) if random.random() < 0.5 else "{0}"
        if random.random() < 0.9:
            kind = next((k for k in random.sample([*OF_KIND], len(OF_KIND)) if OF_KIND[k](A)), "real")
        else:
            kind = "symmetric"
        made.stated[f"{p}0"], made.bound[p] = (kind, A), formula.format(f"{p}0")
        made.values[p] = FORMULAS[formula](A, _unit(d))
    steps = [fmpq(*pair) for pair in ((1, 2), (2, 3), (1, 1), (1, 10), (2, 7))]
    return WildBuild(dynamics, made.stated, made.bound, made.values, random.choice(steps))


def _unit(d: int) -> fmpq_mat:
    return fmpq_mat([[int(i == j) for j in range(d)] for i in range(d)])


def _matrix(random: Random, d: int) -> fmpq_mat:
    """Return a matrix near the edge of positive semidefinite: L L.T, often singular, sometimes changed in one place."""
    numbers = tuple(map(fmpq, ("0", "1", "-1", "2", "1/2", "-1/3")))
    L = [[random.choice(numbers) for _ in range(random.choice((d, d, max(1, d - 1))))] for _ in range(d)]
    width = min(map(len, L))
    lower = fmpq_mat([row[:width] for row in L])
    A: Any = lower * lower.transpose()
    if random.random() < 0.6:
        A += _unit(d)
    if random.random() < 0.35:
        i, j = random.randrange(d), random.randrange(d)
        change = random.choice((fmpq(-1), fmpq(1, 10), fmpq(-2), fmpq(-1, 1000)))
        A[i, j] += change
        if i != j and random.random() < 0.7:
            A[j, i] += change
    return A
