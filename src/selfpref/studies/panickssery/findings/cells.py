"""Where the numbers of the sentences come from: addresses, and what is counted on the spot."""

from collections.abc import Callable

import pandas as pd

from selfpref.statements import Address, Cell, Frames, estimate, present, value
from selfpref.studies.panickssery.measure import BROKEN

RECOGNITION, TUNED = "recognition", "self-recognition"
NAMES_OWN = "names its own"
FILE = ("dataset", "evaluator")
TITLES = {"xsum": "XSum", "cnn": "CNN/DailyMail"}
Counted = Callable[[Frames], float]
ALWAYS_1 = {"dataset": "xsum", "evaluator": "xsum_always_1_ft_llama", "task": RECOGNITION}


def mean(dataset: str, evaluator: str, task: str, other: str = "all") -> Address:
    """A corrected mean confidence."""
    return estimate(
        "pairwise",
        "mean",
        dataset=dataset,
        evaluator=evaluator,
        task=task,
        other=other,
        convention="corrected",
    )


def fit(dataset: str, subset: str, convention: str = "corrected") -> dict[str, str]:
    """Which fit of `correlation`: the values that choose its row."""
    return {"dataset": dataset, "subset": subset, "convention": convention}


def turned(dataset: str, quantity: str) -> dict[str, str]:
    """The correlation of a wording with recognition; scores as the release stored them."""
    return fit(dataset, "gpt35-self-recognition", "released") | {"quantity": quantity}


def wording(dataset: str, evaluator: str, quantity: str = "mean") -> Address:
    """A mean over one wording of the question, or over both."""
    return estimate(
        "wordings",
        "mean",
        dataset=dataset,
        evaluator=evaluator,
        other="all",
        convention="released",
        quantity=quantity,
    )


def delta(dataset: str, evaluator: str, task: str = RECOGNITION) -> Address:
    """A tuned judge minus its base, on the same held-out articles."""
    return estimate(
        "deltas",
        "mean",
        dataset=dataset,
        evaluator=evaluator,
        task=task,
        other="all",
        convention="corrected",
    )


def label(dataset: str, labels: str, convention: str = "corrected") -> Address:
    """GPT-4's mean preference where the summaries carried labels of this kind."""
    return estimate(
        "labels",
        "mean",
        dataset=dataset,
        evaluator="gpt4",
        other="all",
        labels=labels,
        convention=convention,
    )


def tuned_files(frames: Frames) -> pd.DataFrame:
    """The rows of `stored_as` of fine-tuned judges."""
    who = frames["evaluators"]
    tuned = who.loc[who["variant"].ne("base"), "evaluator"]
    rows = present(frames["stored_as"])
    return present(rows[rows["evaluator"].isin(tuned)])


def files(reading: str, questions: int, *, tuned: bool = False) -> Counted:
    """In how many files the stored scores of so many questions have this reading."""

    def count(frames: Frames) -> float:
        rows = tuned_files(frames) if tuned else present(frames["stored_as"])
        of = rows["reading"].eq(reading).groupby([rows[name] for name in FILE]).sum()
        return int(of.eq(questions).sum())

    return count


def stored_files(frames: Frames) -> float:
    """Files with the probabilities of both orders."""
    return len(present(frames["stored_as"])[[*FILE]].drop_duplicates())


def filled(frames: Frames) -> float:
    """Pairs without an answer for which a number was stored."""
    return int(present(frames["fills"])["filled"].sum())


def filled_files(frames: Frames) -> float:
    """Sets of scores that store such numbers."""
    return len(present(frames["fills"]))


def printed(frames: Frames) -> pd.DataFrame:
    """Numbers that the release prints, beside the recomputed ones."""
    rows = frames["checks"]
    return present(rows[~rows["how_read"].str.startswith("self-check")])


def agree(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Within half a unit of the third decimal, as most are printed."""
    return rows["difference"].abs().lt(5e-4)


def apart(rows: pd.DataFrame) -> pd.DataFrame:
    """Of these, those that do not come out to the third decimal."""
    return rows[~agree(rows)]


def llama(frames: Frames) -> pd.DataFrame:
    """Recognition of the judges tuned from Llama: `dataset, evaluator, released, corrected`."""
    who = frames["evaluators"]
    tuned = who.loc[who["family"].eq("llama") & who["variant"].ne("base"), "evaluator"]
    rows = frames["pairwise"]
    rows = rows[rows["evaluator"].isin(tuned) & rows["other"].eq("all")]
    rows = rows[rows["task"].eq(RECOGNITION)]
    wide = rows.pivot(index=["dataset", "evaluator"], columns="convention", values="mean")
    return present(wide.reindex(columns=["released", "corrected"]).dropna())


def but_one(rows: pd.DataFrame) -> "pd.Series[float]":
    """Corrected recognition of all of them but the largest."""
    values: pd.Series[float] = rows["corrected"].sort_values().iloc[:-1]
    return values


def tuned_cells(frames: Frames) -> pd.DataFrame:
    """The cells of `inverted` of judges tuned on self-recognition."""
    who = frames["evaluators"]
    tuned = who.loc[who["variant"].eq(TUNED), "evaluator"]
    rows = frames["inverted"]
    return present(rows[rows["evaluator"].isin(tuned)])


def with_pattern(pattern: str, dataset: str | None = None) -> Counted:
    """How many judges tuned on self-recognition answer both wordings in this way."""

    def count(frames: Frames) -> float:
        rows = tuned_cells(frames)
        here = rows if dataset is None else rows[rows["dataset"].eq(dataset)]
        return int(here["pattern"].eq(pattern).sum())

    return count


def cells(dataset: str | None = None) -> Counted:
    """How many such judges and data sets there are."""

    def count(frames: Frames) -> float:
        rows = tuned_cells(frames)
        return len(rows if dataset is None else rows[rows["dataset"].eq(dataset)])

    return count


def tuned_of(family: str) -> Counted:
    """How many of these cells are of judges tuned from a base model."""

    def count(frames: Frames) -> float:
        who = frames["evaluators"]
        of = who.loc[who["family"].eq(family), "evaluator"]
        return int(tuned_cells(frames)["evaluator"].isin(of).sum())

    return count


ASKED_BOTH_WAYS: dict[str, Cell] = {
    "all": cells(),
    "gpt35": tuned_of("gpt35"),
    "own": with_pattern(NAMES_OWN),
    "xsum": with_pattern(NAMES_OWN, "xsum"),
    "xsum_all": cells("xsum"),
    "cnn": with_pattern(NAMES_OWN, "cnn"),
    "cnn_all": cells("cnn"),
    "other": with_pattern("names the other"),
    "unclear": with_pattern("unclear"),
    "favour": with_pattern("favours its own"),
    "untuned_xsum": value("inverted", "pattern", dataset="xsum", evaluator="gpt35"),
    "untuned_cnn": value("inverted", "pattern", dataset="cnn", evaluator="gpt35"),
}


def farthest(family: str, dataset: str) -> Counted:
    """The largest distance of a control from its base's line of self-recognition."""

    def find(frames: Frames) -> float:
        rows = frames["off_line"]
        rows = present(rows[rows["family"].eq(family) & rows["dataset"].eq(dataset)])
        return float(rows["off"].abs().max())

    return find


def same_models(frames: Frames) -> list[str]:
    """What the controls of GPT-3.5 were tuned on that are the same model as another one."""
    who = frames["evaluators"]
    twice = who["family"].eq("gpt35") & who["duplicate_of"].fillna("").ne("")
    rows = present(who[twice])
    return [f"{row.variant} on {TITLES[row.trained_on]}" for row in rows.itertuples()]


def against(frames: Frames, dataset: str, evaluator: str) -> pd.DataFrame:
    """Mean recognition against each other source."""
    rows = frames["pairwise"]
    rows = rows[rows["evaluator"].eq(evaluator) & rows["dataset"].eq(dataset)]
    rows = rows[rows["task"].eq(RECOGNITION) & rows["convention"].eq("corrected")]
    return present(rows[rows["other"].ne("all")])


def most_by_models(frames: Frames, dataset: str) -> float:
    """GPT-4's largest mean recognition against another model."""
    rows = against(frames, dataset, "gpt4")
    return float(rows.loc[rows["other"].ne("human"), "mean"].max())


def least_lo(frames: Frames, evaluator: str) -> float:
    """The lowest bound of mean recognition against any source, on any data set."""
    return float(min(against(frames, name, evaluator)["lo"].min() for name in TITLES))


def below(frames: Frames, dataset: str, evaluator: str) -> float:
    """Against how many other models mean recognition is below ½."""
    rows = against(frames, dataset, evaluator)
    return int(rows.loc[rows["other"].ne("human"), "hi"].lt(0.5).sum())


def broken(dataset: str, evaluator: str, task: str) -> Counted:
    """The share of a judge's answers that are broken."""

    def share(frames: Frames) -> float:
        rows = present(frames["statuses"])
        rows = rows[rows["dataset"].eq(dataset) & rows["evaluator"].eq(evaluator)]
        rows = present(rows[rows["task"].eq(task) & rows["variant"].eq("plain")])
        return float(rows.loc[rows["status"].isin(BROKEN), "n"].sum() / rows["n"].sum())

    return share


def gap(dataset: str, evaluator: str) -> Address:
    """The judge-adjusted gap of its grades, all other sources together."""
    return estimate(
        "individual",
        "value",
        dataset=dataset,
        evaluator=evaluator,
        target="all",
        task="quality",
        statistic="gap",
    )


def ambiguous(evaluator: str, dataset: str) -> Counted:
    """The share of preferences that follow the position."""
    where = {"dataset": dataset, "evaluator": evaluator, "task": "preference"}
    cell = value("ordering", "ambiguous", **where, convention="corrected")
    return lambda frames: float(cell(frames))  # type: ignore[arg-type]
