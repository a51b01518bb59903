"""Discrete blocks in documents: where they may be declared, what their names mean, and who may move them."""

from pathlib import Path

from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName, Shape
from recipe_compiler.spec.discrete import discrete_blocks, of_data, of_one_datum
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Target

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


def read(folder: Path, text: str) -> object:
    path = folder / "target.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path)


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
