"""The log of the tie-breaker in LiveBench's release: what it was shown, what it was credited with.

The vote ran in a notebook whose output names, for every row without a majority, the three votes in
the order in which their responses were shown, and the model that was then credited. The number in
the tie-breaker's reply is not in the log; it counts positions *as shown*, and was looked up in the
*configured* order. So what it chose is the vote at the place that the credited model has there.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from selfpref.errors import SelfprefError

CATEGORY = re.compile(r"category: (\w+)")
SHOWN = re.compile(r"Result was Counter\(\{(.*)\}\)")
CREDITED = re.compile(r"tiebreaker decision: (\S+)")
# What the release prints where a call or its answer failed.
TROUBLES = {
    "Invalid Response Number. Trying again.": "tie-breaker replied without a usable number",
    "Error during API call": "call of the tie-breaker failed",
}


@dataclass
class TieBreak:
    """One call: the models in the order shown, and the one credited (None: no decision logged)."""

    shown: list[str]
    credited: str | None = None


@dataclass(frozen=True)
class Log:
    """The calls of each category in the order of its rows, and how often what went wrong."""

    calls: dict[str, list[TieBreak]]
    troubles: Counter[str]


def read_log(path: Path) -> Log:
    """The log from the notebook's outputs.

    Raises:
        SelfprefError: The file is no notebook, or holds no such log.
    """
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SelfprefError(f"{path}: not a notebook ({error}); fetch it again") from error
    text = "\n".join("".join(output.get("text", [])) for output in outputs)
    calls: dict[str, list[TieBreak]] = {}
    troubles: Counter[str] = Counter()
    category = ""
    for line in text.splitlines():
        if found := CATEGORY.fullmatch(line.strip()):
            category = found[1]
            calls[category] = []
        elif found := SHOWN.fullmatch(line.strip()):
            calls.setdefault(category, []).append(TieBreak(re.findall(r"'([^']+)'", found[1])))
        elif (found := CREDITED.fullmatch(line.strip())) and calls.get(category):
            calls[category][-1].credited = found[1]
        elif line.strip() in TROUBLES:
            troubles[TROUBLES[line.strip()]] += 1
    if not calls:
        raise SelfprefError(f"{path}: no log of the tie-breaker; not a file of this release")
    return Log(calls, troubles)
