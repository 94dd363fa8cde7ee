"""The paper's claims, and what became of them on the released data."""

from selfpref.statements import Claim, estimate, value
from selfpref.studies.wataoka.findings.cells import (
    EXCESS,
    EXPECTED,
    MT_BENCH,
    PAPER,
    PERSON,
)
from selfpref.studies.wataoka.findings.chapter import FINDINGS

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
        "MT-Bench, not 0; GPT-4 has {vicuna_judge:.2f} and {mt_judge:.2f} against the same votes.",
        {name: PERSON[name] for name in ("vicuna", "mt", "vicuna_judge", "mt_judge")},
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
        "so is that of the other judges towards its responses ({others:.2f}). The sign depends "
        "on the opponents and does not carry over from one set to another; the excess of "
        "{excess:.2f} cannot be told from 0.",
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
]
