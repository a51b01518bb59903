"""Schemes as documents: read, named, used in builds; what does not fit is told."""

from fractions import Fraction
from pathlib import Path

import pytest

from recipe_compiler.errors import DocumentError, ModelError
from recipe_compiler.spec.catalogue import NAMED, SCHEMES
from recipe_compiler.spec.files import files_of
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Scheme
from recipe_compiler.spec.places import digest, documents
from recipe_compiler.spec.read_scheme import named_scheme
from recipe_compiler.spec.words import Letter, rotated, word_text
from recipe_compiler.splitting.split_by import check_letters
from recipe_compiler.splitting.words import shares

SPECS = Path(__file__).parents[2] / "specs"
OABAO = """
format: 1
name: oabao
split: [O/2, A/2, B, A/2, O/2]
claims: {order: 2}
"""
BUILD = """
format: 1
name: well
dynamics: SPECS/dynamics/sghmc.yaml
target: SPECS/targets/double_well.yaml
bind: {M: m*I, C: c*I}
parameters:
  m: {is: positive, value: 1}
  c: {is: nonnegative, value: 1}
scheme: SCHEME
variant: full
sizes: {d: 1}
run: {step_size: 0.1}
"""


def build_of(folder: Path, scheme: str, document: str = OABAO) -> Build:
    (folder / "oabao.yaml").write_text(document)
    path = folder / "build.yaml"
    path.write_text(BUILD.replace("SPECS", str(SPECS)).replace("SCHEME", scheme))
    found = load(path)
    assert isinstance(found, Build)
    return found


def test_names_are_those_of_the_documents_that_ship() -> None:
    assert set(NAMED) == {"lie", "leapfrog", "baoab", "aboba", "obabo", "badodab", "respa"}
    assert {path.stem for path in (SPECS / "schemes").glob("*.yaml")} == set(NAMED)
    assert (SPECS / "schemes").resolve() == SCHEMES.resolve()
    for name in NAMED:
        assert named_scheme(name) == load(SPECS / f"schemes/{name}.yaml")


def test_a_scheme_that_is_named_is_no_part_of_a_build_and_one_that_is_used_is(tmp_path: Path) -> None:
    named, used = build_of(tmp_path, "{name: baoab}"), build_of(tmp_path, "{use: oabao.yaml}")
    assert word_text(named.scheme.split) == "[B/2, A/2, O, A/2, B/2]"
    assert documents(named).keys() == {"build", "dynamics", "target"}
    assert used.scheme.name == "oabao"
    assert word_text(used.scheme.split) == "[O/2, A/2, B, A/2, O/2]"
    assert documents(used).keys() == {"build", "dynamics", "target", "scheme"}
    assert tmp_path / "oabao.yaml" in files_of(used)


def test_the_digest_of_a_build_is_of_the_scheme_that_it_uses_too(tmp_path: Path) -> None:
    one = digest(build_of(tmp_path, "{use: oabao.yaml}"))
    other = digest(build_of(tmp_path, "{use: oabao.yaml}", OABAO.replace("O/2, A/2, B", "O/2, A/2, B/1")))
    assert digest(build_of(tmp_path, "{use: oabao.yaml}", f"# a comment\n{OABAO}")) == one != other


def test_a_letter_that_no_dynamics_have_is_told_as_in_a_build(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("{format: 1, name: mine, split: BAOAB}")
    with pytest.raises(DocumentError) as raised:
        load(path)
    (fault,) = raised.value.faults
    scheme = Scheme("mine", (Letter("BAOAB", Fraction(1)),))
    with pytest.raises(ModelError) as in_build:
        check_letters(scheme, ("A", "B", "O"))
    assert [(fault.problem, fault.hint)] == [(other.problem, other.hint) for other in in_build.value.faults]


@pytest.mark.parametrize("stated", ["split: H, pieces: {H: {D: all, Q: all}}", "split: B", "split: [S/2, F, S/2]"])
def test_a_word_of_one_piece_and_one_whose_pieces_builds_state_are_read(tmp_path: Path, stated: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"{{format: 1, name: mine, {stated}}}")
    assert isinstance(load(path), Scheme)


@pytest.mark.parametrize(
    ("scheme", "word"),
    [
        ("{name: baoab, keep: 2}", "[O, A/2, B, A/2]"),
        ("{name: baoab, keep: O}", "[A/2, B, A/2, O]"),
        ("{name: baoab, keep: 5}", "[B/2, A/2, O, A/2, B/2]"),
        ("{split: [{repeat: 2, of: [B/2, A/2]}, O], keep: 3}", "[A/2, O, B/2, A/2, B/2]"),
        ("{split: [-B, A, O, 2*B], keep: 1}", "[A, O, B]"),
        ("{split: [-B, A, O, B, B/1], keep: 4}", "[A, O, B]"),
        ("{use: oabao.yaml, keep: B}", "[A/2, O, A/2, B]"),
        ("{name: obabo, keep: 1, flows: {O: midpoint}}", "[B/2, A, B/2, O/2, O/2]"),
        ("{name: obabo, keep: 1, flows: {A: midpoint}}", "[B/2, A, B/2, O]"),
    ],
)
def test_a_word_begins_after_the_letter_where_draws_are_kept(tmp_path: Path, scheme: str, word: str) -> None:
    found = build_of(tmp_path, scheme).scheme
    assert word_text(found.word) == word
    assert shares(found.word) == shares(found.split)


def test_letters_that_undo_each_other_where_a_word_begins_are_left_out() -> None:
    word = tuple(Letter(piece, Fraction(share)) for piece, share in (("B", -1), ("A", 1), ("B", 1)))
    assert word_text(rotated(word, 1)) == "[A]"


def test_the_document_of_a_scheme_may_say_where_and_a_build_otherwise(tmp_path: Path) -> None:
    document = f"{OABAO}keep: B\n"
    assert build_of(tmp_path, "{use: oabao.yaml}", document).scheme.keep == 3
    assert build_of(tmp_path, "{use: oabao.yaml, keep: 1}", document).scheme.keep == 1
