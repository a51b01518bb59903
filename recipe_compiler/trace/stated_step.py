"""A claimed update put in order: which block comes after which, and every draw by a name of its own.

`N(0, cov)` becomes a named draw with its covariance, `grad_tilde(U, theta)` the gradient plus a named draw with
covariance V, one per step however often it is written. `next(b)` stays: the order defines it.
"""

from dataclasses import dataclass, field, replace

from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import add, nodes, parts, rebuild
from recipe_compiler.formula.declaration import Declarations, Function, Parameter
from recipe_compiler.formula.expression import Formula, Role, Symbol
from recipe_compiler.formula.orders import holds_step
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics


@dataclass(frozen=True, slots=True)
class ClaimedDraw:
    """A random column (or scalar) w of mean zero, new in every step, independent of others: Cov[w] = `covariance`."""

    name: str
    """Holds a dot, as no declared name does."""
    shape: Shape
    covariance: Formula | None
    """In the same language as the update, draws of smaller number included; None for a standard normal."""
    says: str
    """As the author wrote it."""
    gaussian: bool = True
    """Whether w is Gaussian; otherwise only its mean and covariance are known."""

    @property
    def kind(self) -> Kind:
        """What its covariance has to be."""
        return Kind.PSD if self.shape.sizes else Kind.NONNEGATIVE


@dataclass(frozen=True, slots=True)
class Step:
    """A claimed update z' = z + dz(z, draws, eps), its blocks in an order in which they can be computed."""

    declarations: Declarations
    """Those of the document, with the covariance V of the gradient where it is not declared."""
    new: tuple[Formula, ...]
    """Block by block its next value; draws are symbols of `Role.NOISE`."""
    order: tuple[int, ...]
    """Blocks in an order in which they can be updated."""
    draws: tuple[ClaimedDraw, ...]
    """In an order in which none enters the covariance of an earlier one."""

    @property
    def uses_eps(self) -> bool:
        """Whether the step size occurs."""
        return any(map(holds_step, self.formulas))

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """Every formula of the update."""
        return (*self.new, *(item.covariance for item in self.draws if item.covariance is not None))


def stated_step(dynamics: Dynamics) -> Step:
    """Return the claimed update z' = z + dz(z, draws, eps) in order, block by block.

    Raises:
        ModelError: blocks that wait for each other (each uses `next` of the other); N(0, cov) written twice in a
            square, which leaves open whether one draw is meant; a declared V that cannot be the covariance of the
            gradient.
    """
    order = update_order(dynamics)
    blocks = dynamics.declarations.blocks
    update = dict(dynamics.claims.update or ())
    naming = _Naming(
        dynamics,
        dynamics.declarations,
        [ClaimedDraw(block.name, block.shape, None, block.name) for block in dynamics.claims.noise],
    )
    new: dict[int, Formula] = {}
    for a in order:
        block = blocks[a]
        naming.entry = f"claims.update.{block.name}"
        new[a] = naming.named(update.get(block.name, block.symbol))
    return Step(naming.declarations, tuple(new[a] for a in range(len(blocks))), order, tuple(naming.draws))


def update_order(dynamics: Dynamics) -> tuple[int, ...]:
    """Return the positions of the blocks in an order in which every `next(b)` is known when it is needed.

    Raises:
        ModelError: there is no such order.
    """
    blocks = dynamics.declarations.blocks
    update = dict(dynamics.claims.update or ())
    waits = {a: _read_next_blocks(update[block.name]) for a, block in enumerate(blocks) if block.name in update}
    order: list[int] = []
    left = list(range(len(blocks)))
    while left:
        known = {blocks[a].name for a in order}
        ready = next((a for a in left if waits.get(a, frozenset()) <= known), None)
        if ready is None:
            raise ModelError(_faults_of_cycle(dynamics, left, waits, known))
        order.append(ready)
        left.remove(ready)
    return tuple(order)


def _read_next_blocks(formula: Formula) -> frozenset[str]:
    """Return the blocks whose next value a formula uses."""
    return frozenset(node.block for node in nodes(formula) if isinstance(node, ex.Next))


def _faults_of_cycle(
    dynamics: Dynamics, left: list[int], waits: dict[int, frozenset[str]], known: set[str]
) -> tuple[Fault, ...]:
    """Return a fault for each update in a circular dependence, naming the next values it waits for."""
    blocks = dynamics.declarations.blocks
    found: list[Fault] = []
    for a in left:
        name = blocks[a].name
        missing = ", ".join(f"next({other})" for other in sorted(waits[a] - known))
        entry = f"claims.update.{name}"
        problem = f"found {missing}, expected blocks that are known by then: these updates wait for each other"
        found.append(Fault(dynamics.source.place(entry), entry, problem, "use the old value of one of them"))
    return tuple(found)


@dataclass(slots=True)
class _Naming:
    """A renaming of the draws in an update to symbols of their own."""

    dynamics: Dynamics
    declarations: Declarations
    draws: list[ClaimedDraw]
    entry: str = ""
    known: dict[tuple[str, str], ClaimedDraw] = field(default_factory=dict[tuple[str, str], ClaimedDraw])

    def named(self, formula: Formula) -> Formula:
        """Return a formula whose draws are replaced by symbols."""
        match formula:
            case ex.Normal(cov, shape):
                inner = self.named(cov)
                name = f"N.{len(self.draws) + 1}"
                self.draws.append(ClaimedDraw(name, shape, inner, text(formula)))
                return Symbol(name, shape, Role.NOISE)
            case ex.MatMul(ex.Transpose(left), right) if left == right and _has_normal_draw(left):
                problem = f"found {text(formula)}, the same draw twice or two independent ones?"
                hint = "declare the draw under claims.noise and use its name"
                raise ModelError([Fault(self.dynamics.source.place(self.entry), self.entry, problem, hint)])
            case ex.GradTilde(function, block, shape):
                draw = self.known.get((function, block)) or self.gradient(formula)
                slope = ex.Apply("grad", (self.at_blocks(function), Symbol(block, shape, Role.BLOCK)), shape)
                return add((slope, Symbol(draw.name, shape, Role.NOISE)), shape)
            case _:
                old = parts(formula)
                return rebuild(formula, [self.named(part) for part in old]) if old else formula

    def at_blocks(self, name: str) -> Formula:
        """Return a declared function at its blocks."""
        item = self.declarations.find(name)
        of = item.of if isinstance(item, Function) else ()
        return ex.FunctionAt(name, of, SCALAR)

    def gradient(self, node: ex.GradTilde) -> ClaimedDraw:
        """Return the draw of an estimated gradient: its covariance is V, declared or not."""
        rows = node.shape.rows
        covariance = self.covariance(node, Shape(rows, rows))
        draw = ClaimedDraw(f"{node.function}.{node.block}", node.shape, covariance, text(node), gaussian=False)
        self.draws.append(draw)
        self.known[node.function, node.block] = draw
        return draw

    def covariance(self, node: ex.GradTilde, shape: Shape) -> Formula:
        """Return V of a shape: what is declared by that name, else a semidefinite function of the block."""
        item = self.declarations.find("V")
        if isinstance(item, (Parameter, Function)):
            if item.shape != shape:
                problem = f"found V, a {item.shape}, expected a {shape}: it is the covariance of {text(node)}"
                where = self.dynamics.source.place(self.entry)
                raise ModelError(
                    [Fault(where, self.entry, problem, "declare V of that shape, or call it another name")]
                )
            of = item.of if isinstance(item, Function) else None
            return Symbol("V", shape, Role.PARAMETER) if of is None else ex.FunctionAt("V", of, shape)
        taken = item is not None or any(draw.name == "V" for draw in self.draws) or "V" in self.declarations.sizes
        name = f"V_{node.function}" if taken or self.known else "V"
        while self.declarations.find(name) is not None:
            name += "_"
        kinds = (Kind.PSD if shape.sizes else Kind.NONNEGATIVE,)
        functions = (*self.declarations.functions, Function(name, (node.block,), shape, kinds))
        self.declarations = replace(self.declarations, functions=functions)
        return ex.FunctionAt(name, (node.block,), shape)


def _has_normal_draw(formula: Formula) -> bool:
    """Return whether a formula contains a normal draw."""
    return any(isinstance(node, ex.Normal) for node in nodes(formula))
