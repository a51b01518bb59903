"""Builds from YAML: what is bound, valued and scheduled, how minibatches are drawn, and what changes a digest."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from answers import SPECS, document, shipped

from recipe_compiler.errors import DocumentError, ModelError, SpecError
from recipe_compiler.formula.expression import Apply, Filled, Identity, Symbol
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Control, Draw, Schedule, Slices, Value
from recipe_compiler.spec.moves import cycle_text
from recipe_compiler.spec.places import compiled_digest, digest

BUILD = """
name: logistic
dynamics: sghmc
target: logistic_regression
bind: {M: I, C: c*I}
parameters: {c: {is: nonnegative, value: 2}}
scheme: {name: sequential_euler, order: [r, theta]}
variant: minibatch
gradient_noise: {V: 0}
data: {file: breast_cancer, x: [mean_area, mean_texture], y: diagnosis, standardise: [x]}
run: {step_size: 0.02, batch_size: 64, seed: 1}
"""


def built(*changes: tuple[str, str], **beside: str) -> Build:
    own = BUILD
    for old, new in changes:
        assert old in own
        own = own.replace(old, new)
    return document(own, **beside)


def minibatch(own: str) -> tuple[str, str]:
    return "variant: minibatch", f"variant: minibatch\nminibatch: {{{own}}}"


def data(own: str) -> tuple[str, str]:
    return "standardise: [x]", f"standardise: [x], {own}"


def test_a_build_holds_all_that_a_module_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)  # paths are relative to the build
    build = built()
    assert build.bind[0] == ("M", Identity("d"))
    assert build.values == (("prior_variance", Value(((Fraction(10),),))), ("c", Value(((Fraction(2),),))))
    assert (build.scheme.name, build.scheme.order, build.variant) == ("sequential_euler", ("r", "theta"), "minibatch")
    assert (build.replacement, build.V, build.sizes) == (False, Filled(0, Shape("d", "d")), ())
    assert build.data is not None
    assert dict(build.data.columns)["x"] == ("mean_area", "mean_texture")
    assert build.data.file.resolve() == (SPECS / "data/breast_cancer.csv").resolve()
    run = build.run
    assert (run.step_size, run.batch_size, run.seed, run.schedule) == (0.02, 64, 1, Schedule("constant"))
    assert (run.draws, run.warmup, run.thin, run.chains) == (1000, 1000, 1, 4)  # as by default
    assert load(SPECS / "builds/sghmc_logistic.yaml").name == "sghmc_logistic"


@pytest.mark.parametrize(
    ("change", "attribute", "expected"),
    [
        (minibatch("replacement: true"), "replacement", True),
        (("V: 0", "V: c*I"), "V.shape", Shape("d", "d")),
        (("run:", "init: {theta: N(0, I), r: c*ones}\nrun:"), "init.names", ["theta", "r"]),
        (("seed: 1", "schedule: {name: power, b: 100, c: 0.55}"), "run.schedule", Schedule("power", b=100.0, c=0.55)),
        (("seed: 1", "schedule: {name: cyclic, period: 500}"), "run.schedule.period", 500),
        (data("shuffle: 7"), "data.shuffle", 7),
        (minibatch("control_variates: mode"), "control", (Control("theta_mode", "grad_U_mode"),)),
    ],
)
def test_a_key_says_what_it_sets(change: tuple[str, str], attribute: str, expected: Any) -> None:
    found: Any = built(change)
    for name in attribute.split("."):
        found = [key for key, _ in found] if name == "names" else getattr(found, name)
    assert found == expected


def test_blocks_are_of_data_in_random_order() -> None:
    build = built(minibatch("blocks: contiguous"), data("shuffle: 7"))
    assert (build.contiguous, build.replacement) == (True, False)
    assert built(minibatch("blocks: contiguous"), data("shuffled: true")).data.shuffled  # type: ignore[union-attr]
    for changes, said in (
        ((minibatch("blocks: contiguous"),), "whose order is not known to be random"),
        ((minibatch("blocks: contiguous, replacement: true"), data("shuffle: 7")), "beside `replacement: true`"),
        ((data("shuffle: 7, shuffled: true"),), "expected one of the two"),
    ):
        with pytest.raises(DocumentError, match=said):
            built(*changes)


@pytest.mark.parametrize(
    ("V", "shape", "kinds", "form"),
    [
        ("V: estimate", Shape("d", "d"), (Kind.PSD,), Symbol),
        ("V: estimate, form: diagonal", Shape("d"), (Kind.NONNEGATIVE,), Apply),
    ],
)
def test_an_estimated_v_is_a_parameter(V: str, shape: Shape, kinds: tuple[Kind, ...], form: type) -> None:
    build = built(("V: 0", V))
    (found,) = [parameter for parameter in build.parameters if parameter.name == "V_hat"]
    assert (build.estimated, found.shape, found.kinds) == ("V_hat", shape, kinds)
    assert isinstance(build.V, form)


def test_names_of_estimates_and_the_word_give_way_to_declared_ones() -> None:
    declared = ("parameters: {", "parameters: {V_hat: {value: 1}, ")
    assert built(("V: 0", "V: estimate"), declared).estimated == "V_hat_"
    assert built(("V: 0", "V: estimate*I"), ("parameters: {", "parameters: {estimate: {value: 1}, ")).estimated is None


def test_control_variates_of_several_blocks_are_two_parameters_of_each() -> None:
    own = "{name: own, state: {a: {}, grad_U_a: {}, a_mode: {shape: 3}}, data: {y: {shape: N}}, log_prior: 0,\n"
    build = document(
        "name: several\ndynamics: sgld\ntarget: own.yaml\nbind: {D: I}\nscheme: {name: euler}\nvariant: minibatch\n"
        "minibatch: {control_variates: mode}\ndata: {file: data.csv, y: y}\nrun: {step_size: 0.1, batch_size: 4}\n",
        own=f"{own} log_likelihood: -(y - a - grad_U_a)**2 - norm2(a_mode)}}", **{"data.csv": "y\n1\n"},
    )  # fmt: skip
    names = [(own.mode, own.at_mode) for own in build.control]
    assert names == [
        ("a_mode_", "grad_U_a_mode"), ("grad_U_a_mode_", "grad_U_grad_U_a_mode"), ("a_mode_mode", "grad_U_a_mode_mode"),
    ]  # fmt: skip
    shapes = {parameter.name: parameter.shape for parameter in build.parameters}
    assert [shapes[mode] for mode, _ in names] == [SCALAR, SCALAR, Shape(3)]


def test_arrays_take_the_place_of_columns(tmp_path: Path) -> None:
    own = BUILD[: BUILD.index("data:")] + "data: {arrays: {y: y.npy, x: big/x.npy}, dtype: float32}\n"
    (tmp_path / "build.yaml").write_text(own + "run: {step_size: 0.1, batch_size: 4}\n")
    found = load(tmp_path / "build.yaml").data  # type: ignore[union-attr]
    assert [(name, path.name) for name, path in found.arrays] == [("x", "x.npy"), ("y", "y.npy")]
    assert found.dtype == "float32"


def test_faults_of_all_documents_come_together() -> None:
    broken = (SPECS / "dynamics/sghmc.yaml").read_text(encoding="utf-8").replace("[0, C]]", "[0, K]]")
    with pytest.raises(SpecError) as caught:
        built(("dynamics: sghmc", "dynamics: sghmc.yaml"), ("seed: 1", "thin: 0"), sghmc=broken)
    assert [fault.entry for fault in caught.value.faults] == ["run.thin", "D[r,r]"]


GAUSSIAN = """
name: gaussian
dynamics: sghmc
target: target.yaml
bind: {M: I, C: I}
scheme: {name: sequential_euler, order: [r, theta]}
variant: full
sizes: {d: 3}
run: {step_size: 0.1}
"""


@pytest.mark.parametrize(
    ("target", "entry", "said"),
    [
        ("{W: {shape: [2, p]}, b: {}}\npotential: trace(W @ W.T) + b**2", "", "coordinates (W, b), expected 3"),
        (
            "{v: {shape: d, domain: positive}}\npotential: norm2(v)",
            "",
            "the domain positive of the target's `v`, expected",
        ),
        ("{v: {shape: d}}\npotential: norm2(v) + v[3]", "sizes.d", "expected d >= 4"),
    ],
)
def test_the_target_has_the_coordinates_and_domains_of_the_potentials_block(target: str, entry: str, said: str) -> None:
    with pytest.raises(DocumentError) as caught:
        document(GAUSSIAN, target=f"state: {target}")
    assert any(said in fault.problem and (fault.entry == entry or not entry) for fault in caught.value.faults)


def test_several_target_blocks_fit_when_they_add_up() -> None:
    text = "state: {v: {shape: p}, b: {}}\npotential: v.T @ v + b**2"
    assert document(GAUSSIAN.replace("{d: 3}", "{d: 3, p: 2}"), target=text).sizes == (("d", 3), ("p", 2))


def test_columns_give_the_sizes_of_a_target_of_several_blocks() -> None:
    target = "state: {theta: {shape: k}, b: {}}\ndata: {x: {shape: [N, k]}, y: {shape: N}}\n"
    target += "log_prior: -b**2\nlog_likelihood: normal(y, x @ theta + b, 1)\n"
    changes = (("logistic_regression", "target.yaml"), data("intercept: true"))
    assert built(*changes, target=target).sizes == (("k", 3),)
    with pytest.raises(DocumentError, match="found 2 columns and the intercept, expected 4: k"):
        built(*changes, ("run:", "sizes: {k: 4}\nrun:"), target=target)


def test_a_field_of_a_blocks_name_keeps_it() -> None:
    target = "state: {theta: {shape: d}}\ndata: {x: {shape: [N, d]}, r: {shape: N}}\n"
    target += "log_likelihood: normal(r, x @ theta, 1)\n"
    build = built(("logistic_regression", "target.yaml"), (" y: ", " r: "), target=target)
    assert [block.name for block in build.dynamics.declarations.blocks] == ["theta", "r_"]
    assert build.scheme.order == ("r_", "theta")


def test_a_build_never_runs_a_python_file(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'CANARY')!r}, 'w')")
    (tmp_path / "build.yaml").write_text(BUILD.replace("sghmc", "evil.py"))
    with pytest.raises(ModelError):
        load(tmp_path / "build.yaml")
    assert not (tmp_path / "CANARY").exists()


# Binding is substitution, declarations included.


def test_bound_parameters_are_gone_and_new_ones_declared() -> None:
    dynamics = bind(built())
    assert [(p.name, p.kinds) for p in dynamics.declarations.parameters] == [("c", (Kind.NONNEGATIVE,))]
    assert [function.name for function in dynamics.declarations.functions] == ["U"]
    assert text(dynamics.D[1][1]) == "c*I"  # type: ignore[index]
    assert "U(theta)" in text(dynamics.H)
    assert "M" not in text(dynamics.H) + text(dict(dynamics.claims.drift or ())["r"])
    build = shipped("builds/sghmc_gaussian")
    assert bind(build) == build.dynamics  # which binds nothing


def test_a_function_is_bound_in_the_middle_of_formulas() -> None:
    build = document(
        "name: b\ndynamics: dynamics.yaml\ntarget: target.yaml\nbind: {G: diag(theta)*a, b: 2}\nparameters: "
        "{a: {is: positive, value: 3}}\nscheme: {name: euler}\nvariant: full\nsizes: {d: 2}\nrun: {step_size: 0.1}\n",
        dynamics="state: {theta: {shape: d, domain: 'interval(0, b)'}}\nparameters: {b: {is: positive}}\n"
        "functions:\n  U: {of: theta, role: potential}\n  G: {of: theta, shape: [d, d], is: positive semidefinite}\n"
        "H: U(theta)\nD: [[G(theta)]]\nQ: [[0]]\nassume: [b > 1]\n"
        "claims: {drift: {theta: 'div(G(theta), theta) - G(theta) @ grad(U, theta)'}}\n",
        target="state: {theta: {shape: d, domain: 'interval(0, 2)'}}\npotential: theta.T @ theta\n",
    )
    dynamics = bind(build)
    assert text(dynamics.D[0][0]) == "diag(theta)*a"  # type: ignore[index]
    assert text(dynamics.declarations.assume[0]) == "2 > 1"
    assert text(dynamics.declarations.blocks[0].domain.bounds[1]) == "2"
    assert "G" not in text(dict(dynamics.claims.drift or ())["theta"])


def test_bindings_see_the_parameters_of_the_target() -> None:
    """The mass of SGHMC is the precision of the Gaussian that it samples."""
    own = GAUSSIAN.replace("target.yaml", "gaussian").replace(
        "bind: {M: I, C: I}", "bind: {M: inv(Sigma), C: 2*inv(Sigma)}"
    )
    values = "parameters: {mu: {value: [0, 0, 0]}, Sigma: {value: [[2, 1, 0], [1, 2, 0], [0, 0, 1]]}}\n"
    dynamics = bind(document(own + values))
    assert [(p.name, p.kinds) for p in dynamics.declarations.parameters] == [("Sigma", (Kind.PD,))]
    assert text(dynamics.D[1][1]) == "2*inv(Sigma)"  # type: ignore[index]


@pytest.mark.parametrize(
    ("weights", "left", "shape"),
    [
        ("log(theta)", "", Shape("K")),
        ("log(theta) - log(sum(theta))*ones", "-sum(theta)", Shape("K")),
        ("-(y @ ones.T - ones @ mu.T)**2", "", Shape("N", "K")),
    ],
)
def test_weights_of_slices_are_alike_in_all_rows_or_of_each(weights: str, left: str, shape: Shape) -> None:
    stated = f"draw: z, slice: {weights}" + (f", left: {left}" if left else "")
    build = document(
        "name: sliced\ndynamics: still\ntarget: mixture_allocations\n"
        f"scheme: {{cycle: [draw: theta, draw: mu, {{{stated}, every: 2}}]}}\nvariant: full\nsizes: {{K: 2, N: 10}}\n"
        "data: {file: few_of_two_groups, y: y}\nrun: {step_size: 1, draws: 10}\n"
    )
    move = build.scheme.cycle[-1]
    assert isinstance(move, Draw)
    assert isinstance(move.slices, Slices)
    assert (move.slices.log_weights.shape, text(move.slices.log_weights)) == (shape, weights)
    assert (move.slices.left is None) is (not left)
    assert cycle_text(build.scheme) == f"[draw: theta, draw: mu, {{{stated}, every: 2}}]"


# A digest changes with what a document says, and with nothing else.


def sghmc(old: str = "", new: str = "") -> str:
    own = (SPECS / "dynamics/sghmc.yaml").read_text(encoding="utf-8")
    assert old in own
    return digest(document(own.replace(old, new) if old else own))


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("H: U", "# a comment\nH: U", True),
        ("H: U", "H:   U", True),
        ("is: positive definite}", 'is: "positive definite"}', True),
        ("{shape: d}\n  r", "\n    shape: d\n  r", True),
        ("r.T @ inv(M) @ r / 2", "r.T @ inv(M) @ r / 3", False),
        ("is: positive semidefinite", "is: positive definite", False),
        ("theta: {shape: d}\n  r: {shape: d}", "r: {shape: d}\n  theta: {shape: d}", False),
    ],
)
def test_meaning_and_the_order_of_z_are_in_a_digest_and_form_is_not(old: str, new: str, same: bool) -> None:
    assert (sghmc(old, new) == sghmc()) is same


TARGET = (SPECS / "targets/logistic_regression.yaml").read_text(encoding="utf-8")
LAWFUL = "state: {mu: {}, tau: {domain: positive}}\npotential: mu**2 + tau\nlaws: {tau: 'Gamma(1, 1)'}\n"


@pytest.mark.parametrize(
    ("change", "whole", "compiled"),
    [
        (("seed: 1", "seed: 2"), False, True),
        (("value: 2", "value: 3"), False, False),
        (("default: 10", "default: 11"), False, False),
    ],
)
def test_a_module_is_made_of_values_and_not_of_the_settings_of_runs(
    change: tuple[str, str], whole: bool, compiled: bool
) -> None:
    named = BUILD.replace("logistic_regression", "target.yaml")
    one, other = (document(named.replace(*own), target=TARGET.replace(*own)) for own in (("", ""), change))
    assert (digest(one) == digest(other)) is whole
    assert (compiled_digest(one) == compiled_digest(other)) is compiled


def test_a_law_counts_in_the_digest() -> None:
    texts = (LAWFUL, LAWFUL.replace("(1, 1)", "(1, 2)"), LAWFUL[: LAWFUL.index("laws")])
    assert len({digest(document(one)) for one in texts}) == 3
