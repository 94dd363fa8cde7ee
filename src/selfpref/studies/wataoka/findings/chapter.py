"""What the chapter says of the released data."""

from selfpref.statements import Statement, estimate, value
from selfpref.studies.wataoka.findings.cells import (
    ARENA,
    ARENA_GPT4,
    EXCESS,
    EXPECTED,
    MT_BENCH,
    PAPER,
    PERSON,
    VICUNA80,
    apart,
    arena_wins,
    common_few,
    counted,
    differing,
    enough,
    flips,
    left,
    limit,
    named,
    paper_sides,
    same_signs,
    share_of,
    towards,
)

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
            "apart": counted("excess", lambda rows: apart(enough(rows), "excess")),
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
            "n": counted("excess", lambda rows: len(differing(rows))),
            "judges": counted("excess", lambda rows: rows["judge"].nunique()),
            "names": named("excess", lambda rows: ", ".join(differing(rows))),
        },
        {"differs": lambda n: n.n > 0},
    ),
    "common": Statement(
        "On the pairs that all judges decide, {few:.0f} of {judges:.0f} judges, every one, have "
        "fewer than {limit:.0f} pairs on one human side (GPT-4: {other:.0f} on which people prefer "
        "the other response). This variant is therefore not quoted.",
        {
            "other": value("excess", "n_human_other", **VICUNA80, variant="common"),
            "few": counted("excess", common_few),
            "judges": counted("excess", lambda rows: rows["judge"].nunique()),
            "limit": limit,
        },
        {
            "every one": lambda n: n.few == n.judges,
            "fewer": lambda n: n.other < n.limit,
        },
    ),
    "person": Statement(
        "Another person in GPT-4's place has a bias of {vicuna:.2f} on Vicuna-80 and {mt:.2f} on "
        "MT-Bench; against the same single votes GPT-4 has {vicuna_judge:.2f} and "
        "{mt_judge:.2f}. So a judge without self-preference is not at 0 here; GPT-4 is above it on "
        "both, by {vicuna_beyond:.2f} and {mt_beyond:.2f}.",
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
            "apart": counted("fig1b_bias", lambda rows: apart(rows, "beyond_no_preference")),
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
            "responders": counted("bias_by_judge_and_responder", share_of("responder")),
            "judges": counted("bias_by_judge_and_responder", share_of("judge")),
            "rest": counted("bias_by_judge_and_responder", lambda rows: left(rows)[0]),
            "own": counted("bias_by_judge_and_responder", lambda rows: left(rows)[1]),
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
            "vicuna": towards("vicuna-13b"),
            "koala": towards("koala-13b"),
            "oasst": towards("oasst-pythia-12b"),
            "stablelm": towards("stablelm-tuned-alpha-7b"),
            "dolly": towards("dolly-v2-12b"),
            "models": lambda frames: len(frames["paper_signs"]),
            "same": same_signs,
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
        "({experts_rho:.2f}, from {experts_pairs:.0f} pairs with GPT-4's response and two votes or "
        "more), another person in GPT-4's place shows {experts:.2f}, "
        "{experts_share:.0%} of the printed {printed:.3f}; if they agree as little as those on "
        "Vicuna-80 do ({voters_rho:.2f}, from {voters_pairs:.0f} pairs), {voters:.2f}, as "
        "much or more ({voters_share:.0%}). How alike two of Arena's own voters are is not known: "
        "each battle has one vote.",
        {
            **EXPECTED,
            "experts_pairs": value("without_self", "n_two_votes", votes_of="mt-bench"),
            "voters_pairs": value("without_self", "n_two_votes", votes_of="vicuna80"),
        },
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
            "paper_rate": lambda frames: paper_sides(frames)[0] / sum(paper_sides(frames)),
            "missing": lambda frames: arena_wins(frames, "n") - sum(paper_sides(frames)),
            "share": lambda frames: 1 - sum(paper_sides(frames)) / arena_wins(frames, "n"),
            "lost": lambda frames: arena_wins(frames, "n_lost") - paper_sides(frames)[1],
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
            "limit": limit,
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
            "least": counted("position", lambda rows: flips(rows).min()),
            "steady": named("position", lambda rows: str(flips(rows).idxmin())),
            "most": counted("position", lambda rows: flips(rows).max()),
            "unsteady": named("position", lambda rows: str(flips(rows).idxmax())),
        },
        {
            "more": lambda n: n.bard.lo > 0.5,
            "less": lambda n: n.claude.hi < 0.5,
        },
    ),
}
