"""The sentences of the audits and variants, by key."""

from selfpref.statements import Statement, present, value
from selfpref.studies.panickssery.findings.cells import (
    ALWAYS_1,
    RECOGNITION,
    TUNED,
    agree,
    ambiguous,
    apart,
    but_one,
    files,
    filled,
    filled_files,
    fit,
    gap,
    label,
    llama,
    printed,
    stored_files,
    wording,
)
from selfpref.studies.panickssery.measure import defects

FINDINGS: dict[str, Statement] = {
    "position bias": Statement(
        "Of {files:.0f} files with the probabilities of both orders, {both:.0f} store the position "
        "bias as the score of both questions, and {one:.0f} as that of one: most of them.",
        {
            "both": files(defects.POSITION, 2),
            "one": files(defects.POSITION, 1),
            "files": stored_files,
        },
        {"most": lambda n: n.files / 2 < n.both <= n.files},
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
            "swapped": files(defects.OTHER_QUESTION, 2),
            "apart": value("stored_as", "distance", **ALWAYS_1),
            "share": value("stored_as", "as_other_question", **ALWAYS_1),
            "own": value("stored_as", "as_own", **ALWAYS_1),
            "either": files(defects.EITHER, 2),
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
            "next": lambda frames: float(present(frames["grade_distances"])["distance"].iloc[1]),
        },
        {"one": lambda n: 0 <= n.distance < n.next / 5},
    ),
    "fills": Statement(
        "The release stores ½ for {filled:.0f} pairs without an answer, in {files:.0f} sets of "
        "scores.",
        {"filled": filled, "files": filled_files},
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
            "judges": lambda frames: int(present(frames["tuned_on"])["evaluator"].nunique()),
        },
        {"higher": lambda n: n.tuned > n.held, "one": lambda n: n.judges == 1},
    ),
    "checks": Statement(
        "The release's notebook prints {printed:.0f} of the numbers compared here. {agree:.0f} "
        "come out to the third decimal. The others, {apart:.0f}, are all shares of choices "
        "(`ordering`): where an answer is not a number or names no label, the release counts a "
        "choice and we count none, and a share of nothing is printed as 0.",
        {
            "printed": lambda frames: len(printed(frames)),
            "agree": lambda frames: int(agree(printed(frames)).sum()),
            "apart": lambda frames: len(apart(printed(frames))),
            "elsewhere": lambda frames: int(apart(printed(frames))["item"].ne("ordering").sum()),
        },
        {"all": lambda n: n.elsewhere == 0 and n.agree + n.apart == n.printed},
    ),
    "correction": Statement(
        "Of {cells:.0f} means of recognition by judges tuned from Llama-2, {moved:.0f} move by "
        "more than a hundredth. Corrected, all but one lie between {low:.3f} and {high:.3f}; the "
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
            "cells": lambda frames: len(llama(frames)),
            "moved": lambda frames: int(
                llama(frames).diff(axis=1)["corrected"].abs().gt(0.01).sum()
            ),
            "low": lambda frames: float(but_one(llama(frames)).min()),
            "high": lambda frames: float(but_one(llama(frames)).max()),
        },
        {
            "exception": lambda n: 0 < n.low <= n.high < n.corrected - 0.1,
            "more": lambda n: n.corrected > n.stored,
        },
    ),
    "fig7": Statement(
        "The judges tuned on self-recognition are {families:.0f} families, too few for an "
        "interval: r = {xsum:.3f} on XSum and {cnn:.3f} on CNN/DailyMail. For GPT-3.5 alone the "
        "line is steeper than for Llama, {gpt:.2f} against {llama:.2f} over both data sets.",
        {
            "xsum": value("correlation", "r", **fit("xsum", TUNED)),
            "cnn": value("correlation", "r", **fit("cnn", TUNED)),
            "families": value("correlation", "families", **fit("xsum", TUNED)),
            "gpt": value("correlation", "slope", **fit("all", "gpt35-self-recognition")),
            "llama": value("correlation", "slope", **fit("all", "llama-self-recognition")),
        },
        {
            "too few": lambda n: 0 < n.families < 10,
            "steeper": lambda n: n.gpt > n.llama,
        },
    ),
    "untuned average": Statement(
        "That their wordings average to ½ is no finding by itself: those of untuned GPT-3.5 lie as "
        "near to ½, {xsum:.3f} on XSum and {cnn:.3f} on CNN/DailyMail.",
        {"xsum": wording("xsum", "gpt35"), "cnn": wording("cnn", "gpt35")},
        {"near": lambda n: max(abs(n.xsum.value - 0.5), abs(n.cnn.value - 0.5)) < 0.05},
    ),
    "alone": Statement(
        "By its grades of single summaries GPT-4 sees its own above others beyond what the judges "
        "see in them who wrote neither: {xsum:.2f} points on XSum, {cnn:.2f} on CNN/DailyMail. The "
        "same gap of GPT-3.5 on XSum is below zero, {gpt35:.2f}.",
        {
            "xsum": gap("xsum", "gpt4"),
            "cnn": gap("cnn", "gpt4"),
            "gpt35": gap("xsum", "gpt35"),
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
            "true": label("xsum", "correct"),
            "swapped": label("xsum", "swapped"),
            "stored": label("xsum", "swapped", "released"),
        },
        {
            "lower": lambda n: n.swapped.hi < n.true.lo,
            "still above": lambda n: n.swapped.lo > 0.5,
            "error": lambda n: abs(1 - n.stored.value - n.swapped.value) < 1e-4,
        },
    ),
    "order": Statement(
        "On XSum the preferences of Llama follow the position in {llama:.0%} of the pairs and "
        "those of GPT-3.5 in {gpt35:.0%}, both in more than half; GPT-4's in fewer, {gpt4:.0%}.",
        {name: ambiguous(name, "xsum") for name in ("llama", "gpt35", "gpt4")},
        {
            "more": lambda n: min(n.llama, n.gpt35) > 0.5,
            "fewer": lambda n: 0 <= n.gpt4 < min(n.llama, n.gpt35),
        },
    ),
}
