"""Square-root diffusions beside a word: what minibatches add to their variance, and nothing with control variates."""

import numpy as np
import pytest
from answers import SPECS, document

from recipe_compiler.pipeline import prepare_run
from recipe_compiler.report.check import check
from recipe_compiler.run.stages import draw, make_ready

pytestmark = pytest.mark.usefixtures("without_reading_back")

N, n, EPS, RATE, CHAINS, DRAWS = 200, 20, 0.5, 2.0, 4, 5000
TARGET = """
name: shares
state:
  g: {shape: 2, domain: positive, transform: log}
  b: {shape: 2}
data: {z: {shape: [N, 2], in: [0, 1]}, x: {shape: [N, 2]}, y: {shape: N}}
log_prior: sum(-log(g)/2) - 2*sum(g) - norm2(b)/8
log_likelihood: z @ log(g) - (y - x @ b)**2/2
laws: {g: "Gamma(ones/2 + z.T @ ones, 2)"}
"""
BUILD = f"""
name: flows_beside_a_word
dynamics: {SPECS}/dynamics/sghmc.yaml
target: target.yaml
bind: {{M: 3*I, C: 20*I}}
scheme: {{cycle: [{{cir: g}}, {{of: {{theta: b}}, split: [B/2, A/2, O, A/2, B/2]}}]}}
variant: minibatch
MORE
sizes: {{d: 4}}
data: {{file: data.csv, z: [u, v], x: [p, q], y: y}}
run: {{step_size: {EPS}, batch_size: {n}, thin: 8, draws: {DRAWS}, warmup: 50, chains: {CHAINS}, seed: 2}}
"""
HELD = "minibatch: {control_variates: mode}"


def rows() -> np.ndarray:
    rng = np.random.default_rng(0)
    u, x = np.arange(N) % 10 < 3, rng.normal(size=(N, 2)) @ [[0.1, 0.04], [0.0, 0.1]]
    return np.column_stack([u, ~u, x, x @ [0.5, -1.0] + rng.normal(size=N)])


@pytest.mark.slow
@pytest.mark.parametrize("held", [False, True])
def test_the_variance_is_that_of_the_law_and_of_what_the_estimate_adds(*, held: bool) -> None:
    lines = "\n".join(",".join(f"{value:.6g}" for value in row) for row in rows())
    build = document(
        BUILD.replace("MORE", HELD if held else ""), target=TARGET, **{"data.csv": f"u,v,p,q,y\n{lines}\n"}
    )
    report = check(build, advisory=False)
    says = next(str(finding.decision) for finding in report.findings if finding.id == "cir")
    assert ("variance too large" in says) is not held
    run = prepare_run(build, report, build.run, allow_undecided=True)
    g = np.exp(draw(make_ready(run)).arrays[0][:, 50:, :2]).reshape(CHAINS * 25, DRAWS // 25, 2)
    counts = rows()[:, :2].sum(axis=0)
    shape = 0.5 + counts
    of_estimate = 0.0 if held else (N - n) / (n * (N - 1)) * counts.prod()
    exact = shape / RATE**2 + np.tanh(RATE * EPS / 2) * of_estimate / RATE**2
    each = ((g - shape / RATE) ** 2).mean(axis=1)
    error = each.std(axis=0, ddof=1) / np.sqrt(len(each))
    z = (each.mean(axis=0) - exact) / error
    print(f"variance {each.mean(axis=0).round(1)} for {exact.round(1)}, of the law {shape / RATE**2}, z {z.round(2)}")
    assert abs(z).max() < 4.0
    assert np.all(4.0 * error < 0.2 * exact)
