"""Addresses of estimates in tables that call the bounds of their one estimate `lo` and `hi`."""

from typing import cast

from selfpref.statements import Address, Estimate, Frames, Number, value


class Bounded(Address):
    """The address of a number with bounds in the columns `lo` and `hi`."""

    def __call__(self, frames: Frames) -> Estimate:
        """The number with its bounds; raises as `Address` does."""
        found = (
            value(self.table, name, **self.where)(frames) for name in (self.column, "lo", "hi")
        )
        return Estimate(*(cast(Number, number) for number in found))


def bounded(table: str, column: str, **where: object) -> Bounded:
    """The address of a number whose bounds are the columns `lo` and `hi`."""
    return Bounded(table, column, where, interval=True)
