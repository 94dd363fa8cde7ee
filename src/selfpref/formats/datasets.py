"""What readers of data sets share, and a user's own files as data sets.

These are judgments in any format, prompts, true scores and perplexities, one file each.

*Prompts*, a line a prompt of JSON: models respond to it. The turns of a dialogue are `user`,
`assistant`, `user`, ... and end with the user's; what the assistant said before stands in the file.

| key | value |
|---|---|
| id | any id of the prompt; a text or a number |
| prompt | what is asked |
| messages | instead of it a dialogue, a list of `{"role": ..., "content": ...}`, a turn each |
| category | optional |
| cluster | optional: what a bootstrap resamples; left out: the prompt |

*Scores*, a row a text, for a metric whose weights are elsewhere. The texts to be scored stand in
data/<profile>/responses.

| column | value |
|---|---|
| item | the item_id as in the table of responses, condition included |
| responder, step | whose text, and after how many refinements |
| metric | a name for the metric; `xu.truth` in params.yaml says which one enters the bias |
| score | a number; for translations on the scale of MQM, -25 to 0 |

*Perplexities*, a row a text, of a model that runs on another machine. The texts come with their own
data set; one that the model could not read has no row.

| column | value |
|---|---|
| item | the item_id as in the table of responses, data set included |
| responder | whose text |
| reader | which model read it |
| given_prompt | true: given its prompt; false: without it |
| nats | sum of the negative log-likelihoods of its tokens |
| tokens, bytes | their number, and that of the text's bytes in UTF-8 |
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, StringConstraints, ValidationError, model_validator

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.formats import judgments
from selfpref.formats.records import place, records
from selfpref.formats.rows import Frames, numbers, refuse, renamed, tables_of, whole
from selfpref.params import Dataset
from selfpref.seeds import sampled

SCORES = ("item", "responder", "step", "metric", "score")
NAMES = {"item": "item_id", "responder": "responder", "reader": "judge"}
NUMBERS = {"nats": "sum_nll", "tokens": "n_tokens", "bytes": "n_bytes"}


Name = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$")]
Text = Annotated[str, StringConstraints(pattern=r"\S")]


class _Turn(BaseModel, extra="forbid"):
    role: Literal["user", "assistant"]
    content: Text


class _Prompt(BaseModel, extra="forbid", coerce_numbers_to_str=True):
    id: Name
    prompt: Text | None = None
    messages: list[_Turn] | None = None
    category: Name | None = None
    cluster: Name | None = None

    @model_validator(mode="after")
    def _asks(self) -> "_Prompt":
        if (self.prompt is None) == (self.messages is None):
            raise ValueError("give either `prompt` or `messages`")
        roles = [turn.role for turn in self.messages or [_Turn(role="user", content="?")]]
        if not len(roles) % 2 or roles[::2] != ["user"] * len(roles[::2]) or "user" in roles[1::2]:
            raise ValueError(
                "turns of user and assistant alternate and end with the user's (put a system "
                "prompt into the user's first turn)"
            )
        return self


def read(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The tables of a file of judgments in the format that the entry's reader names.

    Rows of judges that the entry leaves out are skipped. A vote that stands in several rows of a
    user's own file (once a judge and order) counts once.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<item>`.
        entry: The study, the format, the judges to read, and other names.
        source: The file, or a folder of reviews.

    Returns:
        items, responses, labels and verdicts.

    Raises:
        SelfprefError: As `selfpref.formats.judgments.read`.
    """
    names = judgments.called(entry.judges or (), entry.aliases)
    rows = renamed(judgments.read(source, entry.reader, names, texts=True), entry.aliases)
    judges_of(dataset, entry, rows["judge"].dropna().unique())
    return tables_of(rows, dataset, entry.study, entry.judges)


def judges_of(dataset: str, entry: Dataset, known: Iterable[str]) -> set[str]:
    """The judges to read of a source: those that its entry names, or all.

    Args:
        dataset: The entry's key, for errors.
        entry: The entry.
        known: The judges that the source has.

    Raises:
        SelfprefError: The entry names a judge that is not among them.
    """
    there = set(known)
    if unknown := sorted(set(entry.judges or ()) - there):
        raise SelfprefError(
            f"{entry.study}.datasets.{dataset}.judges: {unknown[0]!r} is unknown; choose of "
            f"{', '.join(sorted(there))}"
        )
    return set(entry.judges or there)


def written(rows: Iterable[tuple[str, str, str]], study: str) -> pd.DataFrame:
    """The responses table of a source with one text a responder: item_id, responder and text."""
    columns = ["item_id", "responder", "text"]
    return tables.fill(pd.DataFrame(rows, columns=columns), "responses", study=study)


def audited(study: str, file: str, rows: int, found: Mapping[str, int]) -> pd.DataFrame:
    """The audit table of one file of so many rows: how many of them each finding concerns."""
    made = [{"finding": finding, "affected": count} for finding, count in found.items() if count]
    return tables.fill(made, "audit", study=study, file=file, rows=rows)


def prompts(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The items of a user's file of prompts.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<id>`.
        entry: How many of them to read.
        source: The file.

    Returns:
        items.

    Raises:
        SelfprefError: A line breaks the rules above; names file, line and key.
    """
    found: dict[str, _Prompt] = {}
    for number, record in records(source):
        where = f"{place(source)} {number}"
        try:
            prompt = _Prompt.model_validate(record)
        except ValidationError as failure:
            first = failure.errors()[0]
            key, told = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
            given = f", not {first['input']!r}"[:60] if key else ""
            raise SelfprefError(f"{where}: {key or 'prompt'}: {told}{given}") from failure
        if found.setdefault(prompt.id, prompt) is not prompt:
            raise SelfprefError(f"{where}: id {prompt.id!r} stands there twice; rename one")
    if not found:
        raise SelfprefError(f"{source}: holds no prompt; add lines with `id` and `prompt`")
    wanted = set(sampled([f"{dataset}/{name}" for name in found], entry.sample))
    rows = [
        {
            "item_id": f"{dataset}/{name}",
            "category": one.category,
            "cluster": f"{dataset}/{one.cluster or name}",
            "messages": [turn.model_dump() for turn in one.messages or ()]
            or [{"role": "user", "content": one.prompt}],
        }
        for name, one in found.items()
        if f"{dataset}/{name}" in wanted
    ]
    return {"items": tables.fill(rows, "items", study=entry.study)}


def scores(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The truths of a user's file of scores.

    Args:
        dataset: Its key in the parameters, for errors.
        entry: The study whose texts were scored; it names no judges, which a truth has not.
        source: The file.

    Returns:
        truths.

    Raises:
        SelfprefError: A column is missing or unknown, a value is no number, or a text has two
            scores by one metric; names file, line and column.
    """
    if entry.judges is not None:
        raise SelfprefError(
            f"{entry.study}.datasets.{dataset}.judges: true scores have no judge; remove the key"
        )
    raw = whole(source, SCORES)
    step, score = numbers(raw, "step"), numbers(raw, "score")
    refuse(raw, step.lt(0) | step.mod(1).ne(0), "step {step} is not a number from 0")
    names = raw[["item", "responder", "metric"]].astype("str").rename(columns={"item": "item_id"})
    truths = names.assign(study=entry.study, step=step.astype("int64"), score=score)
    again = truths.drop(columns="score").duplicated()
    refuse(raw, again, "a second {metric} of item {item}; keep one row")
    return {"truths": truths}


def perplexities(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The perplexities of a user's file.

    Args:
        dataset: Its key in the parameters, for errors.
        entry: Of the study whose texts were read; its `judges` are the readers to take.
        source: The file.

    Returns:
        perplexities.

    Raises:
        SelfprefError: A column is missing or unknown, a value is no number, or a reader has two
            rows of one text; names file, line and column.
    """
    raw = whole(source, (*NAMES, "given_prompt", *NUMBERS))
    given = raw["given_prompt"].astype("str").str.lower().map({"true": True, "false": False})
    refuse(raw, given.isna(), "given_prompt {given_prompt} is neither true nor false")
    key = raw[list(NAMES)].astype("str").assign(conditional=given.astype(bool))
    refuse(raw, key.duplicated(), "a second row of item {item}; keep one")
    values = pd.DataFrame({name: numbers(raw, name) for name in NUMBERS})
    refuse(raw, values.lt(0).any(axis=1), "nats, tokens and bytes are numbers from 0")
    found = key.join(values.astype({"tokens": "int64", "bytes": "int64"}))
    found = found.rename(columns=NAMES | NUMBERS)
    kept = found[found["judge"].isin(judges_of(dataset, entry, found["judge"]))]
    return {"perplexities": tables.fill(kept, "perplexities", study=entry.study, status="ok")}
