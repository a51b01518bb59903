"""Binding is substitution, declarations included."""

from pathlib import Path

from recipe_compiler.formula.shapes import Kind
from recipe_compiler.formula.show import text
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load


def test_bound_parameters_are_gone_and_new_ones_declared(specs: Path) -> None:
    dynamics = bind(load(specs / "builds/sghmc_logistic.yaml"))
    assert [(p.name, p.kinds) for p in dynamics.declarations.parameters] == [("c", (Kind.NONNEGATIVE,))]
    assert text(dynamics.D[1][1]) == "c*I"
    assert "M" not in text(dynamics.H)
    assert "M" not in text(dict(dynamics.claims.drift)["r"])


def test_the_potential_stays_abstract(specs: Path) -> None:
    dynamics = bind(load(specs / "builds/sghmc_logistic.yaml"))
    assert [function.name for function in dynamics.declarations.functions] == ["U"]
    assert "U(theta)" in text(dynamics.H)


def test_a_build_without_bindings_leaves_the_dynamics_as_they_are(specs: Path) -> None:
    build = load(specs / "builds/sghmc_gaussian.yaml")
    assert bind(build) == build.dynamics


def test_a_function_is_bound_in_the_middle_of_formulas(tmp_path: Path, specs: Path) -> None:
    (tmp_path / "dynamics.yaml").write_text(
        "name: sgrld\nstate: {theta: {shape: d, domain: interval(0, b)}}\nparameters: {b: {is: positive}}\n"
        "functions:\n  U: {of: theta, role: potential}\n  G: {of: theta, shape: [d, d], is: positive semidefinite}\n"
        "H: U(theta)\nD: [[G(theta)]]\nQ: [[0]]\nassume: [b > 1]\n"
        "claims: {drift: {theta: 'div(G(theta), theta) - G(theta) @ grad(U, theta)'}}\n"
    )
    (tmp_path / "target.yaml").write_text(
        "name: t\nstate: {theta: {shape: d, domain: interval(0, 2)}}\npotential: theta.T @ theta\n"
    )
    (tmp_path / "build.yaml").write_text(
        "name: b\ndynamics: dynamics.yaml\ntarget: target.yaml\nbind: {G: diag(theta)*a, b: 2}\nparameters: "
        "{a: {is: positive, value: 3}}\nscheme: {name: euler}\nvariant: full\nsizes: {d: 2}\nrun: {step_size: 0.1}\n"
    )
    build = load(tmp_path / "build.yaml")
    dynamics = bind(build)
    assert text(dynamics.D[0][0]) == "diag(theta)*a"
    assert text(dynamics.declarations.assume[0]) == "2 > 1"
    assert text(dynamics.declarations.blocks[0].domain.bounds[1]) == "2"
    assert "G" not in text(dict(dynamics.claims.drift)["theta"])


def test_bindings_see_the_parameters_of_the_target(tmp_path: Path, specs: Path) -> None:
    """The mass of SGHMC is the precision of the Gaussian that it samples."""
    text_of = (specs / "builds/sghmc_gaussian_baoab.yaml").read_text().replace("../", f"{specs}/")
    head, tail = text_of.split("  M:\n")[0], text_of[text_of.index("scheme:") :]
    (tmp_path / "build.yaml").write_text(head + "bind: {M: inv(Sigma), C: 2*inv(Sigma)}\n" + tail)
    dynamics = bind(load(tmp_path / "build.yaml"))
    assert [(p.name, p.kinds) for p in dynamics.declarations.parameters] == [("Sigma", (Kind.PD,))]
    assert text(dynamics.D[1][1]) == "2*inv(Sigma)"
