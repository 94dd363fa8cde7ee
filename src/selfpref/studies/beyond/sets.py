"""What the tables of the other studies hold, as judged sets and as ratings with gold scores.

Choices and preferences become rows of one form (`selfpref.statistics.choices`), each under every
gold label that there is. Scores of texts have the DBG score (Z.-Y. Chen et al., arXiv 2506.02592),
the rows `gold_gap`,

    gold_gap = mean of the scores that judge j gives its own texts - mean gold score of these texts

in points of the judge's own scale, so that only a gold score on this scale will do: the mean score
of the other judges of the same text, the true rubric (testbed), the true or learnt MQM score,
the share of covered concepts. An answer key of 0 to 1 is no gold for rubric totals of 0 to 11; it
enters the regression, which has a slope for it. Judges who see only their own texts (Xu et al.)
have a gap and no regression; of their refinement step 0 enters, before any rule has chosen among
texts.

**The table of every statistic, and which statistic follows a preference that is there.**

In the testbed each judge's labels carried a bonus *beta* for its own style (`wataoka.checks`).
Over the judges of all data sets, for each statistic and gold label,

    r = correlation of the judges' values with their betas
    interval: tanh(atanh r -+ z / sqrt(n - 3))                       (Fisher 1915), n judges

The interval takes the judges for a sample of judges; with few of them it is wide, and two
correlations of the same judges are not to be compared by it. Within one seed beta is confounded
with style. A high r says that the measure orders judges by their preference, not that 0 means none.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtri

from selfpref import paths
from selfpref.params import Params
from selfpref.statistics import choices
from selfpref.statistics.bias import decide, gap, scores_of, value_of, whole_counts
from selfpref.statistics.bootstrap import ClusterBootstrap, Floats
from selfpref.statistics.judged import TABLES as PAIRS
from selfpref.statistics.judged import Judged, Row, Settings, by_panel
from selfpref.studies.livebench import STUDY as LIVEBENCH
from selfpref.studies.livebench.panel import ROUNDING, TABLES, Panel, rated
from selfpref.studies.livebench.scorers import READINGS
from selfpref.studies.panickssery import STUDY as PANICKSSERY
from selfpref.studies.panickssery.evaluators import COLUMNS as EVALUATORS
from selfpref.studies.wataoka import STUDY as WATAOKA
from selfpref.studies.xu import bias as xu
from selfpref.tables.schemas import PANEL, TIE

# In this order: what the studies measure, their controls, then what the papers since have added.
STATISTICS = [
    *("demographic_parity", "equal_opportunity", "excess", "excess_half_ties"),
    *("beyond_no_preference", "gold_gap", "regression", "regression_scaled", "latent_quality"),
    *("harmful", "neutral", "legitimate"),
]
RECOVERY = ["gold", "statistic", "r", "lo", "hi", "n"]
# The interval of a correlation needs n - 3 > 0.
FEWEST = 4
PERFECT = 1 - 1e-12
OTHERS, RUBRIC = "other judges", "rubric"
UNITS = {"mqm": "MQM points", "coverage": "share", "correctness": "share"}
Tables = Mapping[str, pd.DataFrame]


# Pairs of one data set under one gold label: the data set; its pairs, `human` being the gold label;
# where the gold label comes from.
Labelled = tuple[Judged, pd.DataFrame, str]


def of_wataoka(params: Params, settings: Settings) -> list[Judged]:
    """The data sets of pairs on which people vote and a judge has responses of its own.

    Or on which a key does, of what is written here: of a release's, no judge reads another's pairs.
    """
    if "wataoka" not in params.studies:
        return []
    loaded = WATAOKA.by_dataset(params.profile, PAIRS)
    judged = (Judged(key, tables, settings) for key, tables in loaded.items())
    by_key = params.wataoka.by_key
    return [data for data in judged if data.judges and (by_key(data.name) or not data.keyed)]


def of_livebench(params: Params, settings: Settings) -> Panel | None:
    """The contests; None where nobody chose."""
    if "livebench" not in params.studies:
        return None
    tables = LIVEBENCH.whole(params.profile, TABLES)
    panel = Panel(tables, params.livebench.margin, settings.bootstrap)
    return None if panel.choices.empty else panel


def of_panickssery(
    params: Params, settings: Settings
) -> tuple[list[choices.Judgments], pd.DataFrame]:
    """Preferences by data set and gold label; and the frame `evaluators`."""
    if "panickssery" not in params.studies:
        return [], pd.DataFrame(columns=EVALUATORS)
    folder = paths.metrics_dir(params.profile, PANICKSSERY.name)
    pairs, who = (pd.read_parquet(folder / f"{name}.parquet") for name in ("pairs", "evaluators"))
    texts = PANICKSSERY.whole(params.profile, ["responses", "truths"])
    return from_confidences(pairs, texts, settings), who


def of_xu(params: Params) -> list[Row]:
    """Gaps of the scores of own texts before any refinement."""
    if "xu" not in params.studies:
        return []
    return list(of_refinement(xu.load(params), xu.settings(params)))


def by_gold(data: Judged) -> list[Labelled]:
    """The pairs of one data set under no gold label, people's, the oracle's and a panel's.

    The first is 1/2 everywhere. The oracle's and the panel's are left out where there are none.
    """
    quality = data.truth("quality")
    panel = by_panel(data)
    golds = {choices.NONE: data.pairs.assign(human=0.5), choices.HUMAN: data.pairs}
    if len(quality):
        golds[choices.ORACLE] = data.pairs.assign(human=_side(gap(quality, data.pairs)))
    found = [(data, pairs, gold) for gold, pairs in golds.items()]
    return found if panel is None else [*found, (panel, panel.pairs, PANEL)]


def regressed(data: Judged, pairs: pd.DataFrame, gold: str) -> bool:
    """Whether a regression has a gold label, or can do without where a judge's pairs have none."""
    if gold == choices.NONE:
        return any(data.own(judge)["human"].isna().all() for judge in data.judges)
    return bool(pairs["human"].notna().any())


def _side(lead: pd.Series) -> Floats:
    """1, 1/2 or 0 for a difference above, at or below 0; NaN stays NaN."""
    return decide(0.5 + lead.to_numpy(dtype=float), 0.5 + ROUNDING)


def from_choices(panel: Panel, settings: Settings) -> list[choices.Judgments]:
    """The choices among k responses, every set turned to each of them, under each answer key.

    Args:
        panel: The tables of the study.
        settings: Ties, intervals and seed.

    Returns:
        Without a gold label, then under each reading of the key.
    """
    rows = panel.ballots.reset_index(names="set").astype({"responder": "str"})
    rows["k"] = rows["candidates"].map(len)
    tied = rows["choice"].eq(TIE)
    rows["opponent"] = [
        "+".join(name for name in names if name != me)
        for names, me in rows[["candidates", "responder"]].to_numpy()
    ]
    rows["decision"] = rows["picked"].mask(tied, 0.5)
    rows["win"] = rows["picked"].mask(tied, 1 / rows["k"])
    made = []
    by = rows["set"]
    for gold in (choices.NONE, *READINGS):
        scores = scores_of(panel.tables["truths"], gold)
        score = value_of(scores, rows["item_id"], rows["responder"])
        best = score.ge(score.groupby(by).transform("max") - panel.margin - ROUNDING)
        known = score.notna().groupby(by).transform("all")
        win = best.div(best.groupby(by).transform("sum")).where(known)
        turned = rows.assign(gold=win, human=win.mask(win.gt(0) & win.lt(1), 0.5))[choices.COLUMNS]
        name = gold if gold == choices.NONE else f"key-{gold}"
        made.append(choices.Judgments("livebench", "livebench", name, turned, settings))
    return made


def from_confidences(
    pairs: pd.DataFrame, tables: Tables, settings: Settings
) -> list[choices.Judgments]:
    """Preferences between an own text and another one, by data set; gold is the oracle's or none.

    Args:
        pairs: The frame `pairs` of Panickssery et al.: their `corrected` confidences enter.
        tables: The tables `responses` and `truths`; equal `quality` is a tie.
        settings: Threshold, ties, intervals and seed.
    """
    asked = pairs.query("task == 'preference' and variant == 'plain' and held_out")
    names = ["dataset", "evaluator", "other", "own", "item_id", "cluster"]
    asked = asked.astype(dict.fromkeys(names, "str"))
    quality = scores_of(tables["truths"], "quality")
    decision = decide(asked["corrected"].to_numpy(dtype=float), settings.threshold)
    human = _side(gap(quality, asked, "own", "other"))
    rows = asked.rename(columns={"evaluator": "judge", "other": "opponent"})
    rows = rows.assign(responder=rows["judge"], decision=decision, win=decision, k=2)
    rows["human"] = rows["gold"] = human
    return [
        choices.Judgments(
            "panickssery", str(name), gold, part[choices.COLUMNS].reset_index(drop=True), settings
        )
        for name, part in rows.groupby("dataset")
        for gold in ((choices.NONE, choices.ORACLE) if len(quality) else (choices.NONE,))
    ]


def _gap(rows: pd.DataFrame, place: Row, bootstrap: ClusterBootstrap, *names: str) -> Row:
    """The DBG score of one judge.

    Args:
        rows: Its own texts: `cluster, score, gold`.
        place: The row's key and unit.
        bootstrap: The interval.
        names: Of its stream.
    """
    beyond = rows["score"] - rows["gold"]
    none = "no own text with a score and a gold score"
    found = bootstrap.mean(beyond, rows["cluster"], *names)
    return choices.told(place | {"statistic": "gold_gap"}, found, beyond.count(), len(rows), none)


def of_contests(panel: Panel, level: float) -> Iterator[Row]:
    """Rubric totals of the LiveBench study, under every gold score that there is."""
    rows = rated(panel)
    truths = panel.tables["truths"]
    if rows.empty:
        return
    by_text = rows.groupby(["item_id", "responder"])["score"]
    # The mean score that the other judges give the text of each row; 0 / 0 without another.
    others = (by_text.transform("sum") - rows["score"]) / (by_text.transform("size") - 1)
    golds = {OTHERS: others}
    for name in sorted(set(truths["metric"])):
        golds[name] = value_of(scores_of(truths, name), rows["item_id"], rows["responder"])
    own = rows["judge"].eq(rows["responder"])
    for name, gold in golds.items():
        told_as = name if name in (OTHERS, RUBRIC) else f"key-{name}"
        place = choices.key_of("livebench", told_as, "livebench", "rubric points")
        if name == told_as:
            for judge, part in rows.assign(gold=gold)[own].groupby("judge"):
                here = place | {"judge": judge}
                yield _gap(part, here, panel.bootstrap, "gold_gap", str(judge), name)
        if name != OTHERS:
            yield from choices.of_ratings(rows, gold, place, level)


def of_refinement(tables: Tables, settings: xu.Settings) -> Iterator[Row]:
    """Own scores of the texts at step 0 of the study of Xu et al.

    Args:
        tables: Of the study.
        settings: Which truth.
    """
    plain = xu.chained(xu.read_as(xu.rated(tables, settings), "corrected"))
    first = plain[plain["condition"].eq("") & plain["step"].eq(0)]
    for key, part in first.groupby(["task", "judge"]):
        task, judge = map(str, key)
        golds = {settings.metric(task): part["truth"]}
        human = xu.truth_of(part, tables["truths"], "human-mqm")
        if task == "mqm" and human.notna().any():
            # People graded one language; the rows of the others are out of its scope.
            golds["human-mqm"] = human.dropna()
        for name, gold in golds.items():
            scored = part.loc[gold.index].assign(gold=gold)
            unit = UNITS.get(task, "points")
            place = choices.key_of(task, name, "xu", unit, judge=judge)
            yield _gap(scored, place, settings.bootstrap, "beyond", "xu", task, judge, name)


def long(rows: Iterable[Row]) -> pd.DataFrame:
    """Every statistic of every judge, sorted, in the columns `turned.LONG`."""
    found = choices.table(rows)
    found["statistic"] = pd.Categorical(found["statistic"], STATISTICS)
    found = found.sort_values(choices.KEY, ignore_index=True)
    return whole_counts(found.astype({"statistic": "str"}))


def together(parts: Iterable[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Frames one below the other, with `few`; without any row the columns alone."""
    some = [part for part in parts if len(part)]
    found = pd.concat(some, ignore_index=True) if some else pd.DataFrame(columns=columns)
    return found.assign(few=choices.too_few(found))


def recovery(rows: pd.DataFrame, sets: Iterable[Judged], level: float) -> pd.DataFrame:
    """How each statistic correlates with the preference that was put in.

    Args:
        rows: As `long` returns them.
        sets: The data sets of pairs.
        level: Coverage of the intervals.

    Returns:
        The columns `RECOVERY`, in the order of the long table; empty where nothing was injected.
    """
    betas = {data.name: data.betas for data in sets if len(data.betas)}
    if not betas:
        return pd.DataFrame(columns=RECOVERY)
    bonus = pd.concat(betas, names=["dataset", "judge"]).rename("beta")
    known = rows[rows["n"].gt(0)].join(bonus, on=["dataset", "judge"], how="inner")
    z = ndtri((1 + level) / 2)
    found = []
    for (gold, statistic), part in known.groupby(["gold", "statistic"], sort=False):
        if len(part) < FEWEST or part["value"].nunique() < 2:
            continue
        r = part["value"].corr(part["beta"])
        # A perfect line has no interval: the transform of 1 is infinite.
        line = np.arctanh(r) if abs(r) < PERFECT else np.nan
        half = z / np.sqrt(len(part) - 3)
        found.append((gold, statistic, r, np.tanh(line - half), np.tanh(line + half), len(part)))
    return pd.DataFrame(found, columns=RECOVERY)
