"""From rows to calls to rows, once for every table that models fill: responses, verdicts, nats.

    rows ── a question each: calls ──> model ──> answers ── columns ──> rows of the table

Rows are asked part by part: a part's prompts and calls would be most of a stage's memory, were they
all made at once. Every item is answered by one model, every response read by one:

    log-perplexity = sum of -ln p(token) over the response's tokens / number of tokens    (nats)

The response's text is scored as the content of the assistant's turn, without a token that ends it;
what the chat template writes before the content belongs to the prompt. Conditional on the prompt is
the paper's quantity; the unconditional one tells style from fit to the question.

A verdict is one of several labels. Where its probabilities come from is the judge's `score_mode`,
and nothing else:

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

import pandas as pd

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.models import (
    MARKER,
    Call,
    Choice,
    Choose,
    Generate,
    Likelihood,
    Prompt,
    Score,
    Status,
    Text,
)
from selfpref.models.calls import Model
from selfpref.params import Judge, Verdicts, Writing
from selfpref.prompts import Layout
from selfpref.seeds import seed_of
from selfpref.tables.schemas import TABLES, TIE

Columns = dict[str, object]
Messages = Sequence[Mapping[str, str]]
# Rows to be asked about at a time.
PART = 10_000
# Several samples of a verdict fail for the first of these reasons that any of them has.
REASONS: tuple[Status, ...] = ("failed", "refused", "truncated", "unparsable")
# What `example` returns where nothing was asked.
NO_EXAMPLE = pd.DataFrame(columns=["role", "text"])


class Question(NamedTuple):
    """What one row asks of a model.

    Attributes:
        calls: One, or one a repeat.
        read: From as many answers to columns of the row.
    """

    calls: Sequence[Call]
    read: Callable[..., Columns]


def ask(
    model: Model,
    rows: pd.DataFrame,
    table: str,
    questions: Callable[[pd.DataFrame], Iterable[Question]],
    **constants: object,
) -> pd.DataFrame:
    """Ask a model about every row, and read its answers into columns.

    Args:
        model: The model behind the store.
        rows: What is asked about.
        table: The table that the rows are to become, a key of `tables.schemas.TABLES`.
        questions: From some of the rows to a question each.
        constants: Columns of one value; others that nobody gives take the table's defaults.

    Returns:
        The rows in their order with the table's columns, lists as Arrow's.

    Raises:
        SelfprefError: A column is missing, unknown or of another type.
    """
    made = []
    for start in range(0, len(rows), PART):
        some = rows.iloc[start : start + PART].reset_index(drop=True)
        asked = list(questions(some))
        answers = iter(model.ask([call for question in asked for call in question.calls]))
        read = pd.DataFrame(one.read(*islice(answers, len(one.calls))) for one in asked)
        kept = [name for name in TABLES[table].columns if name in some and name not in read]
        whole = tables.fill(pd.concat([some[kept], read], axis="columns"), table, **constants)
        made.append(tables.lean(whole, table, table))
    return tables.together(table, made)


def example(model: Model) -> pd.DataFrame:
    """The first question that a model was asked, in full, with its answer.

    Returns:
        `role, text`: the messages, then what the model answered; empty where nothing was asked.
    """
    match model.first:
        case None:
            return NO_EXAMPLE
        case call, Text(text=text):
            told = call.prompt.prefill + text
        case Choose(labels=labels) as call, Choice(probabilities=found):
            told = call.prompt.prefill + " | ".join(map("{}: {:.3f}".format, labels, found))
        case Score(continuation=text) as call, Likelihood(sum_nll=nats, n_tokens=count):
            told = f"{text}\n({nats:.2f} nats, {count} tokens)"
    said = [*call.prompt.messages, ("the model's reply", told)]
    return pd.DataFrame(said, columns=["role", "text"])


def printed(example: pd.DataFrame) -> str:
    """An example as text, a message a paragraph."""
    return "\n\n".join("[" + example["role"] + "]\n" + example["text"])


# --- responses, and their likelihoods -------------------------------------------------------------


def respond(
    items: pd.DataFrame,
    responder: str,
    model: Model,
    prompt: Callable[..., Prompt],
    use: Writing,
    *,
    seed: int,
    answered: Mapping[str, str] | None = None,
) -> tuple[pd.DataFrame, dict[str, int]]:
    """One response to each item.

    Args:
        items: The items table; one turn each.
        responder: Whose responses these are.
        model: The responder's model.
        prompt: From an item's question to the prompt.
        use: Limit and temperature.
        seed: With item and responder, the seed of each sample.
        answered: By item, responses that it has given already: to earlier turns of these items.

    Returns:
        The responses table: `status` is `truncated` where a response was cut off at the limit.
        Items without a response have no row. The second value counts both: `cut off`, and the
        items by reason: `truncated` where the prompt does not fit the context, `refused`, `failed`,
        `no earlier turn` where it has no response to an earlier turn, `no prompt` where the item's
        text is not known.
    """

    def questions(some: pd.DataFrame) -> Iterator[Question]:
        for item, messages in some[["item_id", "messages"]].itertuples(index=False):
            draw = seed_of(seed, responder, item)
            said = [written[turn] for turn in earlier_turns(item, messages)]
            asked = prompt(*before_response(messages, said))
            yield Question([Generate(asked, use.max_tokens, use.temperature, draw)], _written)

    made, written = [], dict(answered or {})
    known = items[items["messages"].map(len).gt(0)]
    earlier = pd.Series(map(earlier_turns, known["item_id"], known["messages"]), known.index)
    # A turn is asked once the turns before it are answered.
    for _, turns in known.groupby(earlier.map(len)):
        ready = [written.keys() >= {*needed} for needed in earlier[turns.index]]
        table = ask(model, turns[ready], "responses", questions, responder=responder)
        made.append(table)
        written |= table.set_index("item_id")["text"].dropna().to_dict()
    table = tables.together("responses", made)
    lost = table["text"].isna()
    counts = {"cut off": int(table.loc[~lost, "status"].eq("truncated").sum())}
    counts |= table.loc[lost, "status"].value_counts().to_dict()
    more = {"no prompt": len(items) - len(known), "no earlier turn": len(known) - len(table)}
    counts |= {reason: number for reason, number in more.items() if number}
    return table[~lost].reset_index(drop=True), counts


def _written(answer: Text) -> Columns:
    text = answer.text if answer.status in ("ok", "cut") else None
    return {"text": text, "status": "truncated" if answer.status == "cut" else answer.status}


def score_responses(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    judge: str,
    model: Model,
    layout: Layout,
    *,
    alone: bool,
) -> pd.DataFrame:
    """Score every response given its prompt and, where wanted, on its own.

    Args:
        items: The items table.
        responses: The responses table.
        judge: Whose likelihoods these are.
        model: The judge's model.
        layout: The prompts.
        alone: Whether responses are scored without their prompts too.

    Returns:
        The perplexities table: one or two rows a response; empty texts have no tokens and a sum
        of 0.
    """

    def questions(some: pd.DataFrame, *, given: bool) -> Iterator[Question]:
        said = dialogues(items, responses, some["item_id"]) if given else {}
        for item, responder, text in some[["item_id", "responder", "text"]].itertuples(index=False):
            prompt = layout.respond(*said[item, responder][:-1]) if given else layout.bare()
            yield Question([Score(prompt, layout.content(text))], vars)

    made, sized = [], responses.assign(n_bytes=responses["text"].str.encode("utf-8").str.len())
    for given in (True, False) if alone else (True,):
        asked = partial(questions, given=given)
        made.append(ask(model, sized, "perplexities", asked, judge=judge, conditional=given))
    return tables.together("perplexities", made)


def tallied(counts: Mapping[str, Mapping[str, int]]) -> pd.DataFrame:
    """The counts of `respond` by data set: one row each, a column for every reason.

    Items without prompt or earlier turn have one where there are some.
    """
    usual, found = ["cut off", "truncated", "refused", "failed"], pd.DataFrame(counts).T
    more = found.columns.difference(usual)
    return found.reindex(columns=[*usual, *more]).fillna(0).astype(int)


def earlier_turns(item: str, messages: Messages) -> list[str]:
    """The items of the turns before an item, whose responses were said before its own.

    An item of a later turn, `<...>/<turn>`, holds the user's turns. A dialogue that holds the
    assistant's too is whole, and has none.
    """
    if any(message["role"] == "assistant" for message in messages):
        return []
    return [f"{item.rpartition('/')[0]}/{turn}" for turn in range(1, len(messages))]


def before_response(messages: Messages, earlier: Sequence[str]) -> list[str]:
    """What was said before a response: question, answer, ..., question.

    Args:
        messages: The turns of the item responded to.
        earlier: The responses to its `earlier_turns`.
    """
    asked = [message["content"] for message in messages]
    return [*chain(*zip(asked, earlier, strict=False)), *asked[len(earlier) :]]


def dialogues(
    items: pd.DataFrame, responses: pd.DataFrame, wanted: Iterable[str]
) -> dict[tuple[str, str], list[str]]:
    """Every response to some items with what was said before it, by item and responder.

    The answers to earlier turns are the same responder's (`earlier_turns`), or stand in the item.

    Args:
        items: The items table.
        responses: The responses table, one row an item and responder.
        wanted: Which items.

    Returns:
        Question, answer, question, ..., ending with the response. A response without those to
        earlier turns is left out.
    """
    some = items[items["item_id"].isin(list(wanted))]
    asked = some.set_index("item_id")["messages"].to_dict()
    before = {item: earlier_turns(item, messages) for item, messages in asked.items()}
    needed = responses["item_id"].isin(list({*asked}.union(*before.values())))
    texts = responses[needed].set_index(["item_id", "responder"])["text"].to_dict()
    found = {}
    for (item, responder), text in texts.items():
        own = [texts.get((turn, responder)) for turn in before.get(item, ())]
        if item in asked and None not in own:
            found[item, responder] = [*before_response(asked[item], own), text]
    return found


def compared(
    said: Mapping[tuple[str, str], list[str]], item: str, names: Sequence[str]
) -> list[str]:
    """Two responses as a judge reads them: question, one answer, the other, turn by turn.

    Args:
        said: As `dialogues` returns it.
        item: Which item.
        names: The two responders, in presented order.

    Raises:
        SelfprefError: A response, or one to an earlier turn, is missing.
    """
    for name in names:
        if (item, name) not in said:
            raise SelfprefError(f"{item}: no response of {name!r}, or none to an earlier turn")
    first, second = (said[item, name] for name in names)
    return list(chain(*zip(first[::2], first[1::2], second[1::2], strict=True)))


# --- verdicts -------------------------------------------------------------------------------------


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
    turned = labels[key].rename(columns={key[2]: key[3], key[3]: key[2]})
    orders = pd.concat([labels[key], turned]).drop_duplicates().sort_values(key)
    judging = Judging(use, layout.labels)
    references = items.set_index("item_id")["reference"].dropna().to_dict()

    def questions(some: pd.DataFrame) -> Iterator[Question]:
        said = dialogues(items, responses, some["item_id"])
        for item, *names in some[key[1:]].itertuples(index=False):
            given = json.loads(references.get(item, "[]"))
            prompt = layout.judge(*compared(said, item, names), references=given)
            yield judging.verdict(prompt, names, seed, judge, item, *names)

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
        # The label that a text ends in or consists of.
        labels = "|".join(self.labels)
        pattern = rf"\[\[\s*({labels})\s*\]\]" if self.marker else rf"^\W*({labels})\W*$"
        found = [re.findall(pattern, prompt.prefill + text.text) for text in answers]
        missing = {_missing(text) for text in answers}
        # A sample that failed is asked again; until then its verdict is not whole.
        if "failed" in missing or not any(found):
            return Choice((), min(missing, key=REASONS.index))
        drawn = [told[-1] for told in found if told]
        return Choice(tuple(drawn.count(label) / len(found) for label in self.labels), "ok")

    def read(self, choice: Choice) -> Columns:
        """What is kept of a choice: probabilities, mass, and as status whether it is an answer."""
        read: Columns = {"probabilities": None, "mass": None, "status": choice.status}
        if choice.status == "ok":
            enough = choice.mass >= self.use.min_mass and choice.mass > 0
            read["status"] = "ok" if enough else "low-mass"
            if self.use.score_mode != "text":
                read |= {"probabilities": list(choice.probabilities), "mass": choice.mass}
        return read

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
