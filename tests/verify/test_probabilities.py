"""Numbers that lie between others keep their bounds in columns, at positions, in products and beside a number."""

import pytest
from answers import answer, document, expect

COLUMN = """
name: shares
state: {p: {shape: SIZE, domain: "interval(LOW, HIGH)", transform: logit}}
data: {y: {shape: N, in: [0, 1]}, g: {shape: N, index_of: J}}
log_prior: -norm2(p)
log_likelihood: LIKELIHOOD
"""
LINE = """
name: probit
state: {a: {}, b: {}}
data: {y: {shape: N, in: [0, 1]}, x: {shape: N}}
log_prior: normal(a, 0, 1) + normal(b, 0, 1)
log_likelihood: LIKELIHOOD
"""


def of_column(likelihood, low="0", high="1"):
    text = COLUMN.replace("LIKELIHOOD", likelihood).replace("LOW", low).replace("HIGH", high)
    if "g]" in likelihood:
        return text.replace("SIZE", "J")
    return text.replace(", g: {shape: N, index_of: J}", "").replace("SIZE", "2")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (of_column("bernoulli(y, p[g])"), "proved"),
        (of_column("bernoulli(y, p[0])"), "proved"),
        (of_column("y*log1p(-p[1])"), "proved"),
        (of_column("bernoulli(y, p[0]*p[1])"), "proved"),
        (of_column("y*log(1 - p[0]*p[1])"), "proved"),
        (of_column("bernoulli(y, p[g])", "0", "2"), "not proved"),
        (of_column("bernoulli(y, p[0])", "-1", "1"), "not proved"),
        (of_column("y*log1p(-p[0]*p[1])", "-2", "1"), "not proved"),  # a product of negative numbers, up to 4
        (of_column("y*log1p(-p[0]*p[1])", "0", "2"), "not proved"),
        (of_column("y*log1p(p[0]*p[1])", "-2", "1"), "not proved"),
        (of_column("y*log1p(-2*p[0])"), "not proved"),
        (of_column("y*log1p(-p[0] - p[1])"), "not proved"),
        (LINE.replace("LIKELIHOOD", "bernoulli(y, ndtr(a + b*x))"), "proved"),
        (LINE.replace("LIKELIHOOD", "bernoulli(y, (1 + erf((a + b*x)/sqrt(2)))/2)"), "proved"),
        (LINE.replace("LIKELIHOOD", "bernoulli(y, ndtr(a)*sigmoid(b*x))"), "proved"),
        (LINE.replace("LIKELIHOOD", "bernoulli(y, erf(a + b*x))"), "not proved"),
        (LINE.replace("LIKELIHOOD", "bernoulli(y, ndtr(a) + sigmoid(b*x))"), "not proved"),
    ],
)
def test_a_probability_is_told_from_what_may_lie_beyond(text, verdict):
    expect(answer(document(text), "defined"), verdict)


SETS = """
name: sets
state: {STATE, p: {shape: 4, constraint: "interval(0, 1)"}}
data: {y: {shape: N}}
log_prior: PRIOR + beta(p, 2, 2)
log_likelihood: normal(y, sum(p), 1)
"""


@pytest.mark.parametrize(
    ("state", "prior"),
    [
        ('m: {constraint: "lower(3)"}', "exponential(m, 1)"),
        ("m: {shape: 2, constraint: ordered}", "normal(m, 0, 1)"),
        (
            'w: {shape: 5, constraint: simplex}, q: {shape: 6, constraint: "lower(1)"}',
            "dirichlet(w, ones) + exponential(q, 1)",
        ),
    ],
)
def test_blocks_in_sets_beside_columns_of_a_large_fixed_size_are_decided(state, prior):
    target = document(SETS.replace("STATE", state).replace("PRIOR", prior))
    for claim in ("defined", "gradient", "constraints", "normalisable"):
        expect(answer(target, claim), "proved")


SQUARE = "state: {theta: {shape: 4}}\npotential: (theta - [1, 2, 3, 4]).T @ (theta - [1, 2, 3, 4])\n"
FLAT = "state: {theta: {shape: 4}}\npotential: ([1, 2, 3, 4].T @ theta)**2\n"
OTHER = "state: {{s: {{constraint: {}}}, distance_s: {}}}\npotential: {}\n"
NAMED = "state: {s: {constraint: lower(1)}}\nparameters: {distance_s: {is: positive}}\npotential: s*distance_s\n"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (SQUARE, "proved"),
        (FLAT, "not proved"),
        # nothing confines `distance_s`: one name for it and for the distance of s was taken for a proof
        (OTHER.format("lower(1)", "{}", "s"), "refuted"),
        (OTHER.format("upper(1)", "{}", "-s"), "refuted"),
        (OTHER.format("lower(1)", "{domain: positive, transform: log}", "2*s"), "refuted"),
        (OTHER.format("lower(1)", "{}", "distance_s**2 + s"), "proved"),
        (OTHER.format("upper(1)", "{}", "distance_s**2 - s"), "proved"),
        (OTHER.format("lower(1)", "{domain: positive, transform: log}", "distance_s**2 + 2*s"), "proved"),
        (NAMED, "proved"),
    ],
)
def test_written_vectors_and_blocks_of_the_name_of_a_distance(text, verdict):
    expect(answer(document(text), "normalisable"), verdict)
