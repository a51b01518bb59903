"""What the papers print, and what is right: every erratum about dynamics, by its number in the project's list.

`printed/` holds the equations as printed, `corrected/` as they should be; letters and notation are the papers'. A name
starts with the number of its erratum, and what is printed and corrected under one name belongs together. Their verdicts
are in `tests/golden`, witnesses and faults in `tests/documents/mutants/errata.yaml`.
"""

from pathlib import Path

HERE = Path(__file__).parent


def numbers(folder: str) -> set[str]:
    return {path.stem.partition("_")[0] for path in (HERE / folder).glob("*.yaml")}


def test_every_printed_erratum_has_its_correction() -> None:
    assert numbers("printed") - numbers("corrected") == {"c23", "c36"}
