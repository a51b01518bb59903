"""A word as readers see it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from recipe_compiler.cli import app

ROOT = Path(__file__).parents[2]
TEXT = """pieces    A   d theta = r dt   (shift)
          B   d r = -grad(U, theta) dt   (shift)
          O   d r = -xi*r dt + sqrt(2*A) dW_r   (Ornstein-Uhlenbeck, entry by entry)
          xi  d xi = (r.T @ r/d - 1) dt   (shift)

word      [B/2, A/2, xi/2, O, xi/2, A/2, B/2]
          weak order 2, a palindrome; noise in O
"""


def test_derive_prints_the_pieces_of_a_build_with_their_flows_and_the_word(tmp_path: Path) -> None:
    text = (ROOT / "specs/builds/sgnht_gaussian.yaml").read_text(encoding="utf-8")
    scheme = next(line for line in text.splitlines() if line.startswith("scheme:"))
    build = tmp_path / "build.yaml"
    build.write_text(text.replace("../", f"{ROOT}/specs/").replace(scheme, "scheme: {name: badodab}"), encoding="utf-8")
    plain = CliRunner().invoke(app, ["derive", str(build)])
    assert plain.exit_code == 0, plain.output
    assert plain.output.endswith(TEXT)
    latex = CliRunner().invoke(app, ["derive", "--latex", str(build)])
    assert latex.output.count(r"\begin{align*}") == 2
    assert r"\text{O, Ornstein-Uhlenbeck, entry by entry}" in latex.output


CYCLE = """cycle     refresh: {r: 9/10}
            r' = 9/10*r + n, n ~ N(0, 19/100*S), S = M
          metropolis: {split: [B/2, A/2, O, A/2, B/2], steps: "uniform(2, 9)", flip: {r: -r}}
            z' = Psi^L(z) with probability min(1, exp(-W)), else z with r -> -r
            W = what H gains by A, B; Psi the word; L uniform in 2, ..., 9
"""
DRAWN = r"L \sim \mathrm{Uniform}\{2, \dots, 9\}"


def derived(folder: Path, name: str, moves: str, *options: str) -> str:
    """Return what is derived of a shipped build with its scheme replaced by a cycle."""
    text = (ROOT / f"specs/builds/{name}.yaml").read_text(encoding="utf-8")
    scheme = next(line for line in text.splitlines() if line.startswith("scheme:"))
    cycle = text.replace("../", f"{ROOT}/specs/").replace(scheme, f"scheme: {{cycle: [{moves}]}}")
    (folder / "build.yaml").write_text(cycle, encoding="utf-8")
    found = CliRunner().invoke(app, ["derive", *options, str(folder / "build.yaml")])
    assert found.exit_code == 0, found.output
    return found.output


def test_derive_prints_the_moves_of_a_cycle_below_its_word(tmp_path: Path) -> None:
    moves = 'refresh: {r: 0.9}, metropolis: {name: baoab, steps: "uniform(2, 9)", flip: {r: -r}}'
    plain = derived(tmp_path, "sghmc_gaussian_baoab", moves)
    assert "word      [B/2, A/2, O, A/2, B/2]\n" in plain
    assert plain.endswith(CYCLE)
    latex = derived(tmp_path, "sghmc_gaussian_baoab", moves, "--latex")
    assert r"r' &= \frac{9}{10} r + n, \quad n \sim \mathcal{N}\left(0, \frac{19}{100} S\right), \quad S = M" in latex
    assert r"\Psi^L(z) & \text{with probability } \min(1, e^{-W}) \\ z, \; r \to -r & \text{else}" in latex
    assert r"\Psi &= \text{[B/2, A/2, O, A/2, B/2]}" in latex
    assert DRAWN in latex
    assert latex.count(r"\begin{align*}") == latex.count(r"\end{align*}") == 2


@pytest.mark.slow
def test_of_a_word_without_noise_the_whole_of_h_is_gained(tmp_path: Path) -> None:
    moves = "refresh: r, metropolis: {name: leapfrog, steps: 10}"
    plain = derived(tmp_path, "hmc_gaussian_leapfrog", moves)
    assert "  r' ~ N(0, M)\n" in plain
    assert "z' = Psi^10(z) with probability min(1, exp(-W)), else z\n" in plain
    assert "W = H(Psi^10(z)) - H(z); Psi the word\n" in plain
    assert r"W &= H(\Psi^{10}(z)) - H(z)" in derived(tmp_path, "hmc_gaussian_leapfrog", moves, "--latex")


def test_a_word_as_it_comes_is_accepted_whatever_h_gains(tmp_path: Path) -> None:
    plain = derived(tmp_path, "hmc_gaussian_leapfrog", "{name: leapfrog, steps: 4}, refresh: r")
    assert plain.endswith(
        "cycle     split: [B/2, A, B/2], steps: 4\n"
        "            z' = Psi^4(z); Psi the word\n"
        "          refresh: r\n"
        "            r' ~ N(0, M)\n"
    )
    latex = derived(tmp_path, "hmc_gaussian_leapfrog", "{name: leapfrog, steps: 4}, refresh: r", "--latex")
    assert "% cycle: [{split: [B/2, A, B/2], steps: 4}, refresh: r]\n" in latex
    assert r"z' &= \Psi^{4}(z)" in latex


@pytest.mark.slow
def test_a_refresh_whose_law_is_not_shown_says_so(tmp_path: Path) -> None:
    moves = "refresh: xi, {name: badodab}"  # xi ~ N(A, 1/d): its mean is not 0
    plain = derived(tmp_path, "sgnht_gaussian_badodab", moves)
    assert "not proved: the conditional distribution of xi is normal with mean 0" in plain
    assert r"\xi' &\sim p(\xi \mid \text{all others})" in derived(tmp_path, "sgnht_gaussian_badodab", moves, "--latex")


GIBBS = """cycle     draw: mu
            mu' ~ N(tau*sum(y)/(N*tau + 1/prior_variance), 1/(N*tau + 1/prior_variance)) REST
          draw: tau
            tau' ~ Gamma(shape + N/2, rate + (y - mu*ones).T @ (y - mu*ones) / 2) REST
""".replace("REST", "(conditional on all other blocks and the data)")


def drawn(folder: Path, dynamics: str, moves: str, *options: str) -> str:
    text = f"""
format: 1
name: normal
dynamics: {ROOT}/specs/dynamics/{dynamics}.yaml
target: {ROOT}/specs/targets/normal_mean_precision.yaml
{"parameters: {M: {value: [[2, 1], [1, 3]]}}" if dynamics == "hmc" else ""}
scheme: {{cycle: [{moves}]}}
variant: full
sizes: {{d: 2}}
data: {{file: {ROOT}/specs/data/normal_sample.csv, y: y}}
run: {{step_size: 1}}
"""
    (folder / "build.yaml").write_text(text, encoding="utf-8")
    found = CliRunner().invoke(app, ["derive", *options, str(folder / "build.yaml")])
    assert found.exit_code == 0, found.output
    return found.output


@pytest.mark.slow
def test_of_draws_the_laws_are_printed_that_the_target_claims(tmp_path: Path) -> None:
    plain = drawn(tmp_path, "still", "draw: mu, draw: tau")
    assert plain.endswith(GIBBS)
    assert "word" not in plain
    assert "pieces" not in plain
    latex = drawn(tmp_path, "still", "draw: mu, draw: tau", "--latex")
    assert r"\tau' &\sim \mathrm{Gamma}\left(\mathrm{shape} + \frac{1}{2} N" in latex
    assert r"\mu' &\sim \mathcal{N}\left(" in latex
    assert r"\Psi" not in latex
    assert latex.count(r"\begin{align*}") == latex.count(r"\end{align*}") == 2
    beside = drawn(tmp_path, "hmc", "draw: tau, refresh: r, metropolis: {name: leapfrog, flip: {r: -r}}")
    assert "word      [B/2, A, B/2]\n" in beside
    assert "cycle     draw: tau\n            tau' ~ Gamma(" in beside
