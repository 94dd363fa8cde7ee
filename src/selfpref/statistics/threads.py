"""Several resamplings at once: numpy draws, sorts and multiplies without Python's lock."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from selfpref.processes import processors

Made = TypeVar("Made")
# Each holds its draws, up to a few hundred MB.
MOST = 4


def at_once(function: Callable[..., Made], calls: Iterable[tuple[object, ...]]) -> list[Made]:
    """What a function makes of each tuple of arguments, in their order.

    The calls must share nothing that they change; results do not depend on the processors.
    """
    with ThreadPoolExecutor(min(MOST, processors())) as pool:
        return list(pool.map(lambda arguments: function(*arguments), calls))
