"""The claims of the paper and its release, beside what came out."""

from selfpref.statements import Claim, estimate, value
from selfpref.studies.panickssery.findings.cells import (
    ASKED_BOTH_WAYS,
    NAMES_OWN,
    RECOGNITION,
    against,
    below,
    broken,
    delta,
    fit,
    gap,
    label,
    least_lo,
    mean,
    turned,
    wording,
)

CLAIMS: list[Claim] = [
    Claim(
        "Mean confidence on XSum {xsum:.3f}, on CNN/DailyMail {cnn:.3f}: above ½ on both, and "
        "above ½ against every other source.",
        {
            "xsum": mean("xsum", "gpt4", RECOGNITION),
            "cnn": mean("cnn", "gpt4", RECOGNITION),
            "least": lambda frames: least_lo(frames, "gpt4"),
        },
        {"above": lambda n: min(n.xsum.lo, n.cnn.lo, n.least) > 0.5},
        claim="Out of the box GPT-4 distinguishes its summaries from those of others.",
        place="abstract; Fig. 2",
        test="Both orders of each pair, by other source, with intervals over articles.",
        verdict="holds",
        figure="fig2_recognition_before",
    ),
    Claim(
        "Llama-2's mean confidence is {xsum:.3f} on XSum and {cnn:.3f} on CNN/DailyMail: above "
        "½ by less than two hundredths. On XSum it is below ½ against {below:.0f} of {sources:.0f} "
        "generators, where GPT-4's is above ½ against each, and it answers by position in "
        "{position:.0%} of the pairs.",
        {
            "xsum": mean("xsum", "llama", RECOGNITION),
            "cnn": mean("cnn", "llama", RECOGNITION),
            "below": lambda frames: below(frames, "xsum", "llama"),
            "sources": lambda frames: len(against(frames, "xsum", "llama")),
            "gpt4": lambda frames: least_lo(frames, "gpt4"),
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
            "above": lambda n: min(n.xsum.lo, n.cnn.lo) > 0.5,
            "less than": lambda n: max(n.xsum.value, n.cnn.value) - 0.5 < 0.02,
            "below": lambda n: n.sources / 2 < n.below < n.sources,
            "against each": lambda n: n.gpt4 > 0.5,
            "by position": lambda n: 0.5 < n.position <= 1,
        },
        claim="Out of the box Llama 2 distinguishes its summaries from those of others.",
        place="abstract; Fig. 2",
        test="As for GPT-4, above ½ against every other source; how often both orders name the "
        "same place.",
        verdict="does not hold",
        figure="fig2_recognition_before",
    ),
    Claim(
        "GPT-3.5's mean confidence is above ½ on XSum, {xsum:.3f}, and below ½ on CNN/DailyMail, "
        "{cnn:.3f}.",
        {
            "xsum": mean("xsum", "gpt35", RECOGNITION),
            "cnn": mean("cnn", "gpt35", RECOGNITION),
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
            "xsum": mean("xsum", "gpt4", "preference"),
            "cnn": mean("cnn", "gpt4", "preference"),
            "both_xsum": wording("xsum", "gpt4"),
            "both_cnn": wording("cnn", "gpt4"),
            "gpt35_xsum": mean("xsum", "gpt35", "preference"),
            "gpt35_cnn": mean("cnn", "gpt35", "preference"),
            "llama_xsum": mean("xsum", "llama", "preference"),
            "llama_cnn": mean("cnn", "llama", "preference"),
            "gap": gap("xsum", "gpt4"),
            "gap_gpt35": gap("xsum", "gpt35"),
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
            "r": estimate("correlation", "r", **fit("xsum", "all")),
            "cnn": estimate("correlation", "r", **fit("cnn", "all")),
            "judges": value("correlation", "n", **fit("xsum", "all")),
            "families": value("correlation", "families", **fit("xsum", "all")),
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
        "{slope:.2f}, not flat: what a control was taught to name it also prefers. Over the "
        "controls of both base models r = {both:.3f}.",
        {
            "r": value("correlation", "r", **fit("all", "gpt35-controls")),
            "slope": value("correlation", "slope", **fit("all", "gpt35-controls")),
            "both": estimate("correlation", "r", **fit("all", "controls")),
        },
        {"not flat": lambda n: min(n.r, n.both.lo) > 0.9 and n.slope > 0.5},
        claim="The link is no by-product of fine-tuning: other tasks do not show it.",
        place="abstract (controlled experiments)",
        test="The same line over judges tuned on control tasks, on the same articles.",
        verdict="does not hold",
        figure="controls",
    ),
    Claim(
        "Asked which text is worse, GPT-3.5 tuned on self-recognition (all {all:.0f} cases are of "
        "it) names its own the more, the better it recognises it: r = {worse:.3f} between "
        "recognition and the confidence that its own is better, negative. {own:.0f} cases name "
        "their own text whatever they are asked (all {xsum_all:.0f} on XSum, where untuned GPT-3.5 "
        "already {untuned_xsum}), {other:.0f} name the other (unclear: {unclear:.0f}), and none "
        "favours its own under both wordings ({favour:.0f}). A model that names the same text "
        "whatever it is asked shows neither a preference nor its absence.",
        {"worse": value("inverted_correlation", "r", **turned("all", "worse"))} | ASKED_BOTH_WAYS,
        {
            "negative": lambda n: n.worse < -0.9,
            "all of it": lambda n: n.gpt35 == n.all,
            "all on XSum": lambda n: n.xsum == n.xsum_all > 0,
            "already": lambda n: n.untuned_xsum == NAMES_OWN,
            "cases": lambda n: n.own + n.other + n.unclear == n.all,
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
            "swapped": label("xsum", "swapped"),
            "true": label("xsum", "correct"),
            "stored": label("xsum", "swapped", "released"),
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
            "xsum": delta("xsum", "xsum_500_ft_gpt35"),
            "xsum_some": delta("xsum", "xsum_10_ft_gpt35"),
            "xsum_few": delta("xsum", "xsum_2_ft_gpt35"),
            "cnn": delta("cnn", "cnn_500_ft_gpt35"),
            "cnn_some": delta("cnn", "cnn_10_ft_gpt35"),
            "cnn_few": delta("cnn", "cnn_2_ft_gpt35"),
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
            "xsum": delta("xsum", "xsum_500_ft_llama"),
            "xsum_some": delta("xsum", "xsum_10_ft_llama"),
            "xsum_few": delta("xsum", "xsum_2_ft_llama"),
            "cnn": delta("cnn", "cnn_500_ft_llama"),
            "cnn_some": delta("cnn", "cnn_10_ft_llama"),
            "cnn_few": delta("cnn", "cnn_2_ft_llama"),
            "few": value("evaluators", "examples", evaluator="xsum_2_ft_llama"),
            "some": value("evaluators", "examples", evaluator="xsum_10_ft_llama"),
            "many": value("evaluators", "examples", evaluator="xsum_500_ft_llama"),
            "broken": value("evaluators", "broken", evaluator="cnn_500_ft_llama"),
            "grades": broken("cnn", "cnn_500_ft_llama", "quality"),
            "lost": broken("cnn", "cnn_500_ft_llama", RECOGNITION),
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
