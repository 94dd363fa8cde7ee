"""One model's whole experiment: its texts refined in every arm, and the tables that come of it.

How arms, best of k and self-consistency stand in the tables is told in `xu.refine`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import pandas as pd

from selfpref.models import Score
from selfpref.models.calls import Model
from selfpref.studies.xu.feedback import Feedback
from selfpref.studies.xu.items import Item, Task
from selfpref.studies.xu.prompts import Refinement
from selfpref.studies.xu.refine import consistency
from selfpref.studies.xu.refine.judges import Judge, ModelJudge, NoiseJudge, Question, Sampling
from selfpref.studies.xu.refine.loop import Text, Writer, refine
from selfpref.studies.xu.refine.rows import Rows
from selfpref.studies.xu.refine.rules import ARMS, PLAIN, Arm

RESCORED = "rescored"
CONSISTENCY = "self-consistency"


@dataclass(frozen=True)
class Plan:
    """What is done with one model.

    Attributes:
        steps: How often each text is refined.
        arms: Beside the plain one.
        best_of: How many candidates are drawn, for each k.
        rounds: How many samples vote in each round of self-consistency.
        sampling: Limits, temperature and seed.
    """

    steps: int
    arms: tuple[Arm, ...]
    best_of: tuple[int, ...]
    rounds: tuple[int, ...]
    sampling: Sampling


@dataclass(frozen=True)
class Participant:
    """A model behind the store, with its prompts.

    Attributes:
        name: What the tables call it.
        calls: The model.
        layout: Its prompts.
        scores: Whether it tells the likelihood of a given text.
    """

    name: str
    calls: Model
    layout: Refinement
    scores: bool = True


@dataclass(frozen=True)
class Cast:
    """Who takes part.

    Attributes:
        writer: Who writes and revises.
        own: The writer as its own judge.
        other: Another model: judge of its own arm, and fresh reader; None: nobody.
    """

    writer: Writer
    own: ModelJudge
    other: ModelJudge | None

    def judges(self, arms: Sequence[Arm], noise: NoiseJudge) -> dict[Arm, Judge]:
        """The judge of each arm."""
        found: dict[Arm, Judge] = {}
        for arm in arms:
            kind = ARMS[arm].judge
            if kind == "external":
                assert self.other is not None, "the parameters ask for an external judge"
                found[arm] = self.other
            else:
                found[arm] = self.own if kind == "own" else noise
        return found


def run(
    study: str, items: Sequence[Item], model: Participant, external: Participant | None, plan: Plan
) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    """Refine, choose and vote; then read every kept text afresh.

    Args:
        study: The study.
        items: What is asked.
        model: Who writes, revises and judges itself.
        external: Another model; with it there are the external arm, its fresh readings, and the
            texts' perplexities under it.
        plan: What is done.

    Returns:
        The tables responses, ratings, truths and perplexities; and how many items have no rows, by
        reason: the prompt does not fit the context (truncated), or the model refused or failed.
    """
    cast = Cast(
        Writer(model.name, model.calls, model.layout, plan.sampling),
        ModelJudge(model.name, model.calls, model.layout, plan.sampling),
        None
        if external is None
        else ModelJudge(external.name, external.calls, external.layout, plan.sampling),
    )
    rows = Rows(study, model.name)
    written = [texts[0] for texts in cast.writer.write(items)]
    missing: Counter[str] = Counter(text.status for text in written if not text.written)
    asked = [item for item, text in zip(items, written, strict=True) if text.written]
    firsts = [text for text in written if text.written]
    _refine(rows, asked, firsts, cast, plan)
    if plan.best_of:
        _best_of(rows, asked, cast, plan.best_of)
    if plan.rounds:
        _vote(rows, [item for item in asked if item.task == "correctness"], cast, plan.rounds)
    for judge in (cast.own, *([cast.other] if cast.other else [])):
        _read_afresh(rows, judge)
    if external is not None and external.scores:
        _score(rows, external)
    return rows.tables(), dict(missing)


def _refine(
    rows: Rows, items: Sequence[Item], firsts: Sequence[Text], cast: Cast, plan: Plan
) -> None:
    """Every arm, step by step."""
    # The store answers the same questions again when the arms ask them.
    said = cast.own.rate(
        [Question(item, text.text, "0") for item, text in zip(items, firsts, strict=True)]
    )
    pool: dict[Task, list[Feedback]] = {}
    for item, reading in zip(items, said, strict=True):
        pool.setdefault(item.task, []).append(reading)
    judges = cast.judges((PLAIN, *plan.arms), NoiseJudge(pool, plan.sampling.seed))
    states = refine(items, firsts, cast.writer, judges, steps=plan.steps, seed=plan.sampling.seed)
    for state in states:
        item_id = rows.add_text(state.arm, state.item, state.step, 0, state.text)
        rows.add_rating(
            item_id, state.step, 0, judges[state.arm].name, state.arm, state.item, state.reading
        )


def _best_of(rows: Rows, items: Sequence[Item], cast: Cast, sizes: Sequence[int]) -> None:
    """Of the first k candidates, the first with the greatest standing; step 1 holds it."""
    written = cast.writer.write(items, max(sizes))
    drawn = [
        (item, sample, text)
        for item, texts in zip(items, written, strict=True)
        for sample, text in enumerate(texts)
        if text.written
    ]
    readings = cast.own.rate(
        [Question(item, text.text, f"candidate {sample}") for item, sample, text in drawn]
    )
    held: dict[str, list[tuple[int, Text, Feedback]]] = {item.item_id: [] for item in items}
    for (item, sample, text), reading in zip(drawn, readings, strict=True):
        held[item.item_id].append((sample, text, reading))
    for size, item in product(sizes, items):
        condition = f"best-of-{size}"
        candidates = [one for one in held[item.item_id] if one[0] < size]
        for sample, text, reading in candidates:
            item_id = rows.add_text(condition, item, 0, sample, text)
            rows.add_rating(item_id, 0, sample, cast.own.name, PLAIN, item, reading)
        usable = [one for one in candidates if one[2].standing is not None]
        if usable:
            _, text, reading = max(usable, key=lambda one: (one[2].standing, -one[0]))
            item_id = rows.add_text(condition, item, 1, 0, text)
            rows.add_rating(item_id, 1, 0, cast.own.name, PLAIN, item, reading)


def _vote(rows: Rows, items: Sequence[Item], cast: Cast, prefixes: Sequence[int]) -> None:
    """Self-consistency: the majority of samples as the judge."""
    written = cast.writer.write(items, max(prefixes))
    for item, texts in zip(items, written, strict=True):
        samples = [text for text in texts if text.written]
        found = consistency.rounds([text.text for text in samples], prefixes)
        for step, one in enumerate(found):
            said = Feedback("unparsable") if one.score is None else Feedback("ok", one.score)
            item_id = rows.add_text(CONSISTENCY, item, step, 0, samples[one.sample])
            rows.add_rating(item_id, step, 0, cast.own.name, CONSISTENCY, item, said)


def _read_afresh(rows: Rows, judge: ModelJudge) -> None:
    """One more reading of every kept text, by draws that selected nothing."""
    asked = {(kept.item.item_id, kept.text): kept.item for kept in rows.kept()}
    readings = judge.rate([Question(item, text, "afresh") for (_, text), item in asked.items()])
    said: Mapping[tuple[str, str], Feedback] = dict(zip(asked, readings, strict=True))
    for kept in rows.kept():
        rows.add_rating(
            kept.item_id,
            kept.step,
            0,
            judge.name,
            RESCORED,
            kept.item,
            said[kept.item.item_id, kept.text],
        )


def _score(rows: Rows, external: Participant) -> None:
    """The kept texts' log-likelihood under another model, given the request."""
    asked = {(kept.item.item_id, kept.text): kept.item for kept in rows.kept()}
    scores = external.calls.ask(
        [
            Score(external.layout.write(item), external.layout.content(text))
            for (_, text), item in asked.items()
        ]
    )
    known = dict(zip(asked, scores, strict=True))
    for kept in rows.kept():
        rows.add_score(kept, external.name, known[kept.item.item_id, kept.text])
