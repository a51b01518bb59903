"""Random moves of one kind, right or wrong by chance, and what is true of them, found in floating point.

- *flow*, *shares*: targets whose laws (gamma; Dirichlet, categorical) follow from U, or have one fault: differences of
  U - E between two values of a block, at random data.
- *involution*: maps with a fault or without, laws of what they draw, claimed ratios: each is applied twice, its
  determinant taken by differences, densities compared.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import numpy as np
from parts import Array, Drawn, build, fails, few, value

SAME, OFF, STEP = 1e-9, 1e-4, 1e-6
"""Of energies, over their size; of maps, and of determinants by differences at that distance."""
Coefficients = dict[str, Fraction]
State = dict[str, Any]


# Laws of blocks, with data

ENERGIES: dict[str, Callable[..., Any]] = {
    "Gamma": lambda x, shape, rate: rate * x - (shape - 1) * np.log(x),
    "Dirichlet": lambda x, alpha: (1 - alpha) * np.log(x),
    "Categorical": lambda x, logits: -x * logits,
}
"""E of a block that has a law."""


def off_law(target: Mapping[str, Any], block: str, states: list[dict[str, Callable[[], Any]]]) -> str:
    """Return by how much U - E differs between two values of a block; empty where it does not as far as one sees."""
    law, _, parameters = target["laws"][block][:-1].partition("(")

    def less(state: State) -> float:
        log_density = np.sum(value(target["log_prior"], **state)) + np.sum(value(target["log_likelihood"], **state))
        return float(log_density + np.sum(ENERGIES[law](state[block], *value(f"({parameters},)", **state))))

    for draws in states:
        state = {name: draw() for name, draw in draws.items()}
        one, other = less(state), less(state | {block: draws[block]()})
        if abs(one - other) > SAME * (1 + max(abs(one), abs(other))):
            return f"U - E of {block} changes by {one - other:.3g}"
    return ""


def _laws(target: Mapping[str, Any], moves: list[tuple[str, str]], states: Callable[..., Any], estimated: bool) -> Any:
    """Return the judge of moves that draw, or flow by, the laws of a target."""

    def judge(rng: np.random.Generator) -> dict[str, str]:
        found: dict[str, str] = {}
        for move, block in moves:
            found |= fails(f"{move} cycle exact", off_law(target, block, states(rng)))
        still = {*target["laws"]} - {block for _, block in moves}
        found |= {"exact": "what a minibatch estimates widens the law"} if estimated and ("cir", "g") in moves else {}
        return found | ({"cycle": f"{still} has no move"} if still else {})

    return judge


def _sum(parts: Mapping[str, Fraction]) -> str:
    return " + ".join(f"({c})*{what}" for what, c in parts.items() if c)


FLOW_FAULTS: dict[str, Callable[[Coefficients], Coefficients]] = {
    "the Jacobian of log g": lambda k: {"base": k["base"] + 1},
    "less": lambda k: {"base": k["base"] - Fraction(1, 4)},
    "half of the sums": lambda k: {"one": k["one"] / 2, "both": k["both"] / 2},
    "the count of data": lambda k: {"number": Fraction(1, 2)},
    "one more sum": lambda k: {"one": k["one"] + 1},
    "a sum left out": lambda k: {"both": Fraction(0)},
    "a rate": lambda k: {"alone": k["alone"] + 1},
    "a rate twice": lambda k: {"by_s": 2 * k["by_s"]},
    "a rate left out": lambda k: {"by_s": Fraction(0)},
}


def random_flow(random: Random) -> Drawn:
    """Return draws and flows of gamma laws of g and s with data, half of them with a fault."""
    minibatch = random.random() < 0.5
    right = {"base": Fraction(0), "one": few(random, 0, 1, 2), "both": few(random, 0, 1, 3), "number": Fraction(0)}
    right |= {"by_s": few(random, 1, 2), "alone": few(random, 1, 3)}
    right["of_y"] = Fraction(0) if minibatch else few(random, 0, 0, 1)
    own = right | FLOW_FAULTS[random.choice([*FLOW_FAULTS])](right) if random.random() < 0.5 else right
    power = few(random, 1, 2, 4)
    of_s = (power + 1, right["by_s"])
    if random.random() < 0.15:
        of_s = random.choice(((power, right["by_s"]), (power + 2, right["by_s"]), (power + 1, right["by_s"] / 2)))
    of_g = "cir" if minibatch or random.random() < 0.6 else "draw"
    moves = [(of_g, "g"), (random.choice(("draw", "cir")), "s")]
    if random.random() < 0.1:
        moves.pop(random.randrange(2))
    elif random.random() < 0.2:
        moves.append(moves[0])
    random.shuffle(moves)

    shape = _sum({"ones": own["base"], "N*ones": own["number"], "z.T @ ones": own["one"], "z.T @ y": own["both"]})
    rate = _sum({"s": own["by_s"], "1": own["alone"], "sum(y)": own["of_y"]})
    positive = {"domain": "positive", "transform": "log"}
    target = {
        "name": "gammas",
        "state": {"g": {"shape": 2, **positive}, "s": {"shape": "scalar", **positive}},
        "data": {"z": {"shape": ["N", 2], "in": [0, 1]}, "y": {"shape": "N", "in": [0, 1, 2]}},
        "parameters": {"a": {"shape": 2, "is": "positive"}},
        "log_prior": "sum((a - ones)*log(g)) - {by_s}*s*sum(g) - {alone}*sum(g) + {power}*log(s) - 3*s",
        "log_likelihood": "{one}*(z @ log(g)) + {both}*y*(z @ log(g)) - {of_y}*y*sum(g)",
        "laws": {"g": f"Gamma(a{' + ' * bool(shape)}{shape}, {rate})", "s": f"Gamma({of_s[0]}, 3 + {of_s[1]}*sum(g))"},
    }
    target |= {key: target[key].format(**right, power=power) for key in ("log_prior", "log_likelihood")}
    rows = "".join(f"{k % 2},{k // 2 % 2},{k % 3}\n" for k in range(12))
    whole = build(
        "random_flow", "still",
        scheme={"cycle": [{move: block} for move, block in moves]},
        variant="minibatch" if minibatch else "full",
        parameters={"a": {"value": ["1/2", 2]}}, sizes={"d": 3},
        data={"file": "data.csv", "z": ["u", "v"], "y": "y"},
        run={"step_size": "1/4", **({"batch_size": 4} if minibatch else {})},
    )  # fmt: skip

    def draws(rng: np.random.Generator, N: int) -> dict[str, Callable[[], Any]]:
        return {
            "N": lambda: N,
            "a": lambda: rng.gamma(2, size=(2, 1)) + 0.1,
            "g": lambda: rng.gamma(1, size=(2, 1)) + 0.1,
            "s": lambda: float(rng.gamma(2)) + 0.1,
            "z": lambda: rng.integers(0, 2, (N, 2)),
            "y": lambda: rng.integers(0, 3, (N, 1)),
        }

    def states(rng: np.random.Generator) -> list[dict[str, Callable[[], Any]]]:
        return [draws(rng, N) for N in (1, 2, 5)]

    judge = _laws(target, moves, states, estimated=minibatch and bool(own["one"] or own["both"]))
    return Drawn({"target.yaml": target, "data.csv": f"u,v,y\n{rows}", "build.yaml": whole}, judge)


SHARES_FAULTS: dict[str, Callable[[Coefficients], Coefficients] | None] = {
    "prior": lambda k: {"prior": Fraction(0), "base": k["base"] + 1},
    "twice": lambda k: {"prior": Fraction(2)},
    "jacobian": lambda k: {"base": k["base"] + 1},
    "less": lambda k: {"base": k["base"] - Fraction(1, 4)},
    **dict.fromkeys(("by_g", "one", "both", "square", "power", "alike")),
}
"""The prior left out or twice, the Jacobian, and another number for one of the coefficients."""


def random_shares(random: Random) -> Drawn:
    """Return draws of shares of a whole, their scale and allocations by them, most with a fault in one law."""
    right = {"prior": Fraction(1), "base": Fraction(0)}
    choices = {"by_g": (0, 1, 2), "one": (1, 2), "both": (0, 1, 3), "square": (0, 1, 2), "power": (1, 2, 4)}
    right |= {name: few(random, *numbers) for name, numbers in (choices | {"alike": (0, 1)}).items()}
    own = dict.fromkeys("wgz", right)
    if random.random() < 0.6:
        block, kind = random.choice("wwwgz"), random.choice([*SHARES_FAULTS])
        fault, k = SHARES_FAULTS[kind], right.get(kind, Fraction(0))
        own[block] = right | (fault(right) if fault else {kind: random.choice((k + 1, k / 2, 2 * k))})
    moves = list("wgz")
    random.shuffle(moves)
    if random.random() < 0.1:
        moves.pop()
    elif random.random() < 0.2:
        moves.append(moves[0])
    K, (w, g, z) = random.choice((2, 3)), own.values()

    alpha = {"a": w["prior"], "ones": w["base"], "g*c": w["by_g"], "z.T @ ones": w["one"], "z.T @ y": w["both"]}
    rate = "3 + {alike} + {square}*norm2(y - z @ c) - {by_g}*c.T @ log(w)".format(**g)
    logits = "({one}*ones + {both}*y) @ log(w).T - {square}*g*(y @ ones.T - ones @ c.T)**2".format(**z)
    prior = "sum((a - ones)*log(w)) + {by_g}*g*(c.T @ log(w)) + {power}*log(g) - 3*g - {alike}*g*sum(w)"
    target = {
        "name": "shares",
        "state": {
            "w": {"shape": K, "constraint": "simplex"},
            "g": {"domain": "positive", "transform": "log"},
            "z": {"shape": ["N", K], "domain": "one_hot"},
        },
        "data": {"y": {"shape": "N", "in": [0, 1, 2]}},
        "parameters": {"a": {"shape": K, "is": "positive"}, "c": {"shape": K, "is": "nonnegative"}},
        "assume": ["normalisable"],
        "log_prior": prior.format(**right),
        "log_likelihood": "({one} + {both}*y)*(z @ log(w)) - {square}*g*(y - z @ c)**2".format(**right),
        "laws": {
            "w": f"Dirichlet({_sum(alpha)})",
            "g": f"Gamma({g['power'] + 1}, {rate})",
            "z": f"Categorical({logits})",
        },
    }
    values = {"a": {"value": ["1/2", 2, 1][:K]}, "c": {"value": [0, "3/2", 2][:K]}}
    whole = build("random_shares", "still", scheme={"cycle": [{"draw": block} for block in moves]}, parameters=values)
    whole = {key: part for key, part in whole.items() if key != "sizes"} | {"data": {"file": "data.csv", "y": "y"}}

    def draws(rng: np.random.Generator, N: int, K: int) -> dict[str, Callable[[], Any]]:
        return {
            "a": lambda: rng.gamma(2, size=(K, 1)) + 0.1,
            "c": lambda: rng.gamma(1, size=(K, 1)),
            "y": lambda: rng.integers(0, 3, (N, 1)),
            "w": lambda: rng.dirichlet(np.ones(K))[:, None],
            "g": lambda: float(rng.gamma(2)) + 0.1,
            "z": lambda: np.eye(K)[rng.integers(0, K, N)],
        }

    def states(rng: np.random.Generator) -> list[dict[str, Callable[[], Any]]]:
        return [draws(rng, N, K) for N in (1, 2, 4) for K in (2, 3)]

    judge = _laws(target, [("draw", block) for block in moves], states, estimated=False)
    rows = "y\n" + "".join(f"{k % 3}\n" for k in range(4))
    return Drawn({"target.yaml": target, "data.csv": rows, "build.yaml": whole}, judge)


# Maps that are their own inverse


def off_involution(maps: Callable[[Array], Array], z: Array, log_det: float | None) -> str:
    """Return what is wrong with a map at a point: it leads back, with a known log |det|; empty where nothing is."""
    gap = float(np.abs(maps(maps(z)) - z).max())
    if not gap <= OFF:
        return f"applied twice it is {gap:.3g} off"
    columns = [(maps(z + e) - maps(z - e)) / (2 * STEP) for e in STEP * np.eye(len(z))]
    jumps = max(float(np.abs(column).max()) for column in columns) > 1e3  # a corner between the two points
    if log_det is None or jumps:
        return ""
    gap = abs(float(np.linalg.slogdet(np.stack(columns))[1]) - log_det)
    return f"the log of its ratio is {gap:.3g} off" if gap > OFF else ""


def _map(random: Random) -> tuple[dict[str, str], Fraction, bool]:
    """Return a map of theta and of what it draws, log |det| over the sum of that, and whether theta > 0."""
    c, fault = few(random, "1/2", 1, 2, "-1/3"), random.random() < 0.35
    back = random.choice(("", "-2*", "-1/2*")) if fault else "-"
    none = Fraction(0)
    match random.choice(("scale", "scales", "walk", "shift", "swap", "mirror", "inverse", "out", "affine")):
        case "scale":
            return {"theta": f"theta*exp({c}*w)", "w": f"{back}w"}, 2 * c, random.random() < 0.5
        case "scales":
            return {"theta": f"theta*exp({c}*v)", "v": f"{back}v"}, c, random.random() < 0.5
        case "walk":
            return {"theta": f"theta + {c}*v", "v": f"{back}v"}, none, False
        case "shift":
            return {"theta": f"theta + {c}*w*ones", "w": f"{back}w"}, none, False
        case "swap":
            return {"theta": "v", "v": f"{c}*theta" if fault else "theta"}, none, False
        case "mirror":
            return {"theta": f"{c}*ones {'+' if fault else '-'} theta"}, none, False
        case "inverse":
            return {"theta": f"{abs(c)}/theta{'**2' if fault else ''}"}, none, True
        case "out":
            return {"theta": "theta + w*ones", "w": "-w"}, none, True
        case _:
            return {"theta": f"{'' if fault else '-'}theta + exp(w)*ones", "w": "w"}, none, False


def random_involution(random: Random) -> Drawn:
    """Return a map with what it draws and what is claimed of it, half of them with a fault."""
    maps, jacobian, positive = _map(random)
    drawn = next((name for name in maps if name != "theta"), "")
    mean, slope = few(random, 0, 0, "1/2", -1), few(random, 0, 0, 0, "1/3")
    variance, claimed = few(random, 1, "1/4", 2), None
    if drawn and random.random() >= 0.3:
        right = jacobian - 2 * mean / variance  # of w -> -w: log q(-w) - log q(w) = -2 m w/s^2
        faults = (jacobian, right - jacobian, right - 2 * jacobian, right - jacobian / 2, right + 1)
        claimed = random.choice(faults) if random.random() < 0.5 else right
    move: dict[str, Any] = {"involution": maps}
    center = f"{mean}*ones + {slope}*theta" if drawn == "v" else f"{mean} + {slope}*sum(theta)"
    if drawn:
        shape, size = ({"shape": "d"}, "*I") if drawn == "v" else ({}, "")
        move["draws"] = {drawn: {**shape, "law": f"N({center}, {variance}{size})"}}
    if claimed is not None:
        move["log_ratio"] = f"{claimed}*{'sum(v)' if drawn == 'v' else 'w'}"
    target = {"name": "plane", "state": {"theta": {"shape": "d"}}, "potential": "norm2(theta)**2/4 + sum(theta)"}
    if positive:
        target = {"name": "positive", "state": {"theta": {"shape": "d", "domain": "positive"}}}
        target["potential"] = "3*sum(theta) - 2*sum(log(theta)) + norm2(theta)"

    def named(z: Array) -> State:
        return {"theta": z[:2, None], drawn: z[2:, None]}

    def image(z: Array) -> Array:
        return np.concatenate([np.ravel(value(text, **named(z))) for text in maps.values()])

    def log_density(z: Array) -> float:
        return -float(((named(z)[drawn] - value(center, **named(z))) ** 2).sum() / (2 * variance))

    def off(rng: np.random.Generator) -> str:
        theta = rng.gamma(2.0, size=2) + 0.2 if positive else rng.normal(size=2)
        z = np.concatenate((theta, 2 * rng.normal(size={"": 0, "w": 1, "v": 2}[drawn])))
        if positive and not image(z)[:2].min() > 0:
            return f"theta becomes {image(z)[:2]}"
        if claimed is None:
            return off_involution(image, z, None)
        return off_involution(image, z, float(claimed) * z[2:].sum() + log_density(z) - log_density(image(z)))

    whole = build("reflected", "sgrld_positive" if positive else "still", scheme={"cycle": [move]})
    return Drawn({"target.yaml": target, "build.yaml": whole}, partial(_anywhere, off, "involution cycle exact"))


def _anywhere(off: Callable[[np.random.Generator], str], claims: str, rng: np.random.Generator) -> dict[str, str]:
    return fails(claims, next(filter(None, (off(rng) for _ in range(60))), ""))
