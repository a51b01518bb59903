"""A Program from a derivation, the gradient of a target, and the order of its blocks."""

from dataclasses import dataclass

from recipe_compiler.derive.noise import noise_covariance
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.formula.declaration import Datum, Parameter
from recipe_compiler.program.program import Gradient, Program, Statement
from recipe_compiler.scheme.shifts_and_noise import Matrix, evaluated, noises, shifts
from recipe_compiler.tensor.terms import Tensor


@dataclass(frozen=True, slots=True)
class SchemeSetting:
    """What a scheme needs besides the derivation: the target's gradient and how it is estimated."""

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

    def program(
        self, scheme: str, derivation: Derivation, statements: tuple[Statement, ...], *, carried: bool = False
    ) -> Program:
        """Return the Program of one step of a scheme: its statements, with all else as this setting has it."""
        return Program(
            scheme=scheme,
            variant=self.variant,
            replacement=self.replacement,
            contiguous=self.contiguous,
            blocks=derivation.dynamics.declarations.blocks,
            parameters=self.parameters,
            data=self.data,
            gradient=self.gradient,
            statements=statements,
            carried=carried,
        )


def assemble(
    scheme: str, derivation: Derivation, setting: SchemeSetting, order: tuple[str, ...], *, sequential: bool
) -> Program:
    """Return the Program of one step that shifts every block once, in `order`, with noise drawn at the old state.

        z' = z + eps f + N(0, eps (2D - eps B_hat)),    B_hat = (D + Q) V (D + Q)^T

    which is Ma, Chen, Fox 2015, Eq. 9, with f as in Eq. 3; B_hat is 0 where V is. f is a vector, D and B_hat are
    matrices over z. A `sequential` step reads blocks that were shifted before at their new values. That 2D - eps B_hat
    is positive semidefinite is not decided here.
    """
    gradient, block = setting.gradient.name, setting.gradient.block
    B_hat: Matrix | None = None
    if setting.V is not None and not setting.V.is_zero:
        B_hat = noise_covariance(derivation, block.name, setting.V)
    draws = noises(derivation, B_hat)
    moves = shifts(derivation, gradient, order, setting.declared, draws, sequential=sequential)
    statements = (*draws, *evaluated(moves, gradient, block, sequential=sequential))
    return setting.program(scheme, derivation, statements)


def without_word(derivation: Derivation, setting: SchemeSetting) -> Program:
    """Return the Program of a cycle without a word: no statements; its gradient says where the target's blocks are."""
    return Program(
        scheme="cycle",
        variant=setting.variant,
        replacement=setting.replacement,
        contiguous=setting.contiguous,
        blocks=derivation.dynamics.declarations.blocks,
        parameters=setting.parameters,
        data=setting.data,
        gradient=setting.gradient,
        statements=(),
    )
