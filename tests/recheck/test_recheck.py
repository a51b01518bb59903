"""The standalone checker: it accepts what was certified, rejects every change, and finds what is wrong by itself."""

import ast
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest
from flint import arb
from processor_time import ends
from some import some

sys.path.insert(0, str(Path(__file__).parent))

from certificates import DOCUMENTS, ROOT, Json, claim_in, made, of, rejected, said, sealed, settled, turn, written
from forge import EDITS as FORGERS
from forge import FORGED_FROM, WRONG, forgeries, passes, prove_what_is_wrong
from loaders import load_build
from reports import certificate_of

from recipe_compiler import recheck
from recipe_compiler.errors import DocumentError
from recipe_compiler.formula.expression import CALCULUS, ELEMENTWISE, ELEMENTWISE_PAIRS, MATRIX_FUNCTIONS
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Dynamics, Scheme, Target
from recipe_compiler.spec.places import documents
from recipe_compiler.verify.claims import DYNAMICS, applicable_claims
from recipe_compiler.verify.claims_in_builds import BUILDS, SCHEMES, TARGETS, claims_in_build

pytestmark = pytest.mark.usefixtures("without_explanations")

CHANGED = ("digest", "documents", "verdict", "assumptions", "claims", "points", "caveats", "versions", "seal")
NEEDS = {row.partition(":")[0] for rows in recheck.ASKED.values() for row in rows.split()}
RECHECKED = {claim.id for table in (DYNAMICS, TARGETS, SCHEMES, BUILDS) for claim in table if claim.rechecked}
OF_WORDS = {claim.id for claim in SCHEMES} | recheck.OF_STEPS
EDITS = 2_000
IDENTITIES = ("d_symmetric", "q_skew", "stationary", "claimed_drift", "claimed_diffusion")
IDENTITIES += ("claimed_stationary", "recovered_q")


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


@pytest.mark.parametrize("path", some(DOCUMENTS, 16), ids=lambda path: path.stem)
def test_what_was_certified_is_rechecked(path: Path) -> None:
    found, says = json.loads(certificate_of(path)), rechecked(path)
    for claim in found["claims"]:
        if claim["verdict"] != "undecided" and claim["id"] in recheck.CHECKS.keys() - recheck.SOFT:
            assert says[claim["id"]].startswith("rechecked")
        assert claim["id"] in RECHECKED or not says[claim["id"]].startswith("rechecked")


@pytest.mark.slow
def test_every_change_is_rejected() -> None:
    random = Random(2015)
    whole = of("sgrhmc_naive")
    text = json.dumps(whole)
    for _ in range(EDITS):
        changed = json.loads(text)
        edit(changed, random)
        assert changed == whole or rejected(changed)


def edit(value: Any, random: Random, key: Any = None, holder: Any = None) -> None:
    """Change one leaf, or drop or repeat one item, at random."""
    if isinstance(value, dict) and value and random.random() < 0.95:
        key = random.choice(sorted(value))
        edit(value[key], random, key, value)
    elif isinstance(value, list) and value and random.random() < 0.95:
        key = random.randrange(len(value))
        edit(value[key], random, key, value)
    elif isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, str) and value:
        at = random.randrange(len(value))
        holder[key] = value[:at] + random.choice("0123456789abcxyz+-*/ []") + value[at + 1 :]
    elif isinstance(value, int | float):
        holder[key] = value + random.choice((-1, 1))
    elif holder is not None:
        del holder[key]


@pytest.mark.parametrize("part", CHANGED)
def test_a_part_that_is_missing_is_noticed(part: str) -> None:
    changed = of("c_transposed")
    del changed[part]
    assert rejected(changed)


CIRCLE_OF_THREE = (ROOT / "tests/recheck/wrong/circle_of_three.yaml").read_text().replace("circle(0, 3)", "DOMAIN")
CIRCLE = """
name: circle
state: {x: {domain: "circle(0, 3)"}, y: {}}
H: cos(2*pi*x/3) + y**2
D: [[1, 0], [0, 1]]
Q: [[0, 0], [0, 0]]
"""
SPELLED = """
name: spelled
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
"""


@pytest.mark.parametrize("assumed", some(["a == b", "a + b == 1", "exp(a) == b"], 3))
def test_assumed_equalities_are_read(tmp_path: Path, assumed: str) -> None:
    text = f"""name: equal
state: {{p: {{}}}}
parameters: {{a: {{is: positive}}, b: {{is: positive}}}}
assume: ["{assumed}"]
H: p**2/2
D: [[b]]
Q: [[0]]
claims: {{drift: {{p: -b*p}}}}
"""
    found = said(written(tmp_path, text))
    assert found["claimed_drift"].startswith("trusted" if "exp" in assumed else "rechecked")


SQUARES = """
name: squares
state: {x: {}, y: {}}
H: x**2/2 + y**2/2
D: [["1 + x**2 + y**2 - x*y/2", "x*y"], ["x*y", "1 + x**4 + y**2"]]
Q: [[0, 0], [0, 0]]
"""


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> str:
    return json.dumps(written(tmp_path_factory.mktemp("squares"), SQUARES))


@pytest.fixture
def squares(certified: str) -> Json:
    return json.loads(certified)


VALLEY = """
name: valley
state: {x: {}, y: {}}
H: x**2 + y**2*exp(-x**2)
D: [[1, 0], [0, 1]]
Q: [[0, 0], [0, 0]]
"""
POSITION = """
name: position
state: {r: {shape: d}}
H: norm2(r)/2 + r[3]**2
D: [["I"]]
Q: [["0"]]
"""


@pytest.mark.slow
def test_a_sum_of_squares_is_rechecked_by_its_gram_matrix(squares: Json) -> None:
    assert said(squares)["d_psd"].endswith("Gram matrices exactly")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "old", "new"),
    [("Gram matrix", "[[1", "[[2"), ("Gram matrix", "1/4", "-9"), ("times", "1", "2"), ("g0", "x", "y")],
)
def test_a_gram_matrix_that_was_changed_is_rejected_though_sealed(squares: Json, key: str, old: str, new: str) -> None:
    claim = claim_in(squares, "d_psd")
    for name in [name for name in claim["data"] if key in name]:
        claim["data"][name] = claim["data"][name].replace(old, new)
    assert rejected(sealed(squares))


@pytest.mark.parametrize(
    "text", some(["9**9**9**9", "(" * 3000 + "x", "__import__('os')", "x.__class__", "9" * 10**6, "lambda: x"], 5)
)
def test_hostile_formulas_end_at_once_and_are_not_rechecked(squares: Json, text: str) -> None:
    squares["documents"]["dynamics"]["H"] = text
    with ends(), contextlib.suppress(recheck.FailureError, ValueError, SyntaxError, MemoryError, RecursionError):
        assert not said(sealed(squares))["stationary"].startswith("rechecked")


def test_it_runs_from_anywhere_without_the_compiler(tmp_path: Path) -> None:
    alone, good, bad = tmp_path / "recheck.py", tmp_path / "good.json", tmp_path / "bad.json"
    alone.write_text((ROOT / "recipe_compiler/recheck.py").read_text(encoding="utf-8"), encoding="utf-8")
    good.write_text(certificate_of(DOCUMENTS[0]), encoding="utf-8")
    bad.write_text(certificate_of(DOCUMENTS[0]).replace('"proved"', '"refuted"', 1), encoding="utf-8")
    ended = [
        subprocess.run([sys.executable, "-I", alone, *files], capture_output=True, cwd=tmp_path)
        for files in ([good], [good, bad], [alone], [])
    ]
    assert [run.returncode for run in ended] == [0, 1, 2, 2]
    assert ended[-1].stderr.startswith(b"usage:")


@pytest.mark.slow
def test_it_is_short_and_imports_nothing_of_the_compiler() -> None:
    text = (ROOT / "recipe_compiler/recheck.py").read_text(encoding="utf-8")
    imported = {
        name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert len(text.splitlines()) <= 2240
    assert {name.partition(".")[0] for name in imported} - sys.stdlib_module_names == {"numpy", "flint"}


@pytest.fixture(scope="module")
def of_data() -> str:
    """The certificate of a build that its data decide, whose step size a run chooses."""
    build = load_build(ROOT / "tests/posteriors/builds/kidiq.yaml")
    return json.dumps(made(build))


@pytest.mark.slow
def test_a_build_that_its_data_decide_is_rechecked_but_for_its_data(of_data: str) -> None:
    says = said(json.loads(of_data))
    assert "granted, not declared: the 434 data of kidiq.csv: forms of beta of full rank 3" in says["normalisable"]
    assert says["noise_budget"].startswith("rechecked")


@pytest.mark.slow
def test_kinds_of_data_are_facts_of_a_build() -> None:
    build = load_build(ROOT / "specs/builds/cir_categories.yaml")
    found = made(build)
    assert "z is nonnegative" in found["assumptions"]
    assert "cir" in said(found)
    for one in found["documents"]["target"]["data"]:
        one[1] = [pair for pair in one[1] if pair[0] != "in"] if isinstance(one[1], list) else {"shape": ["N", "d"]}
    assert rejected(sealed(found))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("id_", "fact"),
    [
        ("normalisable", "the 434 data of other.csv: forms of beta of full rank 3"),
        ("normalisable", "exp(-U) has a finite integral, as the document states under `assume`"),
        ("stationary", "the 434 data of kidiq.csv: forms of beta of full rank 3"),
    ],
)
def test_facts_of_data_are_of_the_file_named_and_of_one_claim(of_data: str, id_: str, fact: str) -> None:
    changed = json.loads(of_data)
    claim = claim_in(changed, id_)
    claim["given"] = [*(one for one in claim["given"] if not one.startswith("the ")), fact]
    assert rejected(sealed(settled(changed)))


def build_of(target: str, data: str, folder: Path) -> Build:
    (folder / "target.yaml").write_text(f"name: one\n{target}")
    (folder / "build.yaml").write_text(
        f"name: one\ndynamics: {ROOT}/specs/dynamics/sghmc.yaml\ntarget: target.yaml\nbind: {{M: I, C: I}}\n"
        f"scheme: {{name: baoab}}\nvariant: full\n{data}run: {{step_size: 0.1}}\n"
    )
    return load_build(folder / "build.yaml")


@pytest.mark.slow
def test_an_integral_that_its_author_gives_is_granted(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("y\n1\n2\n4\n")
    target = "state: {a: {}, b: {}}\ndata: {y: {shape: N}}\nassume: [normalisable]\n"
    likelihood = "log_likelihood: -sqrt(1 + (y - a*b)**2)\n"
    build = build_of(target + likelihood, "sizes: {d: 2}\ndata: {file: data.csv, y: y}\n", tmp_path)
    found = made(build)
    says = said(found)
    for id_ in ("normalisable", "unique"):
        assert "granted, not declared: exp(-U) has a finite integral, as the document states" in says[id_]


FLAT = (
    ("theta: {shape: 2}", "theta[0]**2", "theta[0]**2 + theta[1]**2"),
    ("a: {}, b: {}", "(a - b)**2", "(a - b)**2 + b**2"),
    ("a: {}, s: {domain: positive, transform: log}", "a**2/s**2 + log(s)", "a**2/s**2 + s"),
)
"""Blocks of a target, a potential with an end that it does not rise to, and one that rises to all."""


@pytest.mark.parametrize(("state", "flat", "steep"), some(FLAT, 3))
def test_a_potential_that_is_flat_somewhere_is_rechecked(state: str, flat: str, steep: str, tmp_path: Path) -> None:
    build = build_of(f'state: {{{state}}}\npotential: "{flat}"\n', "", tmp_path)
    found = made(build)
    assert found["verdict"] == "refuted"
    assert said(found)["normalisable"] == "rechecked: exactly"
    found["documents"]["target"]["potential"] = steep
    with pytest.raises(recheck.FailureError, match="normalisable does not fail as stated"):
        recheck.recheck(sealed(found))


@pytest.mark.parametrize(("state", "flat", "steep"), some(FLAT, 3))
def test_an_integral_of_a_target_by_itself_is_rechecked(state: str, flat: str, steep: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    for potential, verdict, says in ((flat, "refuted", "rechecked: exactly"), (steep, "proved", "tried at sizes")):
        path.write_text(f'name: own\nstate: {{{state}}}\npotential: "{potential}"\n')
        target = load(path)
        found = made(target)
        assert found["verdict"] == verdict
        assert said(found)["normalisable"].startswith(says)
        claim = claim_in(found, "normalisable")
        witness = {"what must be positive for theta -> oo": "-1", "what must be positive for a -> oo": "-1"}
        turned = {"proved": ("refuted", witness), "refuted": ("proved", None)}[verdict]
        claim |= {"verdict": turned[0], "witness": turned[1], "residual": None}
        found["verdict"] = turned[0]
        with pytest.raises(recheck.FailureError):
            recheck.recheck(sealed(found))


def test_what_is_trusted_is_named_at_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own.json"
    (tmp_path / "own.yaml").write_text("name: own\nstate: {a: {shape: 2}}\npotential: norm2(a)\n")
    target = load(tmp_path / "own.yaml")
    file.write_text(json.dumps(made(target)))
    assert recheck.main([str(file)]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last == f"{file}  not rechecked, but trusted: defined, gradient"


BARELY = (
    ("a: {}, b: {}", "log(1 + a**2 + b**2)", "101*log(1 + a**2 + b**2)/100"),
    ("a: {}", "log(1 + a**2)/2", "51*log(1 + a**2)/100"),
)
"""Blocks, a potential whose integral diverges in all of them together, and one whose integral barely does not."""


@pytest.mark.slow
@pytest.mark.parametrize(("state", "flat", "steep"), BARELY)
def test_growth_at_the_edge_is_rechecked_and_not_believed_beside_it(
    state: str, flat: str, steep: str, tmp_path: Path
) -> None:
    build = build_of(f'state: {{{state}}}\npotential: "{flat}"\n', "", tmp_path)
    found = made(build)
    claim = claim_in(found, "normalisable")
    assert claim["verdict"] == "refuted"
    assert any(name.startswith("what must be positive for") for name in claim["witness"])
    assert said(found)["normalisable"] == "rechecked: exactly"
    found["documents"]["target"]["potential"] = steep
    with pytest.raises(recheck.FailureError, match="normalisable does not fail as stated"):
        recheck.recheck(sealed(found))


def test_what_data_refute_is_trusted_where_a_build_has_data(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("x1,x2,y\n1,2,0\n2,-1,1\n-1,1,0\n3,1,1\n")
    target = "state: {beta: {shape: p}}\ndata: {x: {shape: [N, p]}, y: {shape: N, in: [0, 1]}}\n"
    likelihood = "log_likelihood: y*(x @ beta) - softplus(x @ beta)\n"
    data = "sizes: {p: 2}\ndata: {file: data.csv, x: [x1, x2], y: y}\n"
    build = build_of(target + likelihood, data, tmp_path)
    found = made(build)
    claim = claim_in(found, "normalisable")
    assert claim["verdict"] == "refuted"
    assert "data, which no certificate holds" in said(found)["normalisable"]
    del found["documents"]["build"]["data"]
    with pytest.raises(recheck.FailureError):
        recheck.recheck(sealed(found))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("among", "is_assumed"),
    [
        ('constraint: "interval(a, b)"', True),
        ('domain: "interval(0, b)", transform: logit', True),
        ('constraint: "interval(-1, pi)"', True),
        ('constraint: "interval(-1/2, 2*3)"', False),
        ("constraint: lower(a)", False),
    ],
)
def test_ends_that_have_names_are_assumed_to_be_in_order(tmp_path: Path, among: str, is_assumed: bool) -> None:
    (tmp_path / "target.yaml").write_text(
        f"name: ends\nstate: {{t: {{{among}}}}}\nparameters: {{a: {{default: 0}}, b: {{default: 1}}}}\n"
        "potential: t + (a + b)**2\n"
    )
    (tmp_path / "build.yaml").write_text(
        f"name: ends\ndynamics: {ROOT}/specs/dynamics/sgld.yaml\ntarget: target.yaml\nbind: {{D: I}}\n"
        "scheme: {name: euler}\nvariant: full\nsizes: {d: 1}\nrun: {step_size: 0.1}\n"
    )
    build = load_build(tmp_path / "build.yaml")
    says = said(made(build))
    assert ("assumptions" in says) is is_assumed


MULTINOMIAL = """
name: multinomial
state: {z0: {}, z1: {}}
parameters: {p: {is: positive}, q: {is: positive}}
assume: ["1 - p - q >= 0"]
H: 0
D: [["p - p**2", "-p*q"], ["-p*q", "q - q**2"]]
Q: [["0", "0"], ["0", "0"]]
"""
NEGATIVE = """
name: negative
state: {v: {}, w: {}}
H: v**2/2 + w**2/2
D: [["1", "v"], ["v", "1"]]
Q: [["0", "0"], ["0", "0"]]
"""
BOUNDED = """
name: bounded
state: {x: {domain: "interval(a, b)"}}
parameters: {a: {}, b: {}}
assume: ["b - a > 0"]
H: x**2/2
D: [["x - a - 2*(b - a)"]]
Q: [["0"]]
"""
ROTATION = """
name: rotation
state: {x: {shape: d}}
parameters: {P: {shape: [d, d], is: positive definite}, S: {shape: [d, d], is: skew}}
H: x.T @ P @ x / 2
D: [["I"]]
claims: {drift: {x: "-P @ x - S @ P @ x"}}
"""


@pytest.mark.slow
def test_a_block_named_v_does_not_hide_the_direction(tmp_path: Path) -> None:
    found = written(tmp_path, NEGATIVE)
    claim = claim_in(found, "d_psd")
    assert list(claim["witness"])[-1] == "u.T @ D of (v, w) @ u"
    assert said(found)["d_psd"] == "rechecked: exactly"


@pytest.mark.slow
@pytest.mark.parametrize("x", ["5", "-5"])
def test_a_witness_outside_its_domain_is_rejected(tmp_path: Path, x: str) -> None:
    found = written(tmp_path, BOUNDED)
    claim = claim_in(found, "d_psd")
    assert said(found)["d_psd"] == "rechecked: exactly"
    claim["witness"] = {"a": "0", "b": "1", "x": x, "D[x,x]": str(int(x) - 2)}
    assert rejected(sealed(found))


@pytest.mark.slow
def test_a_witness_that_violates_an_assumption_is_rejected(tmp_path: Path) -> None:
    found = written(tmp_path, MULTINOMIAL)
    claim = claim_in(found, "d_psd")
    claim |= {"verdict": "refuted", "witness": {"p": "2", "q": "1", "v": "[1, 0]", "v.T @ D of (z0, z1) @ v": "-2"}}
    found["verdict"] = "refuted"
    assert rejected(sealed(found))


@pytest.mark.slow
def test_a_recovered_q_is_rechecked_and_another_rejected(tmp_path: Path) -> None:
    found = written(tmp_path, ROTATION)
    assert said(found)["recovered_q"].startswith("rechecked at sizes d = 1; d = 2; d = 3")
    claim_in(found, "recovered_q")["data"]["Q[x,x]"] = "2*S"
    assert rejected(sealed(found))


@pytest.mark.parametrize(
    ("names", "count"), [(FORGED_FROM[::4], 40), pytest.param(FORGED_FROM, 150, marks=pytest.mark.slow)]
)
def test_no_forged_certificate_passes(names: tuple[str, ...], count: int) -> None:
    made = list(forgeries([certificate_of(ROOT / f"{name}.yaml") for name in names], count, 11))
    assert [name for name, changed in made if passes(changed)] == []
    assert len({name for name, _ in made}) >= min(len(FORGERS) - 3, 16)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_not_sealed_as_proved(name: str) -> None:
    changed = json.loads(certificate_of(ROOT / f"tests/recheck/wrong/{name}.yaml"))
    assert prove_what_is_wrong(changed, Random(1))
    with pytest.raises(recheck.FailureError, match=f"{WRONG[name]} fails|{WRONG[name]}: a term is as steep"):
        recheck.recheck(sealed(changed))


RESTING = {
    "dynamics/sgnht": ("marginal", "unique", "explosion"),
    "builds/gibbs_dp_mixture": ("draw", "cycle", "exact", "irreducible"),
}


@pytest.mark.parametrize(("name", "id_"), [(name, id_) for name, ids in RESTING.items() for id_ in ids])
def test_no_proof_is_accepted_beside_a_premise_that_is_not_proved(name: str, id_: str) -> None:
    """Whatever else is made to fit: the verdict, the assumptions and the seal."""
    for premise in recheck.RESTS_ON[id_]:
        for verdict in ("refuted", "undecided"):
            changed = json.loads(certificate_of(ROOT / f"specs/{name}.yaml"))
            known = {c["id"]: c for c in changed["claims"]}
            if premise not in known:
                continue
            known[premise] |= {"verdict": verdict, "given": [], "witness": {} if verdict == "refuted" else None}
            if premise == "explosion":
                known[premise]["required"] = verdict == "refuted"
            for other in known.values():  # only this one is left without its premise
                if other["id"] != id_ and premise in recheck.RESTS_ON.get(other["id"], ()):
                    other |= {"verdict": "undecided", "given": []}
            with pytest.raises(recheck.FailureError, match=f"{id_} is proved, and rests on {premise}"):
                recheck.recheck(sealed(settled(changed)))


@pytest.mark.parametrize("domain", ["circle(0, 3)", "interval(0, 3)"])
@pytest.mark.parametrize("power", ["1", "1/2"])
def test_a_curve_that_leaves_a_bounded_domain_refutes_no_integral(domain: str, power: str, tmp_path: Path) -> None:
    changed = written(tmp_path, CIRCLE_OF_THREE.replace("DOMAIN", domain))
    claim = claim_in(changed, "normalisable")
    assert claim["verdict"] == "proved"
    witness = {"x": "9/8", "y": "1", "region": f"x = u0*s**({power}), with s >= 1", "H in the region": "-1"}
    claim |= {"verdict": "refuted", "witness": witness, "data": {}}
    changed["verdict"] = "refuted"
    with pytest.raises(recheck.FailureError, match="normalisable"):
        recheck.recheck(sealed(changed))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["c14_historic_correction", "c16_force_sghmc"])
def test_what_rests_on_laws_of_functions_is_let_pass(name: str) -> None:
    assert rechecked(ROOT / f"tests/errata/corrected/{name}.yaml")


@pytest.mark.parametrize("name", some(FORGED_FROM, 9))
def test_what_is_forged_is_right_before(name: str) -> None:
    assert rechecked(ROOT / f"{name}.yaml")


EVERY = sorted(
    path
    for pattern in ("specs/*/*.yaml", "tests/mutants/**/*.yaml", "tests/errata/*/*.yaml")
    for path in ROOT.glob(pattern)
)


def of_the_compiler(document: Dynamics | Target | Build) -> list[tuple[str, str, bool]]:
    """Return part, id and whether it is required of every claim that the compiler asks, new advisory ones left out."""
    match document:
        case Dynamics():
            found = [("dynamics", applicable_claims(DYNAMICS, document))]
        case Target():
            found = [("target", applicable_claims(TARGETS, document))]
        case Scheme():
            found = [("scheme", applicable_claims(SCHEMES, document))]
        case Build():
            found = [
                ("dynamics", claims_in_build(DYNAMICS, bind(document), document)),
                ("target", claims_in_build(TARGETS, document.target, document)),
                ("build", applicable_claims(BUILDS, document)),
            ]
    return [(part, c.id, c.required) for part, claims in found for c in claims if c.required or c.id in NEEDS]


def test_its_copy_of_the_tables_says_what_they_say() -> None:
    tables = {"dynamics": DYNAMICS, "target": TARGETS, "scheme": SCHEMES, "build": BUILDS}
    copied = [(part, row.partition(":")[0]) for part, rows in recheck.ASKED.items() for row in rows.split()]
    rows = {(part, claim.id): claim for part, table in tables.items() for claim in table}
    assert [key for key in copied if key not in rows] == []
    assert [key for key, claim in rows.items() if claim.required and key not in copied] == []
    assert {key for key, claim in rows.items() if not claim.required and key in copied} == recheck.ADVISORY
    assert {claim.id for claim in rows.values() if claim.excused} == set(recheck.EXCUSED)
    assert {claim.id for claim in rows.values() if claim.stops} == recheck.STOPS
    assert {claim.id: claim.rests_on for claim in rows.values() if claim.rests_on} == recheck.RESTS_ON
    assert {*recheck.CHECKS, *OF_WORDS} <= RECHECKED <= {id_ for _, id_ in copied}


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


@pytest.mark.parametrize("path", some(EVERY), ids=lambda path: "/".join(path.with_suffix("").parts[-2:]))
def test_it_derives_the_claims_that_the_compiler_asks(path: Path) -> None:
    try:
        document = load(path)
    except DocumentError:
        pytest.skip("it is faulty, and asked nothing")
    found = recheck.Documents(documents(document)).applicable()
    assert [(*claim, claim not in recheck.ADVISORY) for claim in found] == of_the_compiler(document)


def test_it_reads_every_function_of_the_language() -> None:
    language = {*ELEMENTWISE, *ELEMENTWISE_PAIRS, *MATRIX_FUNCTIONS, *CALCULUS}
    meant = {head.partition("(")[0] for head in recheck.MEANINGS}
    assert language <= {*recheck.MATRIX, *recheck.PAIRS, *recheck.CALCULUS, *meant}


TORUS = """
name: torus
state: {x: {domain: circle}, y: {domain: circle}}
H: 0
D: [[1, 0], [0, 1]]
claims: {drift: {x: 1, y: 1}}
"""


def test_words_switch_nothing_off(tmp_path: Path) -> None:
    found = written(tmp_path, TORUS)
    found["documents"]["dynamics"]["H"] = "sin(x)"
    for claim in found["claims"]:
        claim["by"] = "stationary, but not representable: a current goes round the torus"
    assert rejected(sealed(found))


REAL = {"U(theta)": "theta[0]**2/2", "theta": "[1]", "r": "[2]", "d": "1", "M": "[[1]]", "C": "[[2]]"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"U(theta)": "theta[0]*r[0]"},
        {"U(theta)": "0"},
        {"C": "[[r[0]]]"},
        {"M": "[[-1]]"},
        {"d": "2"},
        {"theta": "[r[0]]"},
        {"M": "M"},
        {"unheard": "1"},
    ],
    ids=str,
)
def test_a_witness_is_parsed_not_believed(wrong: dict[str, str]) -> None:
    changed = of("sghmc")
    claim = claim_in(changed, "claimed_drift")
    witness = {**REAL, **wrong, "the claimed drift of r less the derived one": "1"}
    claim |= {"verdict": "refuted", "for_d": {"d": 1}, "witness": witness}
    changed["verdict"] = "refuted"
    with pytest.raises((recheck.FailureError, recheck.UnreadError)) as reason:
        recheck.recheck(sealed(changed))
    assert "does not fail as stated" not in str(reason.value)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "null", "[" * 100_000, '{"a": ' * 50_000, '{"claims": NaN}', '{"documents": {"dynamics": {"state": 3}}}',
     '{"verdict": 1, "verdict": 2}', "9" * 100_000, "\x00\xff"],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_what_is_no_certificate_ends_with_2_and_a_sentence(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.json").write_text(text, encoding="utf-8")
    assert recheck.main([str(tmp_path / "bad.json")]) == 2
    assert "no certificate" in capsys.readouterr().out


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


@pytest.mark.parametrize(
    ("text", "value"), [("digamma(x)", "-0.57721566490153286"), ("trigamma(x)", "1.6449340668482264")]
)
def test_slopes_of_log_gamma_are_read(text: str, value: str) -> None:
    d = recheck.Documents({"dynamics": {"state": {"x": {"domain": "positive"}}, "H": "loggamma(x)", "D": [["1"]]}})
    page = recheck.Page(d, {"x": "1"})
    assert abs(float(arb(page.value(page.scalar(text))).mid()) - float(value)) < 1e-15


@pytest.mark.parametrize(("factor", "flows"), [("1/2", False), ("3/2", False), ("5/2", True)])
def test_what_flows_through_a_face_is_seen(factor: str, flows: bool) -> None:
    parts = {"state": [["x", {"domain": "positive"}]], "H": f"{factor}*log(x)", "D": [["x**2"]], "Q": [["0"]]}
    claim = {"id": "boundary", "given": [], "data": {}, "for_d": "all", "by": "growth", "witness": None}
    with pytest.raises(recheck.FailureError, match="boundary fails") if flows else contextlib.nullcontext():
        recheck.proved(claim, recheck.Documents({"dynamics": parts}), [], "seed")  # D exp(-H) = x**(2 - factor)


SINE = """
name: sine
state: {x: {}}
H: x**2/2 + sin(x**3)
D: [[1]]
Q: [[0]]
"""


def test_slopes_of_a_sine_are_seen_far_out(tmp_path: Path) -> None:
    found = written(tmp_path, SINE)
    assert said(found)["explosion"].startswith("tried")
    claim = claim_in(found, "explosion")
    claim["data"] = {"W": "H"}  # with L H = H'' - H'**2, which is 9*x**4 where sin(x**3) = -1
    with pytest.raises(recheck.FailureError, match="explosion fails"):
        recheck.recheck(sealed(found))


STATED = """
name: stated
state: {theta: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta)
D: [[I]]
Q: [["0"]]
claims: {lyapunov: U(theta)}
"""


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 2])
def test_what_a_function_of_u_contains_by_is_needed(tmp_path: Path, at: int) -> None:
    found = written(tmp_path, STATED)
    assert said(found)["explosion"].startswith("tried at sizes d = 1; d = 2")
    claim = claim_in(found, "explosion")
    claim["given"].pop(at)  # that U -> oo, or that U'' <= c (1 + U), which is not so of theta**2 + sin(theta**3)
    with pytest.raises(recheck.FailureError, match="explosion fails"):
        recheck.recheck(sealed(settled(found)))


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "fails"), [("5/4", True), ("2", False)])
def test_the_slope_of_a_sine_in_a_current_is_seen_far_out(factor: str, fails: bool) -> None:
    parts = {"state": [["x", {}], ["y", {}]], "H": f"{factor}*log(1 + x**2 + y**2)", "D": [["1", "0"], ["0", "1"]]}
    parts["Q"] = [["0", "-sin(x**3)"], ["sin(x**3)", "0"]]  # with the current 3*x**2*cos(x**3) in y
    claim = {"id": "explosion", "given": [], "data": {}, "for_d": "all", "by": "integrals", "witness": None}
    with pytest.raises(recheck.FailureError, match="explosion fails") if fails else contextlib.nullcontext():
        recheck.proved(claim, recheck.Documents({"dynamics": parts}), [], "seed")


def test_a_refuted_claim_is_said_to_be_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "c.json"
    file.write_text(json.dumps(of("c_transposed")), encoding="utf-8")
    assert recheck.main([str(file)]) == 0
    words = dict(line.split("  ")[1].split(": ", 1) for line in capsys.readouterr().out.splitlines())
    claims = {claim["id"]: claim["verdict"] for claim in json.loads(file.read_text())["claims"]}
    assert (
        {id_ for id_, says in words.items() if says.startswith("refuted, ")}
        == {id_ for id_, verdict in claims.items() if verdict == "refuted"}
        != set()
    )


# What was changed, by somebody who makes everything else fit

Edit = Callable[[Json], Any]


def set_claim(id_: str, **parts: Any) -> Edit:
    """Change a claim."""
    return lambda whole: claim_in(whole, id_).update(parts)


def call(id_: str, verdict: str, **parts: Any) -> Edit:
    """Call a claim proved, or refuted by a witness."""
    required = {"required": verdict == "refuted"} if id_ == "explosion" else {}
    return lambda whole: turn(claim_in(whole, id_), verdict, **required, **parts)


def forget(id_: str, fact: str) -> Edit:
    """Leave out what a claim rests on."""
    return lambda whole: claim_in(whole, id_)["given"].remove(fact)


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


def in_witness(id_: str, key: str, text: str) -> Edit:
    """Change a value of a witness."""
    return lambda whole: claim_in(whole, id_)["witness"].update({key: text})


def unreadable(place: int, text: str) -> Edit:
    """Change the first or last value of the witness of an identity."""

    def edit(whole: Json) -> None:
        refuted = (one for one in whole["claims"] if one["verdict"] == "refuted" and one["id"] in IDENTITIES)
        witness = next(refuted)["witness"]
        witness[list(witness)[place]] = text

    return edit


def contain_by(W: str) -> Edit:
    """Call proved that nothing explodes that does, with a Lyapunov function or without."""

    def edit(whole: Json) -> None:
        if claim_in(whole, "explosion")["verdict"] != "refuted":
            pytest.skip("not refuted")
        call("explosion", "proved", by="for almost every initial state", data={"W": W} if W else {})(whole)

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


ENERGY_AT = {"d": "2", "theta": "[0, 0]", "r": "[1, 1]", "U(theta)": "theta[0]**2 + theta[1]**2"}
SYMMETRIC_THERE = {**ENERGY_AT, "K(theta)": "[[9, theta[0]], [theta[1], 9]]", "what is left": "1"}
BOUND = "U >= -c (1 + norm2(theta)) for some c"
CURRENTS = ("line_current", "vector_current", "half_line_current", "student_current", "decoupled_current")
REJECTED: list[tuple[str, Edit, str]] = [
    ("sghmc", refute_at_a_point, ""),
    ("c_transposed", lambda whole: [one.update(required=one["verdict"] != "refuted") for one in whole["claims"]], ""),
    ("c_transposed", set_kinds("positive definite"), ""),
    ("sghmc", set_kinds("real"), ""),
    ("sghmc", lambda whole: whole["documents"]["dynamics"].update(D=[["0", "0"], ["0", "2*C"]]), ""),
    ("sghmc", lambda whole: whole["claims"].remove(claim_in(whole, "q_skew")), "applicable are"),
    ("sghmc", lambda whole: whole.update(documents=of("c_transposed")["documents"]), ""),
    ("sghmc", add_nothing, ""),
    ("c_transposed", refute_all(witness=None), ""),
    ("c_transposed", lambda whole: [one.update(for_d="all") for one in whole["claims"]], ""),
    ("line_current", call("claimed_stationary", "proved"), ""),
    *[
        ("c_transposed", unreadable(place, text), "")
        for text in ("[nothing]", "unknown(1)", "x.__class__", "((", "", "[1, 2, 3, 4, 5]")
        for place in (0, -1)
    ],
    ("sghmc", forget("normalisable", "M is positive definite"), "normalisable fails"),
    ("sghmc", forget("normalisable", "exp(-U) has a finite integral"), "normalisable fails"),
    ("sghmc", forget("explosion", BOUND), "explosion fails"),
    ("sghmc", set_claim("d_psd", given=[]), "d_psd fails"),
    ("sghmc", set_claim("d_psd", given=["C is positive definite"]), "which the document does not say"),
    *[
        ("sghmc", set_claim("normalisable", given=[given]), "taken as given|no assumption")
        for given in ("exp(-H) has a finite integral", "it holds", "foo(")
    ],
    *[
        ("sghmc", call("explosion", "proved", by=f"Lyapunov function {W}", data={"W": W}), "explosion fails")
        for W in ("1", "-norm2(r)", "exp(-H)", "log(1 + norm2(r))", "H - 2*norm2(theta)**2")
    ],
    *[
        (path.stem, contain_by(W), "explosion fails|no Lyapunov")
        for path in DOCUMENTS
        if path.parent.name == "explosion"
        for W in ("", "H", "x**2", "norm2(x)", "log(1 + norm2(x))")
    ],
    *[
        (name, call("unique", "proved", by="D is positive definite"), "H is conserved")
        for name in ("sghmc", "hmc", "sgld")
    ],
    (
        "gsgrhmc",
        call("claimed_drift", "refuted", for_d={"d": 2}, witness=SYMMETRIC_THERE),
        "is not positive definite",
    ),
    *[
        ("decoupled_current", other_current(id_, label, value), "")
        for id_ in ("claimed_stationary", "explosion")
        for label, value in (("current of x", "2"), ("current of y", "-3"), ("current of z", "1"))
    ],
    *[
        ("cubic_force", in_witness("explosion", key, text), "")
        for key, text in (("end", "x -> oo"), ("drift of y", "a*y**5"), ("D of y", "y**2"), ("drift of y", "-a*y**3"))
    ],
    *[
        (f"tests/mutants/updates/{name}", lengthen(factor), "claimed_update fails")
        for name in ("sgld", "sghmc_sequential", "sgnht", "langevin_exact", "refresh")
        for factor in ("2", "1/2", "1 + 1/10**9", "sqrt(2)")
    ],
    *[("sghmc", add_to_energy(text), "") for text in ("10**10**9", "(10**999)**999", "2**(1/10**9)", "1e999999999")],
]
"""Documents, a change, and what the re-checker says of it."""


@pytest.mark.parametrize(("name", "edit", "match"), some(REJECTED, 3))
def test_what_was_changed_is_rejected_though_sealed(name: str, edit: Edit, match: str) -> None:
    changed = of(name)
    before = recheck.canonical(changed)
    edit(changed)
    assert recheck.canonical(changed) != before
    wrong = (recheck.FailureError, ValueError, LookupError, TypeError, AttributeError, SyntaxError)
    with ends(), pytest.raises((recheck.FailureError, recheck.UnreadError) if match else wrong, match=match or None):
        recheck.recheck(sealed(settled(changed)))


def test_an_odd_drift_runs_off_to_both_ends() -> None:
    changed = of("cubic_force")
    in_witness("explosion", "end", "y -> -oo")(changed)
    assert said(sealed(changed))["explosion"].startswith("rechecked")


SAID = [
    *[(name, id_, "rechecked:") for name in CURRENTS for id_ in ("claimed_stationary", "explosion")],
    ("cubic_force", "explosion", "rechecked"),
    ("sghmc", "explosion", "tried at sizes d = 1; d = 2"),
    *[(name, "unique", "rechecked: H is conserved at the point") for name in ("sghmc", "hmc", "sgld")],
]


@pytest.mark.parametrize(("name", "id_", "start"), SAID)
def test_what_is_rechecked_of_a_document(name: str, id_: str, start: str) -> None:
    assert said(of(name))[id_].startswith(start)


def test_what_is_granted_and_not_declared_is_said() -> None:
    assert said(of("sghmc"))["normalisable"].endswith("granted, not declared: exp(-U) has a finite integral")


SAID_OF_TEXTS = [
    (SPELLED, "d_psd", "rechecked"),  # as SymPy prints formulas
    (SPELLED, "claimed_drift", "rechecked"),
    (VALLEY, "normalisable", "tried"),  # exp(-x**2) sqrt(pi) exp(x**2/2) has a finite integral
    (POSITION, "stationary", "rechecked at sizes d = 4; d = 5"),
    (POSITION, "normalisable", "tried at sizes d = 4"),
    (MULTINOMIAL, "d_psd", "rechecked"),  # at a point that is searched for
    (CIRCLE, "periodic", "rechecked"),
    (TORUS, "claimed_stationary", "rechecked"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "id_", "start"), SAID_OF_TEXTS)
def test_what_is_rechecked_of_a_text(tmp_path: Path, text: str, id_: str, start: str) -> None:
    found = written(tmp_path, text)
    assert found["points"]
    assert claim_in(found, id_)["verdict"] == "proved"
    assert said(found)[id_].startswith(start)
