"""The one door from YAML."""

import pytest

from recipe_compiler.errors import Fault, SpecError
from recipe_compiler.spec.yaml_nodes import Scalar, plain
from recipe_compiler.spec.yaml_reader import read_yaml


def faults_of(data: str | bytes) -> tuple[Fault, ...]:
    with pytest.raises(SpecError) as caught:
        read_yaml(data.encode() if isinstance(data, str) else data, "f.yaml")
    return caught.value.faults


def test_scalars_stay_text() -> None:
    read = plain(read_yaml(b"a: 1e-3\nb: 010\nc: [no, 1:30, 1_000, .nan]\nd:", "f"))
    assert read == {"a": "1e-3", "b": "010", "c": ["no", "1:30", "1_000", ".nan"], "d": None}


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_change_nothing(ends: str) -> None:
    text = "a: 1\nb:\n  c: x +\n    y\n"
    assert read_yaml(b"\xef\xbb\xbf" + text.replace("\n", ends).encode(), "f") == read_yaml(text.encode(), "f")


@pytest.mark.parametrize(
    ("text", "line", "column", "entry", "part"),
    [
        ("a: 1\nH: !!python/name:os.system", 2, 4, "H", "tag `!!python/name:os.system`"),
        ("H: !!str x", 1, 4, "H", "tag `!!str`"),
        ("H: &x + 1", 1, 4, "H", "anchor"),
        ("H: *x", 1, 4, "H", "alias"),
        ("H: |x|", 1, 5, "H", "`|`"),
        ("H: x: 1", 1, 5, "H", "`: `"),
        ("H: - gamma", 1, 4, "H", "`- `"),
        ("name: a\nstate\n  x: 1\nH: 1", 2, 1, "document", "no `key: value`"),
        ("name: a\nstate:\n  x {shape: d}\nH: 1", 3, 3, "state", "no colon after `x`"),
        ("D: [[0, 0], [0, c]\nQ: [[0]]", 1, 4, "D", "a list is not closed"),
        ("D: [theta[0], 1]", 1, 10, "D", "`[`"),
        ("a: 1\n\tb: 2", 2, 1, "b", "tab"),
        ("H: @x", 1, 4, "H", "keeps for itself"),
        ('H: "x', 1, 6, "H", "quotation mark"),
        ("a: 1\n---\nb: 2", 2, 1, "document", "second document"),
        ("a: \0", 1, 4, "document", "U+0000"),
        ('a: "\u202ex"', 1, 5, "document", "U+202E"),
        ("a: x\u2028y", 1, 5, "document", "U+2028"),
    ],
)
def test_what_is_no_document_is_refused_where_it_stands(
    text: str, line: int, column: int, entry: str, part: str
) -> None:
    fault = faults_of(text)[0]
    assert (fault.where.line, fault.where.column, fault.entry) == (line, column, entry)
    assert part in fault.problem


def test_a_duplicate_key_names_both_lines() -> None:
    (fault,) = faults_of("H: x**2\nD: 1\nH: x**4")
    assert "on lines 1 and 3" in fault.problem


def test_faults_of_the_yaml_are_gathered() -> None:
    assert len(faults_of("a: !t 1\nb: &x 2\nc: *x\na: 3")) == 4


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"\xff\xfeH\0", "UTF-16"),
        (b"a: 1\nb: \xe9", "byte 0xe9"),
        (b"", "empty"),
        (b"null", "nothing"),
        (b"- a", "list"),
        (b"hello", "bare text"),
        (b"#" * 1_000_001, "more than 1,000,000 bytes"),
    ],
)
def test_bytes_that_are_no_mapping_are_refused(data: bytes, part: str) -> None:
    assert part in faults_of(data)[0].problem


@pytest.mark.parametrize("text", ["[" * 2000 + "]" * 2000, "{a: " * 60 + "}" * 60, "- " * 60 + "x"])
def test_deep_nesting_is_refused_before_anything_recurses(text: str) -> None:
    assert "deeper than 50" in faults_of(text)[0].problem


def test_fifty_levels_are_read() -> None:
    read_yaml(("a: " + "[" * 49 + "]" * 49).encode(), "f")


def test_a_mapping_of_thousands_of_keys_is_refused_early() -> None:
    fault = faults_of("state:\n" + "".join(f" x{n}:\n" for n in range(5000)))[0]
    assert fault.entry == "state"
    assert "1,000 entries" in fault.problem


def test_commas_inside_parentheses_do_not_cut_an_entry() -> None:
    read = plain(read_yaml(b"D: [[minimum(x, y), 0], [where(x > 0, 1, 2), f(]]\ni: {t: N(0, I), u: 1}", "f"))
    assert read == {"D": [["minimum(x, y)", "0"], ["where(x > 0, 1, 2)", "f("]], "i": {"t": "N(0, I)", "u": "1"}}


@pytest.mark.parametrize(
    ("text", "offset", "line", "column"),
    [
        ("H: x + y", 4, 1, 8),
        ('H: "x + y"', 4, 1, 9),
        ("H: x +\n   y * z", 8, 2, 8),
        ("H: |\n  x +\n    y * z", 10, 3, 9),
        ("H: >\n  x +\n  y * z", 8, 3, 7),
        ('H: "x +\n   y * z"', 8, 2, 8),
        ("H: [f(x,   y)]", 5, 1, 12),
    ],
)
def test_each_character_of_a_scalar_has_its_place(text: str, offset: int, line: int, column: int) -> None:
    node = read_yaml(text.encode(), "f").get("H")
    scalar = node if isinstance(node, Scalar) else getattr(node, "items", ())[0]
    assert (scalar.locate(offset).line, scalar.locate(offset).column) == (line, column)
