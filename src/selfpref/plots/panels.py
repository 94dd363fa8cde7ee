"""What the pictures with several judges share: room, looks, places within a row."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from selfpref.plots.marks import styled

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "D", "s", "^", "v", "P", "X")


def paper(width: float, height: float) -> Figure:
    """An empty figure with room at its edges: long row labels are set wider than measured."""
    figure = styled(width, height)
    figure.set_layout_engine("constrained", w_pad=0.09)
    return figure


def looks_of(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each name."""
    return {
        name: (COLORS[place % len(COLORS)], MARKERS[place % len(MARKERS)])
        for place, name in enumerate(sorted(names))
    }


def shifted(place: int, number: int) -> float:
    """Where the marks of one of several series stand within a row."""
    spread = 0.5 if number < 4 else 0.72
    return 0.0 if number < 2 else spread * (place / (number - 1) - 0.5)
