"""What has no value at some admissible point is no claim there: nothing that reads it is proved."""

from collections.abc import Callable

import pytest

from recipe_compiler.verdict import Report, Verdict

Check = Callable[[str], Report]
Said = Callable[[str, str], str]

ONES = [
    "a/a",
    "a**2*a**(-2)",
    "sqrt(a)**2 + 1 - a",
    "1 + log(a) - log(a)",
    "1 + 0*log(a)",
    "exp(log(a) - log(a))",
    "exp(log(a))/a",
    "1 + tan(a) - tan(a)",
    "1 + log1p(a) - log1p(a)",
    "1 + a**(1/3) - a**(1/3)",
    "gamma(a + 1)/gamma(a)/a",
    "loggamma(a) - loggamma(a) + 1",
    "sqrt(sin(a))**2 + 1 - sin(a)",
    "inv(a*I)[0, 0]*a",
    "where(a > 0, 1, 1/a - 1/a + 1)",
]
"""1 wherever they have a value, which is not everywhere."""

DOCUMENTS = {
    "d_symmetric": "state: {x: {}, y: {}}\nH: x**2/2 + y**2/2\nD: [[2, '%s'], [1, 2]]\nQ: [[0, 0], [0, 0]]\n",
    "d_psd": "state: {x: {}}\nH: x**2/2\nD: [['%s']]\nQ: [[0]]\n",
    "q_skew": "state: {x: {}, y: {}}\nH: x**2/2 + y**2/2\nD: [[1, 0], [0, 1]]\nQ: [[0, '%s'], [-1, 0]]\n",
    "stationary": "state: {x: {}}\nH: '%s*x**2/2'\nD: [[1]]\nQ: [[0]]\n",
    "claimed_drift": "state: {x: {}}\nH: x**2/2\nD: [[1]]\nQ: [[0]]\nclaims: {drift: {x: '-(%s)*x'}}\n",
    "claimed_stationary": "state: {x: {}}\nH: x**2/2\nD: [[1]]\nclaims: {drift: {x: '-(%s)*x'}}\n",
    "recovered_q": "state: {x: {}, y: {}}\nH: x**2/2 + y**2/2\nD: [[1, 0], [0, 1]]\n"
    "claims: {drift: {x: '-x + (%s)*y', y: '-y - (%s)*x'}}\n",
    "step_scale": "state: {x: {}}\nH: x**2/2\nD: [[1]]\nQ: [[0]]\n"
    "claims: {update: {x: 'x - eps*x*(%s) + N(0, 2*eps)'}}\n",
    "claimed_update": "state: {x: {}}\nH: x**2/2\nD: [[1]]\nQ: [[0]]\n"
    "claims: {update: {x: 'x - eps*x + N(0, 2*eps*(%s))'}}\n",
    "periodic": "state: {x: {domain: circle}}\nH: cos(x)*(%s)\nD: [[1]]\nQ: [[0]]\n",
    "normalisable": "state: {x: {}}\nH: '(%s)*x**2/2'\nD: [[1]]\nQ: [[0]]\n",
    "marginal": "state: {x: {}, r: {}}\nfunctions: {U: {of: x, role: potential}}\nH: 'U(x) + (%s)*r**2/2'\n"
    "D: [[0, 0], [0, 1]]\nQ: [[0, -1], [1, 0]]\n",
    "claimed_marginal": "state: {x: {}, r: {}}\nH: x**2/2 + r**2/2\nD: [[0, 0], [0, 1]]\nQ: [[0, -1], [1, 0]]\n"
    "claims: {marginal: {x: '(%s)*x**2/2'}}\n",
    "explosion": "state: {x: {}}\nH: '(%s)*x**2/2'\nD: [[1]]\nQ: [[0]]\n",
    "regular": "state: {x: {}, y: {}}\nH: x**2/2 + y**2/2\nD: [[1 + x**2, 0], [0, '%s']]\nQ: [[0, 0], [0, 0]]\n",
    "boundary": "state: {x: {domain: positive}}\nH: '(%s)*x - 2*log(x)'\nD: [[x]]\nQ: [[0]]\n",
    "unique": "state: {x: {}}\nH: x**2/2\nD: [['%s']]\nQ: [[0]]\n",
    "claimed_diffusion": "state: {x: {}}\nH: x**2/2\nD: [[1]]\nQ: [[0]]\nclaims: {diffusion: [['%s']]}\n",
}
"""For every claim a document that is right where 1 stands in it."""


@pytest.mark.parametrize("claim", DOCUMENTS)
def test_the_document_itself_is_proved(said: Said, claim: str) -> None:
    assert said(claim, DOCUMENTS[claim].replace("%s", "1")) == "proved"


@pytest.mark.parametrize(("claim", "one"), [(c, one) for k, c in enumerate(DOCUMENTS) for one in ONES[k % 3 :: 3]])
def test_what_has_no_value_everywhere_is_not_proved(said: Said, claim: str, one: str) -> None:
    text = "parameters: {a: {}}\n" + DOCUMENTS[claim].replace("%s", one)
    if "I)[0" in one:
        text = text.replace("inv(a*I)[0, 0]*a", "inv(A)[0, 0]*A[0, 0]").replace("{a: {}}", "{A: {shape: [1, 1]}}")
    assert said(claim, text) != "proved"


@pytest.mark.parametrize("one", ["a/a", "exp(log(a))/a", "1 + log(a) - log(a)", "sqrt(a)**2 + 1 - a"])
@pytest.mark.parametrize("claim", sorted(set(DOCUMENTS) - {"recovered_q"}))
def test_where_it_has_a_value_it_is_proved(said: Said, claim: str, one: str) -> None:
    text = "parameters: {a: {is: positive}}\n" + DOCUMENTS[claim].replace("%s", one)
    assert said(claim, text) == "proved"


SIZES = ["(d - 5)/(d - 5)", "(d - 1)/(d - 1)", "sqrt(d - 2)**2 - d + 3", "1 + 0*log(3 - d)"]


@pytest.mark.parametrize(("claim", "one"), [(c, one) for k, c in enumerate(DOCUMENTS) for one in SIZES[k % 2 :: 2]])
def test_what_has_no_value_at_some_size_is_not_proved(said: Said, claim: str, one: str) -> None:
    assert said(claim, "parameters: {v: {shape: d}}\n" + DOCUMENTS[claim].replace("%s", one)) != "proved"


@pytest.mark.parametrize("one", SIZES)
@pytest.mark.parametrize("claim", ["d_psd", "d_symmetric", "q_skew", "stationary", "normalisable", "regular"])
def test_nor_is_it_in_blocks_of_every_size(said: Said, claim: str, one: str) -> None:
    text = f"""
state: {{x: {{shape: d}}, y: {{shape: d}}}}
H: "({one})*x.T @ x / 2 + y.T @ y / 2"
D: [["({one})*diag(ones + x**2)", 0], [0, I]]
Q: [[0, "({one})*I"], [-I, 0]]
"""
    assert said(claim, text) != "proved"


WRONG = {
    "d_symmetric": "2",
    "d_psd": "-1",
    "q_skew": "2",
    "claimed_drift": "2",
    "claimed_diffusion": "2",
    "claimed_stationary": "2",
    "claimed_update": "-1",
    "normalisable": "-1",
    "marginal": "-1",
    "claimed_marginal": "2",
    "unique": "0",
}
"""For claims that hold with 1 but not with any number in its place: a number with which they do not."""

KINKED = [
    "where(a == 0, %w, 1)",
    "1 + (%w - 1)*(1 - sign(a)**2)",
    "1 + (%w - 1)*(1 - abs(sign(a)))",
    "where(abs(a) - a == 0, %w, 1)",
    "where(a > b, 1, where(a < b, 1, %w))",
    "where(sin(a)**2 + cos(a)**2 == 1, %w, 1)",
    "1 + (%w - 1)*(1 - sign(abs(a) - a)**2)",
    "where(sign(a)**2 < 1, %w, 1)",
]
"""1 for some or almost all parameters, the wrong number for the others."""


@pytest.mark.parametrize("kinked", KINKED)
@pytest.mark.parametrize("claim", WRONG)
def test_what_is_wrong_at_one_value_of_a_parameter_is_not_proved(said: Said, claim: str, kinked: str) -> None:
    one = kinked.replace("%w", WRONG[claim])
    assert said(claim, "parameters: {a: {}, b: {}}\n" + DOCUMENTS[claim].replace("%s", one)) != "proved"


RIGHT = ["2 - where(sin(a)**2 + cos(a)**2 == 1, 1, 0)", "sign(n)**2", "where(n == 0, 7, 1)", "where(a >= a, 1, 2)"]
"""1 for all parameters that are declared, n being nonzero."""


@pytest.mark.parametrize("one", RIGHT)
@pytest.mark.parametrize("claim", DOCUMENTS)
def test_what_is_right_at_all_of_them_is_not_refuted(said: Said, claim: str, one: str) -> None:
    text = "parameters: {a: {}, n: {is: nonzero}}\n" + DOCUMENTS[claim].replace("%s", one)
    assert said(claim, text) != "refuted"


@pytest.mark.parametrize(
    ("state", "D"),
    [
        ("{}", "exp(log(x))"),
        ("{}", "sqrt(x)**2"),
        ("{}", "exp(2*log(x)/2)"),
        ("{}", "sqrt(x)*sqrt(x)"),
        ("{shape: 2}", "diag(exp(log(x)))"),
        ("{shape: 2}", "diag(sqrt(x))@diag(sqrt(x))"),
        ("{shape: d}", "diag(exp(log(x)))"),
        ("{shape: 3}", "exp(log(x[0]))*I"),
        ("{domain: 'interval(-1, 1)'}", "sqrt(x)**2"),
    ],
)
def test_a_diffusion_without_a_value_is_open_for_that_reason(checked: Check, state: str, D: str) -> None:
    """At x < 0 it is no negative number: it is none, and says nothing against a proof where it is one."""
    H = "x.T @ x / 2" if "shape" in state else "x**2/2"
    found = next(
        f for f in checked(f'state: {{x: {state}}}\nH: {H}\nD: [["{D}"]]\nQ: [[0]]\n').findings if f.id == "d_psd"
    )
    assert found.verdict is Verdict.UNDECIDED
    assert "please report" not in str(found.decision)
    assert "not shown: x" in str(found.decision)


@pytest.mark.parametrize(("up", "low"), [("log(x**2)", "-2*log(x)"), ("x/x", "-1"), ("sqrt(x**2)", "-sqrt(x)**2")])
def test_a_q_without_a_value_is_neither_proved_nor_refuted_where_it_has_one(said: Said, up: str, low: str) -> None:
    text = f'state: {{x: {{}}, y: {{}}}}\nH: x**2/2 + y**2/2\nD: [[1, 0], [0, 1]]\nQ: [[0, "{up}"], ["{low}", 0]]\n'
    assert said("q_skew", text) == "undecided"
    assert said("q_skew", text.replace("x: {}", "x: {domain: positive}")) == "proved"


@pytest.mark.parametrize("bound", ["1/a", "exp(log(a))", "sqrt(a)"])
def test_a_domain_that_has_no_end_is_none(said: Said, bound: str) -> None:
    state = f'state: {{x: {{domain: "interval(-9 - {bound}, 9)"}}}}\nparameters: {{a: {{}}}}\n'
    assert said("d_psd", f"{state}H: x**2/2\nD: [[1]]\nQ: [[0]]\n") != "proved"
