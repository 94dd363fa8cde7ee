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

A neural metric's scores come from a file of the user's own (`selfpref.formats.datasets`).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from selfpref.models import Score, Text
from selfpref.studies.xu import lab
from selfpref.studies.xu.chains import BEST, RESCORED
from selfpref.studies.xu.feedback import Feedback
from selfpref.studies.xu.items import Item
from selfpref.studies.xu.refine.judges import (
    Draft,
    Judge,
    NoiseJudge,
    Participant,
    rounds,
    written,
)
from selfpref.studies.xu.refine.loop import ARMS, PLAIN, State, refine
from selfpref.studies.xu.truths import MATCHERS, chrf, correct, covers, mqm_of_chrf
from selfpref.tables.schemas import TABLES

CONSISTENCY = "self-consistency"
Rows = list[dict[str, object]]


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


def run(
    study: str, items: Sequence[Item], writer: Participant, external: Participant | None
) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    """Refine, choose and vote; then read every kept text afresh.

    Args:
        study: The study.
        items: What is asked.
        writer: Who writes, revises and judges itself, as its `use` says.
        external: Another model; with it there are the external arm, its fresh readings, and the
            texts' perplexities under it.

    Returns:
        The tables responses, ratings, truths and perplexities; and how many items have no rows, by
        reason: the prompt does not fit the context (truncated), or the model refused or failed.
    """
    texts = [first for (first,) in writer.write(items)]
    missing: Counter[str] = Counter(text.status for text in texts if not written(text))
    firsts = [(item, text) for item, text in zip(items, texts, strict=True) if written(text)]
    asked = [item for item, _ in firsts]
    held = _refined(firsts, writer, external)
    if writer.use.best_of:
        held += _best_of(asked, writer)
    if writer.use.rounds:
        held += _votes([item for item in asked if item.task == "correctness"], writer)
    responses: Rows = [
        {**one.place, "text": one.text.text}
        | {"status": "ok" if one.text.status == "ok" else "truncated"}
        for one in held
    ]
    ratings = [
        _rating(one, one.judge, one.said, PLAIN if one.best else one.condition) for one in held
    ]
    # Candidates at step 0 were only looked at.
    kept = [one for one in held if not (one.best and one.step == 0)]
    each = {one.key: one for one in kept}
    for judge in [writer] if external is None else [writer, external]:
        for repeat in range(writer.use.repeats):
            # The first draw is that of stores from before there were more.
            occasion = f"afresh {repeat}" if repeat else "afresh"
            said = judge.rate([Draft(one.item, one.text.text, occasion) for one in each.values()])
            known = dict(zip(each, said, strict=True))
            ratings += [_rating(one, judge.name, known[one.key], RESCORED, repeat) for one in kept]
    true = {key: truths_of(one.item, one.text.text) for key, one in each.items()}
    truths: Rows = [
        {**one.place, "metric": metric, "score": score}
        for one in kept
        for metric, score in true[one.key].items()
    ]
    scored = [] if external is None else _likelihoods(kept, external)
    found = {"responses": responses, "ratings": ratings, "truths": truths, "perplexities": scored}
    return {
        name: pd.DataFrame(rows, columns=list(TABLES[name].columns)).assign(
            study=study, responder=writer.name
        )
        for name, rows in found.items()
    }, dict(missing)


def _rating(
    one: State, judge: str, said: Feedback, variant: str, repeat: int = 0
) -> dict[str, object]:
    """One reading of a text."""
    choice = said.choice
    return (
        {**one.place, "judge": judge, "task": one.item.task, "variant": variant, "repeat": repeat}
        | {"score": said.score, "marks": said.marks, "reply": said.reply, "stored": None}
        | {"distribution": choice and list(choice.probabilities)}
        | {"mass": choice and choice.mass, "status": said.status}
    )


def _refined(
    firsts: Sequence[tuple[Item, Text]], writer: Participant, external: Participant | None
) -> list[State]:
    """Every arm, step by step."""
    # The store answers the same questions again when the arms ask them.
    said = writer.rate([Draft(item, text.text, "0") for item, text in firsts])
    pool = [(item.task, one) for (item, _), one in zip(firsts, said, strict=True)]
    kinds: dict[str, Judge | None] = {
        "own": writer,
        "external": external,
        "noise": NoiseJudge(pool, writer.seed),
    }
    judges: dict[str, Judge] = {}
    for arm in (PLAIN, *writer.use.arms):
        judge = kinds[ARMS[arm]]
        assert judge is not None, "the parameters ask for an external judge"
        judges[arm] = judge
    return refine(firsts, writer, judges)


def _best_of(items: Sequence[Item], writer: Participant) -> Iterator[State]:
    """Of the first k candidates, the first with the greatest standing; step 1 holds it."""
    sizes = writer.use.best_of
    drawn = [
        (item, sample, text)
        for item, texts in zip(items, writer.write(items, max(sizes)), strict=True)
        for sample, text in enumerate(texts)
        if written(text)
    ]
    said = writer.rate(
        [Draft(item, text.text, f"candidate {sample}") for item, sample, text in drawn]
    )
    held: dict[str, list[State]] = {item.item_id: [] for item in items}
    for (item, sample, text), one in zip(drawn, said, strict=True):
        held[item.item_id].append(State(item, BEST, 0, text, one, writer.name, sample))
    for size, item in product(sizes, items):
        candidates = [
            replace(one, condition=f"{BEST}{size}")
            for one in held[item.item_id]
            if one.sample < size
        ]
        yield from candidates
        usable = [one for one in candidates if one.said.standing is not None]
        if usable:
            # Of equals the first.
            best = max(usable, key=lambda one: one.said.standing or 0.0)
            yield replace(best, step=1, sample=0)


def _votes(items: Sequence[Item], writer: Participant) -> Iterator[State]:
    """Self-consistency: the majority of samples as the judge."""
    prefixes = writer.use.rounds
    for item, texts in zip(items, writer.write(items, max(prefixes)), strict=True):
        samples = [text for text in texts if written(text)]
        for step, (sample, score) in enumerate(rounds([one.text for one in samples], prefixes)):
            said = Feedback("unparsable") if score is None else Feedback("ok", score)
            yield State(item, CONSISTENCY, step, samples[sample], said, writer.name)


def _likelihoods(kept: Sequence[State], external: Participant) -> Rows:
    """The kept texts' log-likelihood under another model, given the request."""
    if not external.scores:
        return []
    each, prompts = {one.key: one for one in kept}, external.prompts
    found = external.model.ask(
        [Score(prompts.write(one.item), prompts.content(one.text.text)) for one in each.values()]
    )
    known = dict(zip(each, found, strict=True))
    return [
        {**one.place, "judge": external.name, "conditional": True}
        | {"sum_nll": known[one.key].sum_nll, "n_tokens": known[one.key].n_tokens}
        | {"status": known[one.key].status, "n_bytes": len(one.text.text.encode())}
        for one in kept
    ]
