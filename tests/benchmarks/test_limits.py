"""The C limit does the work that it is a limit of, whatever compiles it."""

import math
import shutil

import limits
import numpy as np
import pytest
from workloads import w3


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
