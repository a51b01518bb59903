"""Forged certificates: structured edits, each of which makes a certificate say something that is certainly false.

Every forger knows how seal, digest, verdict and assumptions are made, and makes them anew. That the result is false is
known from how it was edited, never from the re-checker: what the compiler proved is refuted and the other way round, a
document is changed so that it contradicts its claims, a witness is made inadmissible or states another value. An edit
that does not apply to a certificate raises LookupError.
"""

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import cycle
from random import Random
from typing import Any

from certificates import Json, sealed, settled, turn

from recipe_compiler import recheck

MUTANTS = """
c_transposed d_negative d_not_symmetric gradient_sign q_symmetric sgrld_gamma_dropped sghmc_naive sgnht_energy
temperature_squared marginal/twice_the_potential marginal/rhmc_without_log_det ergodic/hmc explosion/line_current
explosion/cubic_force explosion/steep_noise explosion/controls/stated explosion/controls/second_derivative
ergodic/noise_vanishes marginal/geometric_brownian marginal/momentum_negative marginal/student_exponent marginal/valley
updates/refresh_half updates/sghmc_sequential updates/sgld updates/sgld_noise_eps updates/sgld_noise_no_step
updates/sgld_squared_order updates/sgnht
"""
WRONG = {
    "constant_at_zero": "d_psd",
    "constants_equal": "d_psd",
    "valley_of_hyperbola": "normalisable",
    "valley_aside": "normalisable",
    "flat_line": "normalisable",
    "periodic_factor": "normalisable",
    "periodic_factor_of_another": "normalisable",
    "circle_of_three": "periodic",
    "steep_current": "stationary",
}
"""Documents in `wrong` of which a claim is false, as is easily shown by hand, whatever the compiler can decide."""
SEEN = [name for name, claim in WRONG.items() if claim in ("d_psd", "periodic")]
"""Those of which a forged proof is rejected; growth is trusted."""
FORGED_FROM = (
    *(
        f"specs/dynamics/{name}"
        for name in ("sghmc", "sgrld", "sgnht", "cir", "cir_root", "gsgrhmc", "generalised_langevin")
    ),
    "specs/builds/sghmc_double_well",
    *(f"tests/mutants/{name}" for name in MUTANTS.split()),
    *(f"tests/recheck/wrong/{name}" for name in SEEN),
)
RECHECKED = (
    "d_symmetric", "d_psd", "q_skew", "stationary", "claimed_drift", "claimed_diffusion", "claimed_stationary",
    "marginal", "claimed_marginal", "image",
)  # fmt: skip
"""Claims of which a verdict is turned round: the others are trusted, which the re-checker says of each."""
OF_STEPS = ("claimed_update", "step_scale")
"""Claims about steps, whose witnesses have words of their own."""

Edit = Callable[[Json, Random], Any]


def require(applies: object) -> None:
    if not applies:
        raise LookupError


def claim_of(whole: Json, verdict: str, random: Random, ids: tuple[str, ...] = RECHECKED) -> Json:
    """Return a claim that has a verdict."""
    return random.choice([c for c in whole["claims"] if c["verdict"] == verdict and c["id"] in ids])


def dynamics_of(whole: Json, *proved: str) -> Json:
    """Return the dynamics of a certificate of which claims are proved."""
    require({*proved} <= {c["id"] for c in whole["claims"] if c["verdict"] == "proved"})
    return whole["documents"]["dynamics"]


def sizes_of(point: Json) -> Any:
    return {name: int(x) for name, x in point.items() if name in ("d", "k", "n", "m")} or "all"


def trivial_points(whole: Json, random: Random) -> None:
    """Put test functions of no use, or none, into the points; false only with something else."""
    for point in whole["points"]:
        point |= {name: random.choice(["0", "1", "exp(0)/10**70"]) for name in point if "(" in name}
    if random.random() < 0.3:
        whole["points"] = []


def drop_a_claim(whole: Json, random: Random) -> None:
    del whole["claims"][random.randrange(len(whole["claims"]))]


def add_a_claim(whole: Json, random: Random) -> None:
    claim = deepcopy(random.choice(whole["claims"]))
    later = ["exact"] if claim["required"] else []  # one that decides nothing may be of a later version
    claim["id"] = random.choice([claim["id"], "boundary", "units", *later])
    whole["claims"].insert(random.randrange(len(whole["claims"]) + 1), claim)


def swap_two_claims(whole: Json, random: Random) -> None:
    one, two = random.sample(whole["claims"], 2)
    one["id"], two["id"] = two["id"], one["id"]


def rename_a_claim(whole: Json, random: Random) -> None:
    claim = random.choice(whole["claims"])
    claim["id"] = random.choice([claim["id"].upper(), claim["id"] + "_", claim["id"][::-1]])


def call_it_proved(whole: Json, random: Random) -> None:
    by = random.choice(["index calculus for every size; second engine", "structure"])
    turn(claim_of(whole, "refuted", random), "proved", by=by)
    if random.random() < 0.5:
        trivial_points(whole, random)


def call_it_refuted(whole: Json, random: Random) -> Json:
    claim, point = claim_of(whole, "proved", random), deepcopy(random.choice(whole["points"]))
    n = f"{random.choice((-1, 1)) * random.randint(1, 99)}/{random.choice((7, 11, 13))}"
    value = random.choice([n, "1", "0", "-1", "-1 (enclosed)"])
    witness = {**point, "the residual": value}
    claim |= {"verdict": "refuted", "witness": witness, "for_d": sizes_of(point), "data": {}}
    return claim


def refute_by_a_function_of_the_wrong_block(whole: Json, random: Random) -> None:
    """Or by a constant that is none."""
    claim = call_it_refuted(whole, random)
    state = [name for name, _ in whole["documents"]["dynamics"]["state"]]
    name = random.choice([name for name in claim["witness"] if name not in ("d", "k", "the residual")])
    entries = "*".join(f"{block}[0]" for block in random.sample(state, min(2, len(state))))
    claim["witness"][name] = random.choice([entries, f"[[{entries}]]", f"{claim['witness'][name]} + {entries}"])
    require(name in state or "(" not in name or len(state) > 1)


def make_a_witness_inadmissible(whole: Json, random: Random) -> None:
    """A definite matrix that is none, a block outside its domain."""
    claim, dynamics = claim_of(whole, "refuted", random), whole["documents"]["dynamics"]
    strict = {name for name, entry in dynamics.get("parameters", []) if "positive" in str(entry.get("is", ""))}
    strict |= {name for name, entry in dynamics["state"] if entry.get("domain") == "positive"}
    name = random.choice([name for name in claim["witness"] if name in strict])
    shift = random.randint(1, 5)
    claim["witness"][name] = re.sub(r"\d+", lambda n: f"-{int(n[0]) + shift}", claim["witness"][name])
    require("-" in claim["witness"][name])


def scale_the_value(whole: Json, random: Random) -> None:
    claim = claim_of(whole, "refuted", random, tuple(id_ for id_ in RECHECKED if id_ != "d_psd"))
    label = list(claim["witness"])[-1]
    claim["witness"][label] = f"{random.randint(1000, 9999)}*({claim['witness'][label]})/{random.randint(7, 99)}"
    require("enclosed" not in claim["witness"][label])


def swap_witnesses(whole: Json, random: Random) -> None:
    one, two = (claim_of(whole, "refuted", random) for _ in range(2))
    one["witness"], two["witness"] = two["witness"], one["witness"]
    require(len({one["id"], two["id"]} & {"d_psd", "d_symmetric", "q_skew"}) == 1 and one is not two)


def rename_in_a_witness(whole: Json, random: Random) -> None:
    claim = claim_of(whole, "refuted", random)
    old = random.choice([*claim["witness"]][:-1])
    claim["witness"] = {(f"{name}_" if name == old else name): x for name, x in claim["witness"].items()}


def rest_on_what_is_not_declared(whole: Json, random: Random) -> None:
    name, entry = random.choice(whole["documents"]["dynamics"]["parameters"])
    kind = random.choice(["skew", "diagonal", "nonzero and diagonal"])
    claim_of(whole, "proved", random)["given"].append(f"{random.choice([name, name + '_'])} is {kind}")
    require(kind.split()[-1] not in str(entry.get("is", "")))


def prove_what_is_refuted(whole: Json, random: Random) -> None:
    """Call what is refuted of steps proved."""
    turn(claim_of(whole, "refuted", random, OF_STEPS), "proved", by=random.choice(["Lipschitz", "structure"]))


def refute_what_is_proved(whole: Json, random: Random) -> None:
    """Call what is proved of steps refuted, by a witness in the words of such witnesses."""
    claim, point = claim_of(whole, "proved", random, OF_STEPS), deepcopy(random.choice(whole["points"]))
    block, _ = random.choice(whole["documents"]["dynamics"]["state"])
    words = {
        "claimed_update": ["the residual of the limiting equation", "the change of the mean of r in a step"],
        "step_scale": ["the drift at eps**0", "the noise covariance at eps**0", f"an entry of D[{block},{block}]"],
    }
    witness = {**point, random.choice(words[claim["id"]]): random.choice(["12/7", "0", "-1", "1"])}
    claim |= {"verdict": "refuted", "witness": witness, "for_d": sizes_of(point), "data": {}}


def prove_what_is_wrong(whole: Json, random: Random) -> None:
    """Call what is false proved, whether the compiler could refute it or not; without what shows it, if it likes."""
    wrong = WRONG[whole["documents"]["dynamics"].get("name", "")]
    claim = random.choice([c for c in whole["claims"] if c["id"] == wrong])
    by = random.choice(["structure", "growth at the ends of the domain; second engine", "signs of the coefficients"])
    turn(claim, "proved", by=by)


def scale_a_part(whole: Json, random: Random) -> None:
    """Multiply a part of the equation: the drift that is claimed, and proved, is no longer that of the recipe."""
    dynamics = dynamics_of(whole, "claimed_drift")
    factor = random.choice(["2*", "-1*", f"{random.randint(3, 99)}/2*", "(1 + 1/10**70)*"])
    drift = dynamics["claims"]["drift"]
    part, key = random.choice([(drift, random.choice([*drift])), (dynamics, "H")])
    part[key] = f"{factor}({part[key]})"


def add_what_is_nearly_nothing(whole: Json, random: Random) -> None:
    """Add it to the claimed drift, or what is nothing at the points of the certificate only."""
    dynamics = dynamics_of(whole, "claimed_drift")
    block, _ = random.choice(dynamics["state"])
    small = random.choice([f"exp({block}[0])/10**{random.randint(70, 400)}",
                           f"{block}[0]**{random.randint(2, 9)}/10**{random.randint(9, 99)}"])  # fmt: skip
    dynamics["claims"]["drift"][block] += f" + {block}*{small}"
    trivial_points(whole, random)


def flip_a_sign(whole: Json, random: Random) -> None:
    """Change the sign of a place of D or Q that is not zero: D is negative somewhere, or Q is not skew."""
    which = random.choice("DQ")
    matrix = dynamics_of(whole, {"D": "d_psd", "Q": "q_skew"}[which])[which]
    places = [(i, j) for i, row in enumerate(matrix) for j, x in enumerate(row) if x != "0"]
    i, j = random.choice([(i, j) for i, j in places if (which == "Q") == (i != j)])
    matrix[i][j] = f"-{random.choice([1, 2, 3])}*({matrix[i][j]})"
    if random.random() < 0.5:
        trivial_points(whole, random)


def make_d_asymmetric(whole: Json, random: Random) -> None:
    dynamics = dynamics_of(whole, "d_symmetric")
    shapes = [entry.get("shape", "scalar") for _, entry in dynamics["state"]]
    same = [k for k, shape in enumerate(shapes) if shape == shapes[0]]
    require(len(same) > 1)
    i, j = random.sample(same, 2)
    dynamics["D"][i][j] += f" + {random.randint(1, 9)}/{10 ** random.randint(1, 90)}" + "*I" * (shapes[0] != "scalar")


def change_the_marginal(whole: Json, random: Random) -> None:
    marginal = dynamics_of(whole, "claimed_marginal")["claims"]["marginal"]
    block = random.choice([*marginal])
    other = [f"{random.randint(2, 9)}*({marginal[block]})",
             f"{marginal[block]} + {block}[0]**2/10**{random.randint(1, 99)}"]  # fmt: skip
    marginal[block] = random.choice(other)


def change_the_image(whole: Json, random: Random) -> None:
    stated, of = dynamics_of(whole, "image")["claims"]["image"], whole["documents"]["image"]
    factor = f"{random.randint(2, 9)}/{random.choice((7, 11))}"
    match random.randrange(3):
        case 0:
            stated["map"]["u"] += f" + {factor}*ones"
        case 1:
            stated["inverse"]["theta"] = f"{factor}*{stated['inverse']['theta']}"
        case _:
            of["D"] = [[f"{factor}*{of['D'][0][0]}"]]


def swap_d_and_q(whole: Json, random: Random) -> None:
    dynamics = dynamics_of(whole, "d_psd", "q_skew")
    require(len(dynamics["state"]) > 1)
    dynamics["D"], dynamics["Q"] = dynamics["Q"], dynamics["D"]


def drop_a_statement(whole: Json, random: Random) -> None:
    """Leave out what a claim is about, not the claim."""
    key = random.choice(["D", "Q", "claims"])
    dropped = whole["documents"]["dynamics"].pop(key)
    require(key != "claims" or {*dropped} != {"lyapunov"})


def change_the_verdict(whole: Json, random: Random) -> None:
    whole["verdict"] = random.choice([v for v in ("proved", "refuted", "undecided") if v != whole["verdict"]])


def drop_an_assumption(whole: Json, random: Random) -> None:
    """Leave one out of those used, in a list that no longer is that of the claims."""
    whole["assumptions"].remove(random.choice(whole["assumptions"]))


def leave_the_seal(whole: Json, random: Random) -> None:
    claim = random.choice(whole["claims"])
    claim["by"] = f"{claim['by']}{random.randint(0, 9)}"


EDITS: tuple[Edit, ...] = (
    drop_a_claim, add_a_claim, swap_two_claims, rename_a_claim, call_it_proved, call_it_refuted,
    refute_by_a_function_of_the_wrong_block, make_a_witness_inadmissible, scale_the_value, swap_witnesses,
    rename_in_a_witness, rest_on_what_is_not_declared, prove_what_is_refuted, refute_what_is_proved,
    prove_what_is_wrong, scale_a_part, add_what_is_nearly_nothing, flip_a_sign, make_d_asymmetric,
    change_the_marginal, change_the_image, swap_d_and_q, drop_a_statement,
)  # fmt: skip
LAST: tuple[Edit, ...] = (change_the_verdict, drop_an_assumption, leave_the_seal)
"""What is changed after all else was made to fit; the seal is made anew but where it is what is wrong."""


def forgeries(texts: list[str], count: int, seed: int) -> Iterator[tuple[str, Json]]:
    """Yield forged certificates with the names of what was done to them."""
    random = Random(seed)
    for edit in cycle(EDITS + LAST):
        changed = json.loads(random.choice(texts))
        before = recheck.canonical(changed)
        try:
            edit(changed, random)
        except LookupError:
            continue
        if recheck.canonical(changed) == before:
            continue
        changed = changed if edit in LAST else settled(changed)
        yield edit.__name__, changed if edit is leave_the_seal else sealed(changed)
        count -= 1
        if not count:
            return


def passes(changed: Json) -> bool:
    """Whether the re-checker ends with 0."""
    try:
        recheck.recheck(changed)
    except Exception:  # whatever is said of it, it is not accepted
        return False
    return True
