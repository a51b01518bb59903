"""Draws of blocks of the target as moves of a cycle: Gibbs sampling is exact, what is not shown of a draw is named."""

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy
from answers import cycle_of, document, expect, split

from recipe_compiler.program.by_datum import by_datum
from recipe_compiler.spec.laws import of_all_data
from recipe_compiler.spec.model import Cir, Draw, Refresh
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.show import text as tensor_text
from recipe_compiler.tensor.terms import Index
from recipe_compiler.verify.builds.transformed import decide_transformed_law
from recipe_compiler.verify.moves.cir import cir
from recipe_compiler.verify.moves.draw import check_conditional_law
from recipe_compiler.verify.moves.table import cycle, decide_each

BUILD = """
name: drawn
dynamics: SPECS/dynamics/still.yaml
target: SPECS/targets/normal_mean_precision.yaml
sizes: {d: 2}
data: {file: SPECS/data/normal_sample.csv, y: y}
scheme: {cycle: [draw: mu, MOVE: tau]}
variant: full
run: {step_size: 1/4, draws: 100, warmup: 10, chains: 2, seed: 1}
"""


def of(dynamics, text, *moves):
    return split(dynamics, text, "cycle", cycle=moves)


def beside(own, step):
    return cycle_of(step, replace(own, dynamics=step.subject.dynamics))


@pytest.fixture(scope="module")
def normal():
    return document(BUILD.replace("MOVE", "draw"))


BOUNDED = """
name: bounded
state:
  mu: {}
  tau: {shape: k, domain: positive, transform: log}
  share: {shape: k, domain: "interval(-1, 3)", transform: logit}
data: {y: {shape: N}}
log_prior: MORE -mu**2/2 - sum(tau) + sum(log(share + ones)) - mu*sum(share*tau)**2
log_likelihood: log(sum(tau))/2 - sum(tau)*(y - mu)**2/2
"""


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ("", ""),
        ("-sum(log(tau)) +", "g' dJ/dlog_tau - g''"),
        ("sum(log(tau)) +", "g' dJ/dlog_tau - g''"),
        ("-sum(log(ones + share)) - sum(log(3*ones - share)) +", "g' dJ/dlogit_share - g''"),
        ("sum(log(3*ones - share)) +", "g' dJ/dlogit_share - g''"),
        ("mu +", "dJ/dmu"),
    ],
)
def test_the_jacobian_of_a_transform_is_part_of_the_law(more, left):
    """Left out, counted twice, by half, or beside something else: what is sampled is compared with what is declared."""
    own, bent = (document(BOUNDED.replace("MORE ", one)) for one in ("", f"{more} "))
    at = expect(decide_transformed_law(replace(bent, declared=own.declared)), "refuted" if left else "proved")
    assert not left or left in at


BENT = """
state: {theta: {shape: d}, r: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r/2 + ENERGY
D: [[0, 0], [0, 0]]
Q: [[0, -I], [I, 0]]
"""


@pytest.mark.parametrize(
    ("energy", "verdict", "says"),
    [
        ("norm2(theta)*norm2(r)", "refuted", "d(H - U(theta))/dtau"),
        ("theta[1]*norm2(r)", "refuted", "d(H - U(theta))/dtau"),
        ("theta[0]*norm2(r)", "undecided", "H - U(theta) is free of theta"),  # of another part of theta alone
        ("U(theta)", "undecided", "H - U(theta) is free of theta"),  # as U is
        ("sum(r)\nassume: ['theta[0] > 0']", "undecided", "an assumption restricts the state"),
    ],
)
def test_what_else_h_says_of_a_block_makes_its_law_another(normal, energy, verdict, says):
    step = of(document(BENT.replace("ENERGY", energy)), "", Draw("tau"))
    found = check_conditional_law(beside(normal, step), "tau")
    at = expect(found, verdict, "" if verdict == "refuted" else says)
    assert verdict != "refuted" or any(name.startswith(says) for name in at)


def test_a_batch_leaves_a_draw_open(normal):
    step = of("still", "", Draw("mu"), Draw("tau"))
    small = beside(replace(normal, variant="minibatch"), step)
    expect(decide_each(Draw)(small), "undecided", "needs all data: `variant: full`")
    expect(cycle(small), "undecided", "see draw")


# flows that keep a Gamma law

COUNTED = """
name: counted
state: {g: {shape: 2, domain: positive, transform: log}}
data: {z: {shape: [N, 2], in: [0, 1]}, y: {shape: N, in: [0, 1, 2]}}
parameters: {a: {shape: 2, is: positive}}
log_prior: sum((a - ones)*log(g)) - 2*sum(g)
log_likelihood: 0*y
laws: {g: "Gamma(SHAPE, 2)"}
"""


@pytest.mark.parametrize(
    ("shape", "fixed", "datum"),
    [
        ("a + z.T @ y", "a[i]", "y[n] z[n,i]"),
        ("a + sum(y**2)*ones + z.T @ exp(y)", "a[i]", "y[n]**2 + z[n,i] exp(y[n])"),
        ("2*a", "2 a[i]", "0"),
        ("a + sum(y)**2*ones", None, None),
        ("a + sum(y)*(z.T @ ones)", None, None),
        ("a + log(ones + z.T @ ones)", None, None),
        ("a + z.T @ (z @ a)", "a[i]", "sum_j z[n,j] a[j] z[n,i]"),
    ],
)
def test_sums_over_data_are_told_from_functions_of_them(shape, fixed, datum):
    target = document(COUNTED.replace("SHAPE", shape))
    tensor = convert(dict(target.laws)["g"].arguments[0], of_all_data(target.declarations), Index(2, "i"))
    found = by_datum(tensor, frozenset({"z", "y"}))
    assert (found and tensor_text(found.fixed), found and tensor_text(found.datum)) == (fixed, datum)


def residuals(log=sympy.log):
    """Return what has to vanish, by name, for u(t, s, g) = v**-a exp(s g e/v) to be that of the flow and reversible.

    With v(s) = 1 - s (1 - e)/b and e = exp(-b t): log u at e = 1 less s g; d(log u)/dt - (a - b g) l - g (l' + l**2)
    with l = d(log u)/dg; and v(s) (1 - (r + s e/v(s))/b), whose power -a is E[exp(r g) u] over Gamma(a, b), less itself
    with r and s exchanged. Scalars in a, b, e, g, r, s > 0 (Cox, Ingersoll, Ross 1985).
    """
    a, b, e, g, r, s = (sympy.Symbol(name, positive=True) for name in "abegrs")

    def v(s):
        return 1 - s * (1 - e) / b

    log_u = -a * log(v(s)) + s * g * e / v(s)
    slope = sympy.diff(log_u, g)
    moved = -b * e * sympy.diff(log_u, e)  # de/dt = -b e
    generated = (a - b * g) * slope + g * (sympy.diff(slope, g) + slope**2)
    joint = v(s) * (1 - (r + s * e / v(s)) / b)  # its power -a is E[exp(r g) u] over g ~ Gamma(a, b)
    swapped = joint.subs({r: s, s: r}, simultaneous=True)
    return {
        "u = exp(s g) at t = 0": sympy.expand_log(log_u.subs(e, 1) - s * g, force=True),
        "du/dt = L u": sympy.cancel(sympy.together(moved - generated)),
        "E[exp(r g) u(s)] = E[exp(s g) u(r)]": sympy.cancel(sympy.together(joint - swapped)),
    }


def test_the_flow_of_a_positive_block_keeps_its_gamma_law():
    """The theorem that `cir` names, proved; a flow with other degrees of freedom fails it."""
    assert set(residuals().values()) == {0}
    for times in (2, Fraction(1, 2)):
        assert residuals(lambda x, times=times: times * sympy.log(x))["du/dt = L u"] != 0


def test_a_metric_leaves_a_flow_open():
    step = of("rhmc", "", Refresh("r"), Draw("mu"), Cir("tau"))
    own = beside(document(BUILD.replace("MOVE", "cir")), step)
    expect(cir(own, Cir("tau")), "undecided")
    expect(decide_each(Cir)(own), "undecided", "is free of theta")
