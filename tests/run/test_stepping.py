"""What a checkpoint belongs to: the code that makes draws, and not what a module says about itself."""

import re
from pathlib import Path

import pytest

from recipe_compiler.run.rerun import stepping_code

GENERATED = Path(__file__).parents[2] / "generated"
MODULES = ("sghmc_logistic", "sgld_gaussian", "sghmc_standard_normal")


def text_of(name: str) -> str:
    return (GENERATED / f"{name}.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MODULES)
def test_what_a_run_calls_is_the_code_that_steps(name: str) -> None:
    code = stepping_code(text_of(name))
    assert {"run", "step", "prepare", "seed_streams", "_FASTMATH"} <= code.keys()
    assert code.keys() & {"sample", "first_state", "SPEC_DIGEST", "_checked_array", "_run_chains"} == set()
    assert '"""' not in "".join(code.values())
    assert "# " not in "".join(code.values())


def changed(text: str, pattern: str, by: str) -> str:
    found, count = re.subn(pattern, by, text, count=1, flags=re.S)
    assert count == 1
    assert found != text
    return found


WORDS = {
    "header": (r'\A""".*?"""', '"""Another header, with other verdicts."""'),
    "digest": (r'SPEC_DIGEST = "[0-9a-f]*"', 'SPEC_DIGEST = "0"'),
    "docstring": (r'"""Write one step[^"]*"""', '"""Step."""'),
    "comment": (r"    # theta_new\[i\] = ", "    # theta, new: "),
    "sample": (r"    starts = _checked_starts\(", "    starts = _looked_at("),
}


@pytest.mark.parametrize("what", WORDS)
def test_words_and_what_calls_it_may_change(what: str) -> None:
    text = text_of("sghmc_logistic")
    assert stepping_code(changed(text, *WORDS[what])) == stepping_code(text)


STEPS = {
    "step": (r"eps \* r_new\[i\]", "eps * r[i]"),
    "gradient": (r"-y_row\[k\] \+ ", "y_row[k] + "),
    "prepare": (r"_noise_scale\(2\.0 \* c", "_noise_scale(3.0 * c"),
    "_REDUCTION": (r'"arcp", "reassoc"', '"reassoc"'),
    "_sigmoid": (r"(def _sigmoid\(x\):\n.*?)return ", r"\1return 1.0 * "),
}


@pytest.mark.parametrize("name", STEPS)
def test_what_makes_draws_is_noticed_by_its_name(name: str) -> None:
    before = stepping_code(text_of("sghmc_logistic"))
    now = stepping_code(changed(text_of("sghmc_logistic"), *STEPS[name]))
    assert [key for key in before if before[key] != now[key]] == [name]
