"""Self-refinement for any engine (Xu et al., arXiv 2402.11436): write, judge, revise, accept.

    t = 0         y = write(x)            f = judge(x, y)
    t -> t + 1    if f calls y flawless, or says nothing usable: y and f stay
                  else r = revise(x, y, f), g = judge(x, r);
                  (y, f) becomes (r, g) if the arm's rule accepts them, and stays otherwise

Only the last text and the last feedback are seen. A revision that is empty, or whose feedback says
nothing usable, is never accepted. Every call goes through the store.

**Arms.** An arm is a judge and an accept rule:

    plain           the writer itself       accept if the score rose strictly (the paper's)
    accept-all      the writer itself       accept every revision
    accept-random   the writer itself       accept one in two, by a coin
    external        another model           accept if the score rose strictly
    noise           chance                  accept if the score rose strictly

**How it stands in the tables.** The arm is the condition in front of the item, as in the recorded
release: `lab-en/12` is the plain arm, `accept-all/lab-en/12` the other. Responses and truths need
no further column. The ratings that drove an arm have that arm as their `variant`; so *own* ratings
are those whose variant is the item's condition (`plain` where it has none). Every text that an arm
kept is also read afresh by its writer and by the external judge: variant `rescored`, and as
`repeat` the number of the draw. Eq. 1 compares the *expected* score of a text with the true one.
The mean of these draws estimates it; the score that drove an arm was selected by its height.

    best-of-4/lab-en/12         step 0, samples 0..3: the candidates; step 1: the first with the
                                greatest standing. Their ratings are `plain`.
    self-consistency/math/3     step r: the current answer before round r (see `judges`)

The items table holds the items without conditions; `xu.chains.under_conditions` adds them.

**What is true of a text.**

| task | metric | score |
|---|---|---|
| mqm | chrf-mqm | sentence chrF to the reference on the scale of MQM, -25..0; of a language |
| mqm | mqm | by the testbed's grammar, -25..0; of its invented language |
| coverage | coverage-surface, coverage-lemma | 1 if every concept is there, else 0 |
| correctness | correctness | 1 if the boxed answer is right, else 0 |

A neural metric's scores come from a file of the user's own (`selfpref.formats.scores`).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from selfpref.models import Likelihood, Score, Text
from selfpref.studies.xu import lab
from selfpref.studies.xu.chains import BEST, RESCORED
from selfpref.studies.xu.feedback import Feedback
from selfpref.studies.xu.items import Item, Task
from selfpref.studies.xu.refine.judges import (
    Judge,
    NoiseJudge,
    Participant,
    Question,
    rounds,
    written,
)
from selfpref.studies.xu.refine.loop import ARMS, PLAIN, Arm, refine
from selfpref.studies.xu.truths import MATCHERS, chrf, correct, covers, mqm_of_chrf
from selfpref.tables.schemas import TABLES

CONSISTENCY = "self-consistency"


def truths_of(item: Item, text: str) -> dict[str, float]:
    """The true scores of a text by metric."""
    if item.task == "coverage":
        return {f"coverage-{name}": covers(text, item.concepts, name) for name in MATCHERS}
    reference = item.reference or ""
    if item.task == "correctness":
        return {"correctness": correct(text, reference)}
    if item.oracle:
        return {"mqm": lab.score(reference, text)}
    return {"chrf-mqm": float(mqm_of_chrf()(np.array(chrf(text, reference))))}


@dataclass(frozen=True)
class Kept:
    """A text that an arm held at a step.

    Attributes:
        item: The item without its condition.
        place: Its name under the condition, step and sample, as in the tables.
        text: The text.
    """

    item: Item
    place: dict[str, object]
    text: str

    @property
    def key(self) -> tuple[str, str]:
        """The item and the text: what a reading of it, or a truth, depends on."""
        return self.item.item_id, self.text


class Rows:
    """The rows of one responder.

    Args:
        study: The study.
        responder: Who wrote the texts.
    """

    def __init__(self, study: str, responder: str) -> None:
        self._common = {"study": study, "responder": responder}
        self._rows: dict[str, list[dict[str, object]]] = {
            name: [] for name in ("responses", "ratings", "perplexities")
        }
        self.kept: list[Kept] = []

    def add(
        self,
        condition: str,
        item: Item,
        step: int,
        text: Text,
        judge: str,
        said: Feedback,
        *,
        sample: int = 0,
        variant: str = PLAIN,
    ) -> None:
        """Add a text and what was said of it; the plain arm has no condition in front."""
        item_id = item.item_id if condition == PLAIN else f"{condition}/{item.item_id}"
        one = Kept(item, {"item_id": item_id, "step": step, "sample": sample}, text.text)
        status = "ok" if text.status == "ok" else "truncated"
        self._rows["responses"].append({**one.place, "text": text.text, "status": status})
        # Candidates at step 0 were only looked at.
        if not (condition.startswith(BEST) and step == 0):
            self.kept.append(one)
        self.add_rating(one, judge, said, variant)

    def add_rating(
        self, kept: Kept, judge: str, said: Feedback, variant: str, repeat: int = 0
    ) -> None:
        """Add one more reading of a text."""
        choice = said.choice
        self._rows["ratings"].append(
            {**kept.place, "judge": judge, "task": kept.item.task, "variant": variant}
            | {"repeat": repeat}
            | {"score": said.score, "marks": said.marks, "reply": said.reply, "stored": None}
            | {"distribution": choice and list(choice.probabilities)}
            | {"mass": choice and choice.mass, "status": said.status}
        )

    def add_likelihood(self, kept: Kept, judge: str, found: Likelihood) -> None:
        """Add the log-likelihood of a kept text, given its request."""
        self._rows["perplexities"].append(
            {**kept.place, "judge": judge, "conditional": True, "sum_nll": found.sum_nll}
            | {"n_tokens": found.n_tokens, "status": found.status}
            | {"n_bytes": len(kept.text.encode())}
        )

    def tables(self) -> dict[str, pd.DataFrame]:
        """responses, ratings, truths (of the kept texts) and perplexities."""
        known = {
            one.key: truths_of(one.item, one.text) for one in {k.key: k for k in self.kept}.values()
        }
        truths = [
            {**kept.place, "metric": metric, "score": score}
            for kept in self.kept
            for metric, score in known[kept.key].items()
        ]
        return {
            name: pd.DataFrame(rows, columns=list(TABLES[name].columns)).assign(**self._common)
            for name, rows in {**self._rows, "truths": truths}.items()
        }


@dataclass(frozen=True)
class Plan:
    """What is done with one model.

    Attributes:
        steps: How often each text is refined.
        arms: Beside the plain one.
        best_of: How many candidates are drawn, for each k.
        rounds: How many samples vote in each round of self-consistency.
        repeats: How often each judge reads a kept text afresh.
    """

    steps: int
    arms: tuple[Arm, ...] = ()
    best_of: tuple[int, ...] = ()
    rounds: tuple[int, ...] = ()
    repeats: int = 1


def run(
    study: str, items: Sequence[Item], writer: Participant, external: Participant | None, plan: Plan
) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    """Refine, choose and vote; then read every kept text afresh.

    Args:
        study: The study.
        items: What is asked.
        writer: Who writes, revises and judges itself.
        external: Another model; with it there are the external arm, its fresh readings, and the
            texts' perplexities under it.
        plan: What is done.

    Returns:
        The tables responses, ratings, truths and perplexities; and how many items have no rows, by
        reason: the prompt does not fit the context (truncated), or the model refused or failed.
    """
    rows = Rows(study, writer.name)
    texts = [first for (first,) in writer.write(items)]
    missing: Counter[str] = Counter(text.status for text in texts if not written(text))
    firsts = [(item, text) for item, text in zip(items, texts, strict=True) if written(text)]
    asked = [item for item, _ in firsts]
    _refine(rows, firsts, writer, external, plan)
    if plan.best_of:
        _best_of(rows, asked, writer, plan.best_of)
    if plan.rounds:
        _vote(rows, [item for item in asked if item.task == "correctness"], writer, plan.rounds)
    for judge in [writer] if external is None else [writer, external]:
        _read_afresh(rows, judge, plan.repeats)
    if external is not None and external.scores:
        _score(rows, external)
    return rows.tables(), dict(missing)


def _refine(
    rows: Rows,
    firsts: Sequence[tuple[Item, Text]],
    writer: Participant,
    external: Participant | None,
    plan: Plan,
) -> None:
    """Every arm, step by step."""
    # The store answers the same questions again when the arms ask them.
    said = writer.rate([Question(item, text.text, "0") for item, text in firsts])
    pool: dict[Task, list[Feedback]] = {}
    for (item, _), one in zip(firsts, said, strict=True):
        pool.setdefault(item.task, []).append(one)
    seed = writer.sampling.seed
    kinds: dict[str, Judge | None] = {
        "own": writer,
        "external": external,
        "noise": NoiseJudge(pool, seed),
    }
    judges: dict[Arm, Judge] = {}
    for arm in (PLAIN, *plan.arms):
        judge = kinds[ARMS[arm]]
        assert judge is not None, "the parameters ask for an external judge"
        judges[arm] = judge
    for state in refine(firsts, writer, judges, steps=plan.steps, seed=seed):
        name = judges[state.arm].name
        rows.add(state.arm, state.item, state.step, state.text, name, state.said, variant=state.arm)


def _best_of(rows: Rows, items: Sequence[Item], writer: Participant, sizes: Sequence[int]) -> None:
    """Of the first k candidates, the first with the greatest standing; step 1 holds it."""
    drawn = [
        (item, sample, text)
        for item, texts in zip(items, writer.write(items, max(sizes)), strict=True)
        for sample, text in enumerate(texts)
        if written(text)
    ]
    said = writer.rate(
        [Question(item, text.text, f"candidate {sample}") for item, sample, text in drawn]
    )
    held: dict[str, list[tuple[int, Text, Feedback]]] = {item.item_id: [] for item in items}
    for (item, sample, text), one in zip(drawn, said, strict=True):
        held[item.item_id].append((sample, text, one))
    for size, item in product(sizes, items):
        candidates = [one for one in held[item.item_id] if one[0] < size]
        for sample, text, one in candidates:
            rows.add(f"{BEST}{size}", item, 0, text, writer.name, one, sample=sample)
        usable = [one for one in candidates if one[2].standing is not None]
        if usable:
            _, text, best = max(usable, key=lambda one: (one[2].standing, -one[0]))
            rows.add(f"{BEST}{size}", item, 1, text, writer.name, best)


def _vote(rows: Rows, items: Sequence[Item], writer: Participant, prefixes: Sequence[int]) -> None:
    """Self-consistency: the majority of samples as the judge."""
    for item, texts in zip(items, writer.write(items, max(prefixes)), strict=True):
        samples = [text for text in texts if written(text)]
        found = rounds([text.text for text in samples], prefixes)
        for step, (sample, score) in enumerate(found):
            said = Feedback("unparsable") if score is None else Feedback("ok", score)
            text = samples[sample]
            rows.add(CONSISTENCY, item, step, text, writer.name, said, variant=CONSISTENCY)


def _read_afresh(rows: Rows, judge: Participant, repeats: int) -> None:
    """More readings of every kept text, by draws that selected nothing."""
    asked = {kept.key: kept for kept in rows.kept}
    for repeat in range(repeats):
        # The first draw is that of stores from before there were more.
        occasion = f"afresh {repeat}" if repeat else "afresh"
        said = judge.rate([Question(one.item, one.text, occasion) for one in asked.values()])
        known = dict(zip(asked, said, strict=True))
        for kept in rows.kept:
            rows.add_rating(kept, judge.name, known[kept.key], RESCORED, repeat)


def _score(rows: Rows, external: Participant) -> None:
    """The kept texts' log-likelihood under another model, given the request."""
    asked = {kept.key: kept for kept in rows.kept}
    prompts = external.prompts
    found = external.model.ask(
        [Score(prompts.write(one.item), prompts.content(one.text)) for one in asked.values()]
    )
    known = dict(zip(asked, found, strict=True))
    for kept in rows.kept:
        rows.add_likelihood(kept, external.name, known[kept.key])
