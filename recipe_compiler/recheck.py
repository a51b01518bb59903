"""Re-check a certificate of `recipe check --certificate` without the compiler: `python recheck.py FILE...`.

This file and the folder `kernel` stand alone (Python, NumPy, python-flint) and believe no word of a certificate. Which
claims are applicable is derived from the document. Witnesses are parsed: constants are constants, functions depend on
their own blocks, all is of its kinds, inside its domain, and meets `assume`. Proofs are tried at exact points and with
test functions drawn here. What is not rechecked is *trusted*, and said to be: growth, faces and zeros are.
Exit code: 0 all is as stated, 1 something is not, 2 a file cannot be read.
"""

import ast
import functools
import hashlib
import itertools
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __package__:
    from recipe_compiler.kernel import equations, field, formulas, limits, moves, pages, relations, words
else:  # as a program, wherever it was copied to with its neighbour
    sys.path.insert(0, str(Path(__file__).parent))
    from kernel import equations, field, formulas, limits, moves, pages, relations, words  # ty: ignore[import-not-found]

VERSION = 1
Json = dict[str, Any]
canonical = functools.partial(json.dumps, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
Documents = pages.Documents
FailureError, TrustedError, UnreadError = field.FailureError, field.TrustedError, field.UnreadError
require = field.require
ENCLOSED, EXACTLY, IDENTICALLY = "enclosed, at points drawn here", "exactly, at points drawn here", "identically"
"""How an identity was rechecked, the weakest first."""
RESTS_ON: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("marginal", "claimed_marginal"), ("normalisable",)),
    **dict.fromkeys(("explosion", "claimed_lyapunov"), ("d_symmetric", "d_psd")),
    "unique": ("normalisable", "d_symmetric", "d_psd", "q_skew", "periodic", "explosion"),
    **dict.fromkeys(("configurational", "order"), ("flow",)),
    **dict.fromkeys(("draw", "cir"), ("defined",)),
    **dict.fromkeys(("involution", "metropolis", "cycle", "exact"), ("defined", "flow")),
    "irreducible": ("normalisable", "defined", "flow", "gradient"),
}
"""Claims to those without which a proof of them says nothing: none is refuted, and what is open is said to be given."""
ASKED = {
    "dynamics": """d_symmetric:D d_psd:D q_skew:Q stationary:D,Q claimed_drift:D,Q,drift
        claimed_diffusion:diffusions image:image,alone claimed_stationary:drift
        recovered_q:drift,-Q step_scale:update claimed_update:update periodic:circle normalisable: marginal:auxiliary
        claimed_marginal:marginal regular:varies explosion:D,f,follows boundary:face,follows
        unique:D,f,-cycle independence:estimate units:units""",
    "target": """defined:formula gradient: recursion:recursion periodic:circles,formula laws:laws constraints:sets
        normalisable:alone""",
    "scheme": """shares: claimed_order:order claimed_palindrome:palindrome claimed_gradients:gradients
        claimed_configurational:configurational""",
    "build": """bindings: gradient_noise: assumptions:assumes noise_budget: independence: pieces:word flow:word
        keeps:word volume:word symplectic:word reversible:word palindrome:word
        configurational:word,full,-cycle order:step use:use refresh:refresh draw:draw cir:cir involution:involution
        code:coded metropolis:metropolis cycle:cycle exact:cycle irreducible:cycle""",
}
"""For each part of a certificate the claims in order, with what of the documents asks for them."""
KNOWN = {row.partition(":")[0] for rows in ASKED.values() for row in rows.split()}
ADVISORY = {
    *(("dynamics", id_) for id_ in ("recovered_q", "step_scale", "explosion", "unique", "independence", "units")),
    *(("build", id_) for id_ in ("keeps", "volume", "symplectic", "reversible", "palindrome", "configurational")),
    *(("build", id_) for id_ in ("order", "exact", "irreducible")),
}
STOPS = {"explosion"}  # advisory claims that count where they are refuted
EXCUSED: dict[str, Callable[[Json, Documents], Any]] = {
    "normalisable": lambda c, d: c["verdict"] == "undecided" and d.names(d.dynamics.get("H")) & {*d.functions},
    "regular": lambda c, d: c["verdict"] != "refuted" and not d.Q and not d.moves(d.D, d.dynamics.get("D")),
}  # required claims to which some documents are not held


def applicable(d: Documents) -> list[tuple[str, str]]:
    """Return part and id of every claim that is applicable to these documents, in order."""
    claims, marginal = d.claims, d.claims.get("marginal") or {}
    laws = [ast.dump(formulas.parse(text)) for text in (d.potential or "0", f"{d.potential}({', '.join(d.own)})")]
    other = [name for name, x in marginal.items() if name in d.own and ast.dump(formulas.parse(str(x))) not in laws]
    kinds = {*d.functions.get(d.potential, {}).get("is", [])} - {"real"}
    facts = {"": True, "D": d.D, "Q": d.Q, "-Q": not d.Q, "marginal": marginal, "alone": not d.build}
    facts |= {"drift": claims.get("drift"), "update": claims.get("update"), "code": d.target.get("gradient")}
    facts["image"] = claims.get("image")
    facts["diffusions"] = d.dynamics.get("D") and claims.get("diffusion")
    facts |= {"auxiliary": d.own and {*d.blocks} - {*d.own} and not other, "formula": not facts["code"]}
    domains, theirs = ({x["domain"] for x in formulas.declared(y, "state").values()} for y in (d.dynamics, d.target))
    facts |= {"circle": "circle" in domains, "circles": "circle" in theirs}
    facts |= {"laws": d.target.get("laws"), "recursion": d.target.get("recursion") or d.target.get("solve")}
    sets = [str(entry.get("constraint", "")) for entry in formulas.declared(d.target, "state").values()]
    facts["sets"] = [one for one in sets if one and one != "positive" and not one.startswith("interval")]
    facts |= {"f": d.Q or claims.get("drift"), "estimate": "grad_tilde" in d.names(claims.get("update"))}
    lacking = d.D and facts["drift"] and not d.Q
    facts["varies"] = d.moves(d.D, d.dynamics.get("D"), d.Q) or lacking
    facts["face"] = domains - {*pages.FREE} or d.moves(d.assume)
    facts["units"] = d.dynamics.get("units") and not d.bind
    word = d.scheme.get("claims") or {}
    stated = ("order", "palindrome", "gradients", "configurational")
    facts |= {key: word.get(key) not in (None, "", "false") for key in stated}
    added = (d.build.get("gradient_noise") or {}).get("add", "0") != "0"
    facts |= {"full": d.build.get("variant") == "full" and not added, "use": d.parts.get("use")}
    facts["word"] = d.step and d.step.get("name") not in equations.EULER
    facts |= {"cycle": d.cycle, "-cycle": not d.cycle, "step": d.step or not d.cycle}
    facts |= {k: any(k in m for m in d.cycle) for k in ("refresh", "draw", "cir", "involution", "metropolis")}
    facts["coded"] = any("code" in m for m in d.cycle)
    facts["follows"] = facts["step"] and not facts["metropolis"]
    states = (x["ends"] for y in (d.dynamics, d.target) for x in formulas.declared(y, "state").values())
    named = any(isinstance(x, ast.Name) for x in d.nodes([ends for ends in states if ends[1:]]))  # then a < b
    facts["assumes"] = d.assume or {*formulas.listed(d.target.get("assume"))} - {"normalisable"} or kinds or named
    rows = [(part, *row.split(":")) for part in ASKED if d.parts.get(part) for row in ASKED[part].split()]
    return [(part, id_) for part, id_, needs in rows if all(facts[need] for need in needs.split(","))]


def resting_on(d: Documents, claim: Json) -> tuple[Documents, list[str]]:
    """Return documents with only the kinds that a claim says it depends on, and the comparisons that it supposes."""
    found, supposed, page = Documents(d.parts), list[str](), pages.Page(Documents({}), {})
    lists = [
        formulas.declared(part, key) for part in (d.dynamics, d.target) for key in ("state", "parameters", "functions")
    ]
    lists += [formulas.declared(d.build, "parameters"), d.noise, d.declared]
    every = {pair for part in lists for pair in d.facts(part)}
    theirs = (formulas.declared(d.target, key) for key in ("state", "data"))
    beside = {
        "V_hat",
        *(name for part in theirs for name in part if name not in d.declared),
    }  # no page is drawn of these
    stated = {*every} if d.build and claim.get("bound") else set[tuple[str, str]]()  # `bindings` has proved it
    for one in claim["given"]:
        read = re.fullmatch(r"(\w+) is ([a-z_ ]+)", one)
        if not read:
            compares = formulas.is_formula(one) and isinstance(formulas.parse(one), ast.Compare)
            supposed += [one] if compares and d.names(one) <= {*d.declared} else []
            continue
        said = {(read[1], kind) for kind in read[2].split(" and ") if kind in pages.WEAKER and read[1] not in beside}
        kinds = ["diagonal"] * (f"{read[1]} is diagonal" in claim["given"])  # signs are then of the diagonal
        values = {x: page.formula(d.told[x[0]], ("I",)) for x in said if x[0] in d.told}
        told = {x for x, value in values.items() if field.has_kinds(page, value, [x[1], *kinds])}
        require(said <= every | told, f"the document does not state the assumption `{one}`")
        stated |= said
    for name, entry in found.declared.items():
        entry["is"] = [kind for kind in pages.WEAKER if (name, kind) in stated]
        about = (one for one in claim["given"] if one.startswith(f"{name} is periodic in "))
        entry["periodic"] = [one.split()[-1] for one in about]
    return found, supposed


def proved(claim: Json, d: Documents, points: list[pages.Point], seed: str) -> str:
    """Try a proof at points drawn here."""
    id_, seen, reason = claim["id"], dict[str, str](), UnreadError("a document without small sizes")
    if id_ == "image":
        d = equations.other_side(d)
    if id_ == "recovered_q":
        Q = [[claim["data"].get(f"Q[{a},{b}]", "0") for b in d.blocks] for a in d.blocks]
        d = Documents({**d.parts, "dynamics": {**d.dynamics, "Q": Q}})
    (less, supposed), (whole, _) = resting_on(d, claim), resting_on(d, claim)
    for name, entry in whole.parameters.items():  # with the kinds declared of constants
        entry["is"] = d.parameters[name]["is"]
    same = all(
        {*less.facts({name: x})} == {*d.facts({name: d.parameters[name]})} for name, x in less.parameters.items()
    )
    d = d if id_ == "step_scale" else less  # powers of eps are the same whatever the kinds
    often, plain = 4 if id_ in ("d_psd", "noise_budget") else 2, (False, True)[: 1 + (id_ in equations.VALUES)]
    for sizes in d.sizes(every=claim["for_d"] == "all"):
        at = ", ".join(f"{name} = {n}" for name, n in sizes.items()) or "the document's"
        try:
            for way, k in itertools.product(plain, range(often)):
                looks = [pages.drawn(d, sizes, points, f"{seed} {k}", plain=way)]
                if not (same or k or way):  # what holds of more holds of what is declared
                    looks.append(pages.drawn(whole, sizes, points, seed))
                for text in supposed:
                    require(all(page.compares(text) for page in looks), f"the assumption `{text}` does not hold")
                looks += pages.pages_at_equalities(looks[0]) if id_ in equations.VALUES else []
                holds = all(page.vanish(equations.CHECKS[id_](page, claim, "")) for page in looks)
                require(holds, f"{id_} fails, {at}")
                seen[at] = EXACTLY if all(page.exact for page in looks) else ENCLOSED
            seen[at] = IDENTICALLY if holds_identically(claim, d, sizes, points, seed) else seen[at]
        except field.UndefinedError as what:
            raise FailureError(f"{id_}: {what}") from None
        except UnreadError as what:
            reason = what
    if not seen:
        raise reason
    gram = any("Gram" in key for key in claim["data"])
    rest = "Gram matrices exactly" if gram else f"beyond them trusted: {claim['by']}"
    return f"rechecked at sizes {'; '.join(seen)} ({min(seen.values())}); {rest}"


def holds_identically(claim: Json, d: Documents, sizes: dict[str, int], points: list[pages.Point], seed: str) -> bool:
    """Whether relations of functions reduce to 0 what a claim says to vanish, whatever the values of what is declared.

    Nothing is shown by a formula that was read on one side of a kink.
    """
    if claim["id"] not in equations.IDENTITIES:
        return False
    try:
        page = pages.drawn(d, sizes, points, seed, is_open=True)
        left = equations.CHECKS[claim["id"]](page, claim, "")
        return all(relations.is_zero(page, x) for x in left) and not page.is_of_one_side
    except (FailureError, UnreadError):
        return False


def refuted(claim: Json, d: Documents, points: Any, seed: str) -> str:
    """Recompute what a witness says is wrong."""
    require(isinstance(claim["witness"], dict), "refuted without a witness")
    witness, id_ = dict(claim["witness"]), claim["id"]
    if id_ == "image":
        d = equations.other_side(d, back="g(h(" in " ".join(witness))
    sizes = {s for entry in d.declared.values() for s in entry["shape"]}
    names = {*sizes, *d.declared, *(f"{name}({', '.join(e['of'])})" for name, e in d.functions.items())}
    label = next((key for key in reversed(witness) if key not in (*names, "potential")), "")
    stated = witness.pop(label, "")
    require(stated or not label, f"{label} has no value")
    form = re.fullmatch(r"(\w+)\.T @ .* @ \1", label)
    v = form[1] if form else ""
    beside = {key: witness.pop(key) for key in [*witness] if v and key.partition(",")[0] == v}
    if id_ == "recovered_q":  # its witness is about stationarity, or about the one coordinate that there is
        id_ = "claimed_drift" if label.startswith("claimed") else "claimed_stationary"
        d = Documents({**d.parts, "dynamics": {"Q": [["0"] * len(d.blocks)] * len(d.blocks), **d.dynamics}})
    if "potential" in witness:
        name, _, text = witness.pop("potential").partition(" = ")
        witness |= {name: text}
    is_current = label.startswith("current of ")
    require(id_ != "explosion" or is_current, "growth", TrustedError)
    page = pages.Page(d, witness).admissible()
    require(claim["for_d"] == (page.sizes or "all") or not label, f"{id_} is not refuted for {claim['for_d']}")
    for text in beside.values():
        page.beside[v] = page.formula(text, ())
    wrong = [x for x in equations.CHECKS[id_](page, {**claim, "id": id_}, label) if page.sign(x)]
    if stated:
        ended = stated.removesuffix(" (enclosed)")
        value = page.formula(stated, ()).item() if ended == stated else field.arb(ended)
        ball = isinstance(value, field.arb)
        wrong = [x for x in wrong if (value.overlaps(field.arb(page.value(x))) if ball else not page.sign(x - value))]
    require(wrong, f"{id_} does not fail as stated")
    return f"rechecked: {'exactly' if page.exact else 'enclosed'}"


def unique(claim: Json, d: Documents, _: Any, seed: str) -> str:
    """Look whether H is conserved, D = 0 and f.grad H = 0, where constants that may be 0 are: refuted it has to be."""
    witness = dict(claim["witness"] or {})
    slope, _ = witness.pop("a derivative of H", None), witness.pop("also stationary", None)

    def conserved(page: pages.Page) -> bool:
        f, _, _, D, g = equations.equation(page.admissible(), "unique")
        stated = page.scalar(slope or 0)
        require(not slope or any(page.vanish([x - stated]) and page.sign(x) for x in g), "not a derivative of H")
        return page.vanish([*D.flat, *(f.T @ field.array(g)).flat])

    if claim["verdict"] == "refuted":
        require(slope, "a second stationary density that is not a function of H", TrustedError)
        require(conserved(pages.Page(d, witness)), "H is not conserved")
        return "rechecked: H is conserved at the point"
    never = {field.PD, "positive", "nonzero"}
    zeros = {name: "0" for name, x in d.parameters.items() if name not in d.values and not never & {*x["is"]}}
    for chosen in [{}, *({name: "0"} for name in zeros), zeros]:
        for sizes in d.sizes(every=claim["for_d"] == "all")[:2]:
            point = {**chosen, **{name: str(n) for name, n in sizes.items()}}
            try:
                kept = all(conserved(pages.Page(d, point, f"{seed} {k}")) for k in range(2))
            except (FailureError, UnreadError):
                continue
            require(not kept, f"H is conserved{''.join(f', where {name} = 0' for name in chosen)}")
    return f"trusted: {claim['by']} (H is not conserved at points drawn here)"


def reads_potential(piece: Json) -> bool:
    """Whether a piece takes the potential's part of H, as it does if it names none."""
    return bool({"U", "all"} & {*formulas.listed(piece.get("H", "U"))})


def of_word(claim: Json, d: Documents, _: Any, __: str) -> str:
    """Decide a claim about a word once more: its verdict has to be that."""
    word = list(itertools.islice(words.letters(d.scheme["split"]), limits.EXPONENT))
    pieces = d.scheme.get("pieces") or d.step.get("pieces") or {}
    stated = d.scheme.get("claims") or {}
    names = sorted({piece for piece, _ in word})
    match claim["id"]:
        case "shares":
            holds = all(words.totals(word).get(name) == 1 for name in {*names, *pieces})
        case "claimed_palindrome":
            holds = word == word[::-1]
        case "claimed_gradients":
            of_U = {n for n, own in pieces.items() for x in formulas.listed(own) if reads_potential(x)}
            require(not d.build, "these pieces", TrustedError)
            kick = next((n for n in pieces if n in of_U), "B")
            numerical = d.flows.get(kick) == "generalised"
            require(kick != "A" and {kick, "A"} <= {*names} and not numerical, f"gradients of {kick} cannot be counted")
            known = [piece == kick for piece, _ in word if piece in (kick, "A")]
            count = sum(here and not before for before, here in zip(known[-1:] + known, known, strict=False))
            holds = count == int(stated["gradients"])
        case "claimed_configurational":
            require(not pieces and not d.flows and {*names} <= {*"ABO"}, "these pieces", TrustedError)
            return words.check_variance(words.kept_word(word, d), claim["verdict"] == "proved", claim["witness"] or {})
        case _:
            p = int(stated["order"])
            require(not d.flows or p <= 2 or claim["verdict"] != "proved", "numerical flows have order 2")
            p = min(p, 2) if d.flows else p
            holds = words.wrong_order(word, p) is None
    require(holds is (claim["verdict"] == "proved"), f"{claim['id']} is {'' if holds else 'not '}as claimed")
    return "rechecked: exactly"


OF_STEPS = {"pieces", "palindrome", "configurational", "order"}


def of_step(claim: Json, d: Documents, _: Any, __: str) -> str:
    """Look at what the letters of a build's word say of its step: shares, the order for any pieces, backwards."""
    entry = d.step
    if entry.get("name") in equations.EULER:
        return f"trusted: {claim['by']}"
    word = words.kept_word(words.word_of(d), d)
    shares = words.totals(word)
    proved, at = claim["verdict"] == "proved", claim["witness"] or {}
    match claim["id"]:
        case "pieces":
            require(not proved or all(s == 1 for s in shares.values()), "shares of a piece do not add up to one step")
            told = {name: at.get(f"share of {name} in the step", str(s)) for name, s in shares.items()}
            require(told == {name: str(s) for name, s in shares.items()}, "its letters have other shares than stated")
            return f"trusted: {claim['by']} (shares rechecked: exactly)"
        case "palindrome":
            require((claim["by"] == "it is a palindrome") is (word == word[::-1]), "palindrome: stated wrongly")
            return "rechecked: exactly"
        case "configurational":
            plain = {*shares} <= {*"ABO"} and not (entry.get("pieces") or d.scheme.get("pieces"))
            require(proved and plain, "these pieces", TrustedError)
            told = dict(one.split(" = ") for one in claim["data"].get("at", "").split(", ") if one)
            return words.check_variance(word, claim["by"].startswith("exact"), told)
        case _:
            p = int(claim["data"].get("order", 0))
            ends = "not higher" in claim["by"]
            off = words.wrong_order(word, p + ends)
            require(off == (p + 1 if ends else None), f"its letters do not give order {p}")
            return f"trusted: {claim['by']} (its letters rechecked: exactly)"


def of_moves(claim: Json, d: Documents, points: list[pages.Point], seed: str) -> str:
    """Try what is proved of the moves of a cycle at points drawn here; what is not read is trusted."""
    every, seen, left = [*moves.every_move(d.cycle)], dict[str, None](), dict[str, None]()
    kinds = {canonical(move): (place, moves.kind_of(move)) for place, move in enumerate(every)}
    for k, sizes in itertools.product(range(3), d.sizes(every=False)[:2]):
        for place, kind in kinds.values():
            if claim["id"] not in ("cycle", "exact", kind):
                continue
            try:
                moves.require_move_preserves(claim, pages.drawn(d, sizes, points, f"{seed} {k}"), every, place, points)
                seen[kind] = None
            except UnreadError as what:
                left[f"{kind}: {what}"] = None
    tried = [f"{', '.join(seen)}: rechecked at points drawn here"] * bool(seen)
    return f"trusted: {claim['by']} ({'; '.join([*tried, *(f'not read: {one}' for one in left)])})"


OF_MOVES = {"refresh", "draw", "involution", "metropolis", "cycle", "exact"}


def premises_of(claim: Json, claims: list[Json]) -> list[Json]:
    """Return the claims that a claim rests on."""
    return [other for other in claims if other["id"] in RESTS_ON.get(claim["id"], ())]


def consistent(certificate: Json, d: Documents) -> None:
    """Require that all fits the documents, and each other; advisory claims of a later version decide nothing."""
    every, rest = certificate["claims"], {k: x for k, x in certificate.items() if k != "seal"}
    asked = applicable(d)
    claims = [claim for claim in every if claim["id"] in KNOWN or claim["required"] is not False]
    require(certificate["certificate_version"] == VERSION, f"the certificate does not have version {VERSION}")
    require(certificate["seal"] == hashlib.sha256(canonical(rest).encode()).hexdigest(), "changed after it was made")
    held = hashlib.sha256(canonical(certificate["documents"]).encode()).hexdigest()
    require(certificate["digest"] == held, "the digest is not that of its documents")
    found = [claim["id"] for claim in claims]
    wanted = [id_ for _, id_ in asked]
    require(found == wanted, f"the claims {wanted} apply, but it has {found}")
    for (part, id_), claim in zip(asked, claims, strict=True):
        stops = id_ in STOPS and claim["verdict"] == "refuted"
        excused = not claim["required"] and id_ in EXCUSED and EXCUSED[id_](claim, d)
        advisory = ((part, id_) in ADVISORY and not stops) or excused
        require(claim["required"] is not bool(advisory), f"{id_} is {'not ' if advisory else ''}required")
        require(claim["verdict"] in ("proved", "refuted", "undecided"), f"{id_} is {claim['verdict']}")
    deciding = {c["verdict"] for c in claims if c["required"]}
    verdict = next((v for v in ("refuted", "undecided") if v in deciding), "proved")
    require(certificate["verdict"] == verdict, f"verdict {certificate['verdict']}, but its claims give {verdict}")
    for claim in (claim for claim in claims if claim["verdict"] == "proved"):
        for premise in premises_of(claim, claims):
            says = f"{claim['id']} is proved, but depends on {premise['id']}, which is {premise['verdict']}"
            open_ = premise["verdict"] == "undecided" and premise["says"] in claim["given"]
            require(premise["verdict"] == "proved" or open_, says)
    require(all(re.fullmatch("[a-z_]+", c["id"]) for c in every), "a claim has no valid name")
    require(certificate["assumptions"] == sorted({a for c in every for a in c["given"]}), "not the assumptions used")


def is_declared(d: Documents, one: str) -> bool:
    """Whether an assumption is a kind, a size, a domain or a comparison, as documents declare them."""
    kind = re.fullmatch(r"(\w+) is (.+)", one)
    compares = formulas.is_formula(one) and isinstance(formulas.parse(one), ast.Compare)
    kinds = {"smooth", *pages.WEAKER}
    return bool({*kind[2].split(" and ")} <= kinds) if kind else compares or one.endswith(" inside its domain")


Judge = Callable[[Json, Documents, Any, str], str]


def judge_of(claim: Json, part: str) -> Judge | None:
    """Return what looks at a claim of a part of a certificate; None if it is trusted, or undecided."""
    id_, verdict = claim["id"], claim["verdict"]
    if verdict == "undecided":
        return None
    if part == "scheme":
        return of_word
    if part == "build" and id_ in OF_STEPS:
        return of_step
    if part == "build" and id_ in OF_MOVES:
        return of_moves if verdict == "proved" else None
    if id_ == "unique":
        return unique
    if id_ not in equations.CHECKS or part not in ("dynamics", "build") or (id_ == "explosion" and verdict == "proved"):
        return None
    return proved if verdict == "proved" else refuted


def recheck(certificate: Json) -> list[tuple[str, str]]:
    """Return every claim with how it was re-checked; raises FailureError where something is not as stated."""
    d, found = Documents(certificate["documents"]), list[tuple[str, str]]()
    consistent(certificate, d)
    parts = iter(applicable(d))
    for claim in certificate["claims"]:
        bound = any(other["id"] == "bindings" and other["verdict"] == "proved" for other in certificate["claims"])
        claim: Json = {**claim, "bound": bound}
        part = next(parts)[0] if claim["id"] in KNOWN else ""
        says = "undecided: nothing to re-check" if claim["verdict"] == "undecided" else f"trusted: {claim['by']}"
        judge = judge_of(claim, part)
        if judge:
            try:
                says = judge(claim, d, certificate["points"], certificate["digest"])
            except UnreadError as what:
                open_ = judge is not refuted or claim["id"] in ("explosion", "recovered_q")
                require(
                    open_, f"{claim['id']}: {what}", FailureError if isinstance(what, TrustedError) else UnreadError
                )
                if not isinstance(what, TrustedError):
                    raise
                says += f" (this checker cannot read {what})"
        granted = [one for one in claim["given"] if claim["verdict"] == "proved" and not is_declared(d, one)]
        says += f"; granted, not declared: {'; '.join(granted)}" if granted else ""
        found.append((claim["id"], says))
    return found


def not_rechecked(found: list[tuple[str, str]]) -> list[str]:
    """Return the claims of which nothing was rechecked or tried: one that was turned round by hand is not found out."""
    return [id_ for id_, says in found if re.match(r"trusted(?!.*\brechecked at points drawn here)", says)]


def _read_unique_keys(pairs: list[tuple[str, Any]]) -> Json:
    require(len(dict(pairs)) == len(pairs), "a key occurs twice", ValueError)
    return dict(pairs)


def main(files: list[str]) -> int:
    """Re-check files, and return the exit code."""
    worst = 0 if files else 2
    lines = [] if files else ["usage: python recheck.py FILE..."]
    for file in files:
        try:
            require(Path(file).stat().st_size <= limits.BYTES, f"more than {limits.BYTES} bytes", ValueError)
            whole = json.loads(Path(file).read_text(encoding="utf-8"), object_pairs_hook=_read_unique_keys)
            pairs, verdicts = recheck(whole), [claim["verdict"] for claim in whole["claims"]]
            words = ["refuted, " if verdict == "refuted" else "" for verdict in verdicts]
            said, kind = [f"{id_}: {word}{says}" for (id_, says), word in zip(pairs, words, strict=True)], 0
            said += [f"not rechecked, but trusted: {', '.join(trusted)}"] if (trusted := not_rechecked(pairs)) else []
        except FailureError as reason:
            said, kind = [f"FAILED: {reason}"], 1
        except OSError as reason:
            said, kind = [f"cannot be read: {reason.strerror}"], 2
        except Exception as reason:  # whatever no certificate provokes
            said, kind = [f"not a certificate: {type(reason).__name__}: {str(reason)[:200]}"], 2
        lines, worst = [*lines, *(f"{file}  {line}" for line in said)], max(worst, kind)
    try:
        print(*lines, sep="\n", file=sys.stdout if files else sys.stderr, flush=True)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
