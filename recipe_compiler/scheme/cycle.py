"""A step that is a cycle of moves: blocks drawn anew, words repeated, and proposals accepted by H.

What each move does to the state; that it preserves exp(-H) is proved elsewhere (`verify/moves`):

    Metropolis    z -> z' with probability min(1, exp(H(z) - H(z'))), for a map z' that a flip F of momenta reverses
    steps         z -> z', a number of steps of the word, as they are
    refresh       b' = c b + N(0, (1 - c**2) S), N(0, S) being the law of b given all others (Horowitz 1991)
    draw, CIR     b' from the law that the target claims for it given all others, or by the flow that keeps that law
    involution    (z, w) -> S(z, w), accepted by the ratio of densities times |det DS| (Green 1995)
    code          what the user's function makes of the blocks that it is given
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.derive.refresh import conditional_law
from recipe_compiler.errors import CompilerError, model_error
from recipe_compiler.formula.declaration import Block, by_name
from recipe_compiler.formula.shapes import SCALAR, WITHOUT_BOUNDARY, Shape
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.combine import fresh, unsupported
from recipe_compiler.program.program import (
    Along,
    CodeMove,
    Cycle,
    Handed,
    Kick,
    Move,
    Noise,
    Potential,
    Program,
    Refresh,
    Trajectory,
)
from recipe_compiler.program.rename import renamed
from recipe_compiler.scheme.draw import draw
from recipe_compiler.scheme.involution import reflected
from recipe_compiler.scheme.joined_kicks import join_kicks
from recipe_compiler.spec.model import Beside, Build, Cir, Code, Metropolis, Scheme, Steps
from recipe_compiler.spec.model import CodeMove as StatedCodeMove
from recipe_compiler.spec.model import Draw as StatedDraw
from recipe_compiler.spec.model import Involution as StatedInvolution
from recipe_compiler.spec.model import Refresh as StatedRefresh
from recipe_compiler.spec.read_moves import visible
from recipe_compiler.tensor.terms import Component, Tensor, Term


def with_cycle(
    program: Program, derivation: Derivation, build: Build, potential: Potential | None, declared: frozenset[str]
) -> Program:
    """Return the Program of a cycle: its statements are those of the word, which one of the moves repeats.

    Args:
        program: of the word.
        derivation: of the dynamics, in the form that is to be computed.
        build: with the moves, and the laws of its target.
        potential: U of the target, where a move is accepted by it.
        declared: every name of the user's.

    Raises:
        ModelError: a block to be drawn has no law that is known, or one that no emitted step draws from; a move
            accepted by H meets a boundary, or H contains U other than as a summand.
    """
    moves: list[Move] = []
    anew = any(isinstance(move, Beside) for move in build.scheme.cycle)
    accepted = any(isinstance(move, Metropolis) for move in build.scheme.cycle)
    if build.W is not None and (anew or accepted):
        hint = "leave `add` out, or every move that is accepted or refused, or moves that block by itself"
        raise unsupported("noise that is added to the gradient, in a cycle with moves that take it without", hint)
    program, kick = _repeated(program, build.scheme)
    known = visible(derivation.declarations, build.target.declarations.parameters)
    functions = _functions(build, declared)
    for move in build.scheme.cycle:
        before = Cycle(tuple(moves))
        newest = {**{block.name: block.name for block in program.blocks}, **before.left}
        taken = declared | before.names | {*functions.values()}
        match move:
            case StatedDraw() | Cir() if program.gradient is not None:
                by_batch = program.gradient.minibatch and not build.control
                made = draw(build.target, move, replace(program.gradient, minibatch=by_batch), newest, taken)
            case StatedRefresh(name, kept):
                made = _refresh(derivation, name, kept, newest[name], newest, taken)
            case StatedInvolution():
                made = reflected(move, program, known, newest, taken)
            case StatedCodeMove():
                made = _by_code(move, functions[move.code], build, program, newest, taken)
            case Metropolis() | Steps():
                turn = f"_v{len(before.trajectories) + 1}" if before.trajectories else ""
                values = _along(program, potential if accepted else None, newest, taken, turn, anew=anew)
                made = replace(_trajectory(move, values), anew=anew, kick=kick, given=_given(build.scheme, move))
            case _:
                raise CompilerError(f"a draw of {move.block} without the places of the target's blocks")
        moves.append(replace(made, every=move.every))
    counter = fresh("cycles", declared) if any(move.every > 1 for move in build.scheme.cycle) else ""
    cycle = Cycle(tuple(moves), counter=counter, counted=fresh(f"{counter}_next", declared) if counter else "")
    if potential is None:
        return _checked(program, cycle)
    for block in program.blocks if accepted else ():
        if block.domain.name not in WITHOUT_BOUNDARY and not _is_reflected(program, block):
            hint = f"state the target with `transform` for {block.name}, so that its coordinates are all real numbers"
            raise unsupported(f"acceptance by H of a state with a boundary ({block.name})", hint)
    return _checked(program, replace(cycle, potential=potential, rest=rest_of(derivation, potential)))


def _repeated(program: Program, scheme: Scheme) -> tuple[Program, Kick | None]:
    """Return a word with kicks that meet joined, where it is repeated and accepted, and the kick that begins it.

    Repeated as it is, a word without acceptance is audited so.
    """
    often = any(isinstance(move, Metropolis) and move.steps[1] != 1 for move in scheme.cycle)
    return join_kicks(program) if often else (program, None)


def _given(scheme: Scheme, move: Metropolis | Steps) -> tuple[tuple[str, str], ...]:
    """Return the parameter of P in the statements, and that of what a move moves; nothing where all move the same."""
    own = scheme.moved(move)
    if scheme.use is None or own is None or len(scheme.use.parts) == 1:
        return ()
    return ((scheme.use.parts[0].mask, own.mask),)


def _is_reflected(program: Program, block: Block) -> bool:
    """Whether each shift of a block is put back into its domain by the one after it."""
    images = [shift.image for shift in program.shifts if shift.block == block]
    return all(image is bool(k % 2) for k, image in enumerate(images)) and len(images) % 2 == 0


def _trajectory(move: Metropolis | Steps, values: tuple[Along, ...]) -> Trajectory:
    match move:
        case Metropolis((least, most), flip, _, scale):
            return Trajectory(least, most, values, metropolis=True, flip=flip, scale=scale)
        case Steps(count):
            return Trajectory(count, count, values, metropolis=False)


def _along(
    program: Program,
    potential: Potential | None,
    newest: Mapping[str, str],
    declared: frozenset[str],
    turn: str,
    *,
    anew: bool,
) -> tuple[Along, ...]:
    """Return what a trajectory moves: the blocks, then the gradient and U where they are carried, or evaluated anew."""
    gradient = program.gradient
    shapes = [(block.name, block.shape) for block in program.blocks]
    shapes += [(gradient.name, gradient.block.shape)] if gradient and program.carried else []
    solved = potential is not None and any(shift.implicit for shift in program.shifts)

    def named(name: str, shape: Shape, *, back: bool) -> Along:
        endings = ("at", "next", *(("back",) if back else ()))
        own = (fresh(f"{name}_{ending}{turn}", declared) for ending in endings)
        return Along(name, shape, newest.get(name, name), *own)

    def evaluated(one: Along) -> Along:
        started = replace(one, start=fresh(f"{one.name}_start{turn}", declared), end="")
        return started if anew else one

    count = len(program.blocks)
    moved = tuple(named(name, shape, back=solved) for name, shape in shapes)
    energy = (named(potential.name, SCALAR, back=False),) if potential else ()
    return (*moved[:count], *map(evaluated, (*moved[count:], *energy)))


def _checked(program: Program, cycle: Cycle) -> Program:
    """Return the Program of a cycle. Raises ModelError where no emitted step can do what it states."""
    first, is_noisy = cycle.trajectory, bool(program.noises)
    if first is None:
        if not cycle.begins_anew:
            raise unsupported("a cycle without a word", "add a move with one: `metropolis: {split: [B/2, A, B/2]}`")
        return replace(program, cycle=cycle)
    several, is_solved = len(cycle.trajectories) > 1, any(shift.implicit for shift in program.shifts)
    has_own_size = any(move.scale != 1 for move in cycle.trajectories)
    refused = (
        (
            first.metropolis and not first.flip and is_solved,
            "acceptance of steps that are solved for, without a flip that turns them round",
            "state it, as `flip: {r: -r}`: whether they lead back is tried at every move",
        ),
        (
            is_noisy and (several or first.most != 1),
            "a word with noise that is repeated within a cycle",
            "take one move with it" if several else "take `steps: 1`",
        ),
        (
            several and is_solved,
            "several moves with a word whose steps are solved for",
            "take one of them, or exact flows",
        ),
        (
            has_own_size and (is_noisy or bool(program.propagators)),
            "a move with a step size of its own of a word with noise or linear flows",
            "leave `scale` out, or take letters without noise that are shifts",
        ),
        (
            is_noisy and first.metropolis and is_solved,
            "acceptance of a word with noise whose steps are solved for",
            "take exact flows, or leave the letters with noise out and refresh instead",
        ),
    )
    for is_so, what, hint in refused:
        if is_so:
            raise unsupported(what, hint)
    return replace(program, cycle=cycle)


def _functions(build: Build, declared: frozenset[str]) -> Mapping[Code, str]:
    """Return what a chain calls each function that is a move: `move_swap`; no two are one."""
    found: dict[Code, str] = {}
    for move in build.scheme.cycle:
        if isinstance(move, StatedCodeMove) and move.code not in found:
            found[move.code] = fresh(f"move_{move.code.function}", declared | {*found.values()})
    return found


def _by_code(
    move: StatedCodeMove,
    argument: str,
    build: Build,
    program: Program,
    newest: Mapping[str, str],
    taken: frozenset[str],
) -> CodeMove:
    """Return what a function of the user's changes; it takes parameters and data of the target as a gradient does."""
    blocks = {block.name: block for block in program.blocks}
    target, own = build.target.declarations, move.code.function
    changed, read = (
        tuple(Handed(blocks[name], newest[name], fresh(f"{newest[name]}_{own}", taken)) for name in names)
        for names in (move.changes, move.reads)
    )
    return CodeMove(
        argument,
        str(move.code),
        changed,
        read,
        tuple(item.name for group in (target.parameters, target.data) for item in group),
        fresh(f"stream_{own}", taken | {one.new for one in (*changed, *read)}),
    )


def _refresh(
    derivation: Derivation, name: str, kept: Fraction, old: str, newest: Mapping[str, str], taken: frozenset[str]
) -> Refresh:
    """Return b' = c b + N(0, (1 - c^2) S), with N(0, S) the law of b given all others (Horowitz 1991)."""
    block = by_name(derivation.blocks)[name]
    law = conditional_law(derive(derivation.dynamics), name)
    if law is None:
        problem = f"found `refresh: {name}`, whose conditional distribution is not shown to be N(0, S)"
        hint = f"H has to hold {name} as a square alone: b.T P b/2 with P positive definite and free of b"
        raise model_error("scheme.cycle", problem, hint)
    new = fresh(f"{old}_drawn", taken)
    covariance = renamed(derivation.calculus.scale(law.covariance, 1 - kept**2), newest)
    noise = Noise(fresh(f"w_{new}", taken), (block,), ((covariance,),), None, at_once=True)
    return Refresh(block, old, new, kept, noise)


def rest_of(derivation: Derivation, potential: Potential) -> Tensor:
    """Return H - U as a scalar tensor, in which U at other blocks stands by the names of its values there.

    Raises:
        ModelError: U is not a summand of H with the coefficient 1.
    """
    U, H = derivation.dynamics.potential, derivation.H
    values = {f"{U}({block})": name for block, name in potential.others}

    own = Term(Fraction(1), ((Component(U or ""), Fraction(1)),))
    terms = tuple(term for term in H.terms if term != own)
    rest = renamed(Tensor(H.free, terms), values)
    if len(terms) != len(H.terms) - 1 or not names_of(rest).isdisjoint({U, *values}):
        raise unsupported(f"acceptance by an H that is not {U} and a rest without it", "state H as such a sum")
    return rest
