"""When a revision takes the place of the text that it revises."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from selfpref.studies.xu.feedback import Feedback

PLAIN: Final = "plain"
Arm = Literal["plain", "accept-all", "accept-random", "external", "noise"]
Rule = Callable[[float, float, float], bool]
"""From the old standing, the new one, and a uniform draw in [0, 1) to whether to accept."""


def rose(old: float, new: float, draw: float) -> bool:
    """The paper's rule: the score is strictly higher."""
    return new > old


def always(old: float, new: float, draw: float) -> bool:
    """Every revision."""
    return True


def coin(old: float, new: float, draw: float) -> bool:
    """One in two."""
    return draw < 0.5


@dataclass(frozen=True)
class Condition:
    """Who judges an arm, and by what rule.

    Attributes:
        judge: The writer (`own`), another model (`external`), or chance (`noise`).
        rule: The accept rule.
    """

    judge: Literal["own", "external", "noise"]
    rule: Rule


ARMS: Final[dict[Arm, Condition]] = {
    "plain": Condition("own", rose),
    "accept-all": Condition("own", always),
    "accept-random": Condition("own", coin),
    "external": Condition("external", rose),
    "noise": Condition("noise", rose),
}


def accepts(rule: Rule, old: Feedback, new: Feedback, draw: float) -> bool:
    """Whether a revision is accepted; never if its feedback says nothing usable."""
    if old.standing is None or new.standing is None:
        return False
    return rule(old.standing, new.standing, draw)
