"""The noise of a step that was read: linear in its normals, its covariance that of W n, factors used as L n alone."""

import numpy as np
import pytest
import sympy as sp

from recipe_compiler.errors import CompilerError
from recipe_compiler.readback.next_state import Cuts
from recipe_compiler.readback.noise import covariance_of, symbolic, without_noise

n, m = sp.symbols("n m", real=True)
a, b, new = sp.symbols("a b new", real=True)
S = sp.Matrix([[2, a], [a, 3]])


@pytest.mark.parametrize("value", [n**2, sp.sqrt(n), sp.exp(a + n), n * m, 1 / (a + n), abs(n), sp.sqrt(n) * m])
def test_what_is_not_linear_in_normals_is_refused(value: sp.Expr) -> None:
    with pytest.raises(CompilerError, match="not linear in its noise"):
        covariance_of([value], [n, m], ())


def test_the_covariance_is_that_of_what_normals_are_multiplied_by() -> None:
    values = [a + new**2 + 2 * n, b * (n + a * m), sp.Integer(0)]
    found = covariance_of(values, [n, m], ())
    assert found == {(0, 0): 4, (0, 1): 2 * b, (1, 0): 2 * b, (1, 1): b**2 + a**2 * b**2}
    assert without_noise(values, [n, m]) == [a + new**2, 0, 0]


def test_a_factor_times_its_normals_stands_for_its_covariance() -> None:
    factor = symbolic(0, S)
    w = factor.entries @ np.array([n, m], object)
    found = covariance_of([b * w[0], w[0] - w[1]], [n, m], [factor])
    assert sp.SparseMatrix(2, 2, found).expand() == sp.Matrix([[2 * b**2, 2 * b - a * b], [2 * b - a * b, 5 - 2 * a]])


L = symbolic(0, S).entries
MISUSES = {
    "transposed": [L[0, 0] * n + L[1, 0] * m, L[0, 1] * n + L[1, 1] * m],
    "a column left out": [L[0, 0] * n, L[1, 0] * n],
    "a column twice": [L[0, 0] * n + L[0, 0] * m, L[1, 0] * n + L[1, 0] * m],
    "squared": [L[0, 0] ** 2 * n + L[0, 1] * m, L[1, 0] * n + L[1, 1] * m],
    "an entry scaled": [2 * L[0, 0] * n + L[0, 1] * m, L[1, 0] * n + L[1, 1] * m],
    "mixed with another normal": [L[0, 0] * n + L[0, 1] * m + n, L[1, 0] * n + L[1, 1] * m],
}


@pytest.mark.parametrize("name", MISUSES)
def test_a_factor_used_in_any_other_way_is_refused(name: str) -> None:
    with pytest.raises(CompilerError, match="factor of its noise"):
        covariance_of(MISUSES[name], [n, m], [symbolic(0, S)])


def test_what_is_written_over_is_put_in_where_it_was_read_meanwhile() -> None:
    cuts = Cuts()
    state = cuts.array([a, b])
    state[0] = state[0] + n
    state[1] = state[1] * state[0]
    state[0] = state[0] + 1
    (first, second), values = cuts.defined(state)
    assert values == (a + n + 1, b * (a + n))
    assert first != second
    assert {first, second}.isdisjoint(values[1].free_symbols)


def test_parts_of_an_array_are_cut_as_the_whole_is() -> None:
    cuts = Cuts()
    state = cuts.array([a, b, a, b])
    state[1:3][0] = n
    state[2:][:] = [m, n]
    symbols, values = cuts.defined(state)
    assert values == (a, n, m, n)
    assert len(set(symbols)) == 4
