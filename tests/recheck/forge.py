"""Forged certificates: structured edits, each of which makes a certificate say something that is certainly false.

    python tests/recheck/forge.py [SEED] [COUNT]     2015 and 1000 where left out; a seed is a share of a longer run

Every forger knows how seal, digest, verdict and assumptions are made, and makes them anew. That the result is false is
known from how it was edited, never from the re-checker: what the compiler proved is refuted and the other way round, a
document is changed so that it contradicts its claims, a witness is made inadmissible or states another value.
"""

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from certificates import ROOT, Json, made, sealed, settled, turn

from recipe_compiler import recheck
from recipe_compiler.spec.load import load

MUTANTS = """
c_transposed d_negative d_not_symmetric gradient_sign q_symmetric sgrld_gamma_dropped sghmc_naive sgnht_energy
temperature_squared marginal/twice_the_potential marginal/rhmc_without_log_det ergodic/hmc explosion/line_current
explosion/cubic_force explosion/steep_noise explosion/controls/stated explosion/controls/second_derivative
ergodic/noise_vanishes marginal/geometric_brownian marginal/momentum_negative marginal/student_exponent marginal/valley
updates/refresh_half updates/sghmc_sequential updates/sgld updates/sgld_noise_eps updates/sgld_noise_no_step
updates/sgld_squared_order updates/sgnht
"""
BASES = (
    *(f"specs/dynamics/{name}" for name in ("sghmc", "sgrld", "sgnht", "cir", "gsgrhmc", "generalised_langevin")),
    "specs/builds/sghmc_double_well",
    *(f"tests/mutants/{name}" for name in MUTANTS.split()),
)
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
RECHECKED = (  # and `unique`, by an edit of its own
    "d_symmetric",
    "d_psd",
    "q_skew",
    "stationary",
    "claimed_drift",
    "claimed_diffusion",
    "claimed_stationary",
    "marginal",
    "claimed_marginal",
)
"""Claims of which a verdict is turned round: the others are trusted, which the re-checker says of each."""

FAR_OUT = ("normalisable", "regular", "boundary", "explosion", "claimed_update", "step_scale")
"""Claims about growth, zeros and steps, whose witnesses have words of their own."""

Edit = Callable[[Json, Random], bool]
"""Changes a certificate; False where it does not apply to it."""


FORGED_FROM = (*BASES, *(f"tests/recheck/wrong/{name}" for name in WRONG))


def bases() -> list[str]:
    """Return the certificates that are forged, as texts."""
    documents = [load(ROOT / f"{name}.yaml") for name in FORGED_FROM]
    return [json.dumps(made(document)) for document in documents]


def has(changed: Json, id_: str, verdict: str) -> Json | None:
    """Return a claim that has a verdict."""
    return next((c for c in changed["claims"] if c["id"] == id_ and c["verdict"] == verdict), None)


def of_verdict(changed: Json, verdict: str, random: Random) -> Json | None:
    """Return a claim that is rechecked and has a verdict."""
    found = [c for c in changed["claims"] if c["verdict"] == verdict and c["id"] in RECHECKED]
    return random.choice(found) if found else None


def number(random: Random) -> str:
    return f"{random.choice((-1, 1)) * random.randint(1, 99)}/{random.choice((7, 11, 13))}"


def drop_a_claim(changed: Json, random: Random) -> bool:
    del changed["claims"][random.randrange(len(changed["claims"]))]
    settled(changed)
    return True


def add_a_claim(changed: Json, random: Random) -> bool:
    claim = deepcopy(random.choice(changed["claims"]))
    later = ["exact"] if claim["required"] else []  # one that decides nothing may be of a later version
    claim["id"] = random.choice([claim["id"], "boundary", "units", *later])
    changed["claims"].insert(random.randrange(len(changed["claims"]) + 1), claim)
    settled(changed)
    return True


def swap_two_claims(changed: Json, random: Random) -> bool:
    one, two = random.sample(changed["claims"], 2)
    one["id"], two["id"] = two["id"], one["id"]
    return one["id"] != two["id"]


def rename_a_claim(changed: Json, random: Random) -> bool:
    claim = random.choice(changed["claims"])
    claim["id"] = random.choice([claim["id"].upper(), claim["id"] + "_", claim["id"][::-1]])
    return True


def call_it_proved(changed: Json, random: Random) -> bool:
    claim = of_verdict(changed, "refuted", random)
    if claim is None:
        return False
    by = random.choice(["index calculus for every size; second engine", "a current goes round the torus", "structure"])
    turn(claim, "proved", by=by)
    if random.random() < 0.5:
        trivial_points(changed, random)
    settled(changed)
    return True


def trivial_points(changed: Json, random: Random) -> bool:
    """Put test functions of no use, or none, into the points; false only with something else."""
    for point in changed["points"]:
        for name in point:
            if "(" in name:
                point[name] = random.choice(["0", "1", "exp(0)/10**70"])
    if random.random() < 0.3:
        changed["points"] = []
    return False


def call_it_refuted(changed: Json, random: Random) -> bool:
    claim = of_verdict(changed, "proved", random)
    if claim is None or not changed["points"]:
        return False
    point = deepcopy(random.choice(changed["points"]))
    sizes = {name: int(x) for name, x in point.items() if name in ("d", "k", "n", "m")}
    value = random.choice([number(random), "1", "0", "-1", "-1 (enclosed)"])
    claim |= {"verdict": "refuted", "witness": {**point, "the residual": value}, "for_d": sizes or "all", "data": {}}
    settled(changed)
    return True


def functions_of_the_wrong_block(changed: Json, random: Random) -> bool:
    """Refute what is proved by a function that depends on another block, or a constant that is none."""
    if not call_it_refuted(changed, random):
        return False
    state = [name for name, _ in changed["documents"]["dynamics"]["state"]]
    claim = next(c for c in changed["claims"] if c["witness"] and "the residual" in c["witness"])
    names = [name for name in claim["witness"] if name not in ("d", "k", "the residual")]
    name = random.choice(names)
    entries = "*".join(f"{block}[0]" for block in random.sample(state, min(2, len(state))))
    claim["witness"][name] = random.choice([entries, f"[[{entries}]]", f"{claim['witness'][name]} + {entries}"])
    return name in state or "(" not in name or len(state) > 1


def shift_a_point(changed: Json, random: Random) -> bool:
    """Make a witness inadmissible: a definite matrix that is none, a block outside its domain, a size that is not."""
    claim = of_verdict(changed, "refuted", random)
    if claim is None:
        return False
    kinds = {name: entry.get("is", "") for name, entry in changed["documents"]["dynamics"].get("parameters", [])}
    domains = {name: entry.get("domain", "") for name, entry in changed["documents"]["dynamics"]["state"]}
    strict = [n for n in claim["witness"] if "positive" in str(kinds.get(n, "")) or domains.get(n) == "positive"]
    if not strict:
        return False
    name = random.choice(strict)
    claim["witness"][name] = re.sub(
        r"\d+", lambda found: f"-{int(found[0]) + random.randint(1, 5)}", claim["witness"][name]
    )
    return "-" in claim["witness"][name]


def scale_the_value(changed: Json, random: Random) -> bool:
    claim = of_verdict(changed, "refuted", random)
    if claim is None or claim["id"] == "d_psd":
        return False
    label = list(claim["witness"])[-1]
    claim["witness"][label] = f"{random.randint(1000, 9999)}*({claim['witness'][label]})/{random.randint(7, 99)}"
    return "enclosed" not in claim["witness"][label]


def swap_witnesses(changed: Json, random: Random) -> bool:
    """Give a claim the witness of a claim about something else."""
    found = [c for c in changed["claims"] if c["verdict"] == "refuted" and c["id"] in RECHECKED]
    if len(found) < 2:
        return False
    one, two = random.sample(found, 2)
    one["witness"], two["witness"] = two["witness"], one["witness"]
    pairs = {one["id"], two["id"]}
    return len(pairs & {"d_psd", "d_symmetric", "q_skew"}) == 1


def rename_in_a_witness(changed: Json, random: Random) -> bool:
    claim = of_verdict(changed, "refuted", random)
    if claim is None:
        return False
    *names, _ = claim["witness"]
    old = random.choice(names)
    claim["witness"] = {(f"{name}_" if name == old else name): x for name, x in claim["witness"].items()}
    return True


def change_sizes(changed: Json, random: Random) -> bool:
    claim = of_verdict(changed, "refuted", random)
    if claim is None or claim["for_d"] == "all":
        return False
    claim["for_d"] = random.choice(["all", {name: n + random.randint(1, 5) for name, n in claim["for_d"].items()}])
    return True


def change_the_verdict(changed: Json, random: Random) -> bool:
    changed["verdict"] = random.choice([v for v in ("proved", "refuted", "undecided") if v != changed["verdict"]])
    return True


def call_it_advisory(changed: Json, random: Random) -> bool:
    required = [claim for claim in changed["claims"] if claim["required"] and claim["verdict"] != "undecided"]
    random.choice(required)["required"] = False
    settled(changed)
    return True


def drop_an_assumption(changed: Json, random: Random) -> bool:
    """Leave one out of those used, in a list that no longer is that of the claims."""
    if not changed["assumptions"]:
        return False
    changed["assumptions"].remove(random.choice(changed["assumptions"]))
    return True


def weaken_a_kind(changed: Json, random: Random) -> bool:
    """Declare a parameter of D real: D is then not semidefinite."""
    dynamics = changed["documents"]["dynamics"]
    proved = has(changed, "d_psd", "proved")
    linear = {"C", "D", "a*I", "A*I"} & {x for row in dynamics.get("D") or [] for x in row}
    for name, entry in dynamics.get("parameters", []):
        if proved and any(re.match(rf"{name}\b", x) for x in linear) and "positive" in str(entry.get("is", "")):
            entry["is"] = random.choice(["real", "symmetric"]) if entry.get("shape") else "real"
            return "build" not in changed["documents"]
    return False


def rest_on_less(changed: Json, random: Random) -> bool:
    """Leave a kind out of what semidefiniteness of D rests on, where D is linear in the constant."""
    dynamics = changed["documents"]["dynamics"]
    claim = has(changed, "d_psd", "proved")
    linear = {x for row in dynamics.get("D") or [] for x in row} & {"C", "D", "a*I", "A*I"}
    names = {x.partition("*")[0] for x in linear} - {*changed["documents"].get("build", {}).get("bind", {})}
    found = [one for one in (claim or {"given": []})["given"] if one.partition(" is ")[0] in names]
    if claim is None or not found or "build" in changed["documents"]:
        return False
    claim["given"].remove(random.choice(found))
    settled(changed)
    return True


def rest_on_what_is_not_declared(changed: Json, random: Random) -> bool:
    claim = of_verdict(changed, "proved", random)
    parameters = changed["documents"]["dynamics"].get("parameters")
    if claim is None or not parameters:
        return False
    name, entry = random.choice(parameters)
    kind = random.choice(["skew", "diagonal", "nonzero and diagonal"])
    claim["given"].append(f"{random.choice([name, name + '_'])} is {kind}")
    settled(changed)
    return kind.split()[-1] not in str(entry.get("is", ""))


def turn_unique_round(changed: Json, random: Random) -> bool:
    """Call a law the only one though H is conserved, without noise or where the constants of the noise are 0."""
    claim = has(changed, "unique", "refuted")
    if claim is None or "a slope of H" not in claim["witness"]:
        return False
    by = random.choice(["D is positive definite", "Hoermander: no vector is left", "a conserved quantity"])
    turn(claim, "proved", by=by)
    settled(changed)
    return True


def prove_what_is_refuted(changed: Json, random: Random) -> bool:
    """Call what is refuted of growth, zeros or steps proved, with a Lyapunov function where one is asked."""
    found = [c for c in changed["claims"] if c["id"] in FAR_OUT and c["verdict"] == "refuted"]
    if not found:
        return False
    claim, state = random.choice(found), [name for name, _ in changed["documents"]["dynamics"]["state"]]
    W = random.choice([" + ".join(f"norm2({name})" for name in state), "H", f"log(1 + norm2({state[0]}))", ""])
    by = random.choice(
        ["growth at the ends of the domain", "the domain is bounded", "for almost every initial state", "Lipschitz"]
    )
    data = {"W": W} if W and claim["id"] == "explosion" else {}
    required = claim["required"] and claim["id"] != "explosion"
    claim |= {"verdict": "proved", "by": by, "witness": None, "residual": None, "for_d": "all", "data": data}
    claim["required"] = required
    settled(changed)
    return True


def refute_what_is_proved(changed: Json, random: Random) -> bool:
    """Call what is proved of growth, zeros or steps refuted, by a witness in the words of such witnesses."""
    found = [c for c in changed["claims"] if c["id"] in FAR_OUT and c["verdict"] == "proved"]
    if not found or not changed["points"]:
        return False
    claim, point = random.choice(found), deepcopy(random.choice(changed["points"]))
    block, _ = random.choice(changed["documents"]["dynamics"]["state"])
    end, value = random.choice(["oo", "-oo", "0+"]), random.choice([number(random), "0", "-1", "1"])
    words = {
        "normalisable": [f"what must be positive for {block} -> {end}", "v.T @ hessian(H) @ v", "H in the region"],
        "boundary": [f"exponent of exp(-H) in the distance to {block} = 0"],
        "regular": [f"D[{block},{block}]"],
        "explosion": [f"current of {block}", f"D of {block}"],
        "claimed_update": ["the residual of the limiting equation", "the change of the mean of r in a step"],
        "step_scale": ["the drift at eps**0", "the noise covariance at eps**0", f"an entry of D[{block},{block}]"],
    }
    label = random.choice(words[claim["id"]])
    extra = {"end": f"{block} -> {end}", f"drift of {block}": f"{block}**3"} if label.startswith("D of") else {}
    extra |= {"region": f"{block} = u0*s**(1), with s >= 1"} if label.startswith("H in") else {}
    sizes = {name: int(x) for name, x in point.items() if name in ("d", "k", "n", "m")}
    claim |= {"verdict": "refuted", "witness": {**point, **extra, label: value}, "for_d": sizes or "all", "data": {}}
    claim["required"] = claim["required"] or claim["id"] == "explosion"
    settled(changed)
    return True


def prove_what_is_wrong(changed: Json, random: Random) -> bool:
    """Call what is false proved, whether the compiler could refute it or not; without what shows it, if it likes."""
    wrong = WRONG.get(changed["documents"]["dynamics"].get("name", ""))
    claim = next((c for c in changed["claims"] if c["id"] == wrong), None)
    if claim is None:
        return False
    by = random.choice(["structure", "growth at the ends of the domain; second engine", "signs of the coefficients"])
    turn(claim, "proved", by=by)
    settled(changed)
    return True


def grant_less(changed: Json, random: Random) -> bool:
    """Leave out, or weaken, what an integral rests on: that that of exp(-U) is finite, that a mass is definite."""
    claim = has(changed, "normalisable", "proved")
    name, H = changed["documents"]["dynamics"].get("name"), changed["documents"]["dynamics"]["H"]
    if claim is None or "build" in changed["documents"] or name in WRONG:
        return False
    needed = [x for x in claim["given"] if "finite integral" in x or ("inv(M)" in H and x == "M is positive definite")]
    if not needed:
        return False
    one = random.choice(needed)
    claim["given"].remove(one)
    if "exp(-U)" in one and random.random() < 0.5:
        claim["given"].append(random.choice(["exp(-9*U) has a finite integral", "U is smooth"]))
    settled(changed)
    return True


def contain_less(changed: Json, random: Random) -> bool:
    """Leave out what H + k |theta|**2 rests on: that U falls no faster than -|theta|**2, that U'' is bounded by U."""
    claim = has(changed, "explosion", "proved")
    bound = "U >= -c (1 + norm2(theta)) for some c"
    needed = [x for x in claim["given"] if x == bound or "d_theta[i] d_theta[i] U" in x] if claim else []
    if claim is None or not needed:
        return False
    one = random.choice(needed)
    claim["given"].remove(one)
    if one == bound and random.random() < 0.5:
        claim["given"].append("U >= -c (1 + norm2(theta)**2) for some c")
    settled(changed)
    return True


def grant_what_is_claimed(changed: Json, random: Random) -> bool:
    """Prove a claim by granting it, or something else that no assumption of its kind may say."""
    proved = [c for c in changed["claims"] if c["verdict"] == "proved" and c["id"] in (*RECHECKED, *FAR_OUT)]
    if not proved:
        return False
    claim = random.choice(proved)
    claim["given"].append(
        random.choice(["exp(-H) has a finite integral", "what is claimed holds", "H is bounded", "D >= 0", "U is wild"])
    )
    settled(changed)
    return True


def exchange_the_lyapunov_function(changed: Json, random: Random) -> bool:
    """State a function that does not grow, or whose mean grows faster than it does."""
    claim = next((c for c in changed["claims"] if c["id"] == "explosion" and "W" in c["data"]), None)
    if claim is None:
        return False
    block, _ = random.choice(changed["documents"]["dynamics"]["state"])
    claim["data"]["W"] = random.choice([f"-norm2({block})", "1", "-H", f"-log(1 + norm2({block}))", "exp(-H)", "0"])
    return True


def step_too_far(changed: Json, random: Random) -> bool:
    """Lengthen the step of one block, whose noise is then too large, or whose drift does not fit that of the others."""
    update = changed["documents"]["dynamics"].get("claims", {}).get("update")
    if not update or not has(changed, "claimed_update", "proved"):
        return False
    block = random.choice(list(update))
    factor = random.choice(["2", "3/2", "1/2", "1 + 1/10**9", "sqrt(2)"])
    update[block] = f"{block} + ({factor})*({update[block]} - ({block}))"
    return True


def scale_an_entry(changed: Json, random: Random) -> bool:
    """Multiply a part of the equation: the drift that is claimed, and proved, is no longer that of the recipe."""
    dynamics = changed["documents"]["dynamics"]
    if not has(changed, "claimed_drift", "proved"):
        return False
    factor = random.choice(["2*", "-1*", f"{random.randint(3, 99)}/2*", "(1 + 1/10**70)*"])
    block = random.choice(list(dynamics["claims"]["drift"]))
    if random.random() < 0.5:
        dynamics["claims"]["drift"][block] = f"{factor}({dynamics['claims']['drift'][block]})"
    else:
        dynamics["H"] = f"{factor}({dynamics['H']})"
    return True


def add_noise_to_an_entry(changed: Json, random: Random) -> bool:
    """Add to the claimed drift what is nearly nothing, or nothing at the points of the certificate only."""
    dynamics = changed["documents"]["dynamics"]
    if not has(changed, "claimed_drift", "proved"):
        return False
    block, _ = random.choice(dynamics["state"])
    small = random.choice(
        [
            f"exp({block}[0])/10**{random.randint(70, 400)}",
            f"{block}[0]**{random.randint(2, 9)}/10**{random.randint(9, 99)}",
        ]
    )
    dynamics["claims"]["drift"][block] = f"{dynamics['claims']['drift'][block]} + {block}*{small}"
    trivial_points(changed, random)
    return True


def flip_a_sign(changed: Json, random: Random) -> bool:
    """Change the sign of a place of D or Q that is not zero: D is negative somewhere, or Q is not skew."""
    dynamics, which = changed["documents"]["dynamics"], random.choice("DQ")
    claims = {c["id"]: c["verdict"] for c in changed["claims"]}
    wanted = {"D": "d_psd", "Q": "q_skew"}[which]
    matrix = dynamics.get(which)
    if claims.get(wanted) != "proved" or not matrix:
        return False
    filled = [
        (i, j) for i, row in enumerate(matrix) for j, x in enumerate(row) if x != "0" and (which == "Q") == (i != j)
    ]
    if not filled:
        return False
    i, j = random.choice(filled)
    matrix[i][j] = f"-{random.choice([1, 2, 3])}*({matrix[i][j]})"
    if random.random() < 0.5:
        trivial_points(changed, random)
    return True


def make_d_asymmetric(changed: Json, random: Random) -> bool:
    dynamics = changed["documents"]["dynamics"]
    D, state = dynamics.get("D"), dynamics["state"]
    proved = has(changed, "d_symmetric", "proved")
    same = [k for k, (_, entry) in enumerate(state) if entry.get("shape") == state[0][1].get("shape")]
    if not proved or not D or len(same) < 2:
        return False
    i, j = random.sample(same, 2)
    scalar = state[0][1].get("shape", "scalar") == "scalar"
    D[i][j] = f"{D[i][j]} + {random.randint(1, 9)}/{10 ** random.randint(1, 90)}" + ("" if scalar else "*I")
    return True


def change_the_marginal(changed: Json, random: Random) -> bool:
    marginal = changed["documents"]["dynamics"].get("claims", {}).get("marginal")
    if not marginal or not has(changed, "claimed_marginal", "proved"):
        return False
    block = random.choice(list(marginal))
    marginal[block] = random.choice(
        [
            f"{random.randint(2, 9)}*({marginal[block]})",
            f"{marginal[block]} + {block}[0]**2/10**{random.randint(1, 99)}",
        ]
    )
    return True


def leave_the_seal(changed: Json, random: Random) -> bool:
    """Change anything, and do not reseal."""
    claim = random.choice(changed["claims"])
    claim["by"] = f"{claim['by']}{random.randint(0, 9)}"
    return True


def swap_the_document(changed: Json, random: Random) -> bool:
    """Certify another name, and a Q in place of D."""
    dynamics = changed["documents"]["dynamics"]
    if not dynamics.get("D") or not dynamics.get("Q") or len(dynamics["state"]) < 2:
        return False
    dynamics["D"], dynamics["Q"] = dynamics["Q"], dynamics["D"]
    claims = {c["id"]: c["verdict"] for c in changed["claims"]}
    return claims["q_skew"] == "proved" == claims["d_psd"]


def drop_a_statement(changed: Json, random: Random) -> bool:
    """Leave out what a claim is about, not the claim."""
    dynamics = changed["documents"]["dynamics"]
    key = random.choice(["D", "Q", "claims"])
    dropped = dynamics.pop(key, None)
    return dropped is not None and (key != "claims" or {*dropped} != {"lyapunov"})


UNSEALED = (leave_the_seal,)
EDITS: tuple[Edit, ...] = (
    drop_a_claim,
    add_a_claim,
    swap_two_claims,
    rename_a_claim,
    call_it_proved,
    call_it_refuted,
    functions_of_the_wrong_block,
    shift_a_point,
    scale_the_value,
    swap_witnesses,
    rename_in_a_witness,
    change_sizes,
    change_the_verdict,
    call_it_advisory,
    drop_an_assumption,
    weaken_a_kind,
    rest_on_less,
    rest_on_what_is_not_declared,
    turn_unique_round,
    prove_what_is_refuted,
    refute_what_is_proved,
    prove_what_is_wrong,
    grant_less,
    contain_less,
    grant_what_is_claimed,
    exchange_the_lyapunov_function,
    step_too_far,
    scale_an_entry,
    add_noise_to_an_entry,
    flip_a_sign,
    make_d_asymmetric,
    change_the_marginal,
    leave_the_seal,
    swap_the_document,
    drop_a_statement,
)


def forgeries(texts: list[str], count: int, seed: int) -> Iterator[tuple[str, Json]]:
    """Yield forged certificates with the names of what was done to them."""
    random = Random(seed)
    while count:
        edit, changed = random.choice(EDITS), json.loads(random.choice(texts))
        before = recheck.canonical(changed)
        if edit(changed, random) and recheck.canonical(changed) != before:
            count -= 1
            yield edit.__name__, changed if edit in UNSEALED else sealed(changed)


def passes(changed: Json) -> bool:
    """Whether the re-checker ends with 0."""
    try:
        recheck.recheck(changed)
    except Exception:  # whatever is said of it, it is not accepted
        return False
    return True


def main(seed: int = 2015, count: int = 1000) -> None:
    """Forge, and print what passes at once, then what was made, by kind."""
    texts, made, passed, started = bases(), Counter[str](), Counter[str](), time.process_time()
    for name, changed in forgeries(texts, count, seed):
        made[name] += 1
        if passes(changed):
            passed[name] += 1
            print(f"PASSED {name}: {recheck.canonical(changed)}", flush=True)
        if made.total() % 100 == 0:
            print(f"seed {seed}: {made.total()} forged, {passed.total()} passed", flush=True)
    for name, n in sorted(made.items()):
        print(f"{name:30s} {n:6d} forged {passed[name]:6d} passed")
    print(f"seed {seed}: {count} forged, {passed.total()} passed, {time.process_time() - started:.0f} s")
    sys.exit(bool(passed))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
