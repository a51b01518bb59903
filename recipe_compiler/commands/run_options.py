"""The settings of a run as they are given on the command line."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Settings of a run; None: as the build says."""

    draws: int | None = None
    warmup: int | None = None
    chains: int | None = None
    seed: int | None = None
    step_size: float | None = None
    batch_size: int | None = None
    thin: int | None = None
    lanes: bool | None = None
