"""What a judge's card shows of the studies' tables: by topic, columns and how to read them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """Rows of one table.

    Attributes:
        study: Which study.
        table: Which of its tables.
        columns: Which of its columns.
        where: Values that columns must have.
        note: How to read it.
    """

    study: str
    table: str
    columns: str
    note: str
    where: tuple[tuple[str, str], ...] = ()


TOPICS: dict[str, tuple[Part, ...]] = {
    "Bias, with its controls": (
        Part(
            "wataoka",
            "fig1b_bias",
            "dataset n n_dropped eo dp excess excess_common excess_half_ties planted oracle_rule",
            "Equal opportunity and demographic parity towards own responses; neither is 0 for a "
            "judge without self-preference. The excess is what goes beyond the other judges on the "
            "same responses, in three variants.",
        ),
        Part(
            "wataoka",
            "bias_by_opponent",
            "dataset opponent n tp fn fp tn eo n_dropped",
            "The same by opponent: thin cells carry much of it.",
        ),
        Part(
            "livebench",
            "excess",
            "category excess p_holm n",
            "Choices of its own response beyond the other judges' choices of it.",
            (("task", "all"),),
        ),
        Part(
            "livebench",
            "objective",
            "category scoring harmful n_harmful others_harmful neutral n_neutral others_neutral "
            "legitimate n_legitimate others_legitimate",
            "How often it chooses itself where, by the answer key, its response is worse "
            "(harmful), as good (neutral) or better (legitimate); beside it the other judges.",
        ),
        Part(
            "xu",
            "matched",
            "control convention n_own n_others own_gap others_gap difference matched",
            "Over-rating of own texts against others' texts that are as good.",
        ),
    ),
    "Position": (
        Part(
            "wataoka",
            "position",
            "dataset pairs n_decided n_both first_share flip_rate reversal_rate",
            "Share of verdicts for what is read first (0.5: none); how often the order decides.",
        ),
        Part(
            "livebench",
            "position",
            "category quantity share n items chance",
            "Choices of the first place, and of a place among equal texts.",
        ),
        Part(
            "livebench",
            "by_orders",
            "orders own excess first n",
            "Self-preference read in one order an item, and as it survives all orders.",
        ),
        Part(
            "panickssery",
            "ordering",
            "dataset task convention own other first second tied ambiguous own_of_consistent n",
            "Pairs by what both orders together say: own, other, or always one place.",
        ),
    ),
    "Recognition": (
        Part(
            "panickssery",
            "fig1_recognition_vs_preference",
            "dataset convention recognition preference",
            "Mean pairwise self-recognition and self-preference (0.5: none), as released and "
            "corrected.",
        ),
        Part(
            "panickssery",
            "inverted",
            "dataset prefer worse mean n",
            "The question turned round: which is worse?",
        ),
        Part("panickssery", "swapped_labels", "", "How its labels were stored."),
    ),
    "Perplexity": (
        Part(
            "wataoka",
            "fig5_log_perplexity",
            "dataset view conditional own other gap n n_dropped",
            "Log-perplexity (nats a token) of own and others' texts.",
        ),
        Part(
            "wataoka",
            "slopes",
            "dataset pairs who slope controlled n n_dropped",
            "Wins on the difference in log-perplexity, raw and with quality held.",
        ),
    ),
    "Refinement": (
        Part(
            "xu",
            "gains",
            "language convention best_step last_step n_both self_change truth_change bias_change",
            "From the first step to the last: its own score, the truth, and their difference.",
        ),
        Part("xu", "human", "", "Against people (MQM)."),
    ),
}
KNOWN = {part.study for parts in TOPICS.values() for part in parts}
PLACED = {(part.study, part.table) for parts in TOPICS.values() for part in parts}
