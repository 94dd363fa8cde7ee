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
- The vote ran in a notebook whose output, the log, names for every row without a majority the three
  votes in the order in which their responses were shown, and the model that was then credited. The
  number in its reply counts places *as shown*, and was looked up in the order `SHOWN`.
  So a verdict `tie-break` is the vote at the place that the credited model has in `SHOWN`;
  `tie-break-released` is whom the release credited.
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
from selfpref.formats.datasets import judges_of
from selfpref.params import Dataset
from selfpref.prompts.rubric import read_marks, read_total
from selfpref.studies.livebench.scorers import score

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
TIE_BREAKER = "o1-preview"
FOLDER = "results/LiveBench/"
FILES = {
    "instruction_following": f"{FOLDER}voting/livebench_if_judgement.csv",
    "language": f"{FOLDER}voting/livebench_lang_judgement.csv",
    "coding": f"{FOLDER}voting/livebench_coding_judgement.csv",
    "data_analysis": f"{FOLDER}voting/livebench_data_analysis_judgement.csv",
    "reasoning": f"{FOLDER}voting/livebench_reasoning_judgement.csv",
    "math": f"{FOLDER}judgements/livebench_math_judgement.csv",
}
LOG = "results.ipynb"
# The lines of the log.
CATEGORY = re.compile(r"category: (\w+)")
CALL = re.compile(r"Result was Counter\(\{(.*)\}\)")
CREDITED = re.compile(r"tiebreaker decision: (\S+)")
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
    found = STEM.match(question)
    return " ".join((found[1] if found else question).split())


def read_log(path: Path) -> pd.DataFrame:
    """The tie-breaker's calls.

    Returns:
        `category, shown` (models in the order shown), `credited` and `chosen` (missing where no
        decision is logged), in the order of each category's rows.
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = (output for cell in cells for output in cell.get("outputs", []))
    lines = "\n".join("".join(output.get("text", [])) for output in outputs).splitlines()
    calls: list[dict[str, Any]] = []
    category = ""
    for line in map(str.strip, lines):
        if found := CATEGORY.fullmatch(line):
            category = found[1]
        elif found := CALL.fullmatch(line):
            shown = [NAMES[model] for model in re.findall(r"'([^']+)'", found[1])]
            calls.append({"category": category, "shown": shown})
        elif found := CREDITED.fullmatch(line):
            credited, shown = NAMES[found[1]], calls[-1]["shown"]
            calls[-1] |= {"credited": credited, "chosen": shown[SHOWN.index(credited)]}
    return pd.DataFrame(calls, columns=["category", "shown", "credited", "chosen"])


def _sheet(category: str, local: Path, dataset: str) -> pd.DataFrame:
    """One category's file, a row a question, the models under their short names."""
    rows = pd.read_csv(local, dtype=str, keep_default_na=False)
    models = {NAMES[column]: column for column in rows if column in NAMES}
    spelt = re.compile("|".join(map(re.escape, NAMES)))
    rows.columns = rows.columns.str.replace(spelt, lambda name: NAMES[name[0]], regex=True)
    votes = [column for column in rows if column.endswith(("_PREFERENCE", "majority_vote"))]
    rows[votes] = rows[votes].replace(NAMES).replace("", None)
    digests = [hashlib.sha256(stem(one).encode()).hexdigest()[:12] for one in rows["question"]]
    told = {name: models[name] for name in SHOWN}
    keys = rows.get("ground_truth", pd.Series("", rows.index))
    return rows.assign(
        category=category,
        item_id=f"{dataset}/{category}/" + rows["task"] + "/" + rows["question_id"],
        cluster=[f"{dataset}/{category}/{digest}" for digest in digests],
        reference=keys.where(keys.ne(""), None),
        metadata=[json.dumps({"task": task, "models": told}) for task in rows["task"]],
        messages=[[{"role": "user", "content": question}] for question in rows["question"]],
    )


def _rating(stored: str, reasons: str) -> dict[str, object]:
    """The total that a reply states, beside the one that the release stored."""
    if not stored:
        return {"score": None, "stored": None, "marks": None, "status": "failed"}
    rest = REST.match(reasons)
    stated = f"Overall Score: {float(stored):g} {rest[0].strip() if rest else ''}"
    total, marks = read_total(stated), read_marks(f"{stated}\n{reasons}")
    status = "unparsable" if total is None else "ok"
    return {"score": total, "stored": float(stored), "marks": marks, "status": status}


def _ratings(rows: pd.DataFrame, judges: list[str]) -> pd.DataFrame:
    columns = {"total": "SCORING", "reply": "SR"}
    parts = [
        rows[["item_id"]].assign(
            judge=judge,
            responder=responder,
            **{name: rows[f"{judge}_{kind}_{responder}"] for name, kind in columns.items()},
        )
        for judge in judges
        for responder in SHOWN
    ]
    if not parts:
        return tables.empty("ratings")
    rated = pd.concat(parts, ignore_index=True)
    read = [_rating(*pair) for pair in zip(rated.pop("total"), rated["reply"], strict=True)]
    reply = rated["reply"].where(rated["reply"].ne(""), None)
    return rated.assign(reply=reply, task="rubric").join(pd.DataFrame(read))


def _choices(rows: pd.DataFrame, judges: list[str]) -> Iterator[pd.DataFrame]:
    for judge in judges:
        cast = rows[["item_id"]].assign(judge=judge, choice=rows[f"{judge}_PREFERENCE"])
        yield cast.assign(variant="plain", candidates=[SHOWN] * len(cast))


def _tie_breaks(rows: pd.DataFrame, calls: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Every call in both readings; a category's calls come in the order of its rows."""
    votes = rows[VOTES]
    split = rows[votes.nunique(axis=1).eq(len(SHOWN))].sort_values("category", kind="stable")
    calls = calls.sort_values("category", kind="stable")
    shown = calls["shown"].tolist()
    assert votes.loc[split.index].to_numpy().tolist() == shown, "the log is of another vote"
    for variant, which in (("tie-break", "chosen"), ("tie-break-released", "credited")):
        call = split[["item_id"]].assign(judge=TIE_BREAKER, choice=calls[which].to_numpy())
        yield call.assign(variant=variant, candidates=shown)


def _truths(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    for row in rows.to_dict("records"):
        for responder in SHOWN:
            given = score(row["task"], row["question"], row["reference"], row[responder])
            for metric, value in given.items():
                truth = {"item_id": row["item_id"], "responder": responder}
                yield truth | {"metric": metric, "score": value}


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
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
    judges, files = [judge for judge in SHOWN if judge in wanted], fetch(source)
    sheets = [_sheet(category, files[path], dataset) for category, path in FILES.items()]
    rows, calls = pd.concat(sheets, ignore_index=True), read_log(files[LOG])
    cast = [*_choices(rows, judges), *(_tie_breaks(rows, calls) if TIE_BREAKER in wanted else ())]
    verdicts = pd.concat(cast, ignore_index=True)
    status = verdicts["choice"].isna().map({True: "failed", False: "ok"})
    found = {
        "items": rows[["item_id", "category", "cluster", "messages", "reference", "metadata"]],
        "responses": rows.melt("item_id", SHOWN, "responder", "text"),
        "ratings": _ratings(rows, judges),
        "verdicts": verdicts.assign(status=status),
        "truths": pd.DataFrame(_truths(rows)),
    }
    filled = {name: tables.fill(frame, name, study=entry.study) for name, frame in found.items()}
    audit = _audit(rows, filled["ratings"], calls)
    return filled | {"audit": tables.fill(audit, "audit", study=entry.study)}


def _audit(rows: pd.DataFrame, ratings: pd.DataFrame, calls: pd.DataFrame) -> pd.DataFrame:
    """What is odd in each category's file and calls: of `rows` looked at, so many `affected`."""
    of = rows.set_index("item_id")
    texts = of[SHOWN].apply(lambda column: column.str.split().str.join(" ")).nunique(axis=1)
    ratings = ratings.set_index("item_id")
    known = ratings[ratings["stored"].notna()]
    marked = known[known["marks"].notna()]
    looked = {
        "all three responses are the same": texts.eq(1),
        "exactly two responses are the same": texts.eq(2),
        "no answer key": of["reference"].isna(),
        "total is blank": ratings["stored"].isna(),
        "stored total is not the one stated": known["score"].ne(known["stored"]),
        "all eleven marks can be read": known["marks"].notna(),
        "total is not the sum of its marks": marked["marks"].map(sum) != marked["score"],
    }
    found = [
        (FILES[category], finding, len(part), part.sum())
        for finding, which in looked.items()
        for category, part in which.groupby(of["category"].reindex(which.index).to_numpy())
    ]
    decided = calls.dropna(subset="credited")
    of_calls = {
        "call shows another order than is decoded": calls["shown"].map(
            lambda names: names != SHOWN
        ),
        "credited is not the response chosen": decided["chosen"].ne(decided["credited"]),
    }
    found += [
        (LOG, f"{category}: {finding}", len(part), part.sum())
        for finding, which in of_calls.items()
        for category, part in which.groupby(calls["category"])
    ]
    return pd.DataFrame(found, columns=["file", "finding", "rows", "affected"])
