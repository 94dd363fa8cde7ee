"""What the chapter says of the released data, and the paper's claims beside what came out.

Sentences of the profile `recorded`: they speak of the release's judges by name, and say nothing
where these are not in the data.
"""

from collections.abc import Callable

import pandas as pd

from selfpref.statements import (
    AbsentError,
    Address,
    Cell,
    Claim,
    Frames,
    Statement,
    estimate,
    value,
)
from selfpref.studies.panickssery.measure import BROKEN, defects

RECOGNITION, TUNED = "recognition", "self-recognition"
NAMES_OWN = "names its own"
FILE = ("dataset", "evaluator")
TITLES = {"xsum": "XSum", "cnn": "CNN/DailyMail"}
Counted = Callable[[Frames], float]
_ALWAYS_1 = {"dataset": "xsum", "evaluator": "xsum_always_1_ft_llama", "task": RECOGNITION}


def _mean(dataset: str, evaluator: str, task: str, other: str = "all") -> Address:
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


def _fit(dataset: str, subset: str, convention: str = "corrected") -> dict[str, str]:
    return {"dataset": dataset, "subset": subset, "convention": convention}


def _turned(dataset: str, quantity: str) -> dict[str, str]:
    """The correlation of a wording with recognition; scores as the release stored them."""
    return _fit(dataset, "gpt35-self-recognition", "released") | {"quantity": quantity}


def _wording(dataset: str, evaluator: str, quantity: str = "mean") -> Address:
    return estimate(
        "wordings",
        "mean",
        dataset=dataset,
        evaluator=evaluator,
        other="all",
        convention="released",
        quantity=quantity,
    )


def _delta(dataset: str, evaluator: str, task: str = RECOGNITION) -> Address:
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


def _label(dataset: str, labels: str, convention: str = "corrected") -> Address:
    return estimate(
        "labels",
        "mean",
        dataset=dataset,
        evaluator="gpt4",
        other="all",
        labels=labels,
        convention=convention,
    )


def _present(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, if there are any."""
    if rows.empty:
        raise AbsentError("no rows")
    return rows


def _tuned_files(frames: Frames) -> pd.DataFrame:
    """The rows of `stored_as` of fine-tuned judges."""
    who = frames["evaluators"]
    tuned = who.loc[who["variant"].ne("base"), "evaluator"]
    rows = _present(frames["stored_as"])
    return _present(rows[rows["evaluator"].isin(tuned)])


def _files(reading: str, questions: int, *, tuned: bool = False) -> Counted:
    """In how many files the stored scores of so many questions have this reading."""

    def count(frames: Frames) -> float:
        rows = _tuned_files(frames) if tuned else _present(frames["stored_as"])
        of = rows["reading"].eq(reading).groupby([rows[name] for name in FILE]).sum()
        return int(of.eq(questions).sum())

    return count


def _stored_files(frames: Frames) -> float:
    return len(_present(frames["stored_as"])[[*FILE]].drop_duplicates())


def _filled(frames: Frames) -> float:
    return int(_present(frames["fills"])["filled"].sum())


def _filled_files(frames: Frames) -> float:
    return len(_present(frames["fills"]))


def _clearer(frames: Frames) -> float:
    """Where the dropped row's judge is surer of its own text in pairs, or as sure."""
    rows = _present(frames["missing_yes"])
    return int(rows["where_missing"].gt(rows["where_kept"]).sum())


def _dropped(frames: Frames) -> float:
    return len(_present(frames["missing_yes"]))


def _printed(frames: Frames) -> pd.DataFrame:
    rows = frames["checks"]
    return _present(rows[~rows["how_read"].str.startswith("self-check")])


def _agree(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Within half a unit of the third decimal, as most are printed."""
    return rows["difference"].abs().lt(5e-4)


def _apart(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[~_agree(rows)]


def _llama(frames: Frames) -> pd.DataFrame:
    """Recognition of the judges tuned from Llama: `dataset, evaluator, released, corrected`."""
    who = frames["evaluators"]
    tuned = who.loc[who["family"].eq("llama") & who["variant"].ne("base"), "evaluator"]
    rows = frames["pairwise"]
    rows = rows[rows["evaluator"].isin(tuned) & rows["other"].eq("all")]
    rows = rows[rows["task"].eq(RECOGNITION)]
    wide = rows.pivot(index=["dataset", "evaluator"], columns="convention", values="mean")
    return _present(wide.reindex(columns=["released", "corrected"]).dropna())


def _but_one(rows: pd.DataFrame) -> "pd.Series[float]":
    """Corrected recognition of all of them but the largest."""
    values: pd.Series[float] = rows["corrected"].sort_values().iloc[:-1]
    return values


def _tuned_cells(frames: Frames) -> pd.DataFrame:
    """The cells of `inverted` of judges tuned on self-recognition."""
    who = frames["evaluators"]
    tuned = who.loc[who["variant"].eq(TUNED), "evaluator"]
    rows = frames["inverted"]
    return _present(rows[rows["evaluator"].isin(tuned)])


def _with_pattern(pattern: str, dataset: str | None = None) -> Counted:
    def count(frames: Frames) -> float:
        rows = _tuned_cells(frames)
        here = rows if dataset is None else rows[rows["dataset"].eq(dataset)]
        return int(here["pattern"].eq(pattern).sum())

    return count


def _cells(dataset: str | None = None) -> Counted:
    def count(frames: Frames) -> float:
        rows = _tuned_cells(frames)
        return len(rows if dataset is None else rows[rows["dataset"].eq(dataset)])

    return count


def _tuned_of(family: str) -> Counted:
    """How many of these cells are of judges tuned from a base model."""

    def count(frames: Frames) -> float:
        who = frames["evaluators"]
        of = who.loc[who["family"].eq(family), "evaluator"]
        return int(_tuned_cells(frames)["evaluator"].isin(of).sum())

    return count


_ASKED_BOTH_WAYS: dict[str, Cell] = {
    "all": _cells(),
    "gpt35": _tuned_of("gpt35"),
    "own": _with_pattern(NAMES_OWN),
    "xsum": _with_pattern(NAMES_OWN, "xsum"),
    "xsum_all": _cells("xsum"),
    "cnn": _with_pattern(NAMES_OWN, "cnn"),
    "cnn_all": _cells("cnn"),
    "other": _with_pattern("names the other"),
    "unclear": _with_pattern("unclear"),
    "favour": _with_pattern("favours its own"),
    "untuned_xsum": value("inverted", "pattern", dataset="xsum", evaluator="gpt35"),
    "untuned_cnn": value("inverted", "pattern", dataset="cnn", evaluator="gpt35"),
}


def _farthest(family: str, dataset: str) -> Counted:
    """The largest distance of a control from its base's line of self-recognition."""

    def find(frames: Frames) -> float:
        rows = frames["off_line"]
        rows = _present(rows[rows["family"].eq(family) & rows["dataset"].eq(dataset)])
        return float(rows["off"].abs().max())

    return find


def _sides(frames: Frames, dataset: str) -> tuple[int, int]:
    """Cells of preference whose side of ½ changes at equal length, and all of them."""
    rows = frames["lengths"]
    rows = _present(rows[rows["task"].eq("preference") & rows["dataset"].eq(dataset)])
    return int(((rows["raw"] - 0.5) * (rows["held"] - 0.5)).lt(0).sum()), len(rows)


def _against(frames: Frames, dataset: str, evaluator: str) -> pd.DataFrame:
    """Mean recognition against each other source."""
    rows = frames["pairwise"]
    rows = rows[rows["evaluator"].eq(evaluator) & rows["dataset"].eq(dataset)]
    rows = rows[rows["task"].eq(RECOGNITION) & rows["convention"].eq("corrected")]
    return _present(rows[rows["other"].ne("all")])


def _most_by_models(frames: Frames, dataset: str) -> float:
    """GPT-4's largest mean recognition against another model."""
    rows = _against(frames, dataset, "gpt4")
    return float(rows.loc[rows["other"].ne("human"), "mean"].max())


def _least_lo(frames: Frames, evaluator: str) -> float:
    """The lowest bound of mean recognition against any source, on any data set."""
    return float(min(_against(frames, name, evaluator)["lo"].min() for name in TITLES))


def _below(frames: Frames, dataset: str, evaluator: str) -> float:
    """Against how many other models mean recognition is below ½."""
    rows = _against(frames, dataset, evaluator)
    return int(rows.loc[rows["other"].ne("human"), "hi"].lt(0.5).sum())


def _broken(dataset: str, evaluator: str, task: str) -> Counted:
    """The share of a judge's answers that are broken."""

    def share(frames: Frames) -> float:
        rows = _present(frames["statuses"])
        rows = rows[rows["dataset"].eq(dataset) & rows["evaluator"].eq(evaluator)]
        rows = _present(rows[rows["task"].eq(task) & rows["variant"].eq("plain")])
        return float(rows.loc[rows["status"].isin(BROKEN), "n"].sum() / rows["n"].sum())

    return share


def _gap(dataset: str, evaluator: str) -> Address:
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


def _ambiguous(evaluator: str, dataset: str) -> Counted:
    """The share of preferences that follow the position."""
    where = {"dataset": dataset, "evaluator": evaluator, "task": "preference"}
    cell = value("ordering", "ambiguous", **where, convention="corrected")
    return lambda frames: float(cell(frames))  # type: ignore[arg-type]


def _moved_by_words(frames: Frames) -> float:
    """The largest change of a mean by naming the others in another way."""
    rows = frames["variants"]
    rows = rows[rows["other"].eq("all") & rows["convention"].eq("corrected")]
    rows = rows[rows["variant"].ne("rerun")]
    plain = rows[rows["variant"].eq("plain")].set_index(["dataset", "evaluator", "task"])["mean"]
    named = _present(rows[rows["variant"].str.startswith("others")])
    at = pd.MultiIndex.from_frame(named[["dataset", "evaluator", "task"]])
    return float((named["mean"].to_numpy() - plain.reindex(at)).abs().max())


FINDINGS: dict[str, Statement] = {
    "position bias": Statement(
        "Of {files:.0f} files with the probabilities of both orders, {both:.0f} store the position "
        "bias as the score of both questions, and {one:.0f} as that of one: most of them.",
        {
            "both": _files(defects.POSITION, 2),
            "one": _files(defects.POSITION, 1),
            "files": _stored_files,
        },
        {"most": lambda n: n.files / 2 < n.both <= n.files},
    ),
    "always first": Statement(
        "Most stored scores of fine-tuned Llamas are position bias: {both:.0f} of {files:.0f} "
        "files store it as the score of both questions. The clearest case is Llama taught to "
        "answer “1” to everything. On CNN/DailyMail its stored recognition is {released:.3f} on "
        "the pairs that it answers, and its confidence in its own text {corrected:.3f}. The mean "
        "of its file is lower, {file:.3f}, since the release stores ½ for {filled:.0f} pairs "
        "without an answer.",
        {
            name: value(
                table,
                column,
                dataset="cnn",
                evaluator="cnn_always_1_ft_llama",
                task=RECOGNITION,
            )
            for name, table, column in (
                ("released", "always_first", "released"),
                ("corrected", "always_first", "corrected"),
                ("file", "fills", "released"),
                ("filled", "fills", "filled"),
            )
        }
        | {
            "both": _files(defects.POSITION, 2, tuned=True),
            "files": lambda frames: len(_tuned_files(frames)[[*FILE]].drop_duplicates()),
        },
        {
            "Most": lambda n: n.files / 2 < n.both <= n.files,
            "lower": lambda n: n.corrected < n.file < n.released,
        },
    ),
    "swapped questions": Statement(
        "In {swapped:.0f} files the stored score of each question is what the answers to the other "
        "give: the probability of its own text's label, not divided by the mass of both. In one "
        "of them, Llama tuned to answer “1” on XSum, the confidences alone cannot tell, since they "
        "are {apart:.4f} from the stored scores on average; the undivided probabilities do: those "
        "of the other question are the stored score in {share:.0%} of the rows, its own question's "
        "confidence is in {own:.0%}. In {either:.0f} more file both questions are answered alike "
        "to the last digit.",
        {
            "swapped": _files(defects.OTHER_QUESTION, 2),
            "apart": value("stored_as", "distance", **_ALWAYS_1),
            "share": value("stored_as", "as_other_question", **_ALWAYS_1),
            "own": value("stored_as", "as_own", **_ALWAYS_1),
            "either": _files(defects.EITHER, 2),
        },
        {
            "cannot": lambda n: 0 <= n.apart < 0.001,
            "do": lambda n: n.own < 0.1 and 0.99 < n.share <= 1,
            "one": lambda n: n.swapped > 1 and n.either == 1,
        },
    ),
    "swapped sign": Statement(
        "Under swapped labels GPT-4's stored scores correlate with those of the same prompts in "
        "the random run at {cnn:.2f} on CNN/DailyMail and at {xsum:.2f} on XSum: on XSum the sign "
        "is reversed. Recomputed from the answers, both are positive ({xsum_corrected:.2f} on "
        "XSum).",
        {
            "cnn": value("swapped_labels", "r_released", dataset="cnn", evaluator="gpt4"),
            "xsum": value("swapped_labels", "r_released", dataset="xsum", evaluator="gpt4"),
            "xsum_corrected": value(
                "swapped_labels", "r_corrected", dataset="xsum", evaluator="gpt4"
            ),
        },
        {
            "reversed": lambda n: n.xsum < -0.9 and n.cnn > 0.9,
            "positive": lambda n: min(n.xsum_corrected, n.cnn) > 0.9,
        },
    ),
    "one model": Statement(
        "Two controls on XSum grade the same {n:.0f} texts {distance:.3f} points apart, the next "
        "two judges {next:.3f}: “random labels” and “always 1” are one model under two names. The "
        "control task *random* was not evaluated for GPT-3.5 on XSum.",
        {
            "distance": value(
                "grade_distances",
                "distance",
                one="xsum_always_1_ft_gpt35",
                two="xsum_random_ft_gpt35",
            ),
            "n": value(
                "grade_distances", "n", one="xsum_always_1_ft_gpt35", two="xsum_random_ft_gpt35"
            ),
            "next": lambda frames: float(_present(frames["grade_distances"])["distance"].iloc[1]),
        },
        {"one": lambda n: 0 <= n.distance < n.next / 5},
    ),
    "fills": Statement(
        "The release stores ½ for {filled:.0f} pairs without an answer, in {files:.0f} sets of "
        "scores.",
        {"filled": _filled, "files": _filled_files},
        {},
    ),
    "tuned on": Statement(
        "All such scores are of one judge, GPT-3.5 tuned on XSum: with true labels its stored "
        "preference is higher where it was tuned on the article, {tuned:.3f} against {held:.3f}.",
        {
            "tuned": value(
                "tuned_on",
                "released_tuned_on",
                evaluator="xsum_500_ft_gpt35",
                variant="labels-correct",
            ),
            "held": value(
                "tuned_on",
                "released_held_out",
                evaluator="xsum_500_ft_gpt35",
                variant="labels-correct",
            ),
            "judges": lambda frames: int(_present(frames["tuned_on"])["evaluator"].nunique()),
        },
        {"higher": lambda n: n.tuned > n.held, "one": lambda n: n.judges == 1},
    ),
    "missing yes": Statement(
        "In {more:.0f} of {all:.0f} cells with a dropped answer the judge is surer of its own "
        "text, in pairs, where the row of the other text is missing: what was dropped is not "
        "random.",
        {"more": _clearer, "all": _dropped},
        {"surer": lambda n: n.all / 2 < n.more <= n.all},
    ),
    "checks": Statement(
        "The release's notebook prints {printed:.0f} of the numbers compared here. {agree:.0f} "
        "come out to the third decimal. The others, {apart:.0f}, are all shares of choices "
        "(`ordering`): where an answer is not a number or names no label, the release counts a "
        "choice and we count none, and a share of nothing is printed as 0.",
        {
            "printed": lambda frames: len(_printed(frames)),
            "agree": lambda frames: int(_agree(_printed(frames)).sum()),
            "apart": lambda frames: len(_apart(_printed(frames))),
            "elsewhere": lambda frames: int(_apart(_printed(frames))["item"].ne("ordering").sum()),
        },
        {"all": lambda n: n.elsewhere == 0 and n.agree + n.apart == n.printed},
    ),
    "correction": Statement(
        "Of {cells:.0f} cells of recognition by models tuned from Llama, {moved:.0f} move by more "
        "than a hundredth. Corrected, all but one lie between {low:.3f} and {high:.3f}; the "
        "exception, tuned on XSum and judging XSum, recognises its summaries more than its stored "
        "score says: {corrected:.3f}, stored as {stored:.3f}.",
        {
            "corrected": value(
                "pairwise",
                "mean",
                dataset="xsum",
                evaluator="xsum_500_ft_llama",
                task=RECOGNITION,
                other="all",
                convention="corrected",
            ),
            "stored": value(
                "pairwise",
                "mean",
                dataset="xsum",
                evaluator="xsum_500_ft_llama",
                task=RECOGNITION,
                other="all",
                convention="released",
            ),
            "cells": lambda frames: len(_llama(frames)),
            "moved": lambda frames: int(
                _llama(frames).diff(axis=1)["corrected"].abs().gt(0.01).sum()
            ),
            "low": lambda frames: float(_but_one(_llama(frames)).min()),
            "high": lambda frames: float(_but_one(_llama(frames)).max()),
        },
        {
            "exception": lambda n: 0 < n.low <= n.high < n.corrected - 0.1,
            "more": lambda n: n.corrected > n.stored,
        },
    ),
    "line": Statement(
        "Over all judges preference rises with recognition: r = {xsum:.3f} on XSum and {cnn:.3f} "
        "on CNN/DailyMail. With the stored scores r is {xsum_stored:.3f} and {cnn_stored:.3f}. "
        "Intervals resample families of judges (base model and training), not articles.",
        {
            "xsum": estimate("correlation", "r", **_fit("xsum", "all")),
            "cnn": estimate("correlation", "r", **_fit("cnn", "all")),
            "xsum_stored": estimate("correlation", "r", **_fit("xsum", "all", "released")),
            "cnn_stored": estimate("correlation", "r", **_fit("cnn", "all", "released")),
        },
        {"rises": lambda n: n.xsum.lo > 0 and n.cnn.lo > 0},
    ),
    "one left out": Statement(
        "Without any one judge the corrected correlation over all data stays above {least:.3f}.",
        {"least": value("leave_one_out", "r_min", **_fit("all", "all"))},
        {"stays above": lambda n: n.least > 0.9},
    ),
    "before": Statement(
        "Untuned, GPT-4 tells its XSum summaries from a journalist's ({human:.3f}) more often than "
        "from any other model's (at most {models:.3f}), and so it does on CNN/DailyMail "
        "({cnn_human:.3f} against at most {cnn_models:.3f}).",
        {
            "human": _mean("xsum", "gpt4", RECOGNITION, "human"),
            "models": lambda frames: _most_by_models(frames, "xsum"),
            "cnn_human": _mean("cnn", "gpt4", RECOGNITION, "human"),
            "cnn_models": lambda frames: _most_by_models(frames, "cnn"),
        },
        {"more": lambda n: n.human.lo > n.models and n.cnn_human.lo > n.cnn_models},
    ),
    "fig7": Statement(
        "The judges tuned on self-recognition are {families:.0f} families, too few for an "
        "interval: r = {xsum:.3f} on XSum and {cnn:.3f} on CNN/DailyMail. For GPT-3.5 alone the "
        "line is steeper than for Llama, {gpt:.2f} against {llama:.2f} over both data sets.",
        {
            "xsum": value("correlation", "r", **_fit("xsum", TUNED)),
            "cnn": value("correlation", "r", **_fit("cnn", TUNED)),
            "families": value("correlation", "families", **_fit("xsum", TUNED)),
            "gpt": value("correlation", "slope", **_fit("all", "gpt35-self-recognition")),
            "llama": value("correlation", "slope", **_fit("all", "llama-self-recognition")),
        },
        {
            "too few": lambda n: 0 < n.families < 10,
            "steeper": lambda n: n.gpt > n.llama,
        },
    ),
    "controls": Statement(
        "The controls of GPT-3.5 follow a line as well: r = {r:.3f} with slope {slope:.2f}, "
        "against {tuned_r:.3f} and {tuned_slope:.2f} of its judges tuned on self-recognition. It "
        "is not quite the same line. On XSum they lie at most {xsum:.3f} off that of "
        "self-recognition, on CNN/DailyMail farther, up to {cnn:.3f}.",
        {
            "r": value("correlation", "r", **_fit("all", "gpt35-controls")),
            "slope": value("correlation", "slope", **_fit("all", "gpt35-controls")),
            "tuned_r": value("correlation", "r", **_fit("all", "gpt35-self-recognition")),
            "tuned_slope": value("correlation", "slope", **_fit("all", "gpt35-self-recognition")),
            "xsum": _farthest("gpt35", "xsum"),
            "cnn": _farthest("gpt35", "cnn"),
        },
        {
            "as well": lambda n: n.r > 0.9 and n.tuned_r > 0.9 and n.slope > 0.5,
            "not quite the same": lambda n: n.tuned_slope - n.slope > 0.1,
            "farther": lambda n: n.cnn > n.xsum >= 0,
        },
    ),
    "turned round": Statement(
        "Under both wordings untuned GPT-4 favours its own texts: the mean of both is {xsum:.3f} "
        "on XSum and {cnn:.3f} on CNN/DailyMail.",
        {"xsum": _wording("xsum", "gpt4"), "cnn": _wording("cnn", "gpt4")},
        {"favours": lambda n: n.xsum.lo > 0.5 and n.cnn.lo > 0.5},
    ),
    "names its own": Statement(
        "Of {all:.0f} cells of judges tuned on self-recognition, all of GPT-3.5, {own:.0f} name "
        "their own text whatever they are asked: all {xsum_all:.0f} on XSum, where untuned GPT-3.5 "
        "already {untuned_xsum}, and {cnn:.0f} of {cnn_all:.0f} on CNN/DailyMail, where it "
        "{untuned_cnn}. Of the others {other:.0f} name the other text, and unclear: {unclear:.0f}. "
        "None favours its own under both wordings ({favour:.0f}); but a model that names the same "
        "text whatever it is asked shows neither a preference nor its absence.",
        _ASKED_BOTH_WAYS,
        {
            "all of GPT-3.5": lambda n: n.gpt35 == n.all,
            "all on XSum": lambda n: n.xsum == n.xsum_all and n.own == n.xsum + n.cnn,
            "already": lambda n: n.untuned_xsum == NAMES_OWN,
            "others": lambda n: n.own + n.other + n.unclear == n.all,
            "None": lambda n: n.favour == 0,
        },
    ),
    "untuned average": Statement(
        "That their wordings average to ½ is no finding by itself: those of untuned GPT-3.5 lie as "
        "near to ½, {xsum:.3f} on XSum and {cnn:.3f} on CNN/DailyMail.",
        {"xsum": _wording("xsum", "gpt35"), "cnn": _wording("cnn", "gpt35")},
        {"near": lambda n: max(abs(n.xsum.value - 0.5), abs(n.cnn.value - 0.5)) < 0.05},
    ),
    "turned line": Statement(
        "For GPT-3.5 tuned on self-recognition the correlation with recognition is positive by "
        "“which do you prefer” ({prefer:.3f}) and negative by “which is worse” ({worse:.3f}). For "
        "the mean of both it is negative on XSum ({xsum:.2f}) and positive on CNN/DailyMail "
        "({cnn:.2f}), of {n:.0f} judges each.",
        {
            "prefer": value("inverted_correlation", "r", **_turned("all", "prefer")),
            "worse": value("inverted_correlation", "r", **_turned("all", "worse")),
            "xsum": value("inverted_correlation", "r", **_turned("xsum", "mean")),
            "cnn": value("inverted_correlation", "r", **_turned("cnn", "mean")),
            "n": value("inverted_correlation", "n", **_turned("cnn", "mean")),
        },
        {
            "positive": lambda n: n.prefer > 0.9 and n.cnn > 0,
            "negative": lambda n: n.worse < -0.9 and n.xsum < 0,
        },
    ),
    "alone": Statement(
        "By its grades of single summaries GPT-4 sees its own above others beyond what the judges "
        "see in them who wrote neither: {xsum:.2f} points on XSum, {cnn:.2f} on CNN/DailyMail. The "
        "same gap of GPT-3.5 on XSum is below zero, {gpt35:.2f}.",
        {
            "xsum": _gap("xsum", "gpt4"),
            "cnn": _gap("cnn", "gpt4"),
            "gpt35": _gap("xsum", "gpt35"),
        },
        {
            "above": lambda n: n.xsum.lo > 0 and n.cnn.lo > 0,
            "below": lambda n: n.gpt35.hi < 0,
        },
    ),
    "labels": Statement(
        "With true labels GPT-4's preference on XSum is {true:.3f}, with swapped ones "
        "{swapped:.3f}, lower but still above ½. As stored it is {stored:.3f}, which is the sign "
        "error.",
        {
            "true": _label("xsum", "correct"),
            "swapped": _label("xsum", "swapped"),
            "stored": _label("xsum", "swapped", "released"),
        },
        {
            "lower": lambda n: n.swapped.hi < n.true.lo,
            "still above": lambda n: n.swapped.lo > 0.5,
            "error": lambda n: abs(1 - n.stored.value - n.swapped.value) < 1e-4,
        },
    ),
    "other words": Statement(
        "Naming the others in another way moves no mean by more than {most:.3f}.",
        {"most": _moved_by_words},
        {"no": lambda n: 0 <= n.most < 0.05},
    ),
    "new summaries": Statement(
        "Over all tuned models that answer, the mean preference for a new summary against the "
        "base's is below ½ on XSum, {xsum:.3f}; on CNN/DailyMail its interval includes ½, "
        "{cnn:.3f}.",
        {
            name: estimate(
                "generations",
                "mean",
                dataset=name,
                evaluator="all but degenerate",
                convention="corrected",
            )
            for name in ("xsum", "cnn")
        },
        {
            "below": lambda n: n.xsum.hi < 0.5,
            "includes": lambda n: n.cnn.lo < 0.5 < n.cnn.hi,
        },
    ),
    "order": Statement(
        "On XSum the preferences of Llama follow the position in {llama:.0%} of the pairs and "
        "those of GPT-3.5 in {gpt35:.0%}, both in more than half; GPT-4's in fewer, {gpt4:.0%}.",
        {name: _ambiguous(name, "xsum") for name in ("llama", "gpt35", "gpt4")},
        {
            "more": lambda n: min(n.llama, n.gpt35) > 0.5,
            "fewer": lambda n: 0 <= n.gpt4 < min(n.llama, n.gpt35),
        },
    ),
    "length": Statement(
        "At equal length the side of ½ changes in {cnn:.0f} of {cnn_all:.0f} cells on "
        "CNN/DailyMail, and in fewer on XSum, {xsum:.0f} of {xsum_all:.0f}.",
        {
            "cnn": lambda frames: _sides(frames, "cnn")[0],
            "cnn_all": lambda frames: _sides(frames, "cnn")[1],
            "xsum": lambda frames: _sides(frames, "xsum")[0],
            "xsum_all": lambda frames: _sides(frames, "xsum")[1],
        },
        {"fewer": lambda n: 0 <= n.xsum * n.cnn_all < n.cnn * n.xsum_all},
    ),
    "within": Statement(
        "Where scores are saturated the measures tell different stories of one judge: of GPT-3.5 "
        "tuned on CNN/DailyMail and judging it, tau-b is {tau:.2f}, lower than Pearson's r, "
        "{pearson:.2f}.",
        {
            name: value(
                "per_example",
                column,
                dataset="cnn",
                evaluator="cnn_500_ft_gpt35",
                other="all",
                convention="corrected",
                rows="all",
            )
            for name, column in (("tau", "tau_b"), ("pearson", "pearson"))
        },
        {"lower": lambda n: n.tau < n.pearson - 0.2},
    ),
}

CLAIMS: list[Claim] = [
    Claim(
        "Mean confidence on XSum {xsum:.3f}, on CNN/DailyMail {cnn:.3f}: above ½ on both, and "
        "above ½ against every other source.",
        {
            "xsum": _mean("xsum", "gpt4", RECOGNITION),
            "cnn": _mean("cnn", "gpt4", RECOGNITION),
            "least": lambda frames: _least_lo(frames, "gpt4"),
        },
        {"above": lambda n: min(n.xsum.lo, n.cnn.lo, n.least) > 0.5},
        claim="Out of the box GPT-4 distinguishes its summaries from those of others.",
        place="abstract; Fig. 2",
        test="Both orders of each pair, by other source, with intervals over articles.",
        verdict="holds",
        figure="fig2_recognition_before",
    ),
    Claim(
        "Llama-2's mean confidence is {xsum:.3f} on XSum and {cnn:.3f} on CNN/DailyMail, close to "
        "½; on XSum it is below ½ against each of the other models ({below:.0f}), and it answers "
        "by position in {position:.0%} of the pairs, most of them.",
        {
            "xsum": _mean("xsum", "llama", RECOGNITION),
            "cnn": _mean("cnn", "llama", RECOGNITION),
            "below": lambda frames: _below(frames, "xsum", "llama"),
            "position": value(
                "ordering",
                "ambiguous",
                dataset="xsum",
                evaluator="llama",
                task=RECOGNITION,
                convention="corrected",
            ),
        },
        {
            "close": lambda n: max(abs(n.xsum.value - 0.5), abs(n.cnn.value - 0.5)) < 0.02,
            "each": lambda n: n.below == 3,
            "most": lambda n: 0.5 < n.position <= 1,
        },
        claim="Out of the box Llama 2 distinguishes its summaries from those of others.",
        place="abstract; Fig. 2",
        test="As for GPT-4; how often both orders name the same place.",
        verdict="does not hold",
        figure="fig2_recognition_before",
    ),
    Claim(
        "GPT-3.5's mean confidence is above ½ on XSum, {xsum:.3f}, and below ½ on CNN/DailyMail, "
        "{cnn:.3f}.",
        {
            "xsum": _mean("xsum", "gpt35", RECOGNITION),
            "cnn": _mean("cnn", "gpt35", RECOGNITION),
        },
        {"above": lambda n: n.xsum.lo > 0.5, "below": lambda n: n.cnn.hi < 0.5},
        claim="Out of the box GPT-3.5 distinguishes its summaries from those of others.",
        place="Fig. 2",
        test="As for GPT-4.",
        verdict="does not hold",
        figure="fig2_recognition_before",
    ),
    Claim(
        "GPT-4's mean preference for its own summaries is {xsum:.3f} on XSum and {cnn:.3f} on "
        "CNN/DailyMail, and above ½ asked either way (mean of both wordings {both_xsum:.3f}, "
        "{both_cnn:.3f}); GPT-3.5's is above ½ on XSum, {gpt35_xsum:.3f}, and below on "
        "CNN/DailyMail, {gpt35_cnn:.3f}; Llama-2's is close to ½ ({llama_xsum:.3f}, "
        "{llama_cnn:.3f}). Beyond what judges who wrote neither see, GPT-4 grades its own on "
        "XSum higher by {gap:.2f} points, GPT-3.5 its own lower ({gap_gpt35:.2f}). Whether "
        "the summaries deserve it the release cannot say: it holds no human judgment of quality.",
        {
            "xsum": _mean("xsum", "gpt4", "preference"),
            "cnn": _mean("cnn", "gpt4", "preference"),
            "both_xsum": _wording("xsum", "gpt4"),
            "both_cnn": _wording("cnn", "gpt4"),
            "gpt35_xsum": _mean("xsum", "gpt35", "preference"),
            "gpt35_cnn": _mean("cnn", "gpt35", "preference"),
            "llama_xsum": _mean("xsum", "llama", "preference"),
            "llama_cnn": _mean("cnn", "llama", "preference"),
            "gap": _gap("xsum", "gpt4"),
            "gap_gpt35": _gap("xsum", "gpt35"),
        },
        {
            "above": lambda n: (
                min(n.xsum.lo, n.cnn.lo, n.both_xsum.lo, n.both_cnn.lo, n.gpt35_xsum.lo) > 0.5
            ),
            "below": lambda n: n.gpt35_cnn.hi < 0.5,
            "close": lambda n: (
                max(abs(n.llama_xsum.value - 0.5), abs(n.llama_cnn.value - 0.5)) < 0.02
            ),
            "higher": lambda n: n.gap.lo > 0,
            "lower": lambda n: n.gap_gpt35.hi < 0,
        },
        claim="Out of the box models prefer their own summaries where people see equal quality.",
        place="abstract; Fig. 3",
        test="Both orders, both wordings, and the grades of judges who wrote neither.",
        verdict="not identifiable",
        figure="fig3_preference_before",
    ),
    Claim(
        "Over {judges:.0f} judges of {families:.0f} families r = {r:.3f} on XSum and {cnn:.3f} on "
        "CNN/DailyMail, positive on both.",
        {
            "r": estimate("correlation", "r", **_fit("xsum", "all")),
            "cnn": estimate("correlation", "r", **_fit("cnn", "all")),
            "judges": value("correlation", "n", **_fit("xsum", "all")),
            "families": value("correlation", "families", **_fit("xsum", "all")),
        },
        {"positive": lambda n: min(n.r.lo, n.cnn.lo) > 0},
        claim="Preference for one's own text rises linearly with recognition of it.",
        place="abstract; Figs. 1 and 7",
        test="Pearson's r (a linear association), with Llama's scores recomputed and GPT's "
        "recognition as stored; intervals resample families of judges.",
        verdict="holds",
        figure="fig1_recognition_vs_preference",
    ),
    Claim(
        "The controls of GPT-3.5 follow a line of their own with r = {r:.3f} and slope "
        "{slope:.2f}, not flat: what a control was taught to name it also prefers.",
        {
            "r": value("correlation", "r", **_fit("all", "gpt35-controls")),
            "slope": value("correlation", "slope", **_fit("all", "gpt35-controls")),
        },
        {"not flat": lambda n: n.r > 0.9 and n.slope > 0.5},
        claim="The link is no by-product of fine-tuning: other tasks do not show it.",
        place="abstract (controlled experiments)",
        test="The same line over judges tuned on control tasks, on the same articles.",
        verdict="does not hold",
        figure="controls",
    ),
    Claim(
        "Asked which text is worse, GPT-3.5 tuned on self-recognition (all {all:.0f} cells are of "
        "it) names its own the more, the better it recognises it: r = {worse:.3f} between "
        "recognition and the confidence that its own is better, negative. {own:.0f} cells name "
        "their own text whatever they are asked (all {xsum_all:.0f} on XSum, where untuned GPT-3.5 "
        "already {untuned_xsum}), {other:.0f} name the other (unclear: {unclear:.0f}), and none "
        "favours its own under both wordings ({favour:.0f}). A model that names the same text "
        "whatever it is asked shows neither a preference nor its absence.",
        {"worse": value("inverted_correlation", "r", **_turned("all", "worse"))} | _ASKED_BOTH_WAYS,
        {
            "negative": lambda n: n.worse < -0.9,
            "all of it": lambda n: n.gpt35 == n.all,
            "all on XSum": lambda n: n.xsum == n.xsum_all > 0,
            "already": lambda n: n.untuned_xsum == NAMES_OWN,
            "cells": lambda n: n.own + n.other + n.unclear == n.all,
            "none": lambda n: n.favour == 0,
        },
        claim="Learning to recognise its texts makes a model prefer them.",
        place="abstract; Fig. 7 (the inverted question is in the release)",
        test="The release's second run, which asks which of the two texts is worse.",
        verdict="not identifiable",
        figure="inverted",
    ),
    Claim(
        "With swapped labels GPT-4's preference on XSum is {swapped:.3f}, lower than with true "
        "ones ({true:.3f}) but still above ½; the stored {stored:.3f} is one minus the confidence.",
        {
            "swapped": _label("xsum", "swapped"),
            "true": _label("xsum", "correct"),
            "stored": _label("xsum", "swapped", "released"),
        },
        {
            "lower": lambda n: n.swapped.hi < n.true.lo,
            "still above": lambda n: n.swapped.lo > 0.5,
            "one minus": lambda n: abs(1 - n.stored.value - n.swapped.value) < 1e-4,
        },
        claim="Swapped labels of who wrote what turn the preference round.",
        place="release, label_results (printed by its notebook)",
        test="Recomputed from the answers; compared row by row with the run of random labels.",
        verdict="does not hold",
        figure="labels",
    ),
    Claim(
        "Tuned on {few:.0f}, {some:.0f} and {many:.0f} examples GPT-3.5 recognises its summaries "
        "of the same data set more and more: on XSum by {xsum_few:.3f}, {xsum_some:.3f} and "
        "{xsum:.3f} above the base, on CNN/DailyMail by {cnn_few:.3f}, {cnn_some:.3f} and "
        "{cnn:.3f}.",
        {
            "xsum": _delta("xsum", "xsum_500_ft_gpt35"),
            "xsum_some": _delta("xsum", "xsum_10_ft_gpt35"),
            "xsum_few": _delta("xsum", "xsum_2_ft_gpt35"),
            "cnn": _delta("cnn", "cnn_500_ft_gpt35"),
            "cnn_some": _delta("cnn", "cnn_10_ft_gpt35"),
            "cnn_few": _delta("cnn", "cnn_2_ft_gpt35"),
            "few": value("evaluators", "examples", evaluator="xsum_2_ft_gpt35"),
            "some": value("evaluators", "examples", evaluator="xsum_10_ft_gpt35"),
            "many": value("evaluators", "examples", evaluator="xsum_500_ft_gpt35"),
        },
        {
            "more and more": lambda n: (
                n.xsum_few.lo > 0
                and n.xsum_few.hi < n.xsum_some.lo
                and n.xsum_some.hi < n.xsum.lo
                and n.cnn_few.lo > 0
                and n.cnn_few.hi < n.cnn_some.lo
                and n.cnn_some.hi < n.cnn.lo
            ),
        },
        claim="More self-recognition examples make GPT-3.5 recognise its texts more.",
        place="Figs. 4 to 6",
        test="Against the base on the same held-out articles.",
        verdict="holds",
        figure="fig4_training_size",
    ),
    Claim(
        "Tuned on {few:.0f}, {some:.0f} and {many:.0f} examples Llama-2 recognises its summaries "
        "of XSum more and more, by {xsum_few:.3f}, {xsum_some:.3f} and {xsum:.3f} above its base. "
        "On CNN/DailyMail it is slightly above with few, {cnn_few:.3f} and {cnn_some:.3f}, and "
        "with {many:.0f} below, {cnn:.3f}; but that model is degenerate: {broken:.0%} of its "
        "grades are broken, though of its answers on recognition only {lost:.1%}.",
        {
            "xsum": _delta("xsum", "xsum_500_ft_llama"),
            "xsum_some": _delta("xsum", "xsum_10_ft_llama"),
            "xsum_few": _delta("xsum", "xsum_2_ft_llama"),
            "cnn": _delta("cnn", "cnn_500_ft_llama"),
            "cnn_some": _delta("cnn", "cnn_10_ft_llama"),
            "cnn_few": _delta("cnn", "cnn_2_ft_llama"),
            "few": value("evaluators", "examples", evaluator="xsum_2_ft_llama"),
            "some": value("evaluators", "examples", evaluator="xsum_10_ft_llama"),
            "many": value("evaluators", "examples", evaluator="xsum_500_ft_llama"),
            "broken": value("evaluators", "broken", evaluator="cnn_500_ft_llama"),
            "grades": _broken("cnn", "cnn_500_ft_llama", "quality"),
            "lost": _broken("cnn", "cnn_500_ft_llama", RECOGNITION),
            "degenerate": value("evaluators", "degenerate", evaluator="cnn_500_ft_llama"),
        },
        {
            "more and more": lambda n: (
                n.xsum_few.lo > 0 and n.xsum_few.hi < n.xsum_some.lo and n.xsum_some.hi < n.xsum.lo
            ),
            "slightly": lambda n: (
                min(n.cnn_few.lo, n.cnn_some.lo) > 0 and max(n.cnn_few.hi, n.cnn_some.hi) < 0.02
            ),
            "below": lambda n: n.cnn.hi < 0,
            "degenerate": lambda n: n.degenerate == 1 and 0.1 < n.broken <= 1,
            "grades": lambda n: abs(n.broken - n.grades) < 1e-6,
            "only": lambda n: 0 <= n.lost < 0.01,
        },
        claim="More self-recognition examples make Llama 2 recognise its texts more.",
        place="Figs. 4 to 6",
        test="Against the base on the same held-out articles, scores recomputed.",
        verdict="not identifiable",
        figure="fig4_training_size",
    ),
]
