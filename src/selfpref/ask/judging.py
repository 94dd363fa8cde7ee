"""Verdicts: how a judge comes to one of several labels, and pairs judged in both orders.

Where a verdict's probabilities come from is the judge's `score_mode`, and nothing else:

    logprobs   the judge's own probabilities of the labels at the token after `[[` (Wataoka et al.,
               Eq. 3), every surface form of a label summed
    sampled    the frequencies of the labels among repeated verdicts in words
    text       one verdict in words; it has no probabilities

What the labels hold of the whole is the verdict's mass; below `min_mass` the model answered
something else. A verdict in words is the last `[[A]]`, `[[B]]` or, where the layout allows ties,
`[[C]]` that the judge wrote. What is missing has a status:

    unparsable   an answer without a verdict        refused   no answer, on purpose
    truncated    the prompt, or the verdict in      failed    no answer after all retries; the next
                 words, exceeds its limit                     run asks again
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from selfpref.ask import Columns, Question, ask, compared, dialogues
from selfpref.models import MARKER, Choice, Choose, Generate, Prompt, Status, Text
from selfpref.models.calls import Model
from selfpref.params import Judge, Verdicts
from selfpref.prompts import Layout
from selfpref.seeds import seed_of
from selfpref.tables.schemas import TIE

# Several samples of a verdict fail for the first of these reasons that any of them has.
REASONS: tuple[Status, ...] = ("failed", "refused", "truncated", "unparsable")


def judge_pairs(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    labels: pd.DataFrame,
    judge: str,
    model: Model,
    layout: Layout,
    use: Judge,
    *,
    seed: int,
) -> pd.DataFrame:
    """Judge every pair that a human labelled, in both orders.

    Args:
        items: The items table; `reference` is null, or a JSON list of a text a turn, which the
            judge reads where the layout has words for it.
        responses: The responses table.
        labels: The labels table; it says which pairs there are.
        judge: Whose verdicts these are.
        model: The judge's model.
        layout: The prompts.
        use: How it judges.
        seed: With judge, pair and repeat, the seed of each verdict in words.

    Returns:
        The verdicts table: two rows a pair, sorted by key.
    """
    key = ["study", "item_id", "responder_a", "responder_b"]
    turned = labels[key].set_axis([*key[:2], key[3], key[2]], axis="columns")
    orders = pd.concat([labels[key], turned]).drop_duplicates()
    judging = Judging(use, layout.labels)
    references = items.dropna(subset="reference").set_index("item_id")["reference"].to_dict()

    def questions(some: pd.DataFrame) -> Iterator[Question]:
        said = dialogues(items, responses, some["item_id"])
        for item, *names in some[key[1:]].itertuples(index=False):
            given = json.loads(references.get(item, "[]"))
            prompt = layout.judge(*compared(said, item, names), references=given)
            yield judging.verdict(prompt, names, seed, judge, item, *names)

    orders = orders.sort_values(key, ignore_index=True)
    return ask(model, orders, "verdicts", questions, judge=judge)


@dataclass(frozen=True)
class Judging:
    """One judge's way to one of several labels.

    Attributes:
        use: How it judges.
        labels: What can be answered; for verdicts, of the candidates in presented order, then of a
            tie where ties are allowed.
        marker: What stands before the label; empty where the answer is the label alone.
    """

    use: Verdicts
    labels: tuple[str, ...]
    marker: str = MARKER

    def verdict(self, prompt: Prompt, candidates: Sequence[str], *seed: object) -> Question:
        """Which of two or more candidates?

        Args:
            prompt: What the judge reads.
            candidates: In presented order.
            seed: What, with the number of a repeat, names the seed of a verdict in words.

        Returns:
            A question for candidates, their probabilities, mass, choice (a candidate or a tie) and
            status.
        """
        read = partial(self._verdict, prompt, list(candidates))
        return Question(self.calls(prompt, *seed), read)

    def calls(self, prompt: Prompt, *seed: object) -> list[Choose] | list[Generate]:
        """What is asked, by the score mode; `seed` as for `verdict`."""
        use, weighed = self.use, self.use.score_mode == "logprobs"
        if weighed and (prompt.prefill or not self.marker):
            return [Choose(prompt, self.labels)]
        # Weighed, the label comes after an explanation.
        seeds = (seed_of(*seed, number) for number in range(use.samples or 1))
        after = self.marker, self.labels if weighed else ()
        return [Generate(prompt, use.max_tokens, use.temperature, one, *after) for one in seeds]

    def choice(self, prompt: Prompt, answers: Sequence[Any]) -> Choice:
        """The share of each label: its probability, or its frequency among answers in words."""
        if isinstance(answers[0], Choice):
            return answers[0]
        if self.use.score_mode == "logprobs":
            return answers[0].choice or Choice((), _missing(answers[0]))
        drawn = [self._label(prompt.prefill + text.text) for text in answers]
        missing = {_missing(text) for text, label in zip(answers, drawn, strict=True) if not label}
        # A sample that failed is asked again; until then its verdict is not whole.
        if "failed" in missing or not any(drawn):
            return Choice((), min(missing, key=REASONS.index))
        return Choice(tuple(drawn.count(label) / len(drawn) for label in self.labels), "ok")

    def read(self, choice: Choice) -> Columns:
        """What is kept of a choice: probabilities, mass, and as status whether it is an answer."""
        read: Columns = {"probabilities": None, "mass": None, "status": choice.status}
        if choice.status == "ok":
            enough = choice.mass >= self.use.min_mass and choice.mass > 0
            read["status"] = "ok" if enough else "low-mass"
            if self.use.score_mode != "text":
                read |= {"probabilities": list(choice.probabilities), "mass": choice.mass}
        return read

    def _label(self, text: str) -> str | None:
        """The label that a text ends in or consists of."""
        labels = "|".join(self.labels)
        pattern = rf"\[\[\s*({labels})\s*\]\]" if self.marker else rf"^\W*({labels})\W*$"
        found = re.findall(pattern, text)
        return found[-1] if found else None

    def _verdict(self, prompt: Prompt, names: list[str], *answers: Any) -> Columns:
        """Who the likeliest label stands for."""
        choice = self.choice(prompt, answers)
        read = {"candidates": names, "choice": None, **self.read(choice)}
        shares, tie = choice.probabilities[: len(names)], choice.probabilities[len(names) :]
        if read["probabilities"]:
            # Without a share of any response there is nothing to weigh: a tie, or no verdict.
            read["probabilities"] = list(shares) if sum(shares) else None
        if read["status"] == "ok":
            best = max(shares)
            tied = shares.count(best) > 1 or max(tie, default=0.0) >= best
            read["choice"] = TIE if tied else names[shares.index(best)]
        return read


def _missing(answer: Text) -> Status:
    """The status of an answer without a label."""
    known: dict[Status, Status] = {"ok": "unparsable", "cut": "truncated"}
    return known.get(answer.status, answer.status)
