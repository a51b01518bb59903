"""A small experiment whose answers are known: a normal target by exact HMC, and SGLD whose bias is known."""

from collections.abc import Callable
from pathlib import Path

import pytest

TEXT = """\
format: 1
name: small
title: A normal target
published: {where: Table 1, says: HMC is exact}
settings: {draws: 800, warmup: 50, chains: 4, seed: 3}
quick: {draws: 100, warmup: 20}
build: {target: gaussian_mean, variant: full}
runs:
  HMC:
    build:
      target: standard_normal
      dynamics: hmc
      bind: {M: I}
      scheme: {cycle: [refresh: r, metropolis: {split: [B/2, A, B/2], steps: 3, flip: {r: -r}}]}
      sizes: {d: 2}
      run: {step_size: 0.5}
    published: {sd: 1.01}
  SGLD:
    build:
      target: standard_normal
      dynamics: sgld
      bind: {D: I}
      scheme: {name: euler}
      sizes: {d: 2}
      run: {step_size: 0.5, thin: 3}
    for: {step_size: [0.1, 0.5, 3], seed: [1, 2]}
    best: {over: step_size, by: sd}
  EM: {missing: an outer loop, published: {sd: 2}}
columns:
  mean: {mean: "theta[0]", exact: 0}
  sd: {sd: "theta[1]", exact: sqrt(1)}
claims:
  - {says: HMC has a sd of 1, equal: [HMC.sd, exact.sd], within: 0.2}
  - {says: twice as wide, larger: [HMC.sd, SGLD.sd], times: 2}
plots:
  sds: {bars: [sd]}
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write the experiment with texts replaced, each of which must be there."""

    def document(**replacing: str) -> Path:
        text = TEXT
        for key, new in replacing.items():
            old = OLD[key]
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "small.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return document


OLD = {
    "statistic": 'mean: "theta[0]", exact: 0',
    "missing": "missing: an outer loop, ",
    "operand": "[HMC.sd, SGLD.sd]",
    "best": "by: sd",
    "bars": "bars: [sd]",
    "published": "published: {sd: 1.01}",
    "sweep": "{step_size: [0.1, 0.5, 3]",
    "exact": "exact: sqrt(1)",
    "bind": "bind: {D: I}",
    "hmc": "bind: {M: I}",
    "draws": "draws: 800",
}
