"""Settings of moves that are accepted or refused, by chains that warm up: their law is exp(-H) at every step size.

There is no bias to keep small: what a step size makes is how many moves are accepted, and how far they go. Windows of
draws, `WINDOWS`, tune log eps to the probability that is wanted by dual averaging (`Averaging`). A mass that is to
be chosen is the inverse of the covariance of the draws of the window before, in the first the Hessian of U at its mode
where it has one; each window begins its averaging anew. Then everything stands, and what chains do with it is measured:
the moves that are accepted, the effective draws, where they may begin.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.advise.bulk import STEEPEST, STEEPEST_EVEN, UNEVEN, curvatures
from recipe_compiler.advise.moments import AGREE, LEAST, least_share, r_hats, shrunk
from recipe_compiler.advise.pilots import Moved, Pilots, joined
from recipe_compiler.advise.roles import Open, ParameterRole
from recipe_compiler.advise.search import matched
from recipe_compiler.advise.spread import MANY, decimals, eigenvalues, inverse, root, symmetric, times, unit
from recipe_compiler.advise.stuck import STUCK, least_accepted
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.differences import is_definite
from recipe_compiler.run.map_estimate import Slope
from recipe_compiler.run.posterior_numbers import effective_size
from recipe_compiler.run.sample import unsaid
from recipe_compiler.spec.fields import MOST_STEPS

Chains = NDArray[np.bool_]
"""A mask over chains."""

WINDOWS = (75, 100, 150, 250)
"""Draws of a chain; the mass of the last is kept."""

LOOK = 25
"""Draws after which chains are looked over for those that are stuck, or on their way."""

FALLING, ERRORS = 3.0, 4.0
"""How many times d, and how many standard errors above d, the mean of (theta - c) . grad U is of a chain on its way."""

TRAJECTORY = 10
"""Steps of a draw at least: moves of a single step are done several times."""

FACTORS = 200
"""Factors of two in the search for a step size at the beginning of a window."""

WITHIN = 0.02
"""How far from what is wanted moves may be accepted with the step size that stands. A step size that still swings is
accepted less often than the mean of its logarithms: else as much more, or less, is asked of one more window."""

ROUNDS = 4
"""How often it does."""

DRAWS = 500
"""Draws of a chain with settings that hold; where they lie further apart, every second one of those before counts."""

PLENTY, ENOUGH = 1000.0, 400.0
"""Effective draws of all chains, as many as a run has: they come as far out as its chains do; and as many as tell how
far apart those of a run shall lie, and whether chains mix, where more would read more of the data than `SOME`."""

SOME = 1e9
"""Entries of the data: some seconds."""

FORGOTTEN = 1e-9
"""The least autocorrelation that draws of more than one effective draw each are taken to have."""

MOST = 256
"""Moves, in units of the first, from one draw to the next."""

READ = 3e10
"""Entries of the data that draws further apart may read: some tens of seconds."""

LONGEST_MOVE = float(MOST_STEPS)
"""Steps of a move at most."""

LENGTH_DRAWS = 250
"""Draws of a chain by which moves of one length are compared with those of another."""

HARDLY = 0.02
"""The effective part of the draws below which 250 draws of a chain do not show it."""

EVERYWHERE = 0.75
"""The least mean probability that moves are accepted with wherever chains come, as a part of what is asked.

Where a step is too long for U it is hardly any: chains then stay out of there for as long as they would stay in, and no
draw shows what is missing.
"""

SHORTER = 0.75
"""What the step size is multiplied by until moves are."""

SHORTENED = 20
"""How often at most."""

SPREADS = (2.0, 1.0, 0.5, 0.25)
"""Sds of the draws around their mean from which chains are tried: half of the first at which all move is taken."""

CURE = (
    "Try a metric that depends on theta: dynamics `rhmc`, as in specs/builds/rhmc_funnel.yaml; or another "
    "parameterisation."
)

STABLE = 4.0
"""The curvature, in units of the mass, times eps^2 up to which leapfrog steps are stable: chains whose draws keep to it
come as far into a neck as their law does."""

STARTS = 64
"""Chains that are tried."""


T0, KAPPA, GAMMA = 10.0, 0.75, 0.05
"""From Hoffman and Gelman: how little the first updates count, how fast they are forgotten, how far each one moves."""

FIRST = 0.1
"""The part of a step size that is aimed at that the first moves are made with."""


@dataclass(frozen=True, slots=True)
class Averaging:
    """The state of dual averaging of log eps (Hoffman and Gelman 2014, section 3.2).

    After m updates, with the shortfalls H_k = delta - alpha_k of what is wanted, delta, and what was seen, alpha_k,

        Hbar_m = (1 - 1/(m + t0)) Hbar_{m-1} + H_m/(m + t0)
        log eps_{m+1} = mu - sqrt(m)/gamma Hbar_m
        log epsbar_m = m^-kappa log eps_{m+1} + (1 - m^-kappa) log epsbar_{m-1}

    eps_{m+1} is what the next moves step with, epsbar what is kept in the end.
    """

    mu: float
    """Towards which it is drawn."""
    log_eps: float
    log_mean: float = 0.0
    """log epsbar."""
    shortfall: float = 0.0
    """Hbar."""
    count: int = 0
    """m."""

    @classmethod
    def around(cls, aim: float) -> "Averaging":
        """Return the initial state: drawn towards a step size, starting at a tenth of it."""
        return cls(math.log(aim), math.log(FIRST * aim))

    @property
    def eps(self) -> float:
        """What the next moves step with."""
        return math.exp(self.log_eps)

    @property
    def settled(self) -> float:
        """What is kept."""
        return math.exp(self.log_mean)

    def after(self, acceptance: float, wanted: float) -> "Averaging":
        """Return the state after moves that were accepted with a mean probability."""
        m = self.count + 1
        shortfall = self.shortfall + (wanted - acceptance - self.shortfall) / (m + T0)
        log_eps = self.mu - math.sqrt(m) / GAMMA * shortfall
        weight = m**-KAPPA
        return Averaging(self.mu, log_eps, weight * log_eps + (1.0 - weight) * self.log_mean, shortfall, m)


@dataclass(frozen=True, slots=True, eq=False)
class Tuned:
    """The settings after the windows, and what chains did with them."""

    values: Mapping[str, Array]
    """Values of the chosen parameters, by their names in the documents."""
    eps: float
    shortened: bool
    """Whether it is shorter than what is accepted as often as was asked."""
    acceptance: float
    """The mean probability that moves were accepted with."""
    thin: int
    counts: float
    """What part of their draws, as many moves apart, counts."""
    draws: Array
    """Draws of theta in all chains x coordinates."""
    mean: Array
    covariance: Array
    seconds: float
    """Processor time of a gradient."""
    doubts: tuple[str, ...]
    """What speaks against any run with them."""


def tuned(
    pilots: Pilots,
    open_ones: tuple[Open, ...],
    K: Array | None,
    wanted: float,
    moves: int,
    say: Callable[[str], None] = unsaid,
    slope: Slope | None = None,
) -> tuple[Mapping[str, Array], float]:
    """Return parameter values and a step size at which moves are accepted with the wanted mean probability.

    log eps by dual averaging (Hoffman and Gelman 2014, section 3.2) in windows of draws; a mass to be chosen is the
    inverse of the covariance of the draws of the window before.

    Args:
        pilots: where they begin; they end in the bulk.
        open_ones: the parameters to be chosen.
        K: the Hessian of U at its mode, d x d; None where it is not known.
        wanted: the mean probability.
        moves: of a draw.
        say: called with a line that describes the work that starts.
        slope: theta to grad U, which finds chains still on their way to the bulk; None where it is not known.

    Raises:
        RunError: at no step size are moves accepted so often, or at every one; says which.
    """
    scale = unit(pilots.width, diagonal=pilots.width > MANY) if K is None else K
    values = _values(open_ones, scale)
    last = len(WINDOWS)
    eps, draws = _window(pilots, values, wanted, moves, WINDOWS[0], partial(_say_window, say, 1), slope)
    for number, updates in enumerate(WINDOWS[1:], 2):
        scale = _precision(draws, scale) if open_ones else scale
        values = _values(open_ones, scale)
        eps, draws = _window(pilots, values, wanted, moves, updates, partial(_say_window, say, number))
    asked = wanted
    for _ in range(ROUNDS):
        off = wanted - pilots.moved(values, eps, moves, WINDOWS[-1]).mean
        if abs(off) <= WITHIN:
            break
        asked = min(max(asked + off, asked / 2.0), (1.0 + asked) / 2.0)
        eps, _ = _window(pilots, values, asked, moves, WINDOWS[-1], partial(_say_window, say, last))
    return values, eps


def _values(open_ones: tuple[Open, ...], K: Array) -> Mapping[str, Array]:
    """Return the parameters that are chosen, matched to a precision of theta."""
    if not open_ones:
        return {}
    has_mass = any(one.role is ParameterRole.MASS for one in open_ones)
    return matched(open_ones, decimals(K), 1.0 if has_mass else float(np.sqrt(eigenvalues(K)[0])))


def _precision(draws: Array, before: Array) -> Array:
    """Return the inverse of the covariance of draws, the first quarter of each chain left out; else what was before.

    As far as so few draws do not tell correlations (`shrunk`), they are drawn towards none: in theta itself, or in
    coordinates in which what was before is 1, whichever makes independent coordinates the likelier for the draws. Of
    many coordinates it is the variances alone.
    """
    late = draws[:, draws.shape[1] // 4 :]
    flat = late.reshape(-1, late.shape[2])
    variances = flat.var(axis=0)
    if not is_definite(variances):
        return before
    if before.ndim == 1:
        return inverse(variances)
    effective = float(np.median(np.nan_to_num(effective_size(late, relative=True), nan=0.0))) * len(flat)
    A = min((root(before), unit(len(variances), diagonal=False)), key=partial(_unlikely, flat))
    covariance = shrunk(flat @ A, max(effective, 1.0))
    return symmetric(A @ np.linalg.inv(covariance) @ A.T) if is_definite(covariance) else before


def _unlikely(draws: Array, A: Array) -> float:
    """Return -log p(draws) / draws, up to a constant, if the coordinates of A.T theta are independent Gaussians."""
    with np.errstate(divide="ignore"):
        return float(np.log((draws @ A).std(axis=0)).sum() - np.linalg.slogdet(A)[1])


def _say_window(say: Callable[[str], None], number: int, of_draws: str) -> None:
    say(f"warm-up {number} of {len(WINDOWS)}: {of_draws}")


def _window(
    pilots: Pilots, values: Mapping[str, Array], wanted: float, moves: int, updates: int, say: Callable[[str], None],
    slope: Slope | None = None,
) -> tuple[float, Array]:  # fmt: skip
    """Return the step size that a window ends with, and its draws."""
    say("step size")
    averaging = Averaging.around(_aim(pilots, values, wanted, moves))
    draws, accepted = list[Array](), list[Array]()
    for update in range(1, updates + 1):
        say(f"draw {update} of {updates}")
        found = pilots.moved(values, averaging.eps, moves, 1)
        averaging = averaging.after(found.mean, wanted)
        draws.append(found.theta)
        accepted.append(found.acceptance)
        if update % LOOK == 0:
            recent = np.concatenate(accepted[-LOOK:], axis=1).mean(axis=1)
            falling = _are_falling(slope, np.concatenate(draws[-LOOK:], axis=1))
            _restart(pilots, draws, recent < 1.0 / STUCK, falling, recent >= wanted / 2.0)
    return float(f"{averaging.settled:.3g}"), np.concatenate(draws, axis=1)


def _restart(pilots: Pilots, draws: list[Array], stuck: Chains, falling: Chains, moving: Chains) -> None:
    """Let each chain that is stuck, or on its way, go on from one that is neither, its draws being that one's.

    Where most chains are stuck none is restarted: then it is no chain that is at fault.
    """
    settled = np.flatnonzero(moving & ~falling)
    lost = falling | stuck if moving.mean() > 0.5 else falling
    for number, chain in enumerate(np.flatnonzero(lost) if settled.size else ()):
        other = int(settled[number % settled.size])
        pilots.restart(int(chain), other)
        for draw in draws:
            draw[chain] = draw[other]


def _are_falling(slope: Slope | None, theta: Array) -> Chains:
    """Return whether each chain is on its way to the bulk, by draws: chain x draw x coordinate.

    E[(theta - c) . grad U] = d under exp(-U) and under its restriction to any valley that a chain does not leave, for
    every c; of a chain that slides down a slope towards c it is more. c is the median of all chains.
    """
    falling = np.zeros(len(theta), bool)
    if slope is None:
        return falling
    c, (draws, d) = np.median(theta.reshape(-1, theta.shape[2]), axis=0), theta.shape[1:]
    with np.errstate(all="ignore"):
        rise = np.array([[(at - c) @ slope(np.ascontiguousarray(at)) for at in chain] for chain in theta])
        mean, error = rise.mean(axis=1), rise.std(axis=1) / math.sqrt(draws)
    return mean > np.maximum(FALLING * d, d + ERRORS * error)


def _aim(pilots: Pilots, values: Mapping[str, Array], wanted: float, moves: int) -> float:
    """Return the largest power of two with which moves from where the chains are are accepted as often as wanted."""
    eps = 1.0
    longer = pilots.moved(values, eps, moves, 1).typical >= wanted
    for _ in range(FACTORS):
        last, eps = eps, 2.0 * eps if longer else eps / 2.0
        if (pilots.moved(values, eps, moves, 1).typical >= wanted) != longer:
            return last if longer else eps
    if longer:
        raise RunError(f"step_size: auto: state a step size: moves are accepted at every one tried, up to {eps:.2g}")
    raise RunError(
        f"step_size: auto: warm-up is stuck at its start: less than {wanted:g} of the moves are accepted at every "
        f"step size down to {eps:.2g}; state another `init`"
    )


def measured(
    pilots: Pilots, open_ones: tuple[Open, ...], values: Mapping[str, Array], eps: float, wanted: float, moves: int,
    slope: Slope | None, say: Callable[[str], None] = unsaid,
) -> tuple[Tuned, Pilots]:  # fmt: skip
    """Return what chains do with settings that are fixed: acceptance, thinning, mean and covariance; and the chains.

    The step size is made shorter until moves are accepted wherever chains come (`EVERYWHERE`), moves of open length
    taking as many more steps; then their length is chosen (`_best_length`).

    Args:
        pilots: in the bulk.
        open_ones: the parameters that were chosen.
        values: of them.
        eps: the step size, at first.
        wanted: the mean probability that moves were to be accepted with.
        moves: of a draw, at first.
        slope: grad U, where one mass is to serve all of theta; None for a metric that follows it.
        say: called with a line that describes the work that starts.

    Raises:
        RunError: the chains hardly move.
    """
    thin, shortened, is_spared, draws, parts, is_open = moves, 0, False, DRAWS, list[Moved](), bool(pilots.lengths)
    while True:
        steps = pilots.steps
        afforded = int(READ / (pilots.entries * steps * DRAWS * len(pilots.chains)))
        most = max(moves, min(MOST * moves, afforded))
        say(f"warm-up: {draws} draws of {len(pilots.chains)} chains, {thin} moves each")
        begun = pilots.budget.clock()
        parts.append(pilots.moved(values, eps, thin, draws))
        seconds = (pilots.budget.clock() - begun) / (draws * thin * len(pilots.chains) * steps)
        found = joined(parts)
        is_long = bool(_least(found, thin).min() < EVERYWHERE * wanted)
        if (is_long or (shortened and not is_spared)) and shortened < SHORTENED:
            is_spared = not is_long  # once more than pilots need: a run may come further into a neck
            eps, shortened, draws, parts = float(f"{SHORTER * eps:.3g}"), shortened + 1, DRAWS, []
            pilots = pilots.lasting(min(LONGEST_MOVE, math.ceil(pilots.longest / SHORTER)), pilots.lengths)
            continue
        share = least_share(found.theta)
        if is_open and (not shortened or share < HARDLY):
            is_open, other = False, _best_length(pilots, share, values, eps, say)
            if other is not pilots:
                pilots, draws, parts = other, DRAWS, []
                continue
        read = 2.0 * thin * DRAWS * len(pilots.chains) * steps * pilots.entries
        if share * DRAWS * len(pilots.chains) >= (PLENTY if read < SOME else ENOUGH) or 2 * thin > most:
            break
        thin, draws, parts = 2 * thin, DRAWS // 2, [found.every_second]
    paced, counts = _paced(thin, share, moves, MOST * moves)
    flat = found.theta.reshape(-1, pilots.width)
    covariance = _covariance(flat)
    if not is_definite(covariance):
        raise RunError(
            f"step_size: auto: warm-up is stuck: at a step size of {eps:g} its chains hardly move; state another `init`"
        )
    mass = next((values[one.name] for one in open_ones if one.role is ParameterRole.MASS and not one.is_number), None)
    tuned = Tuned(
        values, eps, shortened > 0, found.mean, paced, max(counts, 1.0 / DRAWS), flat,
        flat.mean(axis=0), covariance, seconds,
        (*_stuck(found, thin), *_apart(found), *_uneven(slope, flat, covariance, pilots.entries, mass, eps)),
    )  # fmt: skip
    return tuned, pilots


def _best_length(
    pilots: Pilots, share: float, values: Mapping[str, Array], eps: float, say: Callable[[str], None]
) -> Pilots:
    """Return the chains with moves of the length that has most effective draws per gradient, by factors of two.

    Where draws hardly count, moves are made longer whatever few draws say: a walk at random is as slow as its steps are
    short, squared.

    Args:
        pilots: with moves of some length.
        share: the part of their draws that counts.
        values: of the parameters that were chosen.
        eps: the step size.
        say: called with a line that describes the work that starts.
    """
    afforded = min(LONGEST_MOVE, 2.0 * SOME / (pilots.entries * LENGTH_DRAWS * len(pilots.chains)))

    def effective(chains: Pilots) -> tuple[float, float]:
        say(f"warm-up: moves of {chains.longest:g} steps at most")
        share = least_share(chains.moved(values, eps, 1, LENGTH_DRAWS).theta)
        return share, share / chains.steps

    begun, best = pilots, share / pilots.steps
    for factor in (2.0, 0.5) if share < HARDLY else (0.5, 2.0):
        if pilots is not begun:
            break
        while 1.0 <= (longest := math.ceil(factor * pilots.longest)) <= afforded and longest != pilots.longest:
            other = pilots.lasting(longest, pilots.lengths)
            own, found = effective(other)
            if found < best and not (factor > 1.0 and share < HARDLY):
                break
            pilots, share, best = other, own, found
    return pilots


def _paced(thin: int, share: float, least: int, most: int) -> tuple[int, float]:
    """Return how many moves lie between draws for `LEAST` of them to count, and the part of them that does.

    Of draws with autocorrelations rho^k the part (1 - rho)/(1 + rho) counts, so that rho follows from it.

    Args:
        thin: moves between draws of which a part counts.
        share: the part.
        least: moves at least.
        most: moves at most.
    """
    log_rho = math.log(max((1.0 - share) / (1.0 + share), FORGOTTEN)) or -FORGOTTEN
    wanted = thin * math.log((1.0 - LEAST) / (1.0 + LEAST)) / log_rho
    paced = int(min(max(math.ceil(round(wanted, 6)), least), most))
    return paced, -math.tanh(log_rho * paced / thin / 2.0)


def _covariance(flat: Array) -> Array:
    """Return the covariance of draws, of many coordinates their variances."""
    draws, width = flat.shape
    if width > MANY:
        return flat.var(axis=0)
    return shrunk(flat, draws)


def spread_of(pilots: Pilots, found: Tuned) -> float:
    """Return how wide chains may start around the mean, in sds of the draws: half of what works."""
    normals = np.random.default_rng(0).standard_normal((STARTS, pilots.width))
    away = times(root(found.covariance), normals)
    for k, spread in enumerate(SPREADS):
        theta = found.mean + spread * away
        try:
            moved = pilots.at(theta, k + 1).moved(found.values, found.eps, STUCK, 1)
        except RunError:  # U is not finite there
            continue
        if np.any(moved.theta[:, 0] != theta, axis=1).all():
            return spread / 2.0
    return SPREADS[-1] / 2.0


def _least(found: Moved, thin: int) -> Array:
    """Return the least mean probability that each chain's moves, of any kind, were accepted with, some in a row."""
    moves = np.full(found.kinds[0].shape[1], float(thin))
    least = [[least_accepted(rates, moves) for rates in kind] for kind in found.kinds]
    return np.array([[1.0 if one is None else one[0] for one in kind] for kind in least]).min(axis=0)


def _stuck(found: Moved, thin: int) -> Iterator[str]:
    together = replace(found, kinds=(found.acceptance,))
    least = np.minimum(_least(together, thin), np.min([kind.mean(axis=1) for kind in found.kinds], axis=0))
    stuck = [str(k + 1) for k, own in enumerate(least) if own < 1.0 / STUCK]
    if stuck:
        yield (
            f"stuck in warm-up: chain{'s' if len(stuck) > 1 else ''} {', '.join(stuck)} of {len(found.theta)}, where "
            f"none of {STUCK} moves in a row was likely to be accepted. Try a higher `accept`, or another "
            f"`init`. {CURE}"
        )


def _apart(found: Moved) -> Iterator[str]:
    r_hat = float(np.max(r_hats(found.theta)))
    if not r_hat <= AGREE:
        yield f"warm-up chains do not mix: their R-hat is {r_hat:.3g}. {CURE}"


def _uneven(
    slope: Slope | None, flat: Array, covariance: Array, entries: float, mass: Array | None, eps: float
) -> Iterator[str]:
    """Yield that one step size does not serve all of theta: too long where U is steepest, as far as a mass shows."""
    if slope is None:
        return
    bent = curvatures(slope, lambda _: root(covariance), flat, entries)
    steepest, typical = float(np.max(bent)), float(np.median(bent))
    if steepest <= (STEEPEST if steepest > UNEVEN * typical else STEEPEST_EVEN):
        return
    if mass is not None:
        by_mass = root(inverse(mass))
        if eps**2 * float(np.max(curvatures(slope, lambda _: by_mass, flat, entries))) <= STABLE:
            return
    yield (
        f"the curvature of U among draws of warm-up is up to {steepest:.2g} times that of a Gaussian as wide as "
        f"they are, and {typical:.2g} times at the median draw: no single step size and mass suit both, and chains "
        f"rarely reach the steepest part of U. {CURE}"
    )
