"""The standalone checker: it accepts what was certified, rejects every change, and finds what is wrong by itself."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest
from answers import written
from flint import arb
from processor_time import ends
from some import some

sys.path.insert(0, str(Path(__file__).parent))

from certificates import DOCUMENTS, ROOT, Json, claim_in, rejected, said, sealed, settled, turn
from certificates import of as shipped
from forge import EDITS, FORGED_FROM, LAST, SEEN, WRONG, forgeries, passes, prove_what_is_wrong
from reports import certificate_of

from recipe_compiler import recheck
from recipe_compiler.errors import DocumentError
from recipe_compiler.formula.expression import CALCULUS, ELEMENTWISE, ELEMENTWISE_PAIRS, MATRIX_FUNCTIONS
from recipe_compiler.kernel import formulas, pages
from recipe_compiler.kernel.equations import CHECKS, IDENTITIES
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Dynamics, Scheme, Target
from recipe_compiler.spec.places import documents
from recipe_compiler.verify.claims import DYNAMICS, list_applicable_claims
from recipe_compiler.verify.claims_in_builds import BUILDS, SCHEMES, TARGETS, list_claims_in_build

pytestmark = pytest.mark.usefixtures("without_explanations")

NEEDS = {row.partition(":")[0] for rows in recheck.ASKED.values() for row in rows.split()}
RECHECKED = {claim.id for table in (DYNAMICS, TARGETS, SCHEMES, BUILDS) for claim in table if claim.rechecked}
OF_WORDS = {claim.id for claim in SCHEMES} | recheck.OF_STEPS
KIDIQ = "tests/posteriors/builds/kidiq"

# Texts

EQUAL = """
state: {p: {}}
parameters: {a: {is: positive}, b: {is: positive}}
assume: ["ASSUMED"]
H: p**2/2
D: [[b]]
Q: [[0]]
claims: {drift: {p: -b*p}}
"""
ROOT_OF_CIR = """
state: {u: {shape: d, domain: positive}}
parameters: {a: {shape: d, is: positive}}
H: norm2(u)/4 - sum((2*a - ones)*log(u))
D: [[I]]
Q: [[0]]
claims: {drift: {u: DRIFT}, image: {of: cir, map: {u: MAP}, inverse: {theta: u**2/4}}}
"""
CIRCLE_OF_THREE = (ROOT / "tests/recheck/wrong/circle_of_three.yaml").read_text().replace("circle(0, 3)", "DOMAIN")
BUILD = """
name: one
dynamics: SPECS/dynamics/DYNAMICS.yaml
target: target.yaml
bind: BIND
scheme: SCHEME
variant: full
MORE
run: {step_size: 0.1}
"""
LANGEVIN = BUILD.replace("DYNAMICS", "sghmc").replace("BIND", "{M: I, C: I}").replace("SCHEME", "{name: baoab}")
OF_ONE = BUILD.replace("DYNAMICS", "sgld").replace("BIND", "{D: I}").replace("SCHEME", "{name: euler}")
IN_PLANE = "D: [[1, 0], [0, 1]]\nQ: [[0, 0], [0, 0]]\n"
TEXTS: dict[str, str | tuple[str, dict[str, str]]] = {
    **{f"equal {assumed}": EQUAL.replace("ASSUMED", assumed) for assumed in ("a == b", "a + b == 1", "exp(a) == b")},
    **{f"circle of three, {domain}": CIRCLE_OF_THREE.replace("DOMAIN", domain)
       for domain in ("circle(0, 3)", "interval(0, 3)")},
    "circle": f'state: {{x: {{domain: "circle(0, 3)"}}, y: {{}}}}\nH: cos(2*pi*x/3) + y**2\n{IN_PLANE}',
    "torus": "state: {x: {domain: circle}, y: {domain: circle}}\nH: 0\nD: [[1, 0], [0, 1]]\n"
    "claims: {drift: {x: 1, y: 1}}\n",
    "position": 'state: {r: {shape: d}}\nH: norm2(r)/2 + r[3]**2\nD: [["I"]]\nQ: [["0"]]\n',
    "kinked": f"state: {{x: {{}}, y: {{}}}}\nH: abs(x)**3 + y**2\n{IN_PLANE}",
    "squares": 'state: {x: {}, y: {}}\nH: x**2/2 + y**2/2\nD: [["1 + x**2 + y**2 - x*y/2", "x*y"], '
    '["x*y", "1 + x**4 + y**2"]]\nQ: [[0, 0], [0, 0]]\n',
    "negative": 'state: {v: {}, w: {}}\nH: v**2/2 + w**2/2\nD: [["1", "v"], ["v", "1"]]\nQ: [["0", "0"], ["0", "0"]]\n',
    "bounded": 'state: {x: {domain: "interval(a, b)"}}\nparameters: {a: {}, b: {}}\nassume: ["b - a > 0"]\n'
    'H: x**2/2\nD: [["x - a - 2*(b - a)"]]\nQ: [["0"]]\n',
    "multinomial": 'state: {z0: {}, z1: {}}\nparameters: {p: {is: positive}, q: {is: positive}}\n'
    'assume: ["1 - p - q >= 0"]\nH: 0\nD: [["p - p**2", "-p*q"], ["-p*q", "q - q**2"]]\nQ: [["0", "0"], ["0", "0"]]\n',
    "rotation": "state: {x: {shape: d}}\nparameters: {P: {shape: [d, d], is: positive definite}, "
    'S: {shape: [d, d], is: skew}}\nH: x.T @ P @ x / 2\nD: [["I"]]\nclaims: {drift: {x: "-P @ x - S @ P @ x"}}\n',
    **{f"replicas, {at}": "state: {x: {shape: d}, y: {shape: d}}\nparameters: {K: {shape: [d, d]}}\n"
       "functions: {U: {of: x, role: potential}, C: {of: x, shape: [d, d], is: positive definite}}\nH: U(x) + 2*U(y)\n"
       "D: [[C(y), 0], [0, C(x)]]\nQ: [[0, K], [-K.T, 0]]\nclaims: {drift: {x: -C(y) @ grad(U, x) - "
       f"2*K @ grad(U({at}), {at}), y: '-2*C(x) @ grad(U(y), y) + K.T @ grad(U, x)'}}}}\n" for at in "yx"},
    "spelled": """
state: {x: {}, y: {}}
parameters: {a: {is: positive}}
functions: {U: {of: x, role: potential}}
H: U(x) + Rational(1, 2)*Max(y, 2*y)**2 + Pow(y, 2)
D: [["Abs(a)", 0], [0, "Piecewise((1, a > 2), (ln(E), True))"]]
Q: [[0, -1], [1, 0]]
claims:
  drift:
    x: 2*y + Max(y, 2*y)*Piecewise((2, y > 0), (1, True)) - a*Derivative(U(x), x)
    y: -Derivative(U(x), x) - 2*y - Max(y, 2*y)*Piecewise((2, y > 0), (1, True))
""",  # as SymPy prints formulas
    "image without Ito": ROOT_OF_CIR.replace("DRIFT", "2*a/u - u/2").replace("MAP", "2*sqrt(theta)"),
    "image from behind": ROOT_OF_CIR.replace("DRIFT", "(2*a - ones)/u - u/2").replace("MAP", "-2*sqrt(theta)"),
    "given by its author": (LANGEVIN.replace("MORE", "sizes: {d: 2}\ndata: {file: data.csv, y: y}"), {
        "target": "name: one\nstate: {a: {}, b: {}}\ndata: {y: {shape: N}}\nassume: [normalisable]\n"
        "log_likelihood: -sqrt(1 + (y - a*b)**2)\n", "data.csv": "y\n1\n2\n4\n"}),
}  # fmt: skip
ENDS = {
    'constraint: "interval(a, b)"': True,
    'domain: "interval(0, b)", transform: logit': True,
    'constraint: "interval(-1, pi)"': True,
    'constraint: "interval(-1/2, 2*3)"': False,
    "constraint: lower(a)": False,
}
for ends_of in ENDS:
    TEXTS[ends_of] = OF_ONE.replace("MORE", "sizes: {d: 1}"), {"target": f"name: ends\nstate: {{t: {{{ends_of}}}}}\n"
        "parameters: {a: {default: 0}, b: {default: 1}}\npotential: t + (a + b)**2\n"}  # fmt: skip


def path_of(name: str | Path) -> Path:
    text, beside = own if isinstance(own := TEXTS[str(name)], tuple) else (own, {})
    return written(text, **beside)


def of(name: str | Path) -> Json:
    """Return the certificate of a text of this file, or of a document."""
    return json.loads(certificate_of(path_of(name))) if name in TEXTS else shipped(name)


@pytest.fixture(scope="module", autouse=True)
def _tried_once() -> Iterator[None]:
    """Try a proof once for the same claim, documents, points and seed: a forgery leaves most claims as they are."""
    proved, known = recheck.proved, dict[str, str]()

    def once(claim: Json, d: recheck.Documents, points: list[dict[str, str]], seed: str) -> str:
        key = sha256(recheck.canonical([claim, d.parts, points, seed]).encode()).hexdigest()
        if key not in known:
            known[key] = proved(claim, d, points, seed)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recheck, "proved", once)
        yield


@cache
def rechecked(path: Path) -> dict[str, str]:
    return said(json.loads(certificate_of(path)))


def slow(*row: Any) -> Any:
    return pytest.param(*row, marks=pytest.mark.slow)


# What is said of certificates as they are


@pytest.mark.parametrize("path", some(DOCUMENTS, 16), ids=lambda path: path.stem)
def test_what_was_certified_is_rechecked(path: Path) -> None:
    found, says = json.loads(certificate_of(path)), rechecked(path)
    for claim in found["claims"]:
        if claim["verdict"] != "undecided" and claim["id"] in CHECKS.keys() - {"explosion"}:
            assert says[claim["id"]].startswith("rechecked")
        assert claim["id"] in RECHECKED or not says[claim["id"]].startswith("rechecked")


CURRENTS = ("line_current", "vector_current", "half_line_current", "student_current", "decoupled_current")
GIVEN = "granted, not declared: exp(-U) has a finite integral"
SAID: list[Any] = [
    *((name, id_, "", "rechecked:") for name in CURRENTS for id_ in ("claimed_stationary", "explosion")),
    ("cubic_force", "explosion", "refuted", "trusted"),  # by growth
    *(("sghmc", id_, "proved", "trusted") for id_ in ("explosion", "normalisable")),
    *((name, "unique", "", "rechecked: H is conserved at the point") for name in ("sghmc", "hmc", "sgld")),
    ("sghmc", "stationary", "proved", "rechecked at sizes d = 1; d = 2; d = 3 (identically)"),
    ("equal a == b", "claimed_drift", "", "rechecked"),
    ("kinked", "stationary", "proved", "rechecked at sizes the document's (exactly, at points drawn here)"),
    ("replicas, y", "claimed_drift", "proved", "rechecked at sizes d = 1; d = 2; d = 3"),
    ("replicas, x", "claimed_drift", "refuted", "rechecked: exactly"),
    ("cir_root", "image", "proved", "rechecked at sizes d = 1; d = 2; d = 3"),
    *((name, "image", "refuted", "rechecked:") for name in ("image without Ito", "image from behind")),
    *(slow(*row) for row in (
        ("equal a + b == 1", "claimed_drift", "", "rechecked"),
        ("equal exp(a) == b", "claimed_drift", "", "trusted"),
        ("squares", "d_psd", "", "rechecked"),
        *(("spelled", id_, "proved", "rechecked") for id_ in ("d_psd", "claimed_drift")),
        ("position", "stationary", "proved", "rechecked at sizes d = 4; d = 5"),
        ("multinomial", "d_psd", "proved", "rechecked"),  # at a point that is searched for
        ("circle", "periodic", "proved", "rechecked"),
        ("torus", "claimed_stationary", "proved", "rechecked"),
        *((name, "d_psd", "refuted", "rechecked: exactly") for name in ("negative", "bounded")),
        ("rotation", "recovered_q", "", "rechecked at sizes d = 1; d = 2; d = 3"),
        (KIDIQ, "noise_budget", "", "rechecked"),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("name", "id_", "verdict", "start"), SAID)
def test_what_is_said_of_a_claim(name: str, id_: str, verdict: str, start: str) -> None:
    found = of(name)
    assert claim_in(found, id_)["verdict"] == (verdict or claim_in(found, id_)["verdict"])
    assert said(found)[id_].startswith(start)


@pytest.mark.parametrize(
    ("name", "id_", "words"),
    [
        ("sghmc", "normalisable", GIVEN),
        slow("squares", "d_psd", "Gram matrices exactly"),
        slow(KIDIQ, "normalisable", "granted, not declared: the 434 data of kidiq.csv: forms of beta of full rank 3"),
        *(slow("given by its author", id_, f"{GIVEN}, as the document states") for id_ in ("normalisable", "unique")),
    ],
)
def test_what_a_claim_rests_on_is_said(name: str, id_: str, words: str) -> None:
    assert words in said(of(name))[id_]


@pytest.mark.slow
@pytest.mark.parametrize("among", ENDS)
def test_ends_that_have_names_are_assumed_to_be_in_order(among: str) -> None:
    assert ("assumptions" in said(of(among))) is ENDS[among]


@pytest.mark.slow
def test_a_block_named_v_does_not_hide_the_direction() -> None:
    assert list(claim_in(of("negative"), "d_psd")["witness"])[-1] == "u.T @ D of (v, w) @ u"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["c14_historic_correction", "c16_force_sghmc"])
def test_what_rests_on_laws_of_functions_is_let_pass(name: str) -> None:
    assert rechecked(ROOT / f"tests/errata/corrected/{name}.yaml")


# The program


def test_it_runs_from_anywhere_without_the_compiler(tmp_path: Path) -> None:
    alone, good, bad = tmp_path / "recheck.py", tmp_path / "good.json", tmp_path / "bad.json"
    shutil.copy(ROOT / "recipe_compiler/recheck.py", alone)
    shutil.copytree(ROOT / "recipe_compiler/kernel", tmp_path / "kernel")
    good.write_text(certificate_of(DOCUMENTS[0]), encoding="utf-8")
    bad.write_text(certificate_of(DOCUMENTS[0]).replace('"proved"', '"refuted"', 1), encoding="utf-8")
    ended = [
        subprocess.run([sys.executable, "-I", alone, *files], capture_output=True, cwd=tmp_path)
        for files in ([good], [good, bad], [alone], [])
    ]
    assert [run.returncode for run in ended] == [0, 1, 2, 2]
    assert ended[-1].stderr.startswith(b"usage:")


@pytest.mark.slow
def test_a_reader_that_stops_early_gets_no_traceback(tmp_path: Path) -> None:
    good = tmp_path / "good.json"
    good.write_text(certificate_of(DOCUMENTS[0]), encoding="utf-8")
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, ROOT / "recipe_compiler/recheck.py", *[good] * 3]
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (0, b"")


def printed(text: str, folder: Path, capsys: pytest.CaptureFixture[str], code: int = 0) -> str:
    (folder / "c.json").write_text(text, encoding="utf-8")
    assert recheck.main([str(folder / "c.json")]) == code
    return capsys.readouterr().out


def test_what_is_trusted_is_named_at_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = certificate_of(written("name: own\nstate: {a: {shape: 2}}\npotential: norm2(a)\n"))
    last = printed(text, tmp_path, capsys).splitlines()[-1]
    assert last.endswith("c.json  not rechecked, but trusted: defined, gradient, normalisable")


def test_a_refuted_claim_is_said_to_be_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = of("c_transposed")
    lines = printed(json.dumps(whole), tmp_path, capsys).splitlines()
    words = dict(line.split("  ")[1].split(": ", 1) for line in lines)
    refuted = {claim["id"] for claim in whole["claims"] if claim["verdict"] == "refuted"}
    assert {id_ for id_, says in words.items() if says.startswith("refuted, ")} == refuted != set()


@pytest.mark.parametrize(
    "text",
    ["", "[]", "null", "[" * 100_000, '{"a": ' * 50_000, '{"claims": NaN}', '{"documents": {"dynamics": {"state": 3}}}',
     '{"verdict": 1, "verdict": 2}', "9" * 100_000, "\x00\xff"],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_what_is_no_certificate_ends_with_2_and_a_sentence(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "not a certificate" in printed(text, tmp_path, capsys, 2)


# Its tables are those of the compiler

EVERY = sorted(
    path
    for pattern in ("specs/*/*.yaml", "tests/mutants/**/*.yaml", "tests/errata/*/*.yaml")
    for path in ROOT.glob(pattern)
)


def of_the_compiler(document: Dynamics | Target | Build) -> list[tuple[str, str, bool]]:
    """Return part, id and whether it is required of every claim that the compiler asks, new advisory ones left out."""
    match document:
        case Dynamics():
            found = [("dynamics", list_applicable_claims(DYNAMICS, document))]
        case Target():
            found = [("target", list_applicable_claims(TARGETS, document))]
        case Scheme():
            found = [("scheme", list_applicable_claims(SCHEMES, document))]
        case Build():
            found = [
                ("dynamics", list_claims_in_build(DYNAMICS, bind(document), document)),
                ("target", list_claims_in_build(TARGETS, document.target, document)),
                ("build", list_applicable_claims(BUILDS, document)),
            ]
    return [(part, c.id, c.required) for part, claims in found for c in claims if c.required or c.id in NEEDS]


@pytest.mark.parametrize("path", some(EVERY), ids=lambda path: "/".join(path.with_suffix("").parts[-2:]))
def test_it_derives_the_claims_that_the_compiler_asks(path: Path) -> None:
    try:
        document = load(path)
    except DocumentError:
        pytest.skip("it is faulty, and asked nothing")
    found = recheck.applicable(recheck.Documents(documents(document)))
    assert [(*claim, claim not in recheck.ADVISORY) for claim in found] == of_the_compiler(document)


def test_its_copy_of_the_tables_says_what_they_say() -> None:
    tables = {"dynamics": DYNAMICS, "target": TARGETS, "scheme": SCHEMES, "build": BUILDS}
    copied = [(part, row.partition(":")[0]) for part, rows in recheck.ASKED.items() for row in rows.split()]
    rows = {(part, claim.id): claim for part, table in tables.items() for claim in table}
    assert [key for key in copied if key not in rows] == []
    assert [key for key, claim in rows.items() if claim.required and key not in copied] == []
    assert {key for key, claim in rows.items() if not claim.required and key in copied} == recheck.ADVISORY
    assert {claim.id for claim in rows.values() if claim.waived} == set(recheck.EXCUSED)
    assert {claim.id for claim in rows.values() if claim.blocks_compile} == recheck.STOPS
    assert {claim.id: claim.rests_on for claim in rows.values() if claim.rests_on} == recheck.RESTS_ON
    assert {*CHECKS, *OF_WORDS} <= RECHECKED <= {id_ for _, id_ in copied}


def test_it_reads_every_function_of_the_language() -> None:
    language = {*ELEMENTWISE, *ELEMENTWISE_PAIRS, *MATRIX_FUNCTIONS, *CALCULUS}
    meant = {head.partition("(")[0] for head in formulas.MEANINGS}
    assert language <= {*formulas.MATRIX, *formulas.PAIRS, *formulas.CALCULUS, *meant}


@pytest.mark.parametrize(
    ("text", "value"), [("digamma(x)", "-0.57721566490153286"), ("trigamma(x)", "1.6449340668482264")]
)
def test_slopes_of_log_gamma_are_read(text: str, value: str) -> None:
    d = recheck.Documents({"dynamics": {"state": {"x": {"domain": "positive"}}, "H": "loggamma(x)", "D": [["1"]]}})
    page = pages.Page(d, {"x": "1"})
    assert abs(float(arb(page.value(page.scalar(text))).mid()) - float(value)) < 1e-15


# What was changed, by somebody who makes everything else fit

Edit = Callable[[Json], Any]


def set_claim(id_: str, **parts: Any) -> Edit:
    """Change a claim."""
    return lambda whole: claim_in(whole, id_).update(parts)


def call(id_: str, verdict: str, **parts: Any) -> Edit:
    """Call a claim proved, or refuted by a witness."""
    required = {"required": verdict == "refuted"} if id_ == "explosion" else {}
    return lambda whole: turn(claim_in(whole, id_), verdict, **required, **parts)


def forget(id_: str, fact: str | int) -> Edit:
    """Leave out what a claim rests on."""
    return lambda whole: (given := claim_in(whole, id_)["given"]).remove(given[fact] if isinstance(fact, int) else fact)


def in_claim(id_: str, part: str, key: str, text: str) -> Edit:
    """Change what stands at a key of the witness or the data of a claim."""
    return lambda whole: claim_in(whole, id_)[part].update({key: text})


def in_witness(id_: str, key: str, text: str) -> Edit:
    return in_claim(id_, "witness", key, text)


def in_gram(key: str, old: str, new: str) -> Edit:
    def edit(whole: Json) -> None:
        data = claim_in(whole, "d_psd")["data"]
        data |= {name: text.replace(old, new) for name, text in data.items() if key in name}

    return edit


def refute_all(**parts: Any) -> Edit:
    """Change every claim that is refuted."""
    return lambda whole: [one.update(parts) for one in whole["claims"] if one["verdict"] == "refuted"]


def set_kinds(kind: str) -> Edit:
    """Declare all parameters of a kind."""
    return lambda whole: [one.update({"is": kind}) for _, one in whole["documents"]["dynamics"]["parameters"]]


def refute_at_a_point(whole: Json) -> None:
    witness = {**whole["points"][-1], "the residual": "1"}
    turn(claim_in(whole, "stationary"), "refuted", witness=witness, residual="1")


def add_nothing(whole: Json) -> None:
    whole["documents"]["dynamics"]["claims"]["drift"]["theta"] += " + theta*exp(theta[0])/10**900"
    for point in whole["points"]:
        point["U(theta)"] = "0"


def lengthen(factor: str) -> Edit:
    """Multiply what a step adds to a block."""

    def edit(whole: Json) -> None:
        update = whole["documents"]["dynamics"]["claims"]["update"]
        block = "theta" if "theta" in update else "r"
        update[block] = f"{block} + ({factor})*({update[block]} - ({block}))"

    return edit


def unreadable(place: int, text: str) -> Edit:
    """Change the first or last value of the witness of an identity."""

    def edit(whole: Json) -> None:
        refuted = (one for one in whole["claims"] if one["verdict"] == "refuted" and one["id"] in IDENTITIES)
        witness = next(refuted)["witness"]
        witness[list(witness)[place]] = text

    return edit


def add_to_energy(text: str) -> Edit:
    """Add a term to H."""
    return lambda whole: (d := whole["documents"]["dynamics"]).update(H=f"{d['H']} + {text}")


def other_current(id_: str, label: str, value: str) -> Edit:
    """State another current at the point of a witness."""

    def edit(whole: Json) -> None:
        witness = claim_in(whole, id_)["witness"]
        claim_in(whole, id_)["witness"] = {**{name: witness[name] for name in ("x", "y", "r")}, label: value}

    return edit


def rest_on_data(id_: str, fact: str) -> Edit:
    """Put another fact in the place of what a claim of a build rests on of its data."""

    def edit(whole: Json) -> None:
        claim = claim_in(whole, id_)
        claim["given"] = [*(one for one in claim["given"] if not one.startswith("the ")), fact]

    return edit


def forget_kinds_of_data(whole: Json) -> None:
    assert "z is nonnegative" in whole["assumptions"]
    assert "cir" in said(whole)
    for one in whole["documents"]["target"]["data"]:
        one[1] = [pair for pair in one[1] if pair[0] != "in"] if isinstance(one[1], list) else {"shape": ["N", "d"]}


ENERGY_AT = {"d": "2", "theta": "[0, 0]", "r": "[1, 1]", "U(theta)": "theta[0]**2 + theta[1]**2"}
SYMMETRIC_THERE = {**ENERGY_AT, "K(theta)": "[[9, theta[0]], [theta[1], 9]]", "what is left": "1"}
BEYOND = {"p": "2", "q": "1", "v": "[1, 0]", "v.T @ D of (z0, z1) @ v": "-2"}
REJECTED: list[tuple[str, Edit, str]] = [
    ("sghmc", refute_at_a_point, ""),
    ("c_transposed", lambda whole: [one.update(required=one["verdict"] != "refuted") for one in whole["claims"]], ""),
    ("c_transposed", set_kinds("positive definite"), ""),
    ("sghmc", set_kinds("real"), ""),
    ("sghmc", lambda whole: whole["documents"]["dynamics"].update(D=[["0", "0"], ["0", "2*C"]]), ""),
    ("sghmc", lambda whole: whole["claims"].remove(claim_in(whole, "q_skew")), "apply, but it has"),
    ("sghmc", lambda whole: whole.update(documents=of("c_transposed")["documents"]), ""),
    ("sghmc", add_nothing, ""),
    ("c_transposed", refute_all(witness=None), ""),
    ("c_transposed", lambda whole: [one.update(for_d="all") for one in whole["claims"]], ""),
    ("line_current", call("claimed_stationary", "proved"), ""),
    *(
        ("c_transposed", unreadable(place, text), "")
        for text in ("[nothing]", "unknown(1)", "x.__class__", "((", "", "[1, 2, 3, 4, 5]")
        for place in (0, -1)
    ),
    ("sghmc", set_claim("d_psd", given=[]), "d_psd fails"),
    ("sghmc", set_claim("d_psd", given=["C is positive definite"]), "the document does not state"),
    *(
        (name, call("unique", "proved", by="D is positive definite"), "H is conserved")
        for name in ("sghmc", "hmc", "sgld")
    ),
    ("gsgrhmc", call("claimed_drift", "refuted", for_d={"d": 2}, witness=SYMMETRIC_THERE), "is not positive definite"),
    *(
        ("decoupled_current", other_current(id_, label, value), "")
        for id_ in ("claimed_stationary", "explosion")
        for label, value in (("current of x", "2"), ("current of y", "-3"), ("current of z", "1"))
    ),
    *(
        (f"tests/mutants/updates/{name}", lengthen(factor), "claimed_update fails")
        for name in ("sgld", "sghmc_sequential", "sgnht", "langevin_exact", "refresh")
        for factor in ("2", "1/2", "1 + 1/10**9", "sqrt(2)")
    ),
    *(("sghmc", add_to_energy(text), "") for text in ("10**10**9", "(10**999)**999", "2**(1/10**9)", "1e999999999")),
]  # fmt: skip
FEW: list[tuple[str, Edit, str]] = [
    *(("squares", in_gram(*change), "") for change in (
        ("Gram matrix", "[[1", "[[2"), ("Gram matrix", "1/4", "-9"), ("times", "1", "2"), ("g0", "x", "y"))),
    *(("bounded", set_claim("d_psd", witness={"a": "0", "b": "1", "x": x, "D[x,x]": str(int(x) - 2)}), "")
      for x in ("5", "-5")),
    ("multinomial", call("d_psd", "refuted", witness=BEYOND), ""),
    ("rotation", in_claim("recovered_q", "data", "Q[x,x]", "2*S"), ""),
]  # fmt: skip
"""Documents, a change, and what the re-checker says of it."""


@pytest.mark.parametrize(("name", "edit", "match"), [*some(REJECTED, 3), *(slow(*row) for row in FEW)])
def test_what_was_changed_is_rejected_though_sealed(name: str, edit: Edit, match: str) -> None:
    changed = of(name)
    before = recheck.canonical(changed)
    edit(changed)
    assert recheck.canonical(changed) != before
    wrong = (recheck.FailureError, ValueError, LookupError, TypeError, AttributeError, SyntaxError)
    with ends(), pytest.raises((recheck.FailureError, recheck.UnreadError) if match else wrong, match=match or None):
        recheck.recheck(sealed(settled(changed)))


@pytest.mark.parametrize(
    "part", ["digest", "documents", "verdict", "assumptions", "claims", "points", "caveats", "versions", "seal"]
)
def test_a_part_that_is_missing_is_noticed(part: str) -> None:
    changed = of("c_transposed")
    del changed[part]
    assert rejected(changed)


@pytest.mark.parametrize(
    "text", some(["9**9**9**9", "(" * 3000 + "x", "__import__('os')", "x.__class__", "9" * 10**6, "lambda: x"], 5)
)
def test_hostile_formulas_end_at_once_and_are_not_rechecked(text: str) -> None:
    changed = of("squares")
    changed["documents"]["dynamics"]["H"] = text
    with ends(), contextlib.suppress(recheck.FailureError, ValueError, SyntaxError, MemoryError, RecursionError):
        assert not said(sealed(changed))["stationary"].startswith("rechecked")


REAL = {"U(theta)": "theta[0]**2/2", "theta": "[1]", "r": "[2]", "d": "1", "M": "[[1]]", "C": "[[2]]"}


@pytest.mark.parametrize(
    "wrong",
    [{"U(theta)": "theta[0]*r[0]"}, {"U(theta)": "0"}, {"C": "[[r[0]]]"}, {"M": "[[-1]]"}, {"d": "2"},
     {"theta": "[r[0]]"}, {"M": "M"}, {"unheard": "1"}],
    ids=str,
)  # fmt: skip
def test_a_witness_is_parsed_not_believed(wrong: dict[str, str]) -> None:
    changed = of("sghmc")
    witness = {**REAL, **wrong, "the claimed drift of r minus the derived one": "1"}
    call("claimed_drift", "refuted", for_d={"d": 1}, witness=witness)(changed)
    with pytest.raises((recheck.FailureError, recheck.UnreadError)) as reason:
        recheck.recheck(sealed(settled(changed)))
    assert "does not fail as stated" not in str(reason.value)


@pytest.mark.parametrize(
    ("names", "count"), [(FORGED_FROM[::4], 40), pytest.param(FORGED_FROM, 150, marks=pytest.mark.slow)]
)
def test_no_forged_certificate_passes(names: tuple[str, ...], count: int) -> None:
    made = list(forgeries([certificate_of(ROOT / f"{name}.yaml") for name in names], count, 11))
    assert [name for name, changed in made if passes(changed)] == []
    assert len({name for name, _ in made}) >= min(len((*EDITS, *LAST)) - 3, 16)


@pytest.mark.parametrize("name", some(FORGED_FROM, 9))
def test_what_is_forged_is_right_before(name: str) -> None:
    assert rechecked(ROOT / f"{name}.yaml")


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_not_proved(name: str) -> None:
    path = ROOT / f"tests/recheck/wrong/{name}.yaml"
    assert claim_in(json.loads(certificate_of(path)), WRONG[name])["verdict"] != "proved"


@pytest.mark.parametrize("name", SEEN)
def test_what_is_wrong_is_not_sealed_as_proved(name: str) -> None:
    changed = of(f"tests/recheck/wrong/{name}")
    prove_what_is_wrong(changed, Random(1))
    with pytest.raises(recheck.FailureError, match=f"{WRONG[name]} fails"):
        recheck.recheck(sealed(settled(changed)))


RESTING = {
    "specs/dynamics/sgnht": ("marginal", "unique", "explosion"),
    "specs/builds/gibbs_dp_mixture": ("draw", "cycle", "exact", "irreducible"),
}


@pytest.mark.parametrize(("name", "id_"), [(name, id_) for name, ids in RESTING.items() for id_ in ids])
def test_no_proof_is_accepted_beside_a_premise_that_is_not_proved(name: str, id_: str) -> None:
    """Whatever else is made to fit: the verdict, the assumptions and the seal."""
    for premise in recheck.RESTS_ON[id_]:
        for verdict in ("refuted", "undecided"):
            changed = of(name)
            known = {c["id"]: c for c in changed["claims"]}
            if premise not in known:
                continue
            known[premise] |= {"verdict": verdict, "given": [], "witness": {} if verdict == "refuted" else None}
            if premise == "explosion":
                known[premise]["required"] = verdict == "refuted"
            for other in known.values():  # only this one is left without its premise
                if other["id"] != id_ and premise in recheck.RESTS_ON.get(other["id"], ()):
                    other |= {"verdict": "undecided", "given": []}
            with pytest.raises(recheck.FailureError, match=f"{id_} is proved, but depends on {premise}"):
                recheck.recheck(sealed(settled(changed)))


def with_another(**changed: Any) -> Json:
    """Return a certificate with a claim besides those that the checker knows."""
    whole = of("sghmc")
    other = next(claim for claim in whole["claims"] if not claim["required"] and not claim["given"])
    return sealed({**whole, "claims": [*whole["claims"], {**other, "id": "of_a_later_version", **changed}]})


def test_an_advisory_claim_of_a_later_version_is_trusted() -> None:
    assert said(with_another())["of_a_later_version"].startswith(("trusted", "undecided"))


@pytest.mark.parametrize("changed", [{"required": True}, {"id": "units"}, {"id": "d_psd: rechecked"}, {"required": 0}])
def test_any_other_claim_that_is_not_asked_is_rejected(changed: Json) -> None:
    assert rejected(with_another(**changed))
