"""A Program from a derivation, the gradient of a target, and the updates a scheme made of them."""

from dataclasses import dataclass, replace

from recipe_compiler.derive.noise import noise_covariance
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.formula.declaration import Datum, Parameter
from recipe_compiler.program.program import Gradient, Program, Update
from recipe_compiler.scheme.update import Matrix, gradient_at, noises
from recipe_compiler.tensor.terms import Tensor


@dataclass(frozen=True, slots=True)
class Setting:
    """What a scheme needs beside the derivation: the target's gradient and how it is estimated."""

    gradient: Gradient
    V: Tensor | None
    """Covariance of the minibatch gradient, free indices `i`, `j`; None where it is zero or the gradient exact."""
    variant: str
    replacement: bool
    contiguous: bool
    parameters: tuple[Parameter, ...]
    data: tuple[Datum, ...]
    declared: frozenset[str]
    """Every name of the user's, for the compiler's own to stay clear of."""


def assemble(
    scheme: str, derivation: Derivation, setting: Setting, changes: tuple[Update, ...], *, sequential: bool
) -> Program:
    """Return the Program of one step, its noise corrected for that of the gradient."""
    block = setting.gradient.block
    B_hat: Matrix | None = None
    if setting.V is not None and not setting.V.is_zero:
        B_hat = noise_covariance(derivation, block.name, setting.V)
    at = gradient_at(changes, setting.gradient.name, block, sequential=sequential)
    return Program(
        scheme=scheme,
        variant=setting.variant,
        replacement=setting.replacement,
        contiguous=setting.contiguous,
        blocks=derivation.dynamics.declarations.blocks,
        parameters=setting.parameters,
        data=setting.data,
        gradient=replace(setting.gradient, at=at),
        noises=noises(derivation, B_hat),
        updates=changes,
    )
