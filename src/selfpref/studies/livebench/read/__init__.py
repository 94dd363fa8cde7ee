"""Readers: the release (`release`), and LiveBench itself from the Hub (`questions`).

"Self-bias in LLM as Judge": three models respond, score and choose on LiveBench.

Released (no licence): 1,135 questions of six categories and 18 tasks, three responses each, every
model's rubric total with its reasons and its choice among the three, and the log of a tie-breaker.
What matters in reading them:

- The responses were shown in one order only, `SHOWN`; the judges are the same models.
- The Gemini of data analysis, reasoning and math is the thinking variant. It keeps one name here;
  the models' ids stand in each item's metadata.
- A reply that adds up its marks ("1 + 1 + 0 + ... = 7") was stored as its first number. The total
  is read again with what follows; `stored` keeps what the release has.
- Of math only an earlier file is public: all choices, the totals of 40 rows, and no vote.
- The vote ran in a notebook whose output, the log, names for every row without a majority the three
  votes in the order in which their responses were shown, and the model that was then credited. The
  number in its reply counts places *as shown*, and was looked up in the order `SHOWN`.
  So a verdict `tie-break` is the vote at the place that the credited model has in `SHOWN`;
  `tie-break-released` is whom the release credited.
- Questions share a cluster where they share their stem: the same question with another form of
  answer, other options or gaps, or part of its program given.

The questions of LiveBench with their answer keys (White et al., arXiv 2406.19314).

`livebench/<category>`, one data set a category. A question is the first of its turns; models that
run here answer it in a contest. Where a question has no key in the set (instruction following,
coding) or its task has no rule, its responses have no objective score.
"""

import json
import re
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from selfpref import tables
from selfpref.download.fetch import fetch, open_set
from selfpref.formats.datasets import audited, judges_of
from selfpref.params import Dataset
from selfpref.prompts.rubric import read_marks, read_total
from selfpref.seeds import sampled
from selfpref.studies.livebench.scorers import keyed

# The first of two names of which one begins with the other is the longer one.
NAMES = {
    "openai/o3-mini-2025-01-31": "o3-mini",
    "anthropic/claude-3-7-sonnet-20250219": "claude-3-7-sonnet",
    "gemini/gemini-2.0-flash-thinking-exp": "gemini-2.0-flash",
    "gemini/gemini-2.0-flash": "gemini-2.0-flash",
}
# The order of the responses in every prompt, and of the judges' votes.
SHOWN = ["o3-mini", "claude-3-7-sonnet", "gemini-2.0-flash"]
VOTES = [f"{judge}_PREFERENCE" for judge in SHOWN]
TIE_BREAKER, READINGS = "o1-preview", ["tie-break", "tie-break-released"]
SHEETS = {
    "instruction_following": "voting/livebench_if",
    "language": "voting/livebench_lang",
    "coding": "voting/livebench_coding",
    "data_analysis": "voting/livebench_data_analysis",
    "reasoning": "voting/livebench_reasoning",
    "math": "judgements/livebench_math",
}
FILES = {category: f"results/LiveBench/{name}_judgement.csv" for category, name in SHEETS.items()}
LOG = "results.ipynb"
RATED = ["score", "stored", "marks", "status"]
# The lines of the log: a category begins, three votes differ, one of them is credited.
LINE = r"^ *(?:category: (\w+)|Result was Counter\(\{(.*)\}\)|tiebreaker decision: (\S+)) *$"
COLUMNS = ("question_id", "category", "task", "turns")
# What precedes and what follows the stem of a question.
STEM = re.compile(
    r"(?:.*?(?:### Question:?|The question is:))?(.*?)"
    r"(?:The solution is:|### Format|\$\\textbf\{\(A\)|Please (?:put|give|think)|If you cannot|\Z)",
    re.DOTALL,
)
# The rest of a stored total at the head of the reasons: a sum, a fraction, decimals.
REST = re.compile(r"\s*[+/.][^\n]*")


def stem(question: str) -> str:
    """The question itself, without the form of its answer, options, gaps and blanks."""
    return " ".join(STEM.findall(question)[0].split())


def read_log(path: Path) -> pd.DataFrame:
    """The tie-breaker's calls.

    Returns:
        `category, candidates` (in the order shown) and both readings, `tie-break` and
        `tie-break-released` (missing where no decision is logged), in the order of each category's
        rows.
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = (output for cell in cells for output in cell.get("outputs", []))
    text = "\n".join("".join(output.get("text", [])) for output in outputs)
    calls = list[dict[str, Any]]()
    category = ""
    for begun, votes, credited in re.findall(LINE, text, re.MULTILINE):
        category = begun or category
        if votes:
            shown = [NAMES[model] for model in re.findall(r"'([^']+)'", votes)]
            calls.append({"category": category, "candidates": shown})
        if credited:
            place = SHOWN.index(NAMES[credited])
            calls[-1] |= {"tie-break": shown[place], "tie-break-released": SHOWN[place]}
    return pd.DataFrame(calls, columns=["category", "candidates", *READINGS])


def _sheet(category: str, local: Path, dataset: str) -> pd.DataFrame:
    """One category's file, a row a question, the models under their short names."""
    rows = pd.read_csv(local, dtype=str, keep_default_na=False)
    told = {name: model for model, name in NAMES.items() if model in rows}
    spelt = "|".join(map(re.escape, NAMES))
    rows.columns = rows.columns.str.replace(spelt, lambda name: NAMES[name[0]], regex=True)
    rows[VOTES] = rows[VOTES].replace(NAMES).replace("", None)
    place = f"{dataset}/{category}/"
    return rows.assign(
        category=category,
        item_id=place + rows["task"] + "/" + rows["question_id"],
        cluster=[place + sha256(stem(one).encode()).hexdigest()[:12] for one in rows["question"]],
        metadata=[json.dumps({"task": task, "models": told}) for task in rows["task"]],
        messages=[[{"role": "user", "content": question}] for question in rows["question"]],
    )


def _rating(stored: str, reasons: str) -> tuple[object, ...]:
    """The total that a reply states, the one that the release stored, marks and status."""
    if not stored:
        return None, None, None, "failed"
    rest = REST.match(reasons)
    stated = f"Overall Score: {float(stored):g} {rest[0].strip() if rest else ''}"
    total = read_total(stated)
    marks = read_marks(f"{stated}\n{reasons}")
    status = "unparsable" if total is None else "ok"
    return total, float(stored), marks, status


def _ratings(rows: pd.DataFrame) -> pd.DataFrame:
    parts = []
    for judge, responder in product(SHOWN, SHOWN):
        total = rows[f"{judge}_SCORING_{responder}"]
        reply = rows[f"{judge}_SR_{responder}"]
        read = pd.DataFrame([*map(_rating, total, reply)], rows.index, RATED)
        given = {"judge": judge, "responder": responder, "item_id": rows["item_id"]}
        parts.append(read.assign(reply=reply.replace("", None), **given))
    return pd.concat(parts, ignore_index=True)


def _verdicts(rows: pd.DataFrame, calls: pd.DataFrame) -> pd.DataFrame:
    """The judges' choices, and every call of the tie-breaker in both readings."""
    cast = rows.melt("item_id", VOTES, "judge", "choice")
    cast["judge"] = cast["judge"].str.removesuffix("_PREFERENCE")
    cast = cast.assign(candidates=[SHOWN] * len(cast), variant="plain")
    # A category's calls come in the order of its rows.
    split = rows[rows[VOTES].nunique(axis=1).eq(len(SHOWN))]
    split, calls = (one.sort_values("category", kind="stable") for one in (split, calls))
    calls = calls.assign(judge=TIE_BREAKER, item_id=split["item_id"].to_numpy())
    asked = calls.melt(["item_id", "judge", "candidates"], READINGS, "variant", "choice")
    verdicts = pd.concat([cast, asked], ignore_index=True)
    return verdicts.assign(status=np.where(verdicts["choice"].isna(), "failed", "ok"))


def release(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of the release.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<category>/<task>/<question id>`.
        entry: The study, and which of the three judges and the tie-breaker `o1-preview` to read.
        source: The pinned files.

    Returns:
        items, responses, ratings, verdicts, truths and audit.

    Raises:
        SelfprefError: A file cannot be had, or a judge is not in the release.
    """
    wanted = judges_of(dataset, entry, [*SHOWN, TIE_BREAKER])
    files = fetch(source)
    sheets = [_sheet(category, files[path], dataset) for category, path in FILES.items()]
    rows = pd.concat(sheets, ignore_index=True)
    rows["reference"] = rows["ground_truth"].replace("", None)
    responses = rows.melt("item_id", SHOWN, "responder", "text")
    judged = _ratings(rows), _verdicts(rows, read_log(files[LOG]))
    ratings, verdicts = (frame[frame["judge"].isin(wanted)] for frame in judged)
    found = {
        "items": rows[["item_id", "category", "cluster", "messages", "reference", "metadata"]],
        "responses": responses,
        "ratings": ratings.assign(task="rubric"),
        "verdicts": verdicts,
        "truths": keyed(rows, responses),
        "audit": _audit(rows, ratings),
    }
    return {name: tables.fill(frame, name, study=entry.study) for name, frame in found.items()}


def _audit(rows: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """What is odd in the totals of each category's file: of `rows` looked at, `affected` ones."""
    files = rows.set_index("item_id")["category"].map(FILES)
    ratings = ratings.set_index(ratings["item_id"].map(files))
    known = ratings.dropna(subset="stored")
    marked = known.dropna(subset="marks")
    looked = {
        "total is blank": ratings["stored"].isna(),
        "stored total is not the one stated": known["score"].ne(known["stored"]),
        "all eleven marks can be read": known["marks"].notna(),
        "total is not the sum of its marks": marked["marks"].map(sum).ne(marked["score"]),
    }
    flags = pd.concat(looked, names=["finding", "file"]).astype(int).groupby(["file", "finding"])
    return flags.agg(rows="size", affected="sum").reset_index()


def questions(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The items of one category.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<category>/<task>/<question_id>`.
        entry: Which questions to read.
        source: The file that pins the set.

    Returns:
        items and audit.

    Raises:
        SelfprefError: As `selfpref.download.fetch.open_set`.
    """
    rows = pd.DataFrame(list(open_set(source, COLUMNS))).reindex(columns=[*COLUMNS, "ground_truth"])
    names = rows["question_id"].astype(str)
    asked = rows["turns"].map(lambda turns: turns[0] if len(turns) else "")
    item_id = f"{dataset}/" + rows["category"] + "/" + rows["task"] + "/" + names
    reasons = {
        "left out by `sample`": ~names.isin(sampled({*names}, entry.sample)),
        "left out: no question": asked.str.strip().eq(""),
        "left out: a question that was there": item_id.duplicated(),
    }
    found = pd.Series(np.select([*reasons.values()], [*reasons], "ok"))
    made = rows[["category"]].assign(
        item_id=item_id,
        cluster=item_id,
        messages=[[{"role": "user", "content": question}] for question in asked],
        reference=rows["ground_truth"].replace("", None),
        metadata=[json.dumps({"task": task}) for task in rows["task"]],
    )
    return {
        "items": tables.fill(made[found.eq("ok")], "items", study=entry.study),
        "audit": audited(entry.study, dataset, len(rows), found.value_counts().to_dict()),
    }
