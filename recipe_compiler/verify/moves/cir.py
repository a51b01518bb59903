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

from recipe_compiler.formula.expression import Formula
from recipe_compiler.program.by_datum import by_datum
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.laws import of_all_data
from recipe_compiler.spec.model import Cir
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index, SizeNumber
from recipe_compiler.verdict import Answer, Proved, undecided
from recipe_compiler.verify.core.conjunction import conjoin, is_proved
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.moves.draw import check_conditional_law

SUM = "its shape is a number plus a sum over the data, for which a minibatch gives an unbiased estimate"
"""What a shape that a minibatch estimates has to satisfy."""
PRESERVES = "its flow is reversible for Gamma(shape, rate), entry by entry (Cox, Ingersoll, Ross 1985)"


def cir(cycle: Cycle, move: Cir) -> Answer:
    """Decide that the flow dg = (a - b g) dt + sqrt(2 g) dW preserves the conditional law of its block under exp(-H).

    It rests on: that law is Gamma(a, b) (`check_conditional_law`), which the flow keeps by the theorem above. With
    an estimate A of the shape from a minibatch, E[A] = a has to be shown as well; then the mean a/b is exact and the
    variance a/b**2 + tanh(b eps/2) Var[A]/b**2, which is the law as eps -> 0.
    """
    law = check_conditional_law(cycle, move.block, is_of_a_batch=True)
    if not is_proved(law):
        return law
    obligations = [("the conditional distribution", law), ("the flow", Answer(Proved(PRESERVES)))]
    says = f"d g = (shape - rate g) dt + sqrt(2 g) dW preserves the conditional distribution of g = {move.block}"
    if not is_shape_estimated(cycle, move):
        return conjoin(f"{says} at every step size", obligations)
    return conjoin(f"{says} as eps goes to 0; {describe_bias(move)}", [*obligations, (SUM, _check_shape(cycle, move))])


def describe_bias(move: Cir) -> str:
    """Return the sentence on the bias that remains when a minibatch estimates the shape of a law."""
    return (
        f"given all others, the mean of {move.block} is exact at every step size, and its variance too large by "
        "tanh(rate eps/2) Var[estimated shape]/rate**2"
    )


def is_shape_estimated(cycle: Cycle, move: Cir) -> bool:
    """Return whether the shape of the move's law reads data of which a step sees only a minibatch.

    With control variates it holds data without the state, whose differences are 0: the sum over all is computed once.
    """
    if cycle.build.variant == "full" or cycle.build.control:
        return False
    fields = {field.name for field in cycle.target.declarations.data}
    return bool(fields & {*dependence(_claimed_shape(cycle, move)).names})


def _claimed_shape(cycle: Cycle, move: Cir) -> Formula:
    """Return the first parameter of the Gamma law that the target claims for the moved block."""
    return dict(cycle.target.laws)[move.block].arguments[0]


def _check_shape(cycle: Cycle, move: Cir) -> Answer:
    """Decide that the shape is a number plus a sum over the data, positive for every minibatch as for all data.

    a(k) = A + k sum_batch g_n is the shape of a data set that has each datum of the batch k times, hence positive for
    k = 1, 2, ...; so it is at N/n >= 1 between two of them, if A and g_n do not hold N.
    """
    declared, shape = cycle.target.declarations, _claimed_shape(cycle, move)
    tensor = convert(shape, of_all_data(declared), *(Index(size, "i") for size in shape.shape.sizes))
    if by_datum(tensor, frozenset(field.name for field in declared.data)) is None:
        return undecided("it depends on the data in another way")
    counts = {str(field.size) for field in declared.data}
    if any(isinstance(atom, SizeNumber) and atom.name in counts for atom in everywhere(tensor)):
        return undecided("it contains N beside the sum, so it is not shown to be positive for every batch")
    return Answer(Proved("index calculus for every size"))
