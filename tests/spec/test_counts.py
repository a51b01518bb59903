"""Blocks of counts in documents: where they may be declared, what their names mean, and who may move them."""

from fractions import Fraction
from pathlib import Path

import recipe_compiler as rc
from recipe_compiler.formula.declaration import Block, Domain
from recipe_compiler.formula.expression import Compare, Filled, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape
from recipe_compiler.spec.discrete import ends_of_all, held, largest, of_data, of_one_datum
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Target

TARGET = """
name: counted
state:
  lam: {domain: positive}
  p: {domain: "interval(0, 1)"}
  z: {shape: N, domain: counts}
  k: {shape: N, domain: counts(n)}
  m: {domain: counts(7)}
  c: {shape: J, domain: counts(J)}
data: {y: {shape: N}, n: {shape: N}}
parameters: {a: {shape: J, is: positive}}
log_prior: gamma(lam, 2, 1) + beta(p, 2, 2) + binomial(m, 7, p) + sum(c*a)
log_likelihood: poisson(y, lam) + poisson(z, lam*(1 - p)) + binomial(k, n, p)
laws: {z: Poisson(lam*(1 - p)), k: "Binomial(n, p)", m: "Binomial(7, p)"}
"""


def read(folder: Path, text: str) -> Target:
    path = folder / "target.yaml"
    path.write_text(text, encoding="utf-8")
    found = load(path)
    assert isinstance(found, Target)
    return found


def test_counts_with_a_row_for_each_datum_are_its_number_in_the_log_likelihood(tmp_path: Path) -> None:
    declared = read(tmp_path, TARGET).declarations
    assert [block.name for block in of_data(declared)] == ["z", "k"]
    row = of_one_datum(declared)
    assert [block.shape for block in row.blocks] == [SCALAR] * 5 + [Shape("J")]
    assert declared.blocks[2].domain == Domain(DomainName.COUNTS)
    assert declared.blocks[3].domain.bounds == (Symbol("n", SCALAR, Role.DATUM),)


def test_a_field_that_is_an_end_of_counts_is_whole_and_not_negative(tmp_path: Path) -> None:
    n = read(tmp_path, TARGET.replace("binomial(k, n, p)", "k*log(p)")).declarations.find("n")
    assert set(n.kinds) == {Kind.INTEGER, Kind.NONNEGATIVE}


def test_the_largest_count_has_the_shape_of_its_block_in_laws(tmp_path: Path) -> None:
    declared = read(tmp_path, TARGET).declarations
    z, k, m, c = declared.blocks[2:]
    assert largest(z, declared) is None
    assert largest(k, declared) == Symbol("n", Shape("N"), Role.PARAMETER)
    assert largest(m, declared) == Number(Fraction(7))
    assert largest(c, declared).shape == Shape("J")
    assert [end.left.shape for end in ends_of_all(declared)] == [Shape("N"), SCALAR, Shape("J")]
    assert ends_of_all(declared)[0].right == Filled(0, Shape("N"))


def test_what_is_held_stays_below_its_end(tmp_path: Path) -> None:
    found = held(read(tmp_path, TARGET)).declarations
    assert [block.name for block in found.blocks] == ["lam", "p"]
    assert [(field.name, field.shape) for field in found.data] == [
        ("y", SCALAR), ("n", SCALAR), ("z", SCALAR), ("k", SCALAR),
    ]  # fmt: skip
    assert found.find("k").kinds == (Kind.NONNEGATIVE, Kind.INTEGER)
    k, n = (Symbol(name, SCALAR, Role.DATUM) for name in ("k", "n"))
    assert Compare("<=", k, n, SCALAR) in found.assume
    assert Compare("<=", Symbol("m", SCALAR, Role.PARAMETER), Number(Fraction(7)), SCALAR) in found.assume


def test_counts_are_stated_in_python() -> None:
    z, lam = rc.vector("z", "N", domain="counts"), rc.scalar("lam", domain="positive")
    y = rc.data("y", "N")
    stated = rc.Target(
        name="few", state=[lam, z], data=[y], log_prior=rc.gamma(lam, 2, 1),
        log_likelihood="poisson(y, lam) + poisson(z, lam)", laws={z: "Poisson(lam)"},
    )  # fmt: skip
    assert stated.document.declarations.blocks[1] == Block("z", Shape("N"), Domain(DomainName.COUNTS))
