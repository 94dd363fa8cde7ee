"""Self-preference of LLM judges: four studies rerun, checked, corrected and carried on.

`selfpref.measure` says of a frame of judgments whether its judges favour themselves, and
`selfpref.read` of a file; both raise `selfpref.SelfprefError`. What they need is imported where
they are first used, with pandas and all.
"""

from typing import TYPE_CHECKING, Any

from selfpref.errors import SelfprefError

if TYPE_CHECKING:
    from selfpref.card.measured import measure, read

__all__ = ["SelfprefError", "__version__", "measure", "read"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in ("measure", "read"):
        from selfpref.card import measured  # noqa: PLC0415

        return getattr(measured, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
