"""Documents by their files: any kind of path, files that are not there, and documents that hold themselves."""

import os
from pathlib import Path

import pytest

import recipe_compiler
from recipe_compiler.errors import DocumentError, SpecError

BUILD = "name: b\ndynamics: {dynamics}\ntarget: {target}\nscheme: {{name: euler}}\nvariant: full\n"
BUILD += "run: {{step_size: 1}}\n"
SELF_LOADING = "import recipe_compiler\nsampler = recipe_compiler.load(__file__)\n"
SELF_CALLING = "def f(n):\n    return f(n + 1)\n\n\nf(0)\n"


class Named:
    """What `os.fspath` takes, and no Path."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return str(self.path)


@pytest.mark.parametrize("form", [str, Path, Named])
@pytest.mark.parametrize("name", ["dynamics/sghmc.yaml", "builds/sghmc_gaussian.yaml"])
def test_a_path_is_a_text_or_whatever_names_a_file(specs: Path, form, name: str) -> None:
    assert recipe_compiler.load(form(specs / name)) == recipe_compiler.load(specs / name)


@pytest.mark.parametrize("name", ["nowhere.yaml", "nowhere.py", "nowhere/at/all.yaml", f"{'a' * 300}.py"])
def test_a_file_that_is_not_there_is_told_by_its_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(SpecError, match=r"found no (such )?file") as caught:
        recipe_compiler.load(str(tmp_path / name))
    assert caught.value.faults[0].where.file == str(tmp_path / name)


def faults(path: Path) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        recipe_compiler.load(path)
    return [str(fault) for fault in caught.value.faults]


def test_a_build_that_names_itself_is_told_where_it_does(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BUILD.format(dynamics="a.yaml", target="a.yaml"), encoding="utf-8")
    assert faults(tmp_path / "a.yaml") == [
        f"{tmp_path / 'a.yaml'}:2:1  dynamics  found a build in `a.yaml`, expected dynamics",
        f"{tmp_path / 'a.yaml'}:3:1  target  found a build in `a.yaml`, expected a target",
    ]


@pytest.mark.parametrize("text", [SELF_LOADING, SELF_CALLING])
def test_a_python_file_without_an_end_is_told_in_our_words(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    (fault,) = faults(tmp_path / "mine.py")
    assert "calls, loads or holds itself" in fault
    assert "recursion" not in fault.lower()


def test_an_array_is_a_file(specs: Path, spoiled, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mu.npy")
    path = spoiled("builds/sgld_gaussian", ("mu: {value: [1, -2, 1/2]}", "mu: {value: mu.npy}"))
    assert any("found a pipe or a device in place of mu.npy" in fault for fault in faults(path))
