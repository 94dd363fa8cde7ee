"""The figures of Wataoka et al. from the frames of `selfpref.studies.wataoka.measure`."""

from selfpref.studies.wataoka.draw.bias import bias, by_opponent
from selfpref.studies.wataoka.draw.counts import confusion, demographic_parity
from selfpref.studies.wataoka.draw.example import example
from selfpref.studies.wataoka.draw.names import readable
from selfpref.studies.wataoka.draw.position import led_by_position, position
from selfpref.studies.wataoka.draw.tables import (
    another_person,
    excess_by_variant,
    excess_signs,
    rows_used,
)

__all__ = [
    "another_person",
    "bias",
    "by_opponent",
    "confusion",
    "demographic_parity",
    "example",
    "excess_by_variant",
    "excess_signs",
    "led_by_position",
    "position",
    "readable",
    "rows_used",
]
