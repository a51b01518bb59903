"""Does a square-root diffusion keep the law of the positive block that it moves? Then it preserves exp(-H).

Given all others a block g of the target has the law Gamma(a, b), as `laws` claims. Entry by entry it moves for the
time eps along dg = (a - b g) dt + sqrt(2g) dW, the recipe with D = diag(g) and that law's energy. With e = exp(-b t)
its generating function is known (Cox, Ingersoll, Ross 1985),

    u(t, s, g) = E[exp(s g_t)] = v^-a exp(s g e/v),    v = 1 - s (1 - e)/b,

that of c Gamma(a + K, 1), K ~ Poisson(g e/c), c = (1 - e)/b. It is the flow, as u = exp(s g) at t = 0 and du/dt = (a -
b g) du/dg + g d2u/dg2; it is reversible, as E[exp(r g) u(t, s, g)] over g ~ Gamma(a, b) does not change with r and s
exchanged, and so it keeps Gamma(a, b), at every eps.

**From a minibatch** (Baker, Fearnhead, Fox, Nemeth 2018) the shape is an estimate A of a, drawn anew in every step and
without bias. Given all others then E[g] = a/b, exactly, and

    Var[g] = a/b^2 + tanh(b eps/2) Var[A]/b^2:

with E[g'] = e g + (1 - e) A/b and Var[g'] = 2 g e (1 - e)/b + A (1 - e)^2/b^2 given g and A, stationarity asks that
(1 - e^2) Var[g] = (1 - e^2) a/b^2 + (1 - e)^2 Var[A]/b^2. It is the law itself as eps goes to 0: A is in the generator
as a summand alone, and is averaged.
"""

from functools import lru_cache

import sympy
from sympy import Expr, Symbol

from recipe_compiler.program.by_datum import by_datum
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.laws import of_all_data
from recipe_compiler.spec.model import Build, Cir, Law
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index, SizeNumber, Tensor
from recipe_compiler.verdict import Answer, Proved, Undecided
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.moves.conjunction import is_shown, laws_kept, left_open, shown
from recipe_compiler.verify.moves.draw import law_under_H
from recipe_compiler.verify.steps.split import Split

SUM = "its shape is a number plus a sum over the data, for which a minibatch gives an unbiased estimate"
"""What a shape that a minibatch estimates has to satisfy."""


def cir(split: Split, stages: Stages) -> Answer:
    """Decide that the `cir` flows dg = (a - b g) dt + sqrt(2 g) dW of a cycle keep Gamma(a, b), entry by entry.

    Each is the law of its block given all others, with shape a and rate b (`flow_keeps`); with a shape that a minibatch
    estimates, only as eps -> 0. (Cox, Ingersoll, Ross 1985; Baker, Fearnhead, Fox, Nemeth 2018.)
    """
    moves = [move for move in split.scheme.cycle if isinstance(move, Cir)]
    return laws_kept([(f"the flow of {move.block}", flow_keeps(split, move, stages)) for move in moves])


@lru_cache(maxsize=64)
def flow_keeps(split: Split, move: Cir, stages: Stages) -> Answer:
    """Decide that the flow dg = (a - b g) dt + sqrt(2 g) dW keeps the law of its block under exp(-H) given all others.

    It rests on: that law is Gamma(a, b) (`law_under_H`), and the flow keeps Gamma(a, b) (`of_flow`). With an estimate A
    of the shape from a minibatch, E[A] = a has to be shown as well; then the mean a/b is exact and the variance a/b**2
    + tanh(b eps/2) Var[A]/b**2, which is the law as eps -> 0.
    """
    build = stages.build
    of_law = law_under_H(split, move.block, stages, of_a_batch=True)
    if not isinstance(of_law.decision, Proved):
        return of_law
    target = build.target.declared or build.target
    law = dict(target.laws)[move.block]
    obligations = [("the conditional distribution", of_law), ("the flow", of_flow())]
    says = f"d g = (shape - rate g) dt + sqrt(2 g) dW preserves the conditional distribution of g = {move.block}"
    if not is_estimated(build, move):
        return shown(f"{says} at every step size", obligations)
    obligations.append((SUM, _estimate(build, law)))
    if not is_shown(obligations):
        return Answer(Undecided(left_open(obligations)))
    return shown(f"{says} as eps goes to 0; {bias(move)}", obligations)


def bias(move: Cir) -> str:
    """Say what remains of a law when a minibatch estimates its shape."""
    return (
        f"given all others, the mean of {move.block} is exact at every step size, and its variance too large by "
        "tanh(rate eps/2) Var[estimated shape]/rate**2"
    )


def is_estimated(build: Build, move: Cir) -> bool:
    """Whether the shape of a law uses data of which a step sees a minibatch only."""
    target = build.target.declared or build.target
    fields = {field.name for field in target.declarations.data}
    shape = dict(target.laws)[move.block].arguments[0]
    return build.variant != "full" and bool(fields & {*dependence(shape).names})


def _tensor(build: Build, law: Law) -> Tensor:
    """Return the shape of a law in index notation, data as components of all rows."""
    target = build.target.declared or build.target
    shape = law.arguments[0]
    slots = tuple(Index(size, "i") for size in shape.shape.sizes)
    return convert(shape, of_all_data(target.declarations), *slots)


def _estimate(build: Build, law: Law) -> Answer:
    """Decide that a shape is a number plus a sum over the data, positive for every minibatch as it is for all data.

    a(k) = A + k sum_batch g_n is the shape of a data set that has each datum of the batch k times, hence positive for
    k = 1, 2, ...; so it is at N/n >= 1 between two of them, if A and g_n do not hold N.
    """
    target = build.target.declared or build.target
    tensor, fields = _tensor(build, law), frozenset(field.name for field in target.declarations.data)
    if by_datum(tensor, fields) is None:
        return Answer(Undecided(("it depends on the data in another way",)))
    counts = {str(field.size) for field in target.declarations.data}
    if any(isinstance(atom, SizeNumber) and atom.name in counts for atom in everywhere(tensor)):
        return Answer(Undecided(("it contains N beside the sum, so it is not shown to be positive for every batch",)))
    return Answer(Proved("index calculus for every size"))


@lru_cache(maxsize=1)
def of_flow() -> Answer:
    """Decide that u(t, s, g) = E[exp(s g_t)] is that of the flow, and that the flow is reversible for Gamma(a, b).

    u = v**-a exp(s g e/v), v = 1 - s (1 - e)/b, e = exp(-b t): u = exp(s g) at t = 0, du/dt = (a - b g) du/dg + g
    d2u/dg2, and E[exp(r g) u(t, s, g)] over Gamma(a, b) is symmetric in r and s (Cox, Ingersoll, Ross 1985). Rational
    identities in a, b, e, g, r and s, decided by their normal form.
    """
    left = [name for name, residual in residuals() if residual != 0]
    return Answer(Undecided(tuple(left))) if left else Answer(Proved("generating functions: the flow, and reversible"))


def residuals() -> list[tuple[str, Expr]]:
    """Return what has to vanish, by name, for u(t, s, g) = v**-a exp(s g e/v) to be that of the flow and reversible.

    With v(s) = 1 - s (1 - e)/b and e = exp(-b t): log u at e = 1 less s g; d(log u)/dt - (a - b g) l - g (l' + l**2)
    with l = d(log u)/dg; and v(s) (1 - (r + s e/v(s))/b), whose power -a is E[exp(r g) u] over Gamma(a, b), less itself
    with r and s exchanged. Scalars in a, b, e, g, r, s > 0 (Cox, Ingersoll, Ross 1985).
    """
    a, b, e, g, r, s = (Symbol(name, positive=True) for name in "abegrs")

    def v(s: Expr) -> Expr:
        return 1 - s * (1 - e) / b

    log_u = -a * sympy.log(v(s)) + s * g * e / v(s)
    slope = sympy.diff(log_u, g)
    moved = -b * e * sympy.diff(log_u, e)  # de/dt = -b e
    generated = (a - b * g) * slope + g * (sympy.diff(slope, g) + slope**2)
    joint = v(s) * (1 - (r + s * e / v(s)) / b)  # its power -a is E[exp(r g) u] over g ~ Gamma(a, b)
    swapped = joint.subs({r: s, s: r}, simultaneous=True)
    start = log_u.subs(e, 1) - s * g
    return [
        ("u = exp(s g) at t = 0", sympy.expand_log(start, force=True)),
        ("du/dt = L u", sympy.cancel(sympy.together(moved - generated))),
        ("E[exp(r g) u(s)] = E[exp(s g) u(r)]", sympy.cancel(sympy.together(joint - swapped))),
    ]
