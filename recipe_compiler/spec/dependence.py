"""What a formula depends on."""

from dataclasses import dataclass

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import parts
from recipe_compiler.formula.expression import Formula, Role


@dataclass(frozen=True, slots=True)
class Dependence:
    """The names in a formula, by what they are, each once, in the order they occur."""

    blocks: tuple[str, ...]
    """Blocks, those of its functions and derivatives included."""
    functions: tuple[str, ...]
    parameters: tuple[str, ...]
    data: tuple[str, ...]
    draws: bool
    """Whether `N(0, cov)` or declared noise occurs."""
    step: bool
    """Whether the step size eps occurs."""

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that is neither a number nor a size."""
        return (*self.blocks, *self.functions, *self.parameters, *self.data)


def dependence(formula: Formula) -> Dependence:
    """Return what a formula depends on."""
    symbols: dict[Role, dict[str, None]] = {role: {} for role in Role}
    functions: dict[str, None] = {}
    draws = False
    stack = [formula]
    while stack:
        node = stack.pop()
        match node:
            case ex.Symbol(name=name, role=role):
                symbols[role][name] = None
            case ex.FunctionAt(name=name, of=of):
                functions[name] = None
                symbols[Role.BLOCK].update(dict.fromkeys(of))
            case ex.Next(block=block):
                symbols[Role.BLOCK][block] = None
            case ex.GradTilde(function=function, block=block):
                functions[function] = None
                symbols[Role.BLOCK][block] = None
            case ex.Normal():
                draws = True
            case _:
                pass
        stack += reversed(parts(node))
    blocks, parameters, data = (tuple(symbols[role]) for role in (Role.BLOCK, Role.PARAMETER, Role.DATUM))
    return Dependence(
        blocks, tuple(functions), parameters, data, draws or bool(symbols[Role.NOISE]), bool(symbols[Role.STEP])
    )
