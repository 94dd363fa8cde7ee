"""How captions tell of intervals."""

from typing import Any


def interval(of: str, params: Any) -> str:
    """Level, method and resamples.

    Args:
        of: What is resampled, such as `prompts`.
        params: With `bootstrap`.
    """
    boot = params.bootstrap
    return (
        f"{boot.level:.0%} {'BCa' if boot.method == 'bca' else boot.method} intervals, "
        f"{boot.resamples} bootstrap resamples of {of}"
    )
