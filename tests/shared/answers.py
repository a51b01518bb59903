"""Documents written in a test, and what the program answers about them: one claim at a time, in this process.

A row of a table is a document, a claim, a verdict and words. `expect(answer(document(text), "d_psd"), "refuted",
"D[0,0]")` demands the verdict and words, and returns what the answer shows: the witness, or what a proof is made of.
"""

import os
import re
import textwrap
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from reports import decide_here

from recipe_compiler.run.observed import observed
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Document, Dynamics, Scheme
from recipe_compiler.spec.words import Letter, Word, read_letter
from recipe_compiler.verdict import Answer, Finding, Proved, Refuted
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.core.subject import prepare_subject
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.steps.split import Split, split_of

ROOT = Path(__file__).parents[2]
SPECS = ROOT / "specs"


def written(text: str, **beside: str | bytes) -> Path:
    """Return the path of a document that holds a text, other files beside it: `target=...` is in `target.yaml`.

    `SPECS` in a text stands for the folder of what ships; a text without a name gets one.
    """
    files = {n if "." in n else f"{n}.yaml": _whole(own) for n, own in {"document": text, **beside}.items()}
    folder = Path(os.environ["RECIPE_COMPILER_TESTS"]) / "written" / sha256(repr(files).encode()).hexdigest()[:24]
    folder.mkdir(parents=True, exist_ok=True)
    for name, own in files.items():
        (folder / name).write_bytes(own)
    return folder / "document.yaml"


def _whole(text: str | bytes) -> bytes:
    if not isinstance(text, str):
        return text
    text = textwrap.dedent(text).replace("SPECS", str(SPECS))
    has_name = re.match(r"(?!name:|format:|\{)\w+: ", text.lstrip()) is None
    return (text if has_name else f"name: written\n{text}").encode()


def document(text: str | Path, **beside: str | bytes) -> Any:
    """Return the document that a text states, or that a path names; of a build, with its data."""
    return observed(load(text if isinstance(text, Path) else written(text, **beside)))


def saved(array: Any) -> bytes:
    """Return the file of an array, as `np.save` writes it."""
    file = BytesIO()
    np.save(file, np.array(array))
    return file.getvalue()


def shipped(name: str) -> Any:
    """Return what ships under a name within `specs`: `dynamics/sghmc`."""
    return load(SPECS / f"{name}.yaml")


def answer(asked: Document, claim: str) -> Finding:
    """Return the finding of one claim about a document, as its report has it before its premises are looked at."""
    return decide_here(asked, (claim,), with_premises=False)[claim]


def expect(found: Answer | Finding, verdict: str, *words: str) -> dict[str, str]:
    """Demand a verdict and words of an answer, and return its witness or data; "not proved" demands another one."""
    decision = found.decision
    if verdict.startswith("not "):
        assert decision.verdict != verdict[4:], decision
    else:
        assert decision.verdict == verdict, decision
    text = said(found)
    for one in words:
        assert one in text, (one, text)
    return dict(decision.data if isinstance(decision, Proved) else getattr(decision, "witness", ()))


def said(found: Answer | Finding) -> str:
    """Return all that an answer says, a line each: grounds, residual, what is given, remarks."""
    decision = found.decision
    of_kind = (decision.by, *decision.remarks) if isinstance(decision, Proved) else (decision.residual,)
    of_kind += (decision.by,) if isinstance(decision, Refuted) else getattr(decision, "tried", ())
    return "\n".join((*of_kind, *decision.given))


def vector(text: str) -> list[Fraction]:
    """Return the numbers of a vector of a witness: `[1/2, -3]`."""
    return [Fraction(number) for number in text.strip("[]").split(", ")]


def word(text: str) -> Word:
    """Return a word of pieces: `B/2 A O`."""
    return tuple(one for one in map(read_letter, text.split()) if isinstance(one, Letter))


def split(dynamics: str | Dynamics, text: str = "", kind: str = "split", **more: Any) -> Split:
    """Return a step by a word, or a cycle of moves, of dynamics: those that ship under a name, or a document."""
    own = shipped(f"dynamics/{dynamics}") if isinstance(dynamics, str) else dynamics
    return split_of(prepare_subject(own), Scheme(kind, word(text), **more))


def stages(build: Build) -> Stages:
    """Return a build as claims about its step take it."""
    return Stages(build, bind(build))


def cycle_of(step: Split, build: Build) -> Cycle:
    """Return the moves of a step as claims about a cycle take them, beside the target of a build."""
    return Cycle(step, stages(replace(build, scheme=step.scheme)))
