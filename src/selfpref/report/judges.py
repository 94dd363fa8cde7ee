"""The judges' page: what `selfpref measure` answers of each judge, from the studies' tables.

A judge is whoever has verdicts or ratings in a study's table `asked`.
"""

import math
from collections.abc import Mapping

import pandas as pd

from selfpref.card import marks
from selfpref.card.rule import REVERSED, Answer, answer, interval, on_both_sides
from selfpref.plots.show import called, span
from selfpref.statistics.bias import FEW
from selfpref.statistics.scaled import EACH
from selfpref.statistics.third import ALIKE, BOTH, OWN
from selfpref.tables.parts import ITEMS

# By study and name.
Frames = Mapping[tuple[str, str], pd.DataFrame]
# No judges: a null judge, and people.
NOBODY = ("noise", "human")
# What the rule of `selfpref measure` reads; without votes some of it is not there.
NEEDED = {"equal_opportunity", "regression_scaled", "beyond_no_preference", "harmful"}
RULED = [
    ("livebench", "third_judge", "category == 'all' and scoring == 'strict' and scale == 'marks'"),
    ("beyond", "placebo", f"model == '{EACH}'"),
    ("wataoka", "position", "pairs == 'own'"),
    ("beyond", "beyond", "study == 'wataoka' and gold == 'human'"),
]
# How often the order decides, and how often the judge agrees with people.
ORDER, AGREES = "share that the order decides", "agrees with a vote / another person does"
BESIDE = [
    ("wataoka", "position", "pairs == 'all'", "reversal_rate", ORDER),
    ("wataoka", "keyed_bias", "", "reversal_rate", ORDER),
    ("wataoka", "agreement_of_people", "n > 0 and ties == 'left out'", "itself", AGREES),
    ("panickssery", "ordering", "task == 'preference'", "ambiguous", ORDER),
]
FIRST = ["judge", "data", "does it favour itself?"]
PAIRS = [*FIRST, ORDER, AGREES, "evidence"]
# What the third judge shows, by kind.
KINDS = {BOTH: BOTH, ALIKE: "both wrong, of the same score by the key", OWN: "its own wrong alone"}
ELSEWHERE = ["judges", "data", ORDER, "what is missing"]
UNVOTED = "people's votes on its own responses, or a key and a third judge's marks"
# Each read the pairs of its own responses alone.
KEYED = "another judge of the same pairs; a key is there"
UNMARKED = "answers of its own: it chose among those of others"
RANK = ["rank", "chapter"]
MARKED, UNKNOWN = "marks, no pairs", "order not known"
# What Markdown and HTML read as itself within a line: brackets without a round one make no link.
PLAIN = " .,:;-/%+?[]'\N{MINUS SIGN}\N{RIGHT SINGLE QUOTATION MARK}"


def inert(text: str) -> str:
    """A text that neither Markdown nor HTML reads as more than that."""
    return "".join(one if one.isalnum() or one in PLAIN else f"&#{ord(one)};" for one in text)


def markdown(made: pd.DataFrame) -> str:
    """A frame of texts as a table of Markdown; data lead to the chapter that the index names."""
    rows = [made.columns, ["---"] * made.shape[1]]
    for chapter, judge, data, *texts in made.itertuples(name=None):
        rows.append([inert(judge), f"[{inert(data)}]({chapter}.ipynb)", *map(inert, texts)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _rows(found: Frames, study: str, table: str, where: str) -> pd.DataFrame:
    rows = found.get((study, table), pd.DataFrame(columns=["judge", "dataset"]))
    return rows.query(where) if where and len(rows) else rows


def tuned(found: Frames) -> set[str]:
    """Evaluators that a study tuned, which are no judges that anyone has."""
    return {*_rows(found, "panickssery", "evaluators", "variant != 'base'").get("evaluator", ())}


def asked(found: Frames) -> pd.DataFrame:
    """What every judge was asked, and what came of it: `judge, study, table, task, status, n`."""
    counts = [rows.assign(study=study) for (study, name), rows in found.items() if name == "asked"]
    whole = pd.concat([pd.DataFrame(columns=["judge", "table", "study"]), *counts])
    # Who only writes, or only reads, judges nothing.
    others = whole["table"].isin(["responses", "perplexities", ITEMS])
    return whole[~others & ~whole["judge"].isin({*NOBODY, *tuned(found)})]


def answers(judge: str, study: str, found: Frames) -> dict[str, Answer]:
    """What `selfpref measure` says of a judge, by data set with votes, or with marks and a key.

    Not where the answer needs single votes, which the tables of the figures do not hold.

    Args:
        judge: How it is called.
        study: Whose data.
        found: The studies' tables.
    """
    told: dict[str, Answer] = {}
    third, placebo, place, statistics = (
        rows[rows["judge"].eq(judge)] for rows in (_rows(found, *one) for one in RULED)
    )
    if study == "livebench" and BOTH in {*third.get("kind", ())}:
        told[study] = marks.answer(third.set_index("kind"), "of eleven points")
    orders = place.set_index("dataset").to_dict("index")
    for data, part in statistics.groupby("dataset") if study == "wataoka" else ():
        rows = part.set_index("statistic")
        if NEEDED - {*rows.index}:
            continue
        votes = rows.loc["beyond_no_preference"]
        regression = rows.loc["regression_scaled"]
        if not regression["n"] and votes["n"] and votes["hi"] < on_both_sides(rows):
            continue
        of_set = placebo[placebo["dataset"].eq(data)]
        told[str(data)] = answer(rows, of_set, math.nan, math.nan, orders.get(data, {}))
    return told


def _shown(kind: pd.Series) -> str:
    return interval(kind) if kind["items"] >= FEW else f"too few, {kind['items']:g}"


def _missing(own: pd.DataFrame, beside: pd.DataFrame, found: Frames) -> str:
    """What a judge's data lack, or what came of its calls."""
    if not own["status"].eq("ok").any():
        counted = own.groupby("status")["n"].sum().items()
        failed = ", ".join(f"{n:g} {status}" if n else str(status) for status, n in counted)
        return f"nothing is known of it: {failed}"
    keyed = _rows(found, "wataoka", "keyed_bias", "")["dataset"]
    if beside["dataset"].isin(keyed).any():
        return KEYED
    return UNMARKED if own["study"].eq("livebench").all() else UNVOTED


def first(found: Frames) -> list[pd.DataFrame]:
    """What is known of every judge: the answers on pairs, those on marks, and who has none.

    The index is the chapter, the key of a study.

    Args:
        found: The studies' tables.
    """
    key, parts = ["judge", "study"], []
    for study, table, where, column, name in BESIDE:
        rows = _rows(found, study, table, where).assign(study=study)
        rows = rows.rename(columns={"evaluator": "judge", column: name})
        parts.append(rows.reindex(columns=[*key, "dataset", ORDER, AGREES, "person"]))
    numbers, third = pd.concat(parts), _rows(found, *RULED[0])
    torn = _rows(found, "wataoka", "audit", "finding == 'ties of orders that disagree'")
    torn = {row["file"].split("/")[0]: row["affected"] / row["rows"] for _, row in torn.iterrows()}
    pairs, marked, others, rest = [], [], [], []
    for (judge, study), own in asked(found).groupby(key):
        beside = numbers.query("judge == @judge and study == @study")
        given = answers(judge, study, found)
        for data, one in given.items():
            told = [[True, False, None].index(one.favours), study, *called([judge, data])]
            if study == "livebench":
                kinds = third[third["judge"].eq(judge)].set_index("kind")
                marked.append([*told, one.verdict, *(_shown(kinds.loc[kind]) for kind in KINDS)])
                continue
            rows = beside[beside["dataset"].eq(data)]
            agreed = rows.dropna(subset=AGREES).head(0 if rows[ORDER].max() > REVERSED else 1)
            shares = agreed[[AGREES, "person"]].to_numpy(float).ravel()
            agrees = " / ".join(f"{share:.2f}" for share in shares) or "-"
            merged = f"at most {torn.get(data, 1):.2f}, stored as ties" if data in torn else UNKNOWN
            order = span(rows[ORDER], ".2f") or merged
            pairs.append([*told, one.verdict, order, agrees, one.because.partition("; ")[0]])
        if not given:
            read = UNKNOWN if own["table"].eq("verdicts").any() else MARKED
            sets = called({*(beside["dataset"] if len(beside) else own["study"])})
            why = [_missing(own, beside, found), study, *called([judge]), ", ".join(sorted(sets))]
            others += [[*why, read, share] for share in beside[ORDER]] or [[*why, read, math.nan]]
    lacking = pd.DataFrame(others, columns=[*RANK, "judges", "data", "read", ORDER])
    for (why, study, sets, read), of in lacking.groupby([*RANK, "data", "read"]):
        order = span(of[ORDER], ".2f") or read
        rest.append([why, study, ", ".join(sorted({*of["judges"]})), sets, order, why])
    shown = (pairs, PAIRS), (marked, [*FIRST, *KINDS.values()]), (rest, ELSEWHERE)
    frames = (pd.DataFrame(sorted(rows), columns=[*RANK, *names]) for rows, names in shown)
    return [frame.drop(columns="rank").set_index("chapter") for frame in frames]
