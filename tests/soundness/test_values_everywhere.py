"""What has no value at some admissible point is no claim there: nothing that reads it is proved."""

import pytest
from answers import answer, document
from some import some

from recipe_compiler.facts.patterns import is_of_kind
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.report.check import check
from recipe_compiler.verify.core.kinds import find_counterexample


def line(H: str = "x**2/2", D: str = "1", more: str = "", x: str = "{}") -> str:
    return f"state: {{x: {x}}}\nH: '{H}'\nD: [['{D}']]\nQ: [[0]]\n{more}\n"


def plane(D: str = "[[1, 0], [0, 1]]", Q: str = "[[0, 0], [0, 0]]", more: str = "") -> str:
    return f"state: {{x: {{}}, y: {{}}}}\nH: x**2/2 + y**2/2\nD: {D}\nQ: {Q}\n{more}\n"


def momentum(H: str, more: str = "") -> str:
    declared = "state: {x: {}, r: {}}\nfunctions: {U: {of: x, role: potential}}\n"
    return f"{declared}H: '{H}'\nD: [[0, 0], [0, 1]]\nQ: [[0, -1], [1, 0]]\n{more}\n"


ONES = [
    "a/a", "a**2*a**(-2)", "sqrt(a)**2 + 1 - a", "1 + log(a) - log(a)", "1 + 0*log(a)", "exp(log(a) - log(a))",
    "exp(log(a))/a", "1 + tan(a) - tan(a)", "1 + log1p(a) - log1p(a)", "1 + a**(1/3) - a**(1/3)",
    "gamma(a + 1)/gamma(a)/a", "loggamma(a) - loggamma(a) + 1", "sqrt(sin(a))**2 + 1 - sin(a)", "inv(a*I)[0, 0]*a",
    "where(a > 0, 1, 1/a - 1/a + 1)",
]  # fmt: skip
"""1 wherever they have a value, which is not everywhere."""
DOCUMENTS = {
    "d_symmetric": plane("[[2, '%s'], [1, 2]]"),
    "d_psd": line(D="%s"),
    "q_skew": plane(Q="[[0, '%s'], [-1, 0]]"),
    "stationary": line("%s*x**2/2"),
    "claimed_drift": line(more="claims: {drift: {x: '-(%s)*x'}}"),
    "claimed_stationary": line(more="claims: {drift: {x: '-(%s)*x'}}").replace("Q: [[0]]\n", ""),
    "recovered_q": plane(more="claims: {drift: {x: '-x + (%s)*y', y: '-y - (%s)*x'}}").replace(
        "Q: [[0, 0], [0, 0]]\n", ""
    ),
    "step_scale": line(more="claims: {update: {x: 'x - eps*x*(%s) + N(0, 2*eps)'}}"),
    "claimed_update": line(more="claims: {update: {x: 'x - eps*x + N(0, 2*eps*(%s))'}}"),
    "periodic": line("cos(x)*(%s)", x="{domain: circle}"),
    "normalisable": line("(%s)*x**2/2"),
    "marginal": momentum("U(x) + (%s)*r**2/2"),
    "claimed_marginal": momentum("x**2/2 + r**2/2", "claims: {marginal: {x: '(%s)*x**2/2'}}"),
    "explosion": line("(%s)*x**2/2"),
    "regular": plane("[[1 + x**2, 0], [0, '%s']]"),
    "boundary": line("(%s)*x - 2*log(x)", "x", x="{domain: positive}"),
    "unique": line(D="%s"),
    "claimed_diffusion": line(more="claims: {diffusion: [['%s']]}"),
}
"""For every claim a document that is right where 1 stands in it."""
BLOCKS = """
parameters: {v: {shape: d}}
state: {x: {shape: d}, y: {shape: d}}
H: "(%s)*x.T @ x / 2 + y.T @ y / 2"
D: [["(%s)*diag(ones + x**2)", 0], [0, I]]
Q: [[0, "(%s)*I"], [-I, 0]]
"""
SIZES = ["(d - 5)/(d - 5)", "(d - 1)/(d - 1)", "sqrt(d - 2)**2 - d + 3", "1 + 0*log(3 - d)"]
WRONG = {
    "d_symmetric": "2", "d_psd": "-1", "q_skew": "2", "claimed_drift": "2", "claimed_diffusion": "2",
    "claimed_stationary": "2", "claimed_update": "-1", "normalisable": "-1", "marginal": "-1",
    "claimed_marginal": "2", "unique": "0",
}  # fmt: skip
"""For claims that hold with 1 but not with any number in its place: a number with which they do not."""
KINKED = [
    "where(a == 0, %w, 1)", "1 + (%w - 1)*(1 - sign(a)**2)", "1 + (%w - 1)*(1 - abs(sign(a)))",
    "where(abs(a) - a == 0, %w, 1)", "where(a > b, 1, where(a < b, 1, %w))",
    "where(sin(a)**2 + cos(a)**2 == 1, %w, 1)", "1 + (%w - 1)*(1 - sign(abs(a) - a)**2)",
    "where(sign(a)**2 < 1, %w, 1)",
]  # fmt: skip
"""1 for some or almost all parameters, the wrong number for the others."""
RIGHT = ["2 - where(sin(a)**2 + cos(a)**2 == 1, 1, 0)", "sign(n)**2", "where(n == 0, 7, 1)", "where(a >= a, 1, 2)"]
"""1 for all parameters that are declared, n being nonzero."""
REAL, POSITIVE, NONZERO = "{a: {}, b: {}}", "{a: {is: positive}}", "{a: {}, n: {is: nonzero}}"
ROOTS = ("a/a", "exp(log(a))/a", "1 + log(a) - log(a)", "sqrt(a)**2 + 1 - a")
NEVER = [
    *((claim, REAL, one) for k, claim in enumerate(DOCUMENTS) for one in ONES[k % 3 :: 3]),
    *((claim, "{v: {shape: d}}", one) for k, claim in enumerate(DOCUMENTS) for one in SIZES[k % 2 :: 2]),
    *((claim, REAL, one.replace("%w", wrong)) for claim, wrong in WRONG.items() for one in KINKED),
]


def said(claim: str, text: str) -> str:
    found = answer(document(text), claim)
    assert "please report" not in str(found.decision), found
    return str(found.verdict)


def of(claim: str, parameters: str, one: str) -> str:
    if "I)[0" in one:
        one, parameters = "inv(A)[0, 0]*A[0, 0]", "{A: {shape: [1, 1]}}"
    return f"parameters: {parameters}\n{DOCUMENTS[claim].replace('%s', one)}"


@pytest.mark.parametrize(("claim", "parameters", "one"), NEVER)
def test_what_has_no_value_or_is_wrong_at_one_point_is_not_proved(claim: str, parameters: str, one: str) -> None:
    assert said(claim, of(claim, parameters, one)) != "proved"


@pytest.mark.parametrize("one", SIZES)
@pytest.mark.parametrize("claim", ["d_psd", "d_symmetric", "q_skew", "stationary", "normalisable", "regular"])
def test_nor_is_it_in_blocks_of_every_size(claim: str, one: str) -> None:
    assert said(claim, BLOCKS.replace("%s", one)) != "proved"


@pytest.mark.parametrize(
    ("claim", "one"),
    [
        *((claim, "1") for claim in DOCUMENTS),
        *some([(claim, one) for claim in DOCUMENTS if claim != "recovered_q" for one in ROOTS], 3),
    ],
)
def test_where_it_has_a_value_it_is_proved(claim: str, one: str) -> None:
    assert said(claim, of(claim, POSITIVE, one)) == "proved"


@pytest.mark.parametrize(("claim", "one"), some([(claim, one) for claim in DOCUMENTS for one in RIGHT], 3))
def test_what_is_right_at_all_parameters_is_not_refuted(claim: str, one: str) -> None:
    assert said(claim, of(claim, NONZERO, one)) != "refuted"


@pytest.mark.parametrize(
    ("state", "D"),
    [
        *(("{}", D) for D in ("exp(log(x))", "sqrt(x)**2", "exp(2*log(x)/2)", "sqrt(x)*sqrt(x)")),
        ("{shape: 2}", "diag(sqrt(x))@diag(sqrt(x))"),
        ("{shape: d}", "diag(exp(log(x)))"),
        ("{shape: 3}", "exp(log(x[0]))*I"),
        ("{domain: 'interval(-1, 1)'}", "sqrt(x)**2"),
    ],
)
def test_a_diffusion_without_a_value_is_open_for_that_reason(state: str, D: str) -> None:
    """At x < 0 it is no negative number: it is none, and says nothing against a proof where it is one."""
    found = answer(document(line("x.T @ x / 2" if "shape" in state else "x**2/2", D, x=state)), "d_psd")
    assert found.verdict == "undecided"
    assert "please report" not in str(found.decision)
    assert "not shown: x" in str(found.decision)


@pytest.mark.parametrize(("up", "low"), [("log(x**2)", "-2*log(x)"), ("x/x", "-1"), ("sqrt(x**2)", "-sqrt(x)**2")])
def test_a_q_without_a_value_is_neither_proved_nor_refuted_where_it_has_one(up: str, low: str) -> None:
    text = plane(Q=f'[[0, "{up}"], ["{low}", 0]]')
    assert said("q_skew", text) == "undecided"
    assert said("q_skew", text.replace("x: {}", "x: {domain: positive}")) == "proved"


@pytest.mark.parametrize("bound", ["1/a", "exp(log(a))", "sqrt(a)"])
def test_a_domain_that_has_no_end_is_none(bound: str) -> None:
    text = line(x=f'{{domain: "interval(-9 - {bound}, 9)"}}')
    assert said("d_psd", f"parameters: {{a: {{}}}}\n{text}") != "proved"


def test_contradictory_assumptions_prove_nothing() -> None:
    own = document(f'parameters: {{a: {{is: positive}}}}\nassume: ["exp(a) < 1"]\n{line(D="a")}')
    found = {one.id: one for one in check(own).findings}
    assert {one.verdict for one in found.values()} == {"undecided"}
    assert "no rational values were found that satisfy `exp(a) < 1`" in str(found["stationary"].decision)


@pytest.mark.parametrize(
    ("D", "kind"),
    [
        ("where(a == 0, -1, 1)", Kind.POSITIVE),
        ("sign(a)**2", Kind.POSITIVE),
        ("1 - 2*where(sin(a)**2 + cos(a)**2 == 1, 1, 0)", Kind.NONNEGATIVE),
        ("sign(a)", Kind.NONZERO),
        ("1 - where(abs(a) - a == 0, 1, 0)", Kind.NONZERO),
        ("sign(a)**2 - 1/2", Kind.PSD),
    ],
)
def test_a_kind_on_a_kink_is_not_shown(D: str, kind: Kind) -> None:
    own = document(f'state: {{x: {{}}}}\nparameters: {{a: {{}}}}\nH: x**2/2\nD: [["{D}"]]\nQ: [[0]]\n')
    assert not is_of_kind(own.D[0][0], kind, own.declarations)
    assert find_counterexample(own.D[0][0], kind, own.declarations, ({},)) is not None
