"""One posterior by a planned run of this compiler, in a process of its own; prints what came of it as JSON.

python own.py NAME BUILD.yaml OUT.npz
python own.py large ROWS OUT.npz               minibatches of 1,000
"""

import json
import os
import sys
import time
import warnings
from typing import Any

BEGAN = time.time() - time.process_time()

import numpy as np  # noqa: E402 - the clock runs first
from large import D, large_data  # noqa: E402

import recipe_compiler as rc  # noqa: E402

LARGE: dict[str, Any] = {
    "scheme": "baoab", "variant": "minibatch", "batch_size": 1000, "sizes": {"d": D}, "step_size": "auto",
}  # fmt: skip


def main(name: str, source: str, out: str) -> None:
    """Sample, and say how long each part took."""
    warnings.simplefilter("ignore", rc.SampleWarning)
    if name == "large":
        data = large_data(int(source))
        model = rc.compile("specs/dynamics/sghmc.yaml", "specs/targets/logistic_regression.yaml", cache=False, **LARGE)
    else:
        data = None
        model = rc.compile(source, allow_undecided=True, cache=False)
    fit = model.sample(data, progress=False)
    ended, spent = time.time(), sum(os.times()[:4])
    sampling = float(fit.attrs["sampling_seconds"])
    np.savez(out, **{str(key): value.to_numpy() for key, value in fit["posterior"].data_vars.items()})
    found = {"until_sampling": ended - BEGAN - sampling, "sampling": sampling, "processor": spent}
    print(json.dumps(found | {"trust": fit.verdict.trust}))


if __name__ == "__main__":
    main(*sys.argv[1:4])
