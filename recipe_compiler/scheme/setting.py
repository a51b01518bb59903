"""What a scheme needs besides the derivation, and the Program of one step made of it."""

from dataclasses import dataclass

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.formula.declaration import Datum, Parameter
from recipe_compiler.program.program import Gradient, Program, Statement
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
