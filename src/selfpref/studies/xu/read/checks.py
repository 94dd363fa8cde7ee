"""What the files of a release say about each other."""

import numpy as np
import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.prompts import feedback
from selfpref.studies.xu import chains
from selfpref.studies.xu.read.layout import HUMAN, SECOND_RUN, Cell
from selfpref.studies.xu.read.release import Release

CHAIN_FINDINGS = (
    ("text", "text_without_truth", "text changed, true score did not"),
    ("bleurt", "truth_without_text", "true score changed, text did not"),
    ("feedback", "self_decreased", "own score fell"),
    ("feedback", "rescored", "same text, other feedback"),
)


def every_step_follows(release: Release) -> None:
    """Refuse a list of files in which a step lacks its predecessor."""
    steps: dict[tuple[str, str, str, str], set[int]] = {}
    for path, where in release.of("text", "feedback"):
        own = where.kind == "text" or where.judge == where.responder
        if own and where.condition == "" and where.responder != HUMAN:
            key = (where.language, where.responder, where.kind, path.rpartition("/")[0])
            steps.setdefault(key, set()).add(where.step)
    for (language, responder, kind, folder), held in sorted(steps.items()):
        if (missing := chains.gap(pd.Series(sorted(held)))) is not None:
            raise SelfprefError(
                f"{folder}: {language}, {responder}: no {kind} of step {missing}, but of step "
                f"{max(held)}; list every step up to the last"
            )


def without_truth(release: Release) -> set[Cell]:
    """Steps of a translation that no BLEURT was computed for, where other steps have it."""
    scored = {where.cell for _, where in release.of("bleurt", "mapped")}
    chains_scored = {cell[:3] for cell in scored}
    return {
        where.cell
        for _, where in release.of("text", "feedback")
        if where.cell[:3] in chains_scored and where.condition == "" and where.cell not in scored
    }


def check_chains(
    release: Release, responses: pd.DataFrame, ratings: pd.DataFrame, truths: pd.DataFrame
) -> None:
    """Note what the steps of each chain say about each other."""
    own = ratings[ratings["judge"].eq(ratings["responder"])]
    own = own.join(chains.addressed(own["item_id"]))
    own = own[own["condition"].isin(["", SECOND_RUN])]
    key = ["item_id", "responder", "step"]
    texts = responses.loc[responses["sample"].eq(0), [*key, "text"]]
    exact = truths.loc[truths["metric"].eq("bleurt"), [*key, "score"]]
    rows = own.drop(columns="score").merge(texts, on=key, how="left")
    rows = rows.merge(exact, on=key, how="left").rename(columns={"score": "truth"})
    # The release's loop compared scores without their floor.
    unclipped = [
        feedback.released_mqm(reply, floor=-np.inf) if task == "mqm" else stored
        for reply, task, stored in zip(rows["reply"], rows["task"], rows["stored"], strict=True)
    ]
    paths: dict[tuple[object, ...], str] = {
        (where.kind, *where.cell): path
        for path, where in release.of("text", "bleurt", "feedback")
        if where.kind != "feedback" or where.judge == where.responder
    }
    for row in chains.cells(rows.assign(own=unclipped, fine=True)).to_dict("records"):
        cell = tuple(row[name] for name in chains.CELL)
        for kind, column, finding in CHAIN_FINDINGS:
            if row[column] and (kind, *cell) in paths:
                release.ledger.note(paths[kind, *cell], finding, row["n"], int(row[column]))
        if row["contaminated"]:
            release.ledger.note(paths["feedback", *cell], "contaminated step", row["n"], row["n"])


def check_choices(release: Release, ratings: pd.DataFrame) -> None:
    """Note where the chosen of k candidates is not the first with the greatest score."""
    best = ratings.join(chains.addressed(ratings["item_id"]))
    best = best[best["condition"].str.startswith("best-of-")]
    best = best.assign(
        exact=[feedback.released_mqm(reply, floor=-np.inf) for reply in best["reply"]]
    ).sort_values(["item_id", "responder", "step", "sample"])
    candidates, chosen = best[best["step"].eq(0)], best[best["step"].eq(1)]
    # idxmax takes the first of equals.
    key = ["item_id", "responder"]
    first = candidates.loc[candidates.groupby(key)["exact"].idxmax(), [*key, "reply"]]
    joined = chosen.merge(first, on=key, suffixes=("", "_first"))
    joined = joined.assign(other=joined["reply"].ne(joined["reply_first"]))
    for path, where in release.of("feedback"):
        if where.condition.startswith("best-of-") and where.step == 1:
            here = joined[
                joined["condition"].eq(where.condition) & joined["responder"].eq(where.responder)
            ]
            release.ledger.count(path, "not the first maximum", here["other"].tolist())
