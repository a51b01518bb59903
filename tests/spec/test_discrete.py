"""Discrete blocks in documents: where they may be declared, what their names mean, and who may move them."""

from pathlib import Path

import pytest

from recipe_compiler.errors import DocumentError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName, Shape
from recipe_compiler.spec.discrete import discrete_blocks, of_data, of_one_datum
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Target
from recipe_compiler.spec.places import digest
from recipe_compiler.spec.to_yaml import to_yaml

ROOT = Path(__file__).parents[2]
TARGET = """
name: allocated
state:
  mu: {shape: K}
  z: {shape: [N, K], domain: one_hot}
  w: {shape: [K, 3], domain: one_hot}
data: {y: {shape: N}}
log_prior: -norm2(mu)/2 - sum(w)
log_likelihood: -(y - z @ mu)**2/2
laws: {z: "Categorical(-(y @ ones.T - ones @ mu.T)**2/2)"}
"""
BUILD = """
name: moved
dynamics: {dynamics}
target: target.yaml
scheme: {scheme}
variant: full
sizes: {{K: 2}}
data: {{file: {root}/specs/data/few_of_two_groups.csv, y: y}}
run: {{step_size: 1, draws: 10, chains: 1}}
"""


def read(folder: Path, text: str) -> object:
    path = folder / "target.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path)


def problems(folder: Path, text: str, name: str = "document.yaml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        load(path)
    return "; ".join(f"{fault.entry}: {fault.problem} ({fault.hint})" for fault in caught.value.faults)


def test_allocations_are_the_row_of_a_datum_in_its_log_likelihood(tmp_path: Path) -> None:
    target = read(tmp_path, TARGET)
    assert isinstance(target, Target)
    names = [block.name for block in discrete_blocks(target.declarations)]
    assert names == ["z", "w"]
    assert [block.name for block in of_data(target.declarations)] == ["z"]
    row = of_one_datum(target.declarations).find("z")
    assert isinstance(row, Block)
    assert row.shape == Shape(None, "K")
    assert target.declarations.blocks[1].domain.name is DomainName.ONE_HOT


def test_a_row_with_a_one_is_a_position(tmp_path: Path) -> None:
    """`mu[z]` is `z @ mu`, an entry; `F[z]` the row of a matrix, whatever is computed of them."""
    stated = TARGET.replace("mu: {shape: K}", "mu: {shape: K}\n  F: {shape: [K, 2]}")
    by_place = read(tmp_path, stated.replace("z @ mu", "exp(mu)[z] + F[z] @ F[z].T"))
    by_row = read(tmp_path, stated.replace("z @ mu", "z @ exp(mu) + (z @ F) @ (z @ F).T"))
    assert isinstance(by_place, Target)
    assert isinstance(by_row, Target)
    assert by_place.log_likelihood == by_row.log_likelihood
    text = TARGET.replace("z: {shape: [N, K], domain: one_hot}", "z: {shape: K, domain: one_hot}")
    laws = text[text.index("laws:") :]
    one, row = (read(tmp_path, text.replace(laws, "").replace("z @ mu", said)) for said in ("mu[z]", "z.T @ mu"))
    assert isinstance(one, Target)
    assert isinstance(row, Target)
    assert one.log_likelihood == row.log_likelihood


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("z @ mu", "mu[w]", "found w, an index of 3, along an axis of length K"),
        ("z @ mu", "mu[mu]", "found mu, expected a position"),
        ("ones @ mu.T)", "mu[z] @ ones.T)", "found the rows of z all at once as a position"),
        ("- sum(w)", "- mu[z]", "log_prior: found the rows of z all at once as a position"),
    ],
)
def test_a_row_stands_as_a_position_where_it_is_one(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert says in problems(tmp_path, TARGET.replace(old, new))


def test_discrete_blocks_are_written_back(tmp_path: Path) -> None:
    target = read(tmp_path, TARGET)
    assert isinstance(target, Target)
    again = read(tmp_path, to_yaml(target))
    assert isinstance(again, Target)
    assert again.laws == target.laws
    assert digest(again) == digest(target)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[N, K], domain", "scalar, domain", "found one_hot of a scalar, expected a column or a matrix"),
        ("domain: one_hot}\n  w", "domain: onehot}\n  w", "did you mean `one_hot`"),
        ("domain: one_hot}\n  w", "domain: one_hot, transform: logit}\n  w", "found the transform `logit`"),
        ("domain: one_hot}\n  w", "domain: one_hot, constraint: simplex}\n  w", "found `domain` beside `constraint`"),
        ("- sum(w)", "- sum(z)", "found z, which has a row for each datum, in log_prior"),
        ("z @ mu", "z[0] @ mu", "log_likelihood"),
        ("mu)**2/2\nlaws", "mu)**2/2\nassume: ['z[0, 0] > 0']\nlaws", "found an assumption about z"),
        ("Categorical(-(y @ ones.T - ones @ mu.T)**2/2)", "Categorical(mu)", "expected a matrix [N, K]"),
        ("Categorical(-(y @ ones.T - ones @ mu.T)**2/2)", "Categorical(z)", "found `z` in a parameter of its own law"),
        ("Categorical(-(y @ ones.T - ones @ mu.T)**2/2)", "Gamma(1, 1)", "laws of matrices are not in this version"),
        ('z: "Categorical(-(y @ ones.T - ones @ mu.T)**2/2)"', "mu: Categorical(m)", "found Categorical of a block"),
    ],
)  # fmt: skip
def test_what_means_nothing_is_a_fault(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in TARGET
    assert says in problems(tmp_path, TARGET.replace(old, new))


def test_dynamics_have_no_discrete_blocks(tmp_path: Path) -> None:
    text = "name: d\nstate: {k: {shape: K, domain: one_hot}}\nH: norm2(k)/2\nD: [[I]]\nQ: [[0]]\n"
    found = problems(tmp_path, text)
    assert "found k in one_hot, expected real numbers: an equation does not move discrete blocks" in found
    assert "`draw: k`" in found


@pytest.mark.parametrize(
    ("dynamics", "scheme", "says"),
    [
        ("sgld", "{name: euler}", "expected a cycle of draws: it has no gradient, so no word moves it"),
        ("sghmc", "{name: baoab}", "no acceptance proposes it"),
        (
            "hmc",
            "{cycle: [refresh: r, draw: z, metropolis: {split: [B/2, A, B/2], flip: {r: -r}}]}",
            "scheme.cycle[2]: found a move with a word beside `z`, which is discrete",
        ),
        ("hmc", "{cycle: [draw: z, {split: [B/2, A, B/2]}]}", "scheme.cycle[1]: found a move with a word beside `z`"),
        (
            "hmc",
            "{cycle: [refresh: r, draw: z, {of: {theta: [mu]}, split: [B/2, A, B/2]}]}",
            "sizes of the target under `sizes`",
        ),
        (
            "still",
            "{cycle: [draw: z, {involution: {theta: -theta}}]}",
            "scheme.cycle[1]: found an involution beside `z`",
        ),
        ("still", "{cycle: [cir: z]}", "found cir of z, whose law is Categorical, expected Gamma(shape, rate)"),
        ("still", "{cycle: [draw: z, draw: w]}", "found a draw of w, expected its law under `laws`"),
        ("still", "{cycle: [refresh: z]}", "found `z`, expected a block of the dynamics"),
    ],
)
def test_nothing_moves_a_discrete_block_but_its_law(tmp_path: Path, dynamics: str, scheme: str, says: str) -> None:
    (tmp_path / "target.yaml").write_text(TARGET, encoding="utf-8")
    text = BUILD.format(dynamics=ROOT / f"specs/dynamics/{dynamics}.yaml", scheme=scheme, root=ROOT)
    if "bind" not in text and dynamics in ("sghmc", "hmc"):
        text += "bind: {M: I}\n" if dynamics == "hmc" else "bind: {M: I, C: I}\n"
    assert says in problems(tmp_path, text)


def test_code_computes_no_gradient_of_a_discrete_block(tmp_path: Path) -> None:
    (tmp_path / "g.py").write_text("def grad_U(out, theta):\n    pass\n", encoding="utf-8")
    text = "name: t\nstate: {k: {shape: 3, domain: one_hot}}\ngradient: g.py:grad_U\n"
    assert "found a gradient that is code beside k, which is discrete" in problems(tmp_path, text)
