"""The wrong samplers of specs/refuted: what they sample, against quadrature and the exact recursion of their steps."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import xarray
from command import ROOT, recipe
from scipy.integrate import quad

pytestmark = pytest.mark.slow
Density = Callable[[float], float]
WELLS = (
    ("standard_normal", "double_well"),
    ("sqrt(theta.T @ theta/2 + 1/2)", "sqrt(sqrt((theta[0]**4 - 2*theta[0]**2 + 1/2)**2 + 1/100))"),
    ("sizes: {d: 1}\n", ""),
)


def drawn(folder: Path, name: str, *changes: tuple[str, str]) -> xarray.DataTree:
    """Return the draws of a build of specs/refuted, its text changed, run as a negative control."""
    text = (ROOT / f"specs/refuted/{name}.yaml").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    text = text.replace("../", f"{ROOT}/specs/").replace("dynamics: s", f"dynamics: {ROOT}/specs/refuted/s")
    text = text.replace("dynamics: n", f"dynamics: {ROOT}/specs/refuted/n")
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    assert recipe("run", f"{name}.yaml", "--allow-refuted", folder=folder).code == 1
    return xarray.load_datatree(folder / f"runs/{name}.nc", engine="h5netcdf")


def shares(density: Density, edges: np.ndarray) -> np.ndarray:
    """Return the probabilities of the bins between edges, under a density up to a constant."""
    masses = np.array([quad(density, a, b)[0] for a, b in pairwise(edges)])
    return masses / masses.sum()


def normal(x: float) -> float:
    return x**2 / 2


def wells(x: float) -> float:
    return x**4 - 2 * x**2


NAIVE = {
    "normal": ((), normal, lambda x: np.sqrt(x**2 / 2 + 0.5), 0.0076),
    "wells": (WELLS, wells, lambda x: np.sqrt(np.hypot(wells(x) + 0.5, 0.1)), 0.0100),
}


@pytest.mark.parametrize("target", NAIVE)
def test_naive_riemannian_hmc_samples_exp_minus_u_over_k(tmp_path: Path, target: str) -> None:
    """K = k I, k^2 = 1.5 sqrt|U + 1/2|: its law is exp(-U)/k, whose KL distance to exp(-U) is that of E1."""
    changes, U, root, kl = NAIVE[target]
    edges = np.linspace(-4, 4, 161)
    truth = shares(lambda x: np.exp(-U(x)), edges)
    law = shares(lambda x: np.exp(-U(x)) / np.sqrt(1.5 * root(x)), edges)
    assert float(np.sum(law * np.log(law / truth))) == pytest.approx(kl, abs=6e-5)
    tree = drawn(tmp_path, "sgrhmc_naive_normal", *changes)
    draws = tree["posterior"]["theta"].to_numpy()[:, :, 0]
    below = np.array([[(own < edge).mean() for edge in edges[1:-1]] for own in draws])
    found, error = below.mean(axis=0), below.std(axis=0, ddof=1) / np.sqrt(len(below))
    seen = error > 1e-4
    assert seen.sum() > 60
    z = [np.abs(found - np.cumsum(own)[:-1])[seen] / error[seen] for own in (law, truth)]
    assert z[0].max() < 4.5
    assert z[1].max() > 8
    assert "log(" in tree.attrs["samples_instead"]


def test_naive_sghmc_gains_energy_without_end(tmp_path: Path) -> None:
    """S' = F S F' + Sigma of r' = r - eps (K theta + xi), theta' = theta + eps inv(M) r', from exp(-H) on."""
    eps, M = 0.05, np.array([[2, 0.5], [0.5, 1]])
    start, W = np.array([[1, -1 / 3], [-1 / 3, 1.5]]), np.array([[5.0, 2], [2, 3]])
    A, K, one = np.linalg.inv(M), np.linalg.inv(start), np.eye(2)
    kicked, G = np.hstack([-eps * K, one]), np.vstack([eps * A, one])
    F = np.vstack([np.hstack([one, 0 * one]) + eps * A @ kicked, kicked])
    S, expected = np.block([[start, 0 * one], [0 * one, M]]), []
    energies = []
    for step in range(1, 1001):
        S = F @ S @ F.T + eps**2 * G @ W @ G.T
        if step % 20 == 0:
            expected.append(S[:2, :2])
            energies.append(np.trace(K @ S[:2, :2]) / 2 + np.trace(A @ S[2:, 2:]) / 2)
    gain = (energies[-1] - energies[0]) / (980 * eps)
    assert gain == pytest.approx(eps * np.trace(A @ W) / 2, rel=0.05)
    draws = drawn(tmp_path, "sghmc_naive_normal", ("chains: 100", "chains: 1000"))["posterior"]["theta"].to_numpy()
    for k in (0, 24, 49):
        squares = np.einsum("ci,cj->cij", draws[:, k], draws[:, k])
        error = squares.std(axis=0) / np.sqrt(len(squares))
        assert np.all(np.abs(squares.mean(axis=0) - expected[k]) < 4.5 * error)
    assert expected[-1][0, 0] > 4 * start[0, 0]


def test_nose_poincare_has_another_marginal(tmp_path: Path) -> None:
    """Of exp(-H), p and q integrated out, exp(-s (theta^2/2 + log s)) is left: its tails fall like theta^-2."""

    def density(x: float) -> float:
        return quad(lambda s: np.exp(-s * (x**2 / 2 + np.log(s))), 0, 80, limit=200)[0]

    def beyond(a: float) -> float:
        far = quad(lambda u: density(1 / u) / u**2, 1e-7, 1 / 30, limit=400)[0]
        return quad(density, a, 30, limit=400)[0] + far

    tail = beyond(2) / beyond(0)
    assert tail == pytest.approx(0.29, abs=0.005)
    draws = drawn(tmp_path, "nose_poincare_normal")["posterior"]["theta"].to_numpy()[:, :, 0]
    assert len(draws) > 470
    by_chain = (np.abs(draws) > 2).mean(axis=1)
    error = by_chain.std(ddof=1) / np.sqrt(len(by_chain))
    assert abs(by_chain.mean() - tail) < 4 * error + 0.02  # chains that are lost were far out
    assert by_chain.mean() - 0.0455 > 10 * error
