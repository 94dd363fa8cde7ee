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
from typing import Any

import pandas as pd

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.formats import judgments
from selfpref.formats.records import Frames, numbers, records, refuse, renamed, tables_of, whole
from selfpref.params import Dataset
from selfpref.seeds import sampled

READ = ("item", "responder", "reader", "given_prompt", "nats", "tokens", "bytes")


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
        told = f"{unknown[0]!r} is unknown; choose of {', '.join(sorted(there))}"
        raise SelfprefError(f"{entry.study}.datasets.{dataset}.judges: {told}")
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
        SelfprefError: A line breaks the rules above; names file and line.
    """
    found: dict[str, dict[str, object]] = {}
    for where, read in records(source):
        record = {key: value for key, value in read.items() if value not in (None, "")}
        name = str(record.get("id", ""))
        item = f"{dataset}/{name}"
        turns = record.get("messages", [{"role": "user", "content": record.get("prompt")}])
        either = {"prompt"} if "prompt" in record else {"messages"}
        known = record.keys() <= {"id", "category", "cluster"} | either
        if not (name and name.isprintable() and known and _asks(turns)) or item in found:
            raise SelfprefError(
                f"{where}: give an `id` of its own, and either `prompt` or `messages`, whose turns "
                "of user and assistant alternate and end with the user's"
            )
        found[item] = {
            "item_id": item,
            "category": str(record["category"]) if "category" in record else None,
            "cluster": f"{dataset}/{record.get('cluster', name)}",
            "messages": turns,
        }
    if not found:
        raise SelfprefError(f"{source}: holds no prompt; add lines with `id` and `prompt`")
    wanted = {*sampled(found, entry.sample)}
    rows = [row for item, row in found.items() if item in wanted]
    return {"items": tables.fill(rows, "items", study=entry.study)}


def _asks(turns: Any) -> bool:
    """Whether turns of user and assistant, none of them empty, end with the user's."""
    try:
        said = [turn["role"] for turn in turns if turn["content"].strip()]
    except (AttributeError, KeyError, TypeError):
        return False
    return said == ["user", *["assistant", "user"] * (len(turns) // 2)]


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
    rows = whole(source, ("item", "responder", "step", "metric"), ("score",))
    step = numbers(rows, "step")
    refuse(rows, step.lt(0) | step.mod(1).ne(0), "step {step} is not a number from 0")
    truths = rows.drop(columns="place").rename(columns={"item": "item_id"})
    truths["step"] = step.astype("int64")
    return {"truths": tables.fill(truths, "truths", study=entry.study)}


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
    rows = whole(source, READ[:4], READ[4:])
    given = rows["given_prompt"].str.lower().map({"true": True, "false": False})
    refuse(rows, given.isna(), "given_prompt {given_prompt} is neither true nor false")
    for name in READ[4:]:
        refuse(rows, rows[name].lt(0), f"{name} {{{name}}} is below 0")
    columns = ["item_id", "responder", "judge", "conditional", "sum_nll", "n_tokens", "n_bytes"]
    found = rows.assign(given_prompt=given.astype(bool))[[*READ]].set_axis(columns, axis=1)
    found = found.astype({"n_tokens": int, "n_bytes": int})
    kept = found[found["judge"].isin(judges_of(dataset, entry, found["judge"]))]
    return {"perplexities": tables.fill(kept, "perplexities", study=entry.study, status="ok")}
