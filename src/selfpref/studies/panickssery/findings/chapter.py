"""The sentences of the chapter, by key."""

from selfpref.statements import Statement, estimate, value
from selfpref.studies.panickssery.findings.cells import (
    ASKED_BOTH_WAYS,
    FILE,
    NAMES_OWN,
    RECOGNITION,
    delta,
    farthest,
    files,
    fit,
    mean,
    most_by_models,
    same_models,
    tuned_files,
    turned,
    wording,
)
from selfpref.studies.panickssery.measure import defects

FINDINGS: dict[str, Statement] = {
    "always first": Statement(
        "Most stored scores of fine-tuned Llamas are position bias: {both:.0f} of {files:.0f} "
        "files store it for both questions. Llama-2 taught to answer “1” has a stored recognition "
        "of {file:.3f} on CNN/DailyMail (½ for {filled:.0f} pairs without an answer, "
        "{released:.3f} on the others); over both orders its confidence is {corrected:.3f}.",
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
            "both": files(defects.POSITION, 2, tuned=True),
            "files": lambda frames: len(tuned_files(frames)[[*FILE]].drop_duplicates()),
        },
        {
            "Most": lambda n: n.files / 2 < n.both <= n.files,
            "position bias": lambda n: n.corrected < n.file < n.released,
        },
    ),
    "line": Statement(
        "Over all judges preference rises with recognition: r = {xsum:.3f} on XSum and {cnn:.3f} "
        "on CNN/DailyMail. With the stored scores r is {xsum_stored:.3f} and {cnn_stored:.3f}.",
        {
            "xsum": estimate("correlation", "r", **fit("xsum", "all")),
            "cnn": estimate("correlation", "r", **fit("cnn", "all")),
            "xsum_stored": estimate("correlation", "r", **fit("xsum", "all", "released")),
            "cnn_stored": estimate("correlation", "r", **fit("cnn", "all", "released")),
        },
        {"rises": lambda n: n.xsum.lo > 0 and n.cnn.lo > 0},
    ),
    "controls": Statement(
        "The controls follow a line as well: over {n:.0f} means of both base models r = {all:.3f} "
        "(intervals resample {families:.0f} families). The controls of GPT-3.5 have r = {r:.3f} "
        "with slope {slope:.2f}, its judges tuned on self-recognition {tuned_r:.3f} and "
        "{tuned_slope:.2f}, of too few families for intervals. It is not quite the same line. On "
        "XSum the controls lie at most {xsum:.3f} off that of self-recognition, on CNN/DailyMail "
        "farther, up to {cnn:.3f}. One of these models is there under two names: {names}.",
        {
            "all": estimate("correlation", "r", **fit("all", "controls")),
            "n": value("correlation", "n", **fit("all", "controls")),
            "families": value("correlation", "families", **fit("all", "controls")),
            "r": value("correlation", "r", **fit("all", "gpt35-controls")),
            "slope": value("correlation", "slope", **fit("all", "gpt35-controls")),
            "tuned_r": value("correlation", "r", **fit("all", "gpt35-self-recognition")),
            "tuned_slope": value("correlation", "slope", **fit("all", "gpt35-self-recognition")),
            "xsum": farthest("gpt35", "xsum"),
            "cnn": farthest("gpt35", "cnn"),
            "twice": lambda frames: len(same_models(frames)) / 2,
            "names": lambda frames: " and ".join(same_models(frames)),
        },
        {
            "as well": lambda n: min(n.all.lo, n.r) > 0.9 and n.tuned_r > 0.9 and n.slope > 0.5,
            "not quite the same": lambda n: n.tuned_slope - n.slope > 0.1,
            "farther": lambda n: n.cnn > n.xsum >= 0,
            "One": lambda n: n.twice == 1,
        },
    ),
    "turned round": Statement(
        "Under both wordings untuned GPT-4 favours its own texts: the mean of both is {xsum:.3f} "
        "on XSum and {cnn:.3f} on CNN/DailyMail.",
        {"xsum": wording("xsum", "gpt4"), "cnn": wording("cnn", "gpt4")},
        {"favours": lambda n: n.xsum.lo > 0.5 and n.cnn.lo > 0.5},
    ),
    "names its own": Statement(
        "In {own:.0f} of {all:.0f} cases (a judge and a data set, all of GPT-3.5) a judge tuned on "
        "self-recognition names its own text whatever it is asked: in all {xsum_all:.0f} on XSum, "
        "where untuned GPT-3.5 already {untuned_xsum}, and in {cnn:.0f} of {cnn_all:.0f} on "
        "CNN/DailyMail, where it {untuned_cnn}. Of the others {other:.0f} name the other text; "
        "unclear: {unclear:.0f}. None favours its own under both wordings ({favour:.0f}). But a "
        "model that names the same text whatever it is asked shows neither a preference nor its "
        "absence.",
        ASKED_BOTH_WAYS,
        {
            "all of GPT-3.5": lambda n: n.gpt35 == n.all,
            "all on XSum": lambda n: n.xsum == n.xsum_all and n.own == n.xsum + n.cnn,
            "already": lambda n: n.untuned_xsum == NAMES_OWN,
            "the others": lambda n: n.own + n.other + n.unclear == n.all,
            "None": lambda n: n.favour == 0,
        },
    ),
    "turned line": Statement(
        "For GPT-3.5 tuned on self-recognition the correlation with recognition is positive by "
        "“which do you prefer” ({prefer:.3f}) and negative by “which is worse” ({worse:.3f}). For "
        "the mean of both it is negative on XSum ({xsum:.2f}) and positive on CNN/DailyMail "
        "({cnn:.2f}), of {n:.0f} judges each.",
        {
            "prefer": value("inverted_correlation", "r", **turned("all", "prefer")),
            "worse": value("inverted_correlation", "r", **turned("all", "worse")),
            "xsum": value("inverted_correlation", "r", **turned("xsum", "mean")),
            "cnn": value("inverted_correlation", "r", **turned("cnn", "mean")),
            "n": value("inverted_correlation", "n", **turned("cnn", "mean")),
        },
        {
            "positive": lambda n: n.prefer > 0.9 and n.cnn > 0,
            "negative": lambda n: n.worse < -0.9 and n.xsum < 0,
        },
    ),
    "before": Statement(
        "Untuned, GPT-4 tells its XSum summaries from a journalist's ({human:.3f}) more often than "
        "from any other model's (at most {models:.3f}), and so it does on CNN/DailyMail "
        "({cnn_human:.3f} against at most {cnn_models:.3f}).",
        {
            "human": mean("xsum", "gpt4", RECOGNITION, "human"),
            "models": lambda frames: most_by_models(frames, "xsum"),
            "cnn_human": mean("cnn", "gpt4", RECOGNITION, "human"),
            "cnn_models": lambda frames: most_by_models(frames, "cnn"),
        },
        {"more": lambda n: n.human.lo > n.models and n.cnn_human.lo > n.cnn_models},
    ),
    "untuned": Statement(
        "Untuned GPT-4 prefers its own summaries, with a mean confidence of {xsum:.3f} on XSum and "
        "{cnn:.3f} on CNN/DailyMail. GPT-3.5 prefers its own on XSum, {gpt35_xsum:.3f}, and those "
        "of others on CNN/DailyMail, {gpt35_cnn:.3f}; Llama-2 is close to ½ on both "
        "({llama_xsum:.3f}, {llama_cnn:.3f}).",
        {
            "xsum": mean("xsum", "gpt4", "preference"),
            "cnn": mean("cnn", "gpt4", "preference"),
            "gpt35_xsum": mean("xsum", "gpt35", "preference"),
            "gpt35_cnn": mean("cnn", "gpt35", "preference"),
            "llama_xsum": mean("xsum", "llama", "preference"),
            "llama_cnn": mean("cnn", "llama", "preference"),
        },
        {
            "prefers": lambda n: min(n.xsum.lo, n.cnn.lo, n.gpt35_xsum.lo) > 0.5,
            "those of others": lambda n: n.gpt35_cnn.hi < 0.5,
            "close": lambda n: (
                max(abs(n.llama_xsum.value - 0.5), abs(n.llama_cnn.value - 0.5)) < 0.02
            ),
        },
    ),
    "size": Statement(
        "With {articles:.0f} articles of XSum GPT-3.5 recognises its summaries of XSum by "
        "{xsum:.3f} more than untuned and those of CNN/DailyMail by {cnn:.3f}; Llama-2 by "
        "{llama:.3f} more on XSum, but on CNN/DailyMail by {llama_cnn:.3f} only.",
        {
            "xsum": delta("xsum", "xsum_500_ft_gpt35"),
            "cnn": delta("cnn", "xsum_500_ft_gpt35"),
            "llama": delta("xsum", "xsum_500_ft_llama"),
            "llama_cnn": delta("cnn", "xsum_500_ft_llama"),
            "articles": value("evaluators", "held_out_from", evaluator="xsum_500_ft_gpt35"),
        },
        {
            "more": lambda n: min(n.xsum.lo, n.cnn.lo, n.llama.lo) > 0,
            "only": lambda n: n.llama_cnn.lo > 0 and n.llama_cnn.hi < 0.05,
        },
    ),
}
