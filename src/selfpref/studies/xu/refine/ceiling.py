"""What refinement asks at most, before anything is asked: every judge finds fault to the last step.

The ceiling takes answers from the store, and counts the calls that are not there. In the place of
an answer stands a text as long as an answer may be, that calls every text wrong in every task.
"""

from collections.abc import Sequence

from selfpref.models import Answer, Call, Generate, Text
from selfpref.models.calls import Model

FAULT = "'word' is a major accuracy error [word] [[no]]"
# Bytes of a token, as `models.served.tokens` counts them.
BYTES = 4


class Ceiling(Model):
    """Stands in for a model behind the store.

    Args:
        model: What counts the model's calls, and answers none; None: nobody counts these.
    """

    def __init__(self, model: Model | None) -> None:
        self._counted = model
        self._made: dict[Call, Answer] = {}

    def _ask(self, calls: Sequence[Call]) -> list[Answer]:
        """What is stored; else a text that finds fault, or no likelihood."""
        new = [call for call in dict.fromkeys(calls) if call not in self._made]
        found: list[Answer] = [call.unanswered("failed") for call in new]
        if self._counted is not None:
            found = self._counted._ask(new)
        for call, one in zip(new, found, strict=True):
            if isinstance(call, Generate) and one.status != "ok":
                # Every text is a new one, or later calls would equal earlier ones.
                fault = f"{len(self._made)} {FAULT}".ljust(BYTES * call.max_tokens, ".")
                self._made[call] = Text(fault, "ok")
            else:
                self._made[call] = one
        return [self._made[call] for call in calls]
