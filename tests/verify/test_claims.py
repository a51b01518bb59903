"""The tables of claims are what all else is made of: findings, words in reasons, what repairs ask again."""

import ast
from pathlib import Path

import pytest
import sympy
from answers import answer, expect

import recipe_compiler as rc
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.formula.expression import Role, Symbol
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.load import load
from recipe_compiler.spec.places import digest
from recipe_compiler.spec.read_dynamics import join_declarations
from recipe_compiler.verdict import Answer, Proved, Refuted, Topic, Undecided
from recipe_compiler.verify.claims import DYNAMICS, list_explained_claims
from recipe_compiler.verify.claims_in_builds import BUILDS, SCHEMES, TARGETS
from recipe_compiler.verify.core.obligations import ENTRIES
from recipe_compiler.verify.recover import search
from recipe_compiler.verify.uniqueness import unique

PACKAGE = Path(__file__).parents[2] / "recipe_compiler"
ROWS = {claim.id: claim for claim in DYNAMICS}
PROVED, REFUTED, OPEN = Answer(Proved("x")), Answer(Refuted("x", ())), Answer(Undecided(("x",)))


def test_findings_are_made_by_tables_alone() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    made = {
        path.relative_to(PACKAGE).as_posix()
        for path, text in texts.items()
        if "Finding" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding"
    }
    assert made == {"verify/claims.py", "lint/findings.py"}


@pytest.mark.parametrize("table", [DYNAMICS, TARGETS, SCHEMES, BUILDS])
def test_a_claim_has_one_row(table: tuple) -> None:
    assert len({claim.id for claim in table}) == len({claim.says for claim in table}) == len(table)
    assert not [claim.id for claim in table if claim.blocks_compile and claim.required]
    assert not [claim.id for claim in table if claim.waived and not claim.required]


def test_what_a_claim_reads_are_entries_of_documents() -> None:
    read = {entry for claim in DYNAMICS for entry in (*(claim.reads or ()), *claim.also_reads)}
    assert read == set(ENTRIES)


@pytest.mark.parametrize("needed", [unique.NEEDED, search.NEEDED])
def test_reasons_name_claims_in_the_words_of_the_table(needed: tuple) -> None:
    assert set(needed) <= {(claim.says, claim.decide) for claim in DYNAMICS}


@pytest.mark.parametrize(
    ("claim", "answer", "counts"),
    [
        ("stationary", PROVED, True),
        ("stationary", OPEN, True),
        ("unique", REFUTED, False),
        ("explosion", REFUTED, True),
        ("explosion", OPEN, False),
        ("normalisable", OPEN, True),
        ("normalisable", Answer(OPEN.decision, waived=True), False),
    ],
)
def test_what_an_answer_counts_for_is_said_by_its_row(claim: str, answer: Answer, counts: bool) -> None:
    finding = ROWS[claim].finding(answer, 2.0)
    assert finding.required is counts
    assert (finding.id, finding.says, finding.seconds) == (claim, ROWS[claim].says, 2.0)
    assert finding.decision is answer.decision


def test_what_is_proved_first_of_a_repair_is_what_repairs_are_for() -> None:
    assert list_explained_claims(Topic.REPAIR) | {"periodic"} == {
        claim.id for claim in DYNAMICS if claim.rechecked_by_repairs
    }


def test_a_lyapunov_function_is_stated_in_python_too() -> None:
    x = rc.vector("x", "d")
    made = rc.Dynamics(name="p", state=[x], H=x.T @ x / 2, D=[[rc.I]], Q=[[0]], claims={"lyapunov": x.T @ x})
    expect(answer(made.document, "explosion"), "proved", "Lyapunov function x.T @ x, as stated")


@pytest.mark.parametrize("name", ["cir_root", "exponential_ou"])
def test_the_law_of_an_image_is_the_image_of_the_law(name: str) -> None:
    """H_u(g) - H - log abs det Dg has one value at two states of three coordinates, in 30 digits."""
    dynamics = load(PACKAGE.parent / f"specs/dynamics/{name}.yaml")
    of, (_, g) = dynamics.claims.image.of, dynamics.claims.image.map[0]
    at, block = Setting(join_declarations(of, dynamics), {"d": 3}), of.declarations.blocks[0]
    z, u = ([row[0] for row in rows(f, at)] for f in (Symbol(block.name, block.shape, Role.BLOCK), g))
    H, H_u = (rows(f, at)[0][0] for f in (of.H, substitute(dynamics.H, dict(dynamics.claims.image.map))))
    slopes = [sympy.log(x.diff(y)) for x, y in zip(u, z, strict=True)]

    def evaluate(f: sympy.Expr, state: tuple[int, ...]) -> sympy.Expr:
        values = {s: sympy.Rational(3 + n, 4) for n, s in enumerate(sorted(f.free_symbols - {*z}, key=str))}
        return f.subs({**values, **{x: sympy.Rational(n, 7) for x, n in zip(z, state, strict=True)}}).evalf(30)

    def differ(f: sympy.Expr) -> sympy.Expr:
        return abs(evaluate(f, (3, 9, 11)) - evaluate(f, (8, 2, 5)))

    assert differ(H_u - H - sum(slopes)) < 1e-25
    assert differ(H_u - H) > 0.1


def test_an_image_is_stated_in_python_too(tmp_path: Path) -> None:
    y, m = rc.vector("y", "d"), rc.vector("m", "d")
    kappa, v = rc.scalar("kappa", is_="positive"), rc.scalar("v", is_="positive")
    image = {"of": "ornstein_uhlenbeck", "map": {"y": "-y"}, "inverse": {"y": "-y"}}
    claims = {"drift": {y: -kappa * (m + y)}, "image": image}
    H = (y + m).T @ (y + m) / (2 * v)
    made = rc.Dynamics(name="p", state=[y], H=H, D=[[kappa * v * rc.I]], Q=[[0]], claims=claims)
    expect(answer(made.document, "image"), "proved")
    (tmp_path / "again.yaml").write_text(made.to_yaml())
    assert digest(made.document) == digest(load(tmp_path / "again.yaml"))
