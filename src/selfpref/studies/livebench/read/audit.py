"""What is wrong or odd in LiveBench's release, counted file by file.

`rows` is how many items, cells or calls were looked at, `affected` how many have the finding.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from selfpref.prompts.rubric import read_total
from selfpref.studies.livebench.read.files import FILES, LOG, NAMES, SHOWN, Log, Sheet
from selfpref.studies.livebench.scorers import SCORERS

Row = dict[str, Any]


def _finding(name: str, rows: int, affected: int, detail: str | None = None) -> Row:
    return {"finding": name, "rows": rows, "affected": affected, "detail": detail}


def _by_judge(rows: pd.DataFrame, which: pd.Series) -> str:
    """Affected of all, judge by judge."""
    counts = which.groupby(rows["judge"], sort=True).agg(["sum", "size"])
    return ", ".join(f"{judge} {row['sum']}/{row['size']}" for judge, row in counts.iterrows())


def copies(texts: list[str]) -> int:
    """How many texts say the same as another, blanks aside; 0 where all differ."""
    most = max(Counter(" ".join(text.split()) for text in texts).values())
    return most if most > 1 else 0


def _questions(sheet: Sheet, truths: pd.DataFrame) -> Iterator[Row]:
    rows = len(sheet)
    texts = [sheet.texts(responder) for responder in SHOWN]
    blank = sum(int(column.str.strip().eq("").sum()) for column in texts)
    yield _finding("response is blank", len(SHOWN) * rows, blank)
    same = Counter(copies(list(row)) for row in zip(*texts, strict=True))
    yield _finding("all three responses are the same", rows, same[3])
    yield _finding("exactly two responses are the same", rows, same[2])
    repeated = int(sheet.stems.duplicated(keep=False).sum())
    yield _finding("question shares its stem with another", rows, repeated)
    stored = [NAMES[column] for column in sheet.rows if column in NAMES]
    moved = rows if stored != SHOWN else 0
    yield _finding("responses are stored in another order than shown", rows, moved)
    keys = sheet.rows.get("ground_truth", pd.Series("", index=sheet.rows.index))
    yield _finding("no answer key", rows, int(keys.eq("").sum()))
    keyed = int((keys.ne("") & sheet.rows["task"].isin(SCORERS)).sum())
    scored = truths["item_id"].nunique() if len(truths) else 0
    yield _finding("answer key is unusable", keyed, keyed - scored)


def _choices(verdicts: pd.DataFrame) -> Iterator[Row]:
    votes = verdicts[verdicts["variant"].eq("plain")]
    yield _finding("choice is blank", len(votes), int(votes["choice"].isna().sum()))


def _totals(ratings: pd.DataFrame) -> Iterator[Row]:
    known = ratings[ratings["stored"].notna()]
    yield _finding("total is blank", len(ratings), len(ratings) - len(known))
    bare = known["reply"].isna()
    yield _finding("reasons are blank beside a total", len(known), int(bare.sum()))
    wrong = known["score"].ne(known["stored"])
    yield _finding(
        "stored total is not the one stated", len(known), int(wrong.sum()), _by_judge(known, wrong)
    )
    later = known["reply"].fillna("").map(read_total)
    revised = later.notna() & later.ne(known["score"]) & ~wrong
    yield _finding("another total is stated later", len(known), int(revised.sum()))
    marked = known[known["marks"].notna()]
    yield _finding("all eleven marks can be read", len(known), len(marked))
    differs = marked["marks"].map(sum).ne(marked["score"])
    detail = _by_judge(marked, differs)
    yield _finding("total is not the sum of its marks", len(marked), int(differs.sum()), detail)


def _votes(sheet: Sheet, verdicts: pd.DataFrame) -> Iterator[Row]:
    """Whether the release's vote is what its rule makes of the choices and the log."""
    plain = verdicts[verdicts["variant"].eq("plain")]
    if "majority_vote" not in sheet.rows or plain["judge"].nunique() < len(SHOWN):
        return
    credited = verdicts[verdicts["variant"].eq("tie-break-released")].set_index("item_id")["choice"]
    votes = plain.groupby("item_id", sort=False)["choice"]
    winners = [
        name if count > len(SHOWN) // 2 else credited.get(item)
        for item, chosen in votes
        for name, count in Counter(chosen).most_common(1)
    ]
    stored = sheet.rows["majority_vote"].map(NAMES.get)
    differs = sum(one != two for one, two in zip(winners, stored, strict=True))
    yield _finding("stored vote is not that of the rule", len(sheet), differs)


def audit_sheet(sheet: Sheet, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The findings of one category's file.

    Args:
        sheet: The file.
        tables: What was read of it: ratings, verdicts and truths.
    """
    found = [
        *_questions(sheet, tables["truths"]),
        *_choices(tables["verdicts"]),
        *_totals(tables["ratings"]),
        *_votes(sheet, tables["verdicts"]),
    ]
    return pd.DataFrame(found).assign(file=FILES[sheet.category])


def audit_log(log: Log) -> pd.DataFrame:
    """The findings of the tie-breaker's log, by category."""
    found = []
    for category, calls in log.calls.items():
        decided = [call for call in calls if call.credited in SHOWN]
        moved = sum(call.shown != SHOWN for call in calls)
        wrong = sum(call.chosen != call.credited for call in decided)
        found += [
            _finding(f"{category}: call shows another order than is decoded", len(calls), moved),
            _finding(f"{category}: credited is not the response chosen", len(decided), wrong),
            _finding(f"{category}: call without a decision", len(calls), len(calls) - len(decided)),
        ]
    total = sum(map(len, log.calls.values()))
    found += [_finding(trouble, total, count) for trouble, count in sorted(log.troubles.items())]
    return pd.DataFrame(found).assign(file=LOG)
