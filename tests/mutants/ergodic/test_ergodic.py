"""What is said to be stationary beside exp(-H) is so, by plain SymPy; where noise reaches everything, it is not."""

from collections.abc import Callable
from pathlib import Path

import pytest
import sympy
from loaders import load_build, load_dynamics
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.points.witness import points
from recipe_compiler.spec.bind import bind
from recipe_compiler.verdict import Verdict
from recipe_compiler.verify.builds.unique import unique_in
from recipe_compiler.verify.core.subject import Subject, subject_of

HERE = Path(__file__).parent


def subject(path: Path) -> Subject:
    return subject_of(load_dynamics(path))


def other_residual(about: Subject, kept: Callable[[sympy.Expr, tuple[sympy.Symbol, ...]], sympy.Expr]) -> sympy.Expr:
    """The Fokker-Planck residual of exp(-H)/(1 + F**2) at an exact point, by plain SymPy at d = 2."""
    sizes = next(sizes for sizes in about.sizes if all(n == 2 for n in sizes.values()))
    s = about.system(sizes)
    at = list(points(about.dynamics.declarations, sizes, 20))[-1]
    state = {x: at.numbers[x] for x in s.z}
    numbers = {k: sympy.Rational(v.numerator, v.denominator) for k, v in at.numbers.items() if k not in state}

    def concrete(e: sympy.Expr) -> sympy.Expr:
        calls = {call: at.fields[type(call).__name__] for call in e.atoms(AppliedUndef)}
        return e.xreplace(calls).doit().xreplace(numbers)

    H, n = concrete(s.H), range(len(s.z))
    D, Q = ([[concrete(matrix[i][j]) for j in n] for i in n] for matrix in (s.D, s.Q))
    q = sympy.exp(-H) / (1 + kept(H, s.z) ** 2)
    f = [
        sum(-(D[i][j] + Q[i][j]) * sympy.diff(H, s.z[j]) + sympy.diff(D[i][j] + Q[i][j], s.z[j]) for j in n) for i in n
    ]
    residual = sum(-sympy.diff(f[i] * q, s.z[i]) for i in n)
    residual += sum(sympy.diff(D[i][j] * q, s.z[i], s.z[j]) for i in n for j in n)
    values = {x: sympy.Rational(v.numerator, v.denominator) for x, v in state.items()}
    return sympy.nsimplify((residual / sympy.exp(-H)).subs(values).simplify())


def energy(H: sympy.Expr, z: tuple[sympy.Symbol, ...]) -> sympy.Expr:
    del z
    return H


def energy_without(name: str) -> Callable[[sympy.Expr, tuple[sympy.Symbol, ...]], sympy.Expr]:
    return lambda H, z: H.subs({x: 0 for x in z if str(x).startswith(name)})


@pytest.mark.slow
def test_what_is_said_to_be_stationary_is_so() -> None:
    assert other_residual(subject(HERE / "hmc.yaml"), energy) == 0
    assert other_residual(subject(HERE / "uncoupled.yaml"), energy_without("w")) == 0
    assert other_residual(subject(HERE / "frozen_direction.yaml"), lambda H, z: z[1] - z[0]) == 0
    assert other_residual(subject(HERE / "at_rest.yaml"), lambda H, z: z[-1] ** 2 / 2) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sghmc", "sgnht_mass", "langevin_with_memory", "tied_noise", "circle"])
def test_where_noise_reaches_everything_energy_is_not_kept(name: str) -> None:
    assert other_residual(subject(HERE / "controls" / f"{name}.yaml"), energy) != 0


def test_leapfrog_by_itself_has_other_laws() -> None:
    build = load_build(HERE.parents[2] / "specs/builds/hmc_gaussian_leapfrog.yaml")
    assert unique_in(build, bind(build)).verdict is Verdict.REFUTED
