"""What claims about an equation say: residuals that vanish at every admissible point at which the claim holds."""

import functools
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import limits
from .field import (
    KINDS,
    PD,
    PSD,
    RING,
    Array,
    Poly,
    TrustedError,
    array,
    characteristic,
    constant,
    diagonal,
    inverse,
    product,
    require,
)
from .formulas import Json, declared, listed, places
from .pages import Documents, Page

EULER = ("euler", "sequential_euler")


def other_side(d: Documents, *, back: bool = False) -> Documents:
    """Return the dynamics of which others are claimed to be the image, or these, with all parameters; both as parts."""
    stated, both = d.claims["image"], [d.parts.get("image") or {}, d.dynamics]
    at, to = both[::-1] if back else both
    parameters = {**declared(to, "parameters"), **declared(at, "parameters")}
    assume = [
        x for one in both for x in listed(one.get("assume")) if one is at or not Documents({"dynamics": one}).moves(x)
    ]
    parts = {"dynamics": {**at, "parameters": [*parameters.items()], "assume": assume}, "to": to}
    maps = [stated["map"], stated["inverse"]]
    return Documents({**parts, "maps": maps[::-1] if back else maps})


def same_image(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return f_u(g) - L g, D_u(g) - Dg D Dg.T and h(g) - theta, and what of g is outside the domain of u."""
    to, (there, back), ids = page.d.parts["to"], page.d.parts["maps"], page.ids
    blocks, stated = declared(to, "state"), to.get("claims") or {}
    shapes = {name: page.shape(entry) for name, entry in blocks.items()}
    g = {name: page.fit(there[name], *shape) for name, shape in shapes.items()}
    outside = [x for name, u in g.items() if blocks[name]["domain"] == "positive" for x in u.flat if page.sign(x) <= 0]
    z, found = {name: page.formula(name) for name in ids}, outside
    equations = [] if label.startswith("g(h(") else [equation(page, "image")]
    page.forget()
    page.beside |= g
    found += [x for name, u in z.items() for x in (page.fit(back[name], *u.shape) - u).flat]
    for f, _, D, *_ in equations:
        require(stated.get("interpretation", "ito") == "ito", "a drift in the Stratonovich sense", TrustedError)
        u = [x for one in g.values() for x in one.flat]
        J = array([page.gradient(x, range(len(f))) for x in u])
        drift = [x for name, shape in shapes.items() for x in page.fit(stated["drift"][name], *shape).flat]
        for x, slopes in zip(drift, J, strict=True):
            second = array([page.gradient(slope, range(len(f))) for slope in slopes])
            found.append(x - (array([*slopes]).T @ f).item() - (second * D).sum())
        rows = zip(places(stated.get("diffusion") or to["D"]), shapes.values(), strict=True)
        mine = np.block(
            [[page.fit(x, h, w) for x, (w, _) in zip(row, shapes.values(), strict=True)] for row, (h, _) in rows]
        )
        found += [*(mine - J @ D @ J.T).flat]
    return found


def part_of_D(page: Page, label: str) -> Array:
    """Return the part of D that a label names, `D[r,r]` or `D of (theta, r)`."""
    names = re.findall(r"\w+", re.split(r"[\[(]", label)[1])
    require({*names} <= {*page.ids}, f"{label} is not an entry of D")
    chosen = [i for block in page.ids if block in names for i in page.ids[block]]
    return page.blocks(page.d.D, smooth=False)[np.ix_(chosen, chosen)]


def negative_minors(page: Page, A: Array) -> list[Poly]:
    """Return the sums of principal minors that are negative: of a semidefinite matrix there are none."""
    return [c for c in characteristic(page.here(A))[1] if page.sign(c) < 0]


def semidefinite(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return negative minors of D, or v.T D v minus the stated sum of squares at a random v."""
    data, rng = claim["data"], random.Random(page.seed)
    if label:
        form = re.fullmatch(r"(\w+)\.T @ (D.*) @ \1", label)
        v = page.beside.pop(form[1]) if form else array(constant(1))
        return [x for x in (v.T @ part_of_D(page, form[2] if form else label) @ v).flat if page.sign(x) < 0]
    found = negative_minors(page, page.blocks(page.d.D, smooth=False))
    for part in {key.partition(": ")[0] for key in data if ": Gram" in key}:
        own = {key.partition(": ")[2]: text for key, text in data.items() if key.startswith(f"{part}: ")}
        D = part_of_D(page, part)
        v = array([constant(rng.randint(-9, 9)) for _ in D])
        page.beside = {f"v{i}": array(x) for i, x in enumerate(v.flat)}
        page.beside |= {name: page.formula(text) for name, text in own.items() if name[1:].isdigit()}
        left = page.formula(own["times"]) * (v.T @ D @ v)
        for k in (name.split()[-1] for name in own if name.startswith("Gram")):
            w, m, G = (page.formula(own[f"{name} {k}"]) for name in ("multiplier", "monomials", "Gram matrix"))
            require(KINDS[PSD](page, G) and page.sign(w.item()) >= 0, f"{part}: not a sum of squares")
            left = left - w * (m.T @ G @ m)
        found += [left.item()]
    return found


def equation(page: Page, claim: str) -> tuple[Array, Array, Array, Array, list[Poly]]:
    """Return f, the f of the recipe, D, the D that is stated, and grad H."""
    return page.once(("equation", claim), lambda: _read_equation(page, claim))


def _read_equation(page: Page, claim: str) -> tuple[Array, Array, Array, Array, list[Poly]]:
    """Return the result of `equation`, from the documents or from the moments of a claimed update."""
    d, n = page.d, sum(map(len, page.ids.values()))
    g = page.gradient(page.scalar(d.dynamics["H"]), range(n))
    if claim == "claimed_update":
        _, mean, spread = increments(page)
        return mean, mean, spread / 2, spread / 2, g
    stated, D = page.blocks(d.claims.get("diffusion") or d.D), page.blocks(d.dynamics.get("D") or d.D)
    Q = page.blocks(d.Q) if d.Q else D * 0
    f = recipe = page.div(D + Q) - product(D + Q, array(g))
    if d.Q and not claim.startswith("claimed"):
        return f, recipe, D, D, g
    f = np.concatenate([page.fit(d.claims["drift"].get(name, "0"), len(ids), 1) for name, ids in page.ids.items()])
    if d.claims.get("interpretation") == "stratonovich":
        require(page.vanish(stated - diagonal(np.diag(stated))), "a drift in the Stratonovich sense", TrustedError)
        f = f + page.div(stated) / 2
    return f, recipe, D, stated, g


def skewness(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return D - D.T, or Q + Q.T."""
    matrix = page.blocks(page.d.Q if claim["id"] == "q_skew" else page.d.D, smooth=False)
    return list((matrix + matrix.T if claim["id"] == "q_skew" else matrix - matrix.T).flat)


def same_drift(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return the claimed drift minus that of the recipe, and of a recovered Q also Q + Q.T."""
    f, recipe, *_ = equation(page, "claimed_drift")
    Q = page.blocks(page.d.Q) * (claim["id"] == "recovered_q")
    return [*(f - recipe).flat, *(Q + Q.T).flat]


def same_diffusion(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return the claimed diffusion minus D."""
    stated, D = (page.blocks(x, smooth=False) for x in (page.d.claims["diffusion"], page.d.dynamics["D"]))
    return list((stated - D).flat)


def stationary(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return the residual J.grad H - div J, where J = f - div D + D grad H; and currents along a line, J itself."""
    f, _, _, D, g = equation(page, claim["id"])
    J, along = f - page.div(D) + product(D, array(g)), currents(page, f[:, 0], D, g)
    if label.startswith("current of "):
        require(label[11:] in along, f"{label[11:]} is not an autonomous diffusion on a line")
        return [along[label[11:]]]
    return [*(product(array(g).T, J) - page.div(J.T)).flat, *along.values()]


def is_autonomous(page: Page, k: int, *of: Poly) -> bool:
    """Whether all derivatives of functions by other coordinates vanish at the point."""
    others = [i for ids in page.ids.values() for i in ids if i != k]
    return not any(page.sign(page.slope(x, i)) for x in of for i in others)


def coordinates(page: Page) -> Iterator[tuple[str, str, int]]:
    """Yield the block, the name and the place of every coordinate."""
    for block, ids in page.ids.items():
        for i, k in enumerate(ids):
            yield block, f"{block}[{i}]" if page.d.blocks[block]["shape"] else block, k


def currents(page: Page, f: Any, D: Array, g: list[Poly]) -> dict[str, Poly]:
    """Return J = f_k - d_k D_kk + D_kk d_k H of coordinates by themselves: on a line a stationary law has J = 0."""
    found = dict[str, Poly]()
    for block, name, k in coordinates(page):
        domain = page.d.blocks[block]["domain"]
        line = domain != "circle" and (domain != "simplex" or len(page.ids[block]) == 1)
        if line and not page.d.moves(page.d.assume) and is_autonomous(page, k, f[k], D[k, k], g[k]):
            J = f[k] - page.slope(D[k, k], k) + D[k, k] * g[k]
            if page.vanish([page.slope(J, k) - J * g[k]]):
                found[name] = J
    return found


def laws(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return the gradient of the marginal energy minus the stated one, all Gaussian blocks integrated out.

    exp(-H) with g = grad H and P = hessian(H) in such blocks, P free of them, has the integral
    exp(-H + g.P^-1 g/2 - logdet(P)/2), up to a constant factor. For a mixed slope that a witness names, that is
    returned where it is a product (so that the integral is strictly convex).
    """
    d, found = page.d, list[Poly]()
    stated = d.claims["marginal"].items() if claim["id"] == "claimed_marginal" else [(d.own, d.potential)]
    mixed = re.fullmatch(r"d2\(.*\)/\(d(\w+)\[?(\d*)\]? d(\w+)\[?(\d*)\]?\)", label)
    for blocks, energy in stated:
        keep = listed(blocks)
        left, over, rest = page.scalar(d.dynamics["H"]), list[int](), list[str]()
        for name in (name for name in page.ids if name not in keep):
            both = [*over, *page.ids[name]]
            second = [y for x in page.gradient(left, both) for y in page.gradient(x, both)]
            third = [z for y in second for z in page.gradient(y, both)]
            free = d.blocks[name]["domain"] == "real" and page.vanish(third)
            over, rest = (both, rest) if free else (over, [*rest, name])
        if over:
            g = array(page.gradient(left, over))
            P = array([page.gradient(x, over) for x in g.flat])
            gone = ", ".join({*page.ids} - {*keep, *rest})
            require(KINDS[PD](page, P), f"exp(-H) has no finite integral over {gone}")
            up, determinant = inverse(page, P)
            left += (page.of("log", determinant) - (g.T @ up @ g).item()) / 2
        left -= page.scalar(energy)
        slopes = page.gradient(left, [i for name in keep for i in page.ids[name]])
        if mixed:
            i, j = (page.ids[mixed[k]][int(mixed[k + 1] or 0)] for k in (1, 3))
            both, twice = (page.slope(page.slope(left, i), j) for _ in range(2))
            splits = both * page.slope(page.slope(twice, i), j) - page.slope(both, i) * page.slope(both, j)
            slopes = [both] if page.vanish([splits]) else []
        require(not rest or mixed or page.vanish(slopes), f"the integral over {', '.join(rest)}", TrustedError)
        found += slopes
    return found


def budget(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return negative minors of V and of 2D - eps (D + Q) V (D + Q).T, V in the place of the potential's block."""
    noise, D = page.d.build.get("gradient_noise") or {}, page.blocks(page.d.D)
    V = noise.get("V", "0")
    V = noise.get("add", "0") if V == "0" else V
    require(V != "estimate", "an estimated V", TrustedError)
    if V == "0":
        return []  # 2D is `d_psd`
    require(page.d.build["scheme"].get("name", "") in EULER, "what a word subtracts for V", TrustedError)
    own = [i for name in page.d.own for i in page.ids[name]]
    A, W = (D + page.blocks(page.d.Q))[:, own], page.fit(V, len(own), len(own))
    step = page.d.build["run"]["step_size"]
    require(step != "auto", "a step size that a run chooses", TrustedError)
    whole = 2 * D - A @ W @ A.T * page.formula(step)
    return negative_minors(page, W) + negative_minors(page, whole)


def expectation(page: Page, x: Poly) -> Poly:
    """Return the mean over all draws, the last first: exp(sum_ij C_ij d_i d_j / 2), at draws of 0 (Isserlis)."""
    for ids, C in reversed(page.draws):
        found, term = x, x
        for m in range(1, limits.PAIRS):
            slopes = [page.gradient(page.slope(term, i), ids) for i in ids]
            term = sum((C[i, j] * y for i, row in enumerate(slopes) for j, y in enumerate(row)), constant(0)) / (2 * m)
            found += term
            if term == 0:
                break
        x = found.subs(dict.fromkeys(ids, 0))
    return x


def power_of_step(page: Page, x: Poly, n: int) -> Poly:
    """Return the coefficient of sqrt(eps)**n."""
    for k in range(n):
        x = page.slope(x, page.step) / (k + 1)
    return x.subs({page.step: 0})


@functools.lru_cache(maxsize=2)
def moments(page: Page) -> tuple[Array, Array]:
    """Return mean and covariance of the increment of a claimed update, as functions of the old state."""
    update, new = page.d.claims["update"], dict[str, Array]()
    page.step = page.coordinate(constant(0))
    while len(new) < len(page.ids):
        for name, ids in page.ids.items():
            waits = [block for block in page.ids if block not in new and f"next({block})" in update.get(name, "")]
            if name in new or waits:
                continue
            page.forget()  # the same words are another draw
            new[name] = page.fit(update.get(name, name), len(ids), 1)
            page.beside[f"next({name})"] = new[name]
    change = [x - RING.gen(i) for name, ids in page.ids.items() for i, x in zip(ids, new[name].flat, strict=True)]
    mean = array([expectation(page, x) for x in change])
    return mean, array([[expectation(page, x * y) for y in change] for x in change]) - mean @ mean.T


def is_zero_everywhere(page: Page, A: Array) -> bool:
    """Whether a matrix is zero: as a polynomial, or at the values of a point drawn here."""
    return page.vanish(A) if page.seed else all(x == 0 for x in A.flat)


@functools.lru_cache(maxsize=2)
def increments(page: Page) -> tuple[int, Array, Array]:
    """Return the least n with a nonzero sqrt(eps)**n term in the mean or covariance of a step, and both terms."""
    mean, spread = moments(page)
    for n in range(limits.PAIRS):
        at = [np.frompyfunc(lambda x, n=n: power_of_step(page, x, n), 1, 1)(A) for A in (mean, spread)]
        if not all(is_zero_everywhere(page, A) for A in at):
            return n, at[0], at[1]
    raise TrustedError("a step that leaves the state unchanged")


def kept_law(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return the Fokker-Planck residual of a claimed update for small steps, or that of an exact Gaussian draw.

    Where a step F z + N(0, S) does not shrink, it has to keep mean m and covariance P^-1 of what it moves.
    """
    n, mean, spread = increments(page)
    found = list[Poly]()
    for _, C in page.draws:
        orders = [np.frompyfunc(lambda x, k=k: power_of_step(page, x, k), 1, 1)(C) for k in range(limits.PAIRS)]
        found += negative_minors(page, next((A for A in orders if not page.vanish(A)), C * 0))
    if n > 0:
        return [*found, *stationary(page, claim, label)]
    if is_zero_everywhere(page, mean):
        return [*found, *spread.flat]
    moves = [
        not is_zero_everywhere(page, array([*mean[[*ids], 0], *spread[[*ids], [*ids]]])) for ids in page.ids.values()
    ]
    over = [i for ids, moved in zip(page.ids.values(), moves, strict=True) if moved for i in ids]
    g, m, S = array(page.gradient(page.scalar(page.d.dynamics["H"]), over)), mean[over], spread[np.ix_(over, over)]
    P, J = (array([page.gradient(x, over) for x in A.flat]) for A in (g, m))
    fixed = page.vanish([y for A in (P, J, S) for x in A.flat for y in page.gradient(x, over)])
    require(fixed, "a step that is not affine, or whose distribution is not Gaussian", TrustedError)
    up, F = inverse(page, P)[0], diagonal([constant(1)] * len(over)) + J
    return [*found, *(m - J @ up @ g).flat, *(F @ up @ F.T + S - up).flat]


def small_step(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return the terms of a step below order eps, and the entries of D for which it has no noise of that order."""
    _, _, spread = increments(page)
    low = [power_of_step(page, x, k) for A in moments(page) for x in A.flat for k in (0, 1)]
    D = page.blocks(page.d.D) if page.d.D else spread
    return [*low, *(D[i, i] for i in range(len(D)) if is_zero_everywhere(page, spread[i : i + 1, i : i + 1]))]


def changes_around_circles(page: Page, claim: Json, label: str) -> list[Poly]:
    """Return H, D, Q and what is claimed, shifted by a period of each circle, minus the same unshifted."""
    d, found = page.d, list[Poly]()

    def read() -> list[Poly]:
        page.forget()
        page.smooth = False
        matrices = [d.dynamics.get("D"), d.Q, d.claims.get("diffusion")]
        parts = [page.blocks(x, smooth=False) for x in matrices if x]
        drift = d.claims.get("drift") or {}
        parts += [page.fit(drift[name], len(ids), 1) for name, ids in page.ids.items() if name in drift]
        return [page.scalar(d.dynamics["H"]), *(x for A in parts for x in A.flat)]

    for block, _, k in coordinates(page):
        if d.blocks[block]["domain"] == "circle":
            before, page.shift = read(), {k: page.period(block)}
            found += [x - y for x, y in zip(read(), before, strict=True)]
            page.shift = {}
    return found


Check = Callable[[Page, Json, str], list[Poly]]
CHECKS: dict[str, Check] = {
    **dict.fromkeys(("d_symmetric", "q_skew"), skewness),
    **dict.fromkeys(("stationary", "claimed_stationary"), stationary),
    **dict.fromkeys(("claimed_drift", "recovered_q"), same_drift),
    **{"claimed_diffusion": same_diffusion, "image": same_image},
    **dict.fromkeys(("marginal", "claimed_marginal"), laws),
    **{"d_psd": semidefinite, "noise_budget": budget, "step_scale": small_step, "claimed_update": kept_law},
    **{"periodic": changes_around_circles, "explosion": stationary},
}
"""What is zero, or empty, at every admissible point where a claim holds."""
IDENTITIES = (
    *("d_symmetric", "q_skew", "claimed_diffusion", "claimed_drift", "recovered_q", "stationary"),
    "claimed_stationary",
)
"""Claims that quantities vanish for all values of what is declared."""
VALUES = ("d_symmetric", "d_psd", "q_skew", "claimed_diffusion", "noise_budget")
"""Claims about values alone, which hold at kinks, too."""
