"""What became of the paper's claims."""

from selfpref.statements import Claim
from selfpref.studies.xu.findings import appendix, chapter
from selfpref.studies.xu.findings.cells import (
    AVERAGE,
    BEST,
    BEYOND,
    BEYOND_HOLDS,
    BEYOND_TEXT,
    CORRECTED,
    FORMAT,
    GAINS,
    HUMAN,
    HUMAN_HOLDS,
    HUMAN_TEXT,
    NLLB,
    NOISE_OF_PEOPLE,
    NOISE_OF_PEOPLE_HOLDS,
    NOISE_OF_PEOPLE_TEXT,
    RELEASE,
    SHARED,
    SIZE,
    SIZE_HOLDS,
    SIZE_TEXT,
    STYLE,
    WHERE,
    above,
    below,
    counted,
    mean,
    style_bias,
    text_mean,
    turning,
)

CLAIMS: list[Claim] = [
    Claim(
        chapter.FINDINGS["start"].text.removesuffix("."),
        chapter.FINDINGS["start"].cells,
        chapter.FINDINGS["start"].holds,
        claim="Self-bias is found in every model examined.",
        place=WHERE,
        test="Bias at step 0 against BLEURT on the scale of MQM, and against human MQM.",
        verdict="not identifiable",
        figure="translation",
    ),
    Claim(
        BEYOND_TEXT,
        BEYOND,
        BEYOND_HOLDS,
        claim="Self-refinement amplifies the self-bias of translations.",
        place=WHERE,
        test="The rise of the bias beside that of a judge of pure noise under the same accept "
        "rule, which keeps what is scored higher; intervals over sentences.",
        verdict="not identifiable",
        figure="refined_by_noise",
    ),
    Claim(
        chapter.FINDINGS["given_words"].text.removesuffix("."),
        chapter.FINDINGS["given_words"].cells,
        chapter.FINDINGS["given_words"].holds,
        claim="Self-refinement amplifies the self-bias of sentences from given words.",
        place=WHERE,
        test="Says “all covered” against holds every word or lemma, beside a judge of pure noise.",
        verdict="not identifiable",
        figure="commongen",
    ),
    Claim(
        "No data: the release holds no solutions. The testbed runs the experiment with its own "
        "models",
        RELEASE,
        {},
        claim="Self-refinement amplifies self-bias in mathematics.",
        place=WHERE,
        test="None: neither solutions nor feedback were released.",
        verdict="not identifiable",
        figure="",
    ),
    Claim(
        "No data: the release holds no answers of these rounds",
        RELEASE,
        {},
        claim="Rounds of self-consistency in mathematics amplify self-bias, too.",
        place="figure of self-consistency, quoted second-hand",
        test="None: no samples were released.",
        verdict="not identifiable",
        figure="",
    ),
    Claim(
        chapter.FINDINGS["skewness"].text.removesuffix("."),
        chapter.FINDINGS["skewness"].cells,
        chapter.FINDINGS["skewness"].holds,
        claim="Distance skewness rises along the steps, for every model.",
        place="figure of translation",
        test="Change of D from step 0 to step 5, the mean of the languages, and in each chain.",
        verdict="does not hold",
        figure="translation",
    ),
    Claim(
        HUMAN_TEXT + ". " + NOISE_OF_PEOPLE_TEXT,
        {**HUMAN, **NOISE_OF_PEOPLE},
        {**HUMAN_HOLDS, **NOISE_OF_PEOPLE_HOLDS},
        claim="Against professional raters the bias of GPT-4, GPT-3.5 and Gemini grows over ten "
        "steps.",
        place="human study",
        test="Released feedback against released human MQM; changes are paired by sentence.",
        verdict="holds",
        figure="human",
    ),
    Claim(
        "The self-score rises in {rose:.0f} of {chains:.0f} chains, the reference-metric score in "
        "only {better:.0f}; it falls in {worse:.0f}. The largest mean change is GPT-4's, "
        "{gpt4:+.2f}",
        {
            "gpt4": mean("change", "truth_change", "gpt-4"),
            "most": counted(
                "change",
                lambda rows: rows["truth_change"].max(),
                language=AVERAGE,
                step=SHARED,
                **CORRECTED,
            ),
            **GAINS,
        },
        {
            "rises": lambda n: n.rose > n.chains / 2,
            "only": lambda n: n.better < n.rose / 2,
            "falls": lambda n: n.worse > 0,
            "largest": lambda n: n.gpt4.value == n.most,
        },
        claim="The quality of translations hardly improves while the model's score of them rises.",
        place="figure of perceived and real quality",
        test="Changes from step 0 to the last step, paired by sentence, against BLEURT.",
        verdict="holds",
        figure="gains",
    ),
    Claim(
        "No data: the release holds no scores of UniEval",
        RELEASE,
        {},
        claim="Self-refinement improves fluency and understandability.",
        place=WHERE,
        test="None: no scores of UniEval were released.",
        verdict="not identifiable",
        figure="",
    ),
    Claim(
        SIZE_TEXT,
        SIZE,
        SIZE_HOLDS,
        claim="Larger models are less biased in self-refinement.",
        place=WHERE,
        test="Bias of each Llama2 less that of the next smaller one, paired by sentence.",
        verdict="not identifiable",
        figure="size",
    ),
    Claim(
        "No data: the release holds no text refined with external feedback",
        RELEASE,
        {},
        claim="External feedback with accurate assessment reduces the bias and improves the texts.",
        place=WHERE,
        test="None on released data; the testbed refines with an external judge.",
        verdict="not identifiable",
        figure="arms",
    ),
    Claim(
        chapter.FINDINGS["best_of_k"].text.removesuffix("."),
        BEST,
        chapter.FINDINGS["best_of_k"].holds,
        claim="Choosing the best of k by one's own score amplifies self-bias, too.",
        place="figure of the best of k, quoted second-hand",
        test="The score of the choice beside that of a judge of pure noise, which draws from the "
        "candidates of the same k.",
        verdict="not identifiable",
        figure="best_of_k",
    ),
    Claim(
        "At step 5 Gemini's bias is {gemini:.2f} and GPT-4's {gpt4:.2f}, lower than GPT-3.5's "
        "{gpt35:.2f}, Mixtral's {mixtral:.2f} and DeepSeek's {deepseek:.2f}. But their texts are "
        "better, at {gemini_text:.1f} and {gpt4_text:.1f} against {gpt35_text:.1f}, "
        "{mixtral_text:.1f} and {deepseek_text:.1f}, and a judge that misses errors over-rates "
        "bad texts more. At equal quality, before refinement, GPT-4 over-rates its own texts by "
        "{matched:.2f} points more than others', GPT-3.5 by {matched_gpt35:.2f}",
        {
            "gpt4": mean("translation", "bias", "gpt-4"),
            "gemini": mean("translation", "bias", "gemini"),
            "gpt35": mean("translation", "bias", "gpt-3.5-turbo"),
            "mixtral": mean("translation", "bias", "mistral_moe"),
            "deepseek": mean("translation", "bias", "deepseek_moe"),
            "gpt4_text": text_mean("gpt-4"),
            "gemini_text": text_mean("gemini"),
            "gpt35_text": text_mean("gpt-3.5-turbo"),
            "mixtral_text": text_mean("mistral_moe"),
            "deepseek_text": text_mean("deepseek_moe"),
            "matched": chapter.FINDINGS["matched"].cells["gpt4"],
            "matched_gpt35": chapter.FINDINGS["matched"].cells["gpt35"],
        },
        {
            "lower": lambda n: (
                max(n.gpt4.hi, n.gemini.hi) < min(n.gpt35.lo, n.mixtral.lo, n.deepseek.lo)
            ),
            "better": lambda n: (
                min(n.gpt4_text, n.gemini_text) > max(n.gpt35_text, n.mixtral_text, n.deepseek_text)
            ),
            "more than": lambda n: above(n.matched) and above(n.matched_gpt35),
        },
        claim="GPT-4 and Gemini are less biased than the other models.",
        place="figure of translation, quoted second-hand",
        test="Bias at step 5, and own texts beside others' within bins of BLEURT.",
        verdict="not identifiable",
        figure="matched",
    ),
    Claim(
        "The rise holds: with the judge's own paraphrase the mean bias rises in {up:.0f} of "
        "{cases:.0f} cases, a judge and a translator each, and in {surely:.0f} the interval of the "
        "change lies above 0. The turn of sign does not: the mean goes from negative to positive "
        "in {turned:.0f} of {cases:.0f}, and in none do both intervals exclude 0. Towards NLLB's "
        "translations Gemini's bias goes from {gemini_nllb_before:.2f} to {gemini_nllb:.2f}, still "
        "negative by the mean, and GPT-4's from {gpt4_nllb_before:.2f} to {gpt4_nllb:.2f}; towards "
        "Madlad's Gemini's goes from {gemini_before:.2f} to {gemini_after:.2f} and GPT-4's from "
        "{before:.2f} to {after:.2f}. For Madlad's texts GPT-4's score rises ({kinder:+.2f}); "
        "Gemini's shows no rise ({gemini_kinder:+.2f}), but BLEURT falls ({gemini_text:+.2f})",
        {
            "gemini_nllb": style_bias("gemini", "paraphrase", NLLB),
            "gemini_nllb_before": style_bias("gemini", "translation", NLLB),
            "gpt4_nllb": style_bias("gpt-4", "paraphrase", NLLB),
            "gpt4_nllb_before": style_bias("gpt-4", "translation", NLLB),
            "after": style_bias("gpt-4", "paraphrase"),
            "before": style_bias("gpt-4", "translation"),
            "gemini_after": style_bias("gemini", "paraphrase"),
            "gemini_before": style_bias("gemini", "translation"),
            "cases": counted("style", lambda rows: len(turning(rows)), **CORRECTED),
            "up": counted(
                "style", lambda rows: turning(rows)["bias_change_after"].gt(0).sum(), **CORRECTED
            ),
            "surely": counted(
                "style", lambda rows: turning(rows)["bias_change_lo_after"].gt(0).sum(), **CORRECTED
            ),
            "turned": counted(
                "style",
                lambda rows: (
                    turning(rows)["bias"].lt(0) & turning(rows)["bias_after"].gt(0)
                ).sum(),
                **CORRECTED,
            ),
            "clearly": counted(
                "style",
                lambda rows: (
                    turning(rows)["bias_hi"].lt(0) & turning(rows)["bias_lo_after"].gt(0)
                ).sum(),
                **CORRECTED,
            ),
            **{name: STYLE[name] for name in ("kinder", "gemini_kinder", "gemini_text")},
        },
        {
            "the rise holds": lambda n: n.up == n.cases and n.surely > n.cases / 2,
            "does not": lambda n: n.turned < n.cases,
            "none": lambda n: n.clearly == 0,
            "still negative": lambda n: n.gemini_nllb.value < 0 and below(n.gemini_nllb_before),
            "score rises": lambda n: above(n.kinder),
            "shows no rise": lambda n: not above(n.gemini_kinder),
            "falls": lambda n: below(n.gemini_text),
        },
        claim="Paraphrasing others' translations turns the bias of GPT-4 and Gemini from negative "
        "to positive.",
        place="figure of style, quoted second-hand",
        test="Bias before and after the paraphrase, and which of its two scores moved.",
        verdict="does not hold",
        figure="style",
    ),
    Claim(
        appendix.FINDINGS["format"].text.removesuffix("."),
        FORMAT,
        appendix.FINDINGS["format"].holds,
        claim="Nearly all feedback keeps to the format asked for.",
        place="table of format accuracy, steps 1 and 5, quoted second-hand",
        test="A declared grammar, and the share from which a score can be read at all.",
        verdict="does not hold",
        figure="format",
    ),
]
