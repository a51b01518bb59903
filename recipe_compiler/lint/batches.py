"""Does the limit of small steps keep exp(-H) where a step is given a minibatch? Of the mean over all batches.

With H of a batch in the place of H, f_batch = -(D + Q) grad H_batch + Gamma for every batch, D and Q being those of the
document, has the mean f = -(D + Q) grad H + Gamma, for grad H_batch is grad H in the mean. That f_batch keeps
exp(-H_batch) alone says nothing of the mean: a current may follow the batch.
"""

from dataclasses import replace

from recipe_compiler.lint.equation import same_equation
from recipe_compiler.lint.judge import stationary
from recipe_compiler.lint.read import Read, Seen

NOT_LINEAR = "what it does with a batch is not seen to be the equation of D and Q with the gradient of the batch"


def stationary_of_mean(read: Read) -> Seen:
    """Return whether exp(-H) is stationary for the limit of small steps, its drift being the mean over all batches."""
    found = stationary(read)
    if not found.holds or same_equation(read).holds:
        return found
    return replace(found, holds=False, by="", reason=NOT_LINEAR, given=(), left=())
