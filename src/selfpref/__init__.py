"""Self-preference of LLM judges: four studies rerun, checked, corrected and carried on.

`selfpref.measure` says of a frame of judgments whether its judges favour themselves; it is imported
where it is first used, with pandas and all.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfpref.card.measured import measure

__all__ = ["__version__", "measure"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "measure":
        from selfpref.card.measured import measure  # noqa: PLC0415

        return measure
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
