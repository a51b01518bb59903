"""Verdict, method and time of the positivity proofs on matrices whose answer is known.

    python benchmarks/psd_corpus.py

Exit code 1 where a verdict is wrong or missing. Times are of one process that has imported everything.
"""

import sys
import time
from pathlib import Path

from recipe_compiler.verdict import Proved, Refuted, Verdict
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.equation.d_psd import d_psd

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "algebra"))

from psd_corpus import CORPUS, THIN, Matrix


def row(matrix: Matrix) -> tuple[bool, float]:
    """Decide one matrix and print its row; return whether the verdict is right, and the seconds it took."""
    subject = subject_of(matrix.load())
    begin = time.perf_counter()
    finding = d_psd(subject)
    seconds = time.perf_counter() - begin
    decision = finding.decision
    how = ""
    if isinstance(decision, Proved):
        how = decision.by
    elif isinstance(decision, Refuted):
        how = ", ".join(f"{name} = {value}" for name, value in decision.witness)
    else:
        how = "; ".join(decision.tried)
    right = finding.verdict is (Verdict.PROVED if matrix.proved else Verdict.REFUTED)
    mark = "" if right else "  <-- expected " + ("proved" if matrix.proved else "refuted")
    print(f"{matrix.name:28s} {finding.verdict.value:9s} {seconds:6.3f} s  {how[:90]}{mark}")
    return right, seconds


def main() -> int:
    """Print the table."""
    found = [row(matrix) for matrix in (*CORPUS, *THIN)]
    right = sum(ok for ok, _ in found)
    print(f"{right} of {len(found)} right; worst {max(seconds for _, seconds in found):.2f} s")
    return 0 if right == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
