"""Categories of the warnings about draws: to filter, or to turn into errors."""


class SampleWarning(UserWarning):
    """Numbers made of the draws are rough."""


class DoubtWarning(SampleWarning):
    """The draws are not to be believed: what ends `recipe run` with exit code 4."""
