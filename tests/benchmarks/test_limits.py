"""The C limit does the work that it is a limit of, whatever compiles it."""

import math
import shutil

import limits
import numpy as np
import pytest
from workloads import w3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clang", "gcc"])
def test_a_gradient_in_c_is_that_of_numpy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [path for k in ("", *(f"-{n}" for n in range(40, 11, -1))) if (path := shutil.which(f"{name}{k}"))]
    if not found:
        pytest.skip(f"no {name} on this machine")
    monkeypatch.setattr(limits, "compiler", lambda: found[0])
    rng = np.random.default_rng(1)
    x, y, theta, grad = limits.aligned(1003, 100), rng.random(1003), rng.standard_normal(100), limits.aligned(100)
    np.copyto(x, rng.standard_normal(x.shape))
    monkeypatch.setattr(limits, "library", limits.library.__wrapped__)  # a library of its own
    limits.Function("grad_logistic_100", f"-Dby{name}")(x, y, 1003, theta, grad)
    np.testing.assert_allclose(grad, w3.exact(x, y, theta), rtol=0, atol=1e-10)
    assert math.ulp(0.0) * np.float64(1.0) > 0.0, "loading the library made denormal numbers count as 0"


@pytest.mark.slow
def test_hmc_in_c_is_accepted_the_more_the_shorter_its_steps() -> None:
    try:
        function = limits.Function("hmc_logistic_14")
    except limits.CompilerMissingError as missing:
        pytest.skip(str(missing))
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((691, 14)), (rng.random(691) < 0.5).astype(np.float64)
    found: list[float] = []
    for eps in (0.002, 0.1):
        state, out = limits.aligned(28), limits.aligned(200, 29)
        function.seeded(x, y, len(x), 200, 1, eps, 10.0, state, out)
        found.append(float(out[:, 28].mean()))
    assert 1.0 > found[0] > 0.999, "U is not the potential of its gradient"
    assert found[1] < 0.9
