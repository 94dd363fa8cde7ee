"""What the chapter says of the released data, and what became of the paper's claims.

The sentences are of MT-Bench and Vicuna-80 by name: where these are not among the data, as in the
synthetic testbed, nothing is said.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from selfpref.statements import (
    AbsentError,
    Cell,
    Claim,
    Frames,
    Statement,
    estimate,
    value,
)
from selfpref.statistics.bias import FEW
from selfpref.studies.wataoka.findings import perplexity

MT_BENCH = {"dataset": "mt-bench", "judge": "gpt-4"}
VICUNA80 = {"dataset": "vicuna80", "judge": "gpt-4"}
PAPER = {"dataset": "chatbot-arena", "judge": "gpt-4"}
ARENA = {"dataset": "arena", "judge": "gpt-4"}
ARENA_GPT4 = {"dataset": "arena", "responder": "gpt-4"}


def counted(table: str, what: Callable[[pd.DataFrame], float]) -> Cell:
    """What is counted over a table's rows of Vicuna-80."""
    return named(table, lambda rows: float(what(rows)))


def named(table: str, what: Callable[[pd.DataFrame], float | str]) -> Cell:
    """A number or name found in a table's rows of Vicuna-80."""

    def found(frames: Frames) -> float | str:
        rows = frames[table]
        if rows.empty or (rows := rows[rows["dataset"].eq("vicuna80")]).empty:
            raise AbsentError(table)
        return what(rows)

    return found


def _limit(_: Frames) -> int:
    """What is too few."""
    return FEW


def _apart(rows: pd.DataFrame, name: str) -> int:
    """Rows of other judges than GPT-4 whose interval lies on one side of 0."""
    others = rows[rows["judge"].ne("gpt-4")]
    return int((others[f"{name}_lo"].gt(0) | others[f"{name}_hi"].lt(0)).sum())


def _enough(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[~rows["few"].astype(bool)]


def _differing(rows: pd.DataFrame) -> list[str]:
    """Judges whose excess has another sign in another variant with enough pairs."""
    signs = _enough(rows)["excess"].gt(0).groupby(rows["judge"]).nunique()
    return sorted(signs.index[signs.gt(1)])


def _common_few(rows: pd.DataFrame) -> int:
    return int((rows["variant"].eq("common") & rows["few"].astype(bool)).sum())


def _part(where: dict[str, str]) -> Cell:
    """The share of a judge's bias that another person in its place has."""
    person = value("fig1b_bias", "eo_no_preference", **where)
    judge = value("fig1b_bias", "eo_one_vote", **where)

    def found(frames: Frames) -> float:
        of_person, of_judge = person(frames), judge(frames)
        assert isinstance(of_person, float)
        assert isinstance(of_judge, float)
        return of_person / of_judge

    return found


def _towards(responder: str) -> Cell:
    """GPT-4's bias towards a model's responses on Chatbot Arena."""
    where = {"dataset": "arena", "judge": "gpt-4", "responder": responder}
    return estimate("bias_by_judge_and_responder", "eo", **where)


def _share_of(by: str) -> Callable[[pd.DataFrame], float]:
    """The share of the variance of the cells' EO that lies between responders, or judges."""

    def share(rows: pd.DataFrame) -> float:
        of_each = rows.groupby(by)["eo"].transform("mean")
        return float(of_each.var(ddof=0) / rows["eo"].var(ddof=0))

    return share


def _left(rows: pd.DataFrame) -> tuple[float, float]:
    """The share of the variance that neither judges nor responders hold, and own cells' of it."""
    wide = rows.pivot(index="judge", columns="responder", values="eo")
    left = wide.sub(wide.mean(axis=1), axis=0).sub(wide.mean(), axis=1) + wide.stack().mean()
    square = left.stack() ** 2
    own = square[square.index.get_level_values(0) == square.index.get_level_values(1)]
    total = ((wide - wide.stack().mean()) ** 2).stack().sum()
    return float(square.sum() / total), float(own.sum() / square.sum())


def _flips(rows: pd.DataFrame) -> pd.Series:
    every = rows[rows["pairs"].eq("all")]
    return every.set_index("judge")["flip_rate"]


def _same_signs(frames: Frames) -> int:
    """Models whose sign in the paper is that of GPT-4's bias towards their responses."""
    rows = frames["bias_by_judge_and_responder"]
    if rows.empty or (rows := rows[rows["dataset"].eq("arena")]).empty:
        raise AbsentError("arena")
    found = rows.set_index("responder")["eo"]
    signs = frames["paper_signs"].set_index("judge")["sign"]
    return int((np.sign(found.reindex(signs.index)) == signs).sum())


def _paper_sides(frames: Frames) -> tuple[float, float]:
    """Pairs that people decided for and against GPT-4's response in the paper's counts."""
    row = frames["paper_bias"].iloc[0]
    return float(row["tp"] + row["fn"]), float(row["fp"] + row["tn"])


def _arena_wins(frames: Frames, column: str) -> float:
    found = value("wins_by_human", column, **ARENA_GPT4)(frames)
    assert isinstance(found, float)
    return found


EXCESS: dict[str, Cell] = {
    "excess": estimate("fig1b_bias", "excess", **VICUNA80),
    "eo": estimate("fig1b_bias", "eo", **VICUNA80),
    "others": estimate("fig1b_bias", "eo_others", **VICUNA80),
    "half": estimate("excess", "excess", **VICUNA80, variant="half-ties"),
}
PERSON: dict[str, Cell] = {
    "vicuna": estimate("fig1b_bias", "eo_no_preference", **VICUNA80),
    "vicuna_judge": estimate("fig1b_bias", "eo_one_vote", **VICUNA80),
    "vicuna_beyond": estimate("fig1b_bias", "beyond_no_preference", **VICUNA80),
    "vicuna_part": _part(VICUNA80),
    "mt": estimate("fig1b_bias", "eo_no_preference", **MT_BENCH),
    "mt_judge": estimate("fig1b_bias", "eo_one_vote", **MT_BENCH),
    "mt_beyond": estimate("fig1b_bias", "beyond_no_preference", **MT_BENCH),
    "mt_part": _part(MT_BENCH),
}

EXPECTED: dict[str, Cell] = {
    "experts": estimate("without_self", "eo_without_self", votes_of="mt-bench"),
    "experts_share": estimate("without_self", "share_of_printed", votes_of="mt-bench"),
    "voters": estimate("without_self", "eo_without_self", votes_of="vicuna80"),
    "voters_share": estimate("without_self", "share_of_printed", votes_of="vicuna80"),
    "experts_rho": estimate("without_self", "agreement_beyond_chance", votes_of="mt-bench"),
    "voters_rho": estimate("without_self", "agreement_beyond_chance", votes_of="vicuna80"),
    "printed": value("paper_bias", "eo_printed", **PAPER),
}

FINDINGS = {
    "printed_counts": Statement(
        "The equal-opportunity bias of the printed counts is {eo:.3f}; the paper prints "
        "{eo_printed:.3f}, the same. Their demographic parity is {dp:.3f}, higher than the "
        "{dp_printed:.3f} of Table 2, so Table 2 was not computed on the rows of Fig. 2.",
        {
            "eo": value("paper_bias", "eo", **PAPER),
            "eo_printed": value("paper_bias", "eo_printed", **PAPER),
            "dp": value("paper_bias", "dp", **PAPER),
            "dp_printed": value("paper_bias", "dp_printed", **PAPER),
        },
        {
            "the same": lambda n: abs(n.eo - n.eo_printed) < 0.0006,
            "higher": lambda n: n.dp - n.dp_printed > 0.0006,
        },
    ),
    "gpt4": Statement(
        "GPT-4's bias towards its own responses is {mt:.2f} on MT-Bench and {vicuna:.2f} on "
        "Vicuna-80, both above the {printed:.2f} that the paper prints for Chatbot Arena.",
        {
            "mt": estimate("fig1b_bias", "eo", **MT_BENCH),
            "vicuna": estimate("fig1b_bias", "eo", **VICUNA80),
            "printed": value("paper_bias", "eo_printed", **PAPER),
        },
        {"both above": lambda n: min(n.mt.lo, n.vicuna.lo) > n.printed},
    ),
    "others": Statement(
        "On Vicuna-80 the {judges:.0f} other judges, none of whom wrote GPT-4's responses, have a "
        "bias of {others:.2f} towards them in the mean; GPT-4 has {eo:.2f}. That is lower, but "
        "most of GPT-4's bias is there without GPT-4; the excess is {excess:.2f}.",
        {
            **{name: EXCESS[name] for name in ("others", "eo", "excess")},
            "judges": value("excess", "others", **VICUNA80, variant="own"),
        },
        {
            "lower": lambda n: n.excess.lo > 0,
            "most": lambda n: n.others.value > n.eo.value / 2,
        },
    ),
    "excess": Statement(
        "GPT-4's excess is above 0 in both variants that have enough pairs: {excess:.2f} with each "
        "judge on the pairs that it decides, {half:.2f} with a judge's tie counting half. None of "
        "the other judges has an interval without 0 in either variant.",
        {
            "excess": EXCESS["excess"],
            "half": EXCESS["half"],
            "few": value("excess", "few", **VICUNA80, variant="own"),
            "half_few": value("excess", "few", **VICUNA80, variant="half-ties"),
            "apart": counted("excess", lambda rows: _apart(_enough(rows), "excess")),
        },
        {
            "above": lambda n: min(n.excess.lo, n.half.lo) > 0,
            "enough": lambda n: not (n.few or n.half_few),
            "None": lambda n: n.apart == 0,
        },
    ),
    "signs": Statement(
        "Between these two variants the sign differs for {n:.0f} of {judges:.0f} judges ({names}).",
        {
            "n": counted("excess", lambda rows: len(_differing(rows))),
            "judges": counted("excess", lambda rows: rows["judge"].nunique()),
            "names": named("excess", lambda rows: ", ".join(_differing(rows))),
        },
        {"differs": lambda n: n.n > 0},
    ),
    "common": Statement(
        "On the pairs that all judges decide, {few:.0f} of {judges:.0f} judges, every one, have "
        "fewer than {limit:.0f} pairs on one human side (GPT-4: {other:.0f} on which people prefer "
        "the other response). This variant is therefore not quoted.",
        {
            "other": value("excess", "n_human_other", **VICUNA80, variant="common"),
            "few": counted("excess", _common_few),
            "judges": counted("excess", lambda rows: rows["judge"].nunique()),
            "limit": _limit,
        },
        {
            "every one": lambda n: n.few == n.judges,
            "fewer": lambda n: n.other < n.limit,
        },
    ),
    "person": Statement(
        "Another person in GPT-4's place has a bias of {vicuna:.2f} on Vicuna-80 and {mt:.2f} on "
        "MT-Bench: {vicuna_part:.0%} and {mt_part:.0%} of what GPT-4 has against the same single "
        "votes ({vicuna_judge:.2f} and {mt_judge:.2f}). So a judge without self-preference is not "
        "at 0 here; GPT-4 is above it on both, by {vicuna_beyond:.2f} and {mt_beyond:.2f}.",
        PERSON,
        {
            "not at 0": lambda n: n.vicuna.excludes(0) and n.mt.excludes(0),
            "above": lambda n: min(n.vicuna_beyond.lo, n.mt_beyond.lo) > 0,
        },
    ),
    "person_others": Statement(
        "The other judges of Vicuna-80 cannot be told from another person in their place: none of "
        "{judges:.0f} intervals of the difference leaves out 0.",
        {
            "judges": counted(
                "fig1b_bias",
                lambda rows: rows["beyond_no_preference"][rows["judge"].ne("gpt-4")].count(),
            ),
            "apart": counted("fig1b_bias", lambda rows: _apart(rows, "beyond_no_preference")),
        },
        {"none": lambda n: n.apart == 0 and n.judges > 0},
    ),
    "columns": Statement(
        "On Vicuna-80, {responders:.0%} of the variance of the {cells:.0f} cells lies between "
        "responders. A judge's own mean is near 0 by construction, since each pair enters once for "
        "either response ({judges:.0%}). A self can show only in what is left, {rest:.0%}; the "
        "{n:.0f} own cells hold {own:.0%} of that. All {n:.0f} judges have their highest bias "
        "towards GPT-4's responses.",
        {
            "responders": counted("bias_by_judge_and_responder", _share_of("responder")),
            "judges": counted("bias_by_judge_and_responder", _share_of("judge")),
            "rest": counted("bias_by_judge_and_responder", lambda rows: _left(rows)[0]),
            "own": counted("bias_by_judge_and_responder", lambda rows: _left(rows)[1]),
            "cells": counted("bias_by_judge_and_responder", len),
            "n": counted("bias_by_judge_and_responder", lambda rows: rows["judge"].nunique()),
            "highest": counted(
                "bias_by_judge_and_responder",
                lambda rows: (
                    rows.loc[rows.groupby("judge")["eo"].idxmax(), "responder"].eq("gpt-4").sum()
                ),
            ),
        },
        {"All": lambda n: n.highest == n.n},
    ),
    "arena": Statement(
        "GPT-4 has a bias of {vicuna:.2f} towards vicuna-13b's responses and of {koala:.2f} "
        "towards koala-13b's, above 0, and below 0 towards those of oasst-pythia-12b ({oasst:.2f}),"
        " stablelm-tuned-alpha-7b ({stablelm:.2f}) and dolly-v2-12b ({dolly:.2f}). It wrote none "
        "of them. For all {models:.0f} the sign is the one that the paper gives for the model's "
        "bias towards itself.",
        {
            "vicuna": _towards("vicuna-13b"),
            "koala": _towards("koala-13b"),
            "oasst": _towards("oasst-pythia-12b"),
            "stablelm": _towards("stablelm-tuned-alpha-7b"),
            "dolly": _towards("dolly-v2-12b"),
            "models": lambda frames: len(frames["paper_signs"]),
            "same": _same_signs,
        },
        {
            "above": lambda n: min(n.vicuna.lo, n.koala.lo) > 0,
            "below": lambda n: max(n.oasst.hi, n.stablelm.hi, n.dolly.hi) < 0,
            "all": lambda n: n.same == n.models,
        },
    ),
    "arena_agreement": Statement(
        "On {n:.0f} battles that both decide, GPT-4 prefers the same response as the person in "
        "{agreement:.2f}.",
        {
            "agreement": estimate("agreement_with_human", "agreement", **ARENA),
            "n": value("agreement_with_human", "n", **ARENA),
        },
        {},
    ),
    "expected": Statement(
        "With votes that agree beyond chance as those of MT-Bench's experts do "
        "({experts_rho:.2f}), another person in GPT-4's place shows {experts:.2f}, "
        "{experts_share:.0%} of the printed {printed:.3f}; if they agree as little as those on "
        "Vicuna-80 do ({voters_rho:.2f}), {voters:.2f}, as much or more ({voters_share:.0%}). How "
        "alike two of Arena's own voters are is not known: each battle has one vote.",
        EXPECTED,
        {
            "as much or more": lambda n: n.voters_share.lo > 1,
            "as little": lambda n: n.voters_rho.hi < n.experts_rho.lo,
            "of the printed": lambda n: n.experts.lo > 0,
        },
    ),
    "left_out": Statement(
        "People prefer GPT-4's response in {won:.0f} of {n:.0f} decided battles here ({rate:.3f}). "
        "The paper's matrix holds {paper_n:.0f} pairs, in {paper_rate:.3f} of which they do: more "
        "often. Its set of dialogues is larger than this one, so at least {missing:.0f} decided "
        "battles of GPT-4 were left out, {share:.0%} of those here, and among them at least "
        "{lost:.0f} of the {n_lost:.0f} that it lost.",
        {
            "won": value("wins_by_human", "n_won", **ARENA_GPT4),
            "n": value("wins_by_human", "n", **ARENA_GPT4),
            "rate": value("wins_by_human", "win_rate", **ARENA_GPT4),
            "n_lost": value("wins_by_human", "n_lost", **ARENA_GPT4),
            "paper_n": value("paper_bias", "n", **PAPER),
            "paper_rate": lambda frames: _paper_sides(frames)[0] / sum(_paper_sides(frames)),
            "missing": lambda frames: _arena_wins(frames, "n") - sum(_paper_sides(frames)),
            "share": lambda frames: 1 - sum(_paper_sides(frames)) / _arena_wins(frames, "n"),
            "lost": lambda frames: _arena_wins(frames, "n_lost") - _paper_sides(frames)[1],
        },
        {
            "more often": lambda n: n.paper_rate > n.rate,
            "left out": lambda n: n.missing > 0,
        },
    ),
    "table2": Statement(
        "GPT-4's demographic parity is {mt:.2f} on MT-Bench and {vicuna:.2f} on Vicuna-80 on "
        "decisive rows. With the pairs that people tied it is lower, {mt_ties:.2f} and "
        "{vicuna_ties:.2f}, and above 0 in either reading.",
        {
            f"{name}{more}": estimate("table2_demographic_parity", column, **where)
            for name, where in (("mt", MT_BENCH), ("vicuna", VICUNA80))
            for more, column in (("", "dp_decisive"), ("_ties", "dp_with_ties"))
        },
        {
            "lower": lambda n: (
                n.mt_ties.value < n.mt.value and n.vicuna_ties.value < n.vicuna.value
            ),
            "above": lambda n: min(n.mt.lo, n.vicuna.lo, n.mt_ties.lo, n.vicuna_ties.lo) > 0,
        },
    ),
    "opponents": Statement(
        "On Vicuna-80 {few:.0f} of {cells:.0f} cells have fewer than {limit:.0f} pairs on one "
        "human side, among them all {opponents:.0f} of GPT-4.",
        {
            "few": counted("bias_by_opponent", lambda rows: rows["few"].sum()),
            "cells": counted("bias_by_opponent", len),
            "limit": _limit,
            "opponents": counted("bias_by_opponent", lambda rows: rows["judge"].eq("gpt-4").sum()),
            "gpt4": counted(
                "bias_by_opponent", lambda rows: (rows["judge"].eq("gpt-4") & rows["few"]).sum()
            ),
        },
        {"all": lambda n: n.gpt4 == n.opponents},
    ),
    "position": Statement(
        "On Vicuna-80 text-bison, the judge of the Bard family, chooses the response that it reads "
        "first in {bard:.2f} of its decided verdicts, more than half; Claude in {claude:.2f}, less "
        "than half. From {least:.2f} ({steady}) to {most:.2f} ({unsteady}) of a judge's pairs have "
        "another outcome in the other order.",
        {
            "bard": estimate(
                "position", "first_share", dataset="vicuna80", judge="bard", pairs="all"
            ),
            "claude": estimate(
                "position", "first_share", dataset="vicuna80", judge="claude-1", pairs="all"
            ),
            "least": counted("position", lambda rows: _flips(rows).min()),
            "steady": named("position", lambda rows: str(_flips(rows).idxmin())),
            "most": counted("position", lambda rows: _flips(rows).max()),
            "unsteady": named("position", lambda rows: str(_flips(rows).idxmax())),
        },
        {
            "more": lambda n: n.bard.lo > 0.5,
            "less": lambda n: n.claude.hi < 0.5,
        },
    ),
    **perplexity.FINDINGS,
}

CLAIMS = [
    Claim(
        "GPT-4 wrote none of these responses and has a bias of {vicuna:.2f} towards vicuna-13b's "
        "and {koala:.2f} towards koala-13b's, above 0, and below 0 towards oasst-pythia-12b's "
        "({oasst:.2f}), stablelm's ({stablelm:.2f}) and dolly's ({dolly:.2f}): the paper's sign "
        "for all {models:.0f}, without a self.",
        FINDINGS["arena"].cells,
        FINDINGS["arena"].holds,
        claim=(
            "Vicuna-13b and Koala-13b favour their own responses; oasst-pythia, dolly and stablelm "
            "do the opposite."
        ),
        place="Section 4, Fig. 1b",
        test="GPT-4's bias towards the same models' responses in Chatbot Arena.",
        verdict="not identifiable",
        figure="without_a_self",
    ),
    Claim(
        "Another person in GPT-4's place shows {experts:.2f}, {experts_share:.0%} of the printed "
        "{printed:.3f}, if votes agree beyond chance as those of MT-Bench's experts do "
        "({experts_rho:.2f}), and {voters:.2f}, as much or more, if they agree as little as those "
        "on Vicuna-80 do ({voters_rho:.2f}).",
        EXPECTED,
        FINDINGS["expected"].holds,
        claim="GPT-4's bias of 0.520 on Chatbot Arena is a preference for its own responses.",
        place="Section 4, Fig. 1b",
        test="The bias of a judge with no self that errs as people do, from Arena's votes.",
        verdict="not identifiable",
        figure="without_a_self",
    ),
    Claim(
        "On Vicuna-80 GPT-4's bias is {eo:.2f}, on MT-Bench {mt:.2f}; both are above 0, as the "
        "paper's {printed:.3f} is.",
        {
            "eo": EXCESS["eo"],
            "mt": estimate("fig1b_bias", "eo", **MT_BENCH),
            "printed": value("paper_bias", "eo_printed", **PAPER),
        },
        {"both above": lambda n: min(n.eo.lo, n.mt.lo, n.printed) > 0},
        claim="GPT-4 has a large equal-opportunity bias towards its own responses.",
        place="Figs. 1b and 2",
        test="The same measure on two public sets of pairs with human votes.",
        verdict="holds",
        figure="fig1b_bias",
    ),
    Claim(
        "Another person in GPT-4's place has a bias of {vicuna:.2f} on Vicuna-80 and {mt:.2f} on "
        "MT-Bench, not 0: {vicuna_part:.0%} and {mt_part:.0%} of GPT-4's against the same votes.",
        {name: PERSON[name] for name in ("vicuna", "mt", "vicuna_part", "mt_part")},
        {"not 0": lambda n: n.vicuna.excludes(0) and n.mt.excludes(0)},
        claim="The measure is 0 for a judge that does not prefer its own responses.",
        place="Def. 4.1",
        test="One person's vote on a pair against another's, in the place of the judge's verdict.",
        verdict="does not hold",
        figure="fig1b_bias",
    ),
    Claim(
        "The excess over judges that did not write GPT-4's responses is {excess:.2f}, {half:.2f} "
        "with judges' ties as halves, above 0; the other judges alone have {others:.2f}, most of "
        "GPT-4's {eo:.2f}. That judges differ in how often they err is not controlled for.",
        EXCESS,
        {
            "above 0": lambda n: min(n.excess.lo, n.half.lo) > 0,
            "most": lambda n: n.others.value > n.eo.value / 2,
        },
        claim="GPT-4's bias is a preference for its own responses.",
        place="Section 4, Fig. 1b",
        test="Against the mean bias of the other judges towards the same responses (Vicuna-80).",
        verdict="not identifiable",
        figure="fig1b_bias",
    ),
    Claim(
        "On Vicuna-80, against other opponents, the bias of vicuna-13b is {eo:.2f}, below 0, and "
        "so is that of the other judges towards its responses ({others:.2f}). The sign goes with "
        "the opponents and does not carry over from one set to another; the excess of {excess:.2f} "
        "cannot be told from 0.",
        {
            name: estimate("fig1b_bias", column, dataset="vicuna80", judge="vicuna-13b")
            for name, column in (("eo", "eo"), ("others", "eo_others"), ("excess", "excess"))
        },
        {
            "below": lambda n: n.eo.hi < 0,
            "so is": lambda n: n.others.hi < 0,
            "cannot": lambda n: not n.excess.excludes(0),
        },
        claim="Vicuna-13b has a bias above 0 towards its own responses as well.",
        place="Fig. 1b",
        test="The same measure, and the excess, on other data and against other opponents.",
        verdict="not identifiable",
        figure="fig1b_bias",
    ),
    Claim(
        "Eq. 4 on the counts of Fig. 2 gives {dp:.3f}, which leaves out the printed {printed:.3f}: "
        "Table 2 is of other rows, and which is not said.",
        {
            "dp": estimate("paper_bias", "dp", **PAPER),
            "printed": value("paper_bias", "dp_printed", **PAPER),
        },
        {"leaves out": lambda n: n.dp.excludes(n.printed)},
        claim="The demographic parity of GPT-4 is 0.749.",
        place="Table 2",
        test="Eq. 4 on the counts that the paper prints for GPT-4 in Fig. 2.",
        verdict="not identifiable",
        figure="table2_demographic_parity",
    ),
    *perplexity.CLAIMS,
]
