"""Windows of pilot chains: a step at which chains run off is halved, also where they are finite still."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from recipe_compiler.advise.bulk import first_guess, learnt
from recipe_compiler.advise.metric import Metric, matched_metric
from recipe_compiler.advise.pilots import Settings
from recipe_compiler.advise.roles import Open, ParameterRole
from recipe_compiler.errors import RunError
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.shapes import Shape

K = np.array([[4.0, 1.2], [1.2, 1.0]])
MASS = (Open(Parameter("M", Shape("d", "d")), ParameterRole.MASS),)
BOTH = (*MASS, Open(Parameter("C", Shape("d", "d")), ParameterRole.FRICTION))


@dataclass
class Walks:
    """Chains that draw from N(0, inv(K)), but run off towards infinity where eps is above a limit."""

    limit: float
    away: float
    entries: float = 30.0
    damping: float = 1.0
    tried: list[float] = field(default_factory=list)
    frictions: list[np.ndarray] = field(default_factory=list)

    def metric(self, open_ones: tuple[Open, ...]) -> Metric:
        return matched_metric(open_ones)

    def walked(self, theta: np.ndarray, settings: Settings, draws: int, seed: int) -> np.ndarray:
        self.tried.append(settings.eps)
        if "C" in settings.values:
            self.frictions.append(settings.values["C"] @ np.linalg.inv(settings.values["M"]))
        root = np.linalg.cholesky(np.linalg.inv(K))
        found = np.random.default_rng(seed).standard_normal((len(theta), draws, 2)) @ root.T
        if settings.eps > self.limit:
            found[3, draws // 2 :] = self.away
        return found


def slope(theta: np.ndarray) -> np.ndarray:
    return K @ theta


@pytest.mark.slow
@pytest.mark.parametrize("away", [1e36, 1e5, np.inf, np.nan])
def test_a_step_at_which_a_chain_runs_off_is_halved(away: float) -> None:
    walks = Walks(limit=0.5, away=away)
    bulk = learnt(slope, walks, MASS, first_guess(slope, (np.zeros(2),)))
    assert walks.tried[0] > 0.5 >= walks.tried[1] == walks.tried[0] / 2.0
    np.testing.assert_allclose(bulk.covariance, np.linalg.inv(K), atol=0.1)


def test_chains_that_run_off_at_every_step_are_refused() -> None:
    with pytest.raises(RunError, match="pilot chains diverge at every step size, at last"):
        learnt(slope, Walks(limit=0.0, away=1e36), MASS, first_guess(slope, (np.zeros(2),)))


@pytest.mark.slow
@pytest.mark.parametrize("damping", [1.0, 8.0])
def test_friction_is_what_the_audit_chose_beside_the_mass_of_the_bulk(damping: float) -> None:
    walks = Walks(limit=np.inf, away=0.0, damping=damping)
    learnt(slope, walks, BOTH, first_guess(slope, (np.zeros(2),)))
    assert walks.frictions
    for friction in walks.frictions:
        np.testing.assert_allclose(friction, damping * np.eye(2), atol=1e-9)
