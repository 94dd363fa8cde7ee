"""Pairwise verdicts of one judge, in both orders.

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

import re
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from selfpref import tables
from selfpref.ask.responding import PART, compared, dialogues
from selfpref.models import Choice, Choose, Generate, Prompt, Status, Text
from selfpref.models.calls import Model
from selfpref.params import Judge, Verdicts
from selfpref.prompts import MARKER, Layout
from selfpref.seeds import seed_of
from selfpref.tables.schemas import TIE

Verdict = dict[str, object]
# Several samples of a verdict fail for the first of these reasons that any of them has.
REASONS: tuple[Status, ...] = ("failed", "refused", "truncated", "unparsable")


def judge_pairs(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    labels: pd.DataFrame,
    judge: str,
    calls: Model,
    layout: Layout,
    use: Judge,
    *,
    seed: int,
    part: int = PART,
) -> pd.DataFrame:
    """Judge every pair that a human labelled, in both orders.

    Args:
        items: The items table.
        responses: The responses table.
        labels: The labels table; it says which pairs there are.
        judge: Whose verdicts these are.
        calls: The model behind the store.
        layout: The prompts.
        use: How it judges.
        seed: With judge, pair and repeat, the seed of each verdict in words.
        part: So many prompts at a time are made and asked.

    Returns:
        The verdicts table: two rows a pair, sorted by key.
    """
    key, sides = ["study", "item_id"], ["responder_a", "responder_b"]
    pairs = labels[[*key, *sides]]
    turned = pairs.rename(columns=dict(zip(sides, reversed(sides), strict=True)))
    orders = pd.concat([pairs, turned]).drop_duplicates()
    orders = orders.sort_values([*key, *sides], ignore_index=True)
    judging = Judging(calls, layout.labels, use)
    made = [tables.lean(tables.empty("verdicts"), "verdicts", judge)]
    for start in range(0, len(orders), part):
        some = orders.iloc[start : start + part]
        names = list(zip(some["responder_a"], some["responder_b"], strict=True))
        asked = list(zip(some["item_id"], names, strict=True))
        said = dialogues(items, responses, some["item_id"])
        verdicts = judging.verdicts(
            [layout.judge(*compared(said, *pair)) for pair in asked],
            [draws(use, seed, judge, item, *pair) for item, pair in asked],
            names,
        )
        rows = pd.DataFrame(verdicts, index=some.index).assign(
            **some[key], judge=judge, candidates=[list(pair) for pair in names]
        )
        rows = rows.assign(
            task="preference", variant="plain", order_known=True, repeat=0, stored=None
        )
        made.append(tables.lean(rows, "verdicts", judge))
    return pd.concat(made, ignore_index=True)


def draws(use: Verdicts, *key: object) -> list[int]:
    """A seed for each repeat of what `key` names."""
    return [seed_of(*key, n) for n in range(use.samples or 1)]


class Judging:
    """One judge's way to one of several labels.

    Args:
        calls: The model behind the store.
        labels: What can be answered; for verdicts, of the candidates in presented order, then of a
            tie where ties are allowed.
        use: How it judges.
        marker: What stands before the label; empty where the answer is the label alone.
    """

    def __init__(
        self, calls: Model, labels: tuple[str, ...], use: Verdicts, *, marker: str = MARKER
    ) -> None:
        self._calls, self._labels, self._use, self._marker = calls, labels, use, marker

    def verdicts(
        self,
        prompts: Sequence[Prompt],
        seeds: Sequence[Sequence[int]],
        orders: Sequence[tuple[str, ...]],
    ) -> list[Verdict]:
        """One verdict a prompt, among two or more candidates.

        Args:
            prompts: What the judge reads.
            seeds: One for each repeat of each prompt.
            orders: The candidates of each prompt in presented order.

        Returns:
            Probabilities of the candidates, mass, choice (a candidate or a tie) and status.
        """
        choices = self.choices(prompts, seeds)
        return [self._verdict(*verdict) for verdict in zip(orders, choices, strict=True)]

    def choices(self, prompts: Sequence[Prompt], seeds: Sequence[Sequence[int]]) -> list[Choice]:
        """The share of each label in each prompt's answer, by the score mode.

        Args:
            prompts: What the judge reads.
            seeds: One for each repeat of each prompt.

        Returns:
            Probabilities, or frequencies; a label in words has the share 1.
        """
        if self._use.score_mode == "logprobs":
            return self._weighed(prompts, [first for first, *_ in seeds])
        repeated = [prompt for prompt in prompts for _ in range(self._use.samples or 1)]
        made = self._generate(repeated, [seed for row in seeds for seed in row], labels=())
        words = [
            self._label(prompt.prefill + generation.text, _missing(generation))
            for prompt, generation in zip(repeated, made, strict=True)
        ]
        # One iterator, read `samples` at a time.
        drawn = zip(*[iter(words)] * len(seeds[0]), strict=True) if seeds else ()
        return [self._counted(part) for part in drawn]

    def read(self, choice: Choice) -> Verdict:
        """What is kept of a choice: probabilities, mass, and as status whether it is an answer."""
        if choice.status != "ok":
            return {"probabilities": None, "mass": None, "status": choice.status}
        enough = choice.mass >= self._use.min_mass and choice.mass > 0
        in_words = self._use.score_mode == "text"
        return {
            "probabilities": None if in_words else list(choice.probabilities),
            "mass": None if in_words else choice.mass,
            "status": "ok" if enough else "low-mass",
        }

    def _generate(
        self, prompts: Sequence[Prompt], seeds: Sequence[int], labels: tuple[str, ...]
    ) -> list[Text]:
        use = self._use
        return self._calls.ask(
            [
                Generate(prompt, use.max_tokens, use.temperature, seed, self._marker, labels)
                for prompt, seed in zip(prompts, seeds, strict=True)
            ]
        )

    def _weighed(self, prompts: Sequence[Prompt], seeds: Sequence[int]) -> list[Choice]:
        """The label is the next token, or comes after an explanation."""
        if not self._marker or all(prompt.prefill for prompt in prompts):
            return self._calls.ask([Choose(prompt, self._labels) for prompt in prompts])
        made = self._generate(prompts, seeds, self._labels)
        return [generation.choice or Choice((), _missing(generation)) for generation in made]

    def _counted(self, drawn: Sequence[tuple[str | None, Status]]) -> Choice:
        """The frequencies of the labels among repeated answers in words."""
        statuses = {status for _, status in drawn}
        counts = Counter(label for label, _ in drawn if label)
        # A sample that failed is asked again; until then its verdict is not whole.
        if "failed" in statuses or not counts:
            return Choice((), next(reason for reason in REASONS if reason in statuses))
        return Choice(tuple(counts[label] / len(drawn) for label in self._labels), "ok")

    def _label(self, text: str, missing: Status) -> tuple[str | None, Status]:
        """The label that a text ends in or consists of; None and `missing` where there is none."""
        labels = "|".join(self._labels)
        if self._marker:
            found = re.findall(rf"\[\[\s*({labels})\s*\]\]", text)
        else:
            found = re.findall(rf"^\W*({labels})\W*$", text)
        return (found[-1], "ok") if found else (None, missing)

    def _verdict(self, names: tuple[str, ...], choice: Choice) -> Verdict:
        """Who the likeliest label stands for."""
        read = self.read(choice)
        shares, tie = choice.probabilities[: len(names)], choice.probabilities[len(names) :]
        if read["probabilities"]:
            # Without a share of any response there is nothing to weigh: a tie, or no verdict.
            read["probabilities"] = list(shares) if sum(shares) else None
        if read["status"] != "ok":
            return read | {"choice": None}
        best = max(shares)
        tied = shares.count(best) > 1 or max(tie, default=0.0) >= best
        return read | {"choice": TIE if tied else names[shares.index(best)]}


def _missing(generation: Text) -> Status:
    """The status of an answer without a label."""
    known: dict[Status, Status] = {"ok": "unparsable", "cut": "truncated"}
    return known.get(generation.status, generation.status)
