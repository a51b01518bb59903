"""Blocks of counts in documents: where they may be declared, what their names mean, and who may move them."""

from fractions import Fraction
from pathlib import Path

import pytest

import recipe_compiler as rc
from recipe_compiler.errors import DocumentError
from recipe_compiler.formula.declaration import Block, Domain
from recipe_compiler.formula.expression import Compare, Filled, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape
from recipe_compiler.spec.discrete import ends_of_all, held, largest, of_data, of_one_datum
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Target
from recipe_compiler.spec.places import digest
from recipe_compiler.spec.to_yaml import to_yaml

ROOT = Path(__file__).parents[2]
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
BUILD = """
name: moved
dynamics: {root}/specs/dynamics/{dynamics}.yaml
target: {root}/specs/targets/removal_counts.yaml
scheme: {scheme}
variant: full
data: {{file: {root}/specs/data/removal_counts.csv, catch1: catch1, catch2: catch2, catch3: catch3, area: area}}
run: {{step_size: 1, draws: 10, chains: 1}}
"""


def read(folder: Path, text: str) -> Target:
    path = folder / "target.yaml"
    path.write_text(text, encoding="utf-8")
    found = load(path)
    assert isinstance(found, Target)
    return found


def problems(folder: Path, text: str) -> str:
    path = folder / "document.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        load(path)
    return "; ".join(f"{fault.entry}: {fault.problem} ({fault.hint})" for fault in caught.value.faults)


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


def test_counts_are_written_back(tmp_path: Path) -> None:
    target = read(tmp_path, TARGET)
    again = read(tmp_path, to_yaml(target))
    assert again.laws == target.laws
    assert again.declarations == target.declarations
    assert digest(again) == digest(target)


def test_counts_are_stated_in_python() -> None:
    z, lam = rc.vector("z", "N", domain="counts"), rc.scalar("lam", domain="positive")
    y = rc.data("y", "N")
    stated = rc.Target(
        name="few", state=[lam, z], data=[y], log_prior=rc.gamma(lam, 2, 1),
        log_likelihood="poisson(y, lam) + poisson(z, lam)", laws={z: "Poisson(lam)"},
    )  # fmt: skip
    assert stated.document.declarations.blocks[1] == Block("z", Shape("N"), Domain(DomainName.COUNTS))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("z: {shape: N, domain: counts}", "z: {shape: [N, J], domain: counts}", "found counts of a matrix [N, J]"),
        ("counts(7)", "counts(7, 8)", "counts or counts(n)"),
        ("counts(7)", "counts(7/2)", "found counts up to 7/2, expected a whole number from 1 on"),
        ("counts(7)", "counts(0)", "found counts up to 0, expected a whole number from 1 on"),
        ("counts(7)", "counts(n)", "found counts up to n, expected a whole number from 1 on, a size, or a field"),
        ("counts(J)", "counts(n)", "beside a row for each datum"),
        ("counts(J)", "counts(a)", "expected a scalar"),
        ("counts(n)", "counts(lam)", "found the block `lam` in a bound"),
        ("domain: counts}", "domain: counts, transform: log}", "found the transform `log`"),
        ("domain: counts}", "domain: counts, constraint: simplex}", "found `domain` beside `constraint`"),
        ("sum(c*a)", "sum(c*a) + sum(z)", "found z, which has a row for each datum, in log_prior"),
        ("log_prior:", "assume: ['m > 2']\nlog_prior:", "found an assumption about m, which has every value"),
        ("poisson(z, lam*(1 - p))", "exponential(z, lam)", "found exponential() of `z`, which are counts"),
        ("poisson(y, lam)", "poisson(lam, 2)", "found the discrete law poisson() of a formula"),
        ("z: Poisson(lam*(1 - p))", "z: Gamma(1, 1)", "found Gamma of a block that is counts"),
        ("z: Poisson(lam*(1 - p))", 'z: "Binomial(3, p)"', "found Binomial of z, whose counts have no end"),
        ('m: "Binomial(7, p)"', "m: Poisson(lam)", "whose counts end at 7, expected Binomial(7, p)"),
        ('m: "Binomial(7, p)"', "p: Poisson(lam)", "found Poisson of a block that is interval"),
        ('m: "Binomial(7, p)"', "m: Binomial(p)", "found 1 parameters of Binomial"),
        ("Poisson(lam*(1 - p))", "Poisson(lam*z)", "found `z` in a parameter of its own law"),
        ("poisson(y, lam)", "poisson(y, lam) - a[z]", "found the block z as a position"),
    ],
)  # fmt: skip
def test_what_counts_may_not_be(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in TARGET
    assert says in problems(tmp_path, TARGET.replace(old, new))


def test_labels_are_pointed_to_rows_with_a_one(tmp_path: Path) -> None:
    said = problems(tmp_path, TARGET.replace("poisson(y, lam)", "poisson(y, lam) - a[z]"))
    assert "labels of the state are rows with a one: `z: {shape: [N, K], domain: one_hot}`" in said


def test_no_equation_moves_counts(tmp_path: Path) -> None:
    text = "name: t\nstate: {z: {shape: d, domain: counts}}\nH: norm2(z)\nD: [[I]]\nQ: [[0]]\n"
    assert "found z in counts, expected real numbers: an equation does not move discrete blocks" in problems(
        tmp_path, text
    )


@pytest.mark.parametrize(
    ("scheme", "says"),
    [
        ("{split: [A]}", "found the target's `left`, which is discrete, expected a cycle of draws"),
        ("{cycle: [draw: left, {split: [A], steps: 1}]}", "found a move with a word beside `left`"),
        ("{cycle: [draw: left, {involution: {theta: -theta}}]}", "found an involution beside `left`"),
        ("{cycle: [cir: left]}", "found cir of left, whose law is Poisson"),
        ("{cycle: [{draw: left, slice: log(mu)}]}", "found `slice` of left, which is counts, expected a one_hot block"),
        ("{cycle: [refresh: left]}", "found `left`, expected a block of the dynamics"),
    ],
)
def test_nothing_moves_counts_but_their_law(tmp_path: Path, scheme: str, says: str) -> None:
    assert says in problems(tmp_path, BUILD.format(root=ROOT, dynamics="still", scheme=scheme))


def test_hamiltonian_moves_do_not_propose_counts(tmp_path: Path) -> None:
    scheme = "{cycle: [{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: 3, flip: {r: -r}}}, draw: left]}"
    text = BUILD.format(root=ROOT, dynamics="hmc", scheme=scheme) + "bind: {M: I}\n"
    found = problems(tmp_path, text)
    assert "scheme.cycle[1]: found a move with a word beside `left`, which is discrete, expected it to hold" in found
    assert "`{of: {theta: [mu, rate, p]}, metropolis: ...}` moves the others" in found


def test_a_word_that_moves_counts_with_others_does_not_hold_them(tmp_path: Path) -> None:
    word = "metropolis: {split: [B/2, A, B/2], flip: {r: -r}}"
    scheme = f"{{cycle: [{{refresh: r}}, {{of: {{theta: [mu, left]}}, {word}}}, draw: left]}}"
    text = BUILD.format(root=ROOT, dynamics="hmc", scheme=scheme) + "bind: {M: I}\nsizes: {N: 10}\n"
    assert "found a move with a word beside `left`, which is discrete, expected it to hold" in problems(tmp_path, text)
