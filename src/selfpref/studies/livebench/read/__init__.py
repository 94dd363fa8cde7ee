"""Reader of "Self-bias in LLM as Judge": three models respond, score and choose on LiveBench.

Released (no licence): 1,135 questions of six categories and 18 tasks, three responses each, every
model's rubric total with its reasons and its choice among the three, and the log of a tie-breaker.
What matters in reading them:

- The responses were shown in one order only, `SHOWN`; the judges are the same models.
- The Gemini of data analysis, reasoning and math is the thinking variant. It keeps one name here;
  the models' ids stand in each item's metadata.
- A reply that adds up its marks ("1 + 1 + 0 + ... = 7") was stored as its first number. The total
  is read again with what follows; `stored` keeps what the release has.
- Of math only an earlier file is public: all choices, the totals of 40 rows, and no vote.
- A tie-breaker's verdict has the variant `tie-break`; `tie-break-released` is whom the release
  credited, since it looked the tie-breaker's number up in another order than it had shown.
- Questions share a cluster where they share their stem: the same question with another form of
  answer, other options or gaps, or part of its program given.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref import tables
from selfpref.download.fetch import fetch
from selfpref.errors import SelfprefError
from selfpref.formats.records import judges_of
from selfpref.params import Dataset
from selfpref.prompts.rubric import read_marks, read_total
from selfpref.studies.livebench.read.audit import audit_log, audit_sheet
from selfpref.studies.livebench.read.files import FILES, LOG, SHOWN, Log, Sheet, read_log
from selfpref.studies.livebench.scorers import has_key, score

TIE_BREAKER = "o1-preview"
# The rest of a stored total at the head of the reasons: a sum, a fraction, decimals.
REST = re.compile(r"\s*[+/.][^\n]*")

TABLES = ("items", "responses", "ratings", "verdicts", "truths")

Row = dict[str, Any]


def _items(sheet: Sheet, ids: list[str], dataset: str) -> Iterator[Row]:
    models = {name: sheet.models[name] for name in SHOWN}
    for item, row, stem in zip(ids, sheet.rows.itertuples(), sheet.stems, strict=True):
        digest = hashlib.sha256(stem.encode()).hexdigest()[:12]
        yield {
            "item_id": item,
            "category": sheet.category,
            "cluster": f"{dataset}/{sheet.category}/{digest}",
            "messages": [{"role": "user", "content": row.question}],
            "reference": getattr(row, "ground_truth", None) or None,
            "metadata": json.dumps({"task": row.task, "models": models}),
        }


def _rating(stored: str, reasons: str) -> Row:
    """The total that a reply states, beside the one that the release stored."""
    if not stored:
        unknown = dict.fromkeys(("score", "stored", "marks"))
        return unknown | {"reply": reasons or None, "status": "failed"}
    rest = REST.match(reasons)
    stated = f"Overall Score: {float(stored):g} {rest[0].strip() if rest else ''}"
    total = read_total(stated)
    return {
        "score": total,
        "stored": float(stored),
        "marks": read_marks(f"{stated}\n{reasons}"),
        "reply": reasons or None,
        "status": "unparsable" if total is None else "ok",
    }


def _ratings(sheet: Sheet, ids: list[str], judge: str) -> Iterator[Row]:
    for responder in SHOWN:
        totals, reasons = sheet.totals(judge, responder), sheet.reasons(judge, responder)
        for item, stored, reason in zip(ids, totals, reasons, strict=True):
            yield {"item_id": item, "responder": responder, "judge": judge} | _rating(
                stored, reason
            )


def _choices(sheet: Sheet, ids: list[str], judge: str) -> Iterator[Row]:
    for item, choice in zip(ids, sheet.choices(judge), strict=True):
        verdict = {"item_id": item, "judge": judge, "candidates": SHOWN, "variant": "plain"}
        yield verdict | {"choice": choice or None}


def _tie_breaks(sheet: Sheet, ids: list[str], log: Log) -> Iterator[Row]:
    """Both readings of every call, which the log lists in the order of the rows."""
    calls = log.calls.get(sheet.category, [])
    rows = [
        (item, votes)
        for item, votes in zip(ids, sheet.votes(), strict=True)
        if "" not in votes and len(set(votes)) == len(votes)
    ]
    if [votes for _, votes in rows] != [call.shown for call in calls]:
        raise SelfprefError(
            f"{LOG}: its {len(calls)} tie-breaks of {sheet.category} do not fit the {len(rows)} "
            f"rows without a majority in {FILES[sheet.category]}; use files of one release"
        )
    for (item, votes), call in zip(rows, calls, strict=True):
        verdict = {"item_id": item, "judge": TIE_BREAKER, "candidates": votes}
        yield verdict | {"choice": call.chosen, "variant": "tie-break"}
        yield verdict | {"choice": call.credited, "variant": "tie-break-released"}


def _truths(sheet: Sheet, ids: list[str]) -> Iterator[Row]:
    for item, row in zip(ids, sheet.rows.to_dict("records"), strict=True):
        key = row.get("ground_truth")
        if not has_key(row["task"], key):
            continue
        for responder in SHOWN:
            text = row[sheet.models[responder]]
            for metric, value in score(row["task"], row["question"], key, text).items():
                yield {"item_id": item, "responder": responder, "metric": metric, "score": value}


def _tables(sheet: Sheet, dataset: str, judges: set[str], log: Log) -> dict[str, pd.DataFrame]:
    """One category's rows of every table, without the study."""
    rows = sheet.rows
    ids = [
        f"{dataset}/{sheet.category}/{task}/{question}"
        for task, question in zip(rows["task"], rows["question_id"], strict=True)
    ]
    voters = [judge for judge in SHOWN if judge in judges]
    verdicts = [row for judge in voters for row in _choices(sheet, ids, judge)]
    if TIE_BREAKER in judges:
        verdicts += _tie_breaks(sheet, ids, log)
    texts = [
        {"item_id": item, "responder": responder, "text": text}
        for responder in SHOWN
        for item, text in zip(ids, sheet.texts(responder), strict=True)
    ]
    rated = [row for judge in voters for row in _ratings(sheet, ids, judge)]
    return {
        "items": tables.fill(_items(sheet, ids, dataset), "items"),
        "responses": tables.fill(texts, "responses"),
        "ratings": tables.fill(rated, "ratings", task="rubric"),
        "verdicts": tables.fill(
            (row | {"status": "ok" if row["choice"] else "failed"} for row in verdicts), "verdicts"
        ),
        "truths": tables.fill(_truths(sheet, ids), "truths"),
    }


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of the release.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<category>/<task>/<question id>`.
        entry: The study, and which of the three judges and the tie-breaker `o1-preview` to read.
        source: The pinned files.

    Returns:
        items, responses, ratings, verdicts, truths and audit.

    Raises:
        SelfprefError: A file cannot be had or read, a judge is not in the release, or files do not
            belong together.
    """
    wanted = judges_of(dataset, entry, [*SHOWN, TIE_BREAKER])
    files = fetch(source)
    if missing := [path for path in (*FILES.values(), LOG) if path not in files]:
        raise SelfprefError(f"{source}: {missing[0]} is not listed; the release needs it")
    log = read_log(files[LOG])
    sheets = [Sheet(category, files[path]) for category, path in FILES.items()]
    parts = [_tables(sheet, dataset, wanted, log) for sheet in sheets]
    frames = {name: pd.concat([part[name] for part in parts], ignore_index=True) for name in TABLES}
    audits = [audit_sheet(sheet, part) for sheet, part in zip(sheets, parts, strict=True)]
    frames["audit"] = pd.concat([*audits, audit_log(log)], ignore_index=True)
    return {name: frame.assign(study=entry.study) for name, frame in frames.items()}
