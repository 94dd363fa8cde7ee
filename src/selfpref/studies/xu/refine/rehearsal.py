"""What refinement asks at most, before anything is asked: every judge finds fault to the last step.

A rehearsal takes answers from the store, and counts the calls that are not there. In the place of
an answer stands a text as long as an answer may be, that calls every text wrong in every task.
"""

from collections.abc import Sequence

from selfpref.models import Generation, Prompt, Score
from selfpref.models.calls import Calls

FAULT = "'word' is a major accuracy error [word] [[no]]"
# Bytes of a token, as `engines.openai.tokens` counts them.
BYTES = 4


class Rehearsal(Calls):
    """Stands in for a model's calls.

    Args:
        calls: What counts the calls of the model, and answers none; None: nobody counts these.
    """

    def __init__(self, calls: Calls | None) -> None:
        self._counted = calls
        self._made: dict[tuple[object, ...], Generation] = {}

    def generate(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        temperature: float,
        seeds: Sequence[int],
        marker: str = "",
        labels: Sequence[str] = (),
    ) -> list[Generation]:
        """As `Engine.generate`: what is stored, else a text that finds fault."""
        keys = [(prompt, seed, max_tokens) for prompt, seed in zip(prompts, seeds, strict=True)]
        new = [key for key in dict.fromkeys(keys) if key not in self._made]
        found = [Generation("", "failed")] * len(new)
        if self._counted is not None:
            found = self._counted.generate(
                [prompt for prompt, _, _ in new],
                max_tokens=max_tokens,
                temperature=temperature,
                seeds=[seed for _, seed, _ in new],
                marker=marker,
                labels=labels,
            )
        for key, one in zip(new, found, strict=True):
            # Every text is a new one, or later calls would equal earlier ones.
            fault = f"{len(self._made)} {FAULT}".ljust(BYTES * max_tokens, ".")
            self._made[key] = one if one.status == "ok" else Generation(fault, "ok")
        return [self._made[key] for key in keys]

    def score(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> list[Score]:
        """As `Engine.score`."""
        if self._counted is not None:
            return self._counted.score(prompts, continuations)
        return [Score(0.0, 0, "ok")] * len(prompts)
