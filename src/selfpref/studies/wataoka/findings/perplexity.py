"""What came out on perplexity: an outside reader, and what the releases lack (Figs. 3 to 6)."""

from selfpref.statements import AbsentError, Cell, Claim, Frames, Statement, estimate, value


def _slope(dataset: str, who: str, control: str) -> Cell:
    """A slope of preference on perplexity to readers that are not the judge."""
    where = {"dataset": dataset, "who": who, "reader": "outside", "control": control}
    return estimate("outside_reader", "slope", **where)


def _below(frames: Frames) -> tuple[int, int]:
    """Fits given who wrote the texts and their length: those below 0, and all."""
    rows = frames["outside_reader"]
    if rows.empty or (rows := rows[rows["control"].eq("length")]).empty:
        raise AbsentError("outside_reader")
    return int(rows["slope_hi"].lt(0).sum()), len(rows)


def _above_given_vote(frames: Frames) -> tuple[int, int]:
    """Judges of Vicuna-80 whose slope is above 0 given people's vote too, and all."""
    rows = frames["outside_reader"]
    kept = rows["dataset"].eq("vicuna80") & rows["control"].eq("vote") if len(rows) else []
    if not len(rows) or (rows := rows[kept]).empty:
        raise AbsentError("outside_reader")
    return int(rows["slope_lo"].gt(0).sum()), len(rows)


RAW: dict[str, Cell] = {
    "vicuna_gpt4": _slope("vicuna80", "gpt-4", "raw"),
    "arena_gpt4": _slope("arena", "gpt-4", "raw"),
    "vicuna": _slope("vicuna80", "human", "raw"),
    "arena": _slope("arena", "human", "raw"),
    "mt_gpt4": _slope("mt-bench", "gpt-4", "raw"),
    "mt": _slope("mt-bench", "human", "raw"),
}
WITHIN: dict[str, Cell] = {
    "vicuna_gpt4_within": _slope("vicuna80", "gpt-4", "length"),
    "arena_gpt4_within": _slope("arena", "gpt-4", "length"),
}

FINDINGS = {
    "outside_raw": Statement(
        "SmolLM2-135M reads the texts ({mt_read:,.0f} of MT-Bench's {mt_texts:,.0f}) and "
        "judges none of these pairs. The less predictable "
        "response wins on Vicuna-80, with people ({vicuna:.2f} of the wins a nat) and with GPT-4 "
        "({vicuna_gpt4:.2f}), and so it does on MT-Bench ({mt:.2f} and {mt_gpt4:.2f}). On Chatbot "
        "Arena the more predictable one wins, with people ({arena:.2f}) and with GPT-4 "
        "({arena_gpt4:.2f}). Which way a figure like Fig. 3 falls depends on whose texts are in "
        "the set.",
        {
            **RAW,
            "mt_read": value("contents", "n_perplexities", dataset="mt-bench"),
            "mt_texts": value("contents", "n_responses", dataset="mt-bench"),
        },
        {
            "less predictable response wins": lambda n: min(n.vicuna.lo, n.vicuna_gpt4.lo) > 0,
            "so it does": lambda n: min(n.mt.lo, n.mt_gpt4.lo) > 0,
            "more predictable one wins": lambda n: max(n.arena.hi, n.arena_gpt4.hi) < 0,
        },
    ),
    "outside_within": Statement(
        "Given who wrote the responses, people's slopes are nearer to 0: {vicuna_within:.2f} on "
        "Vicuna-80, {mt_within:.2f} on MT-Bench, {arena_within:.2f} on Arena. Given their length "
        "too they are {vicuna_length:.2f}, {mt_length:.2f} and {arena_length:.2f}; then the more "
        "predictable text is preferred, with an interval below 0, in {below:.0f} of {fits:.0f} "
        "fits of judges and people.",
        {
            "vicuna_within": _slope("vicuna80", "human", "responders"),
            "mt_within": _slope("mt-bench", "human", "responders"),
            "arena_within": _slope("arena", "human", "responders"),
            "vicuna_length": _slope("vicuna80", "human", "length"),
            "mt_length": _slope("mt-bench", "human", "length"),
            "arena_length": _slope("arena", "human", "length"),
            "vicuna": RAW["vicuna"],
            "mt": RAW["mt"],
            "arena": RAW["arena"],
            "below": lambda frames: _below(frames)[0],
            "fits": lambda frames: _below(frames)[1],
        },
        {
            "nearer": lambda n: all(
                abs(getattr(n, f"{name}_within").value) < abs(getattr(n, name).value)
                for name in ("vicuna", "mt", "arena")
            ),
        },
    ),
    "outside_judges": Statement(
        "On Vicuna-80 {above:.0f} of {judges:.0f} judges lean towards the less predictable text "
        "even given who wrote it, its length and people's vote (GPT-4: {gpt4:.2f}): the opposite "
        "of what the paper says of a judge's own perplexity.",
        {
            "gpt4": _slope("vicuna80", "gpt-4", "vote"),
            "above": lambda frames: _above_given_vote(frames)[0],
            "judges": lambda frames: _above_given_vote(frames)[1],
        },
        {"less predictable": lambda n: n.gpt4.lo > 0, "opposite": lambda n: n.gpt4.value > 0},
    ),
}


def _without_perplexities(claim: str, place: str) -> Claim:
    """A claim that needs what no release holds."""
    return Claim(
        "The releases hold {responses:.0f} responses, and of none the perplexity to one of their "
        "judges, so nothing can be said.",
        {
            "vicuna": value("contents", "n_own_perplexities", dataset="vicuna80"),
            "mt": value("contents", "n_own_perplexities", dataset="mt-bench"),
            "responses": lambda frames: frames["contents"]["n_responses"].sum(),
        },
        {"none": lambda n: n.mt == 0 and n.vicuna == 0},
        claim=claim,
        place=place,
        test="The judge's own perplexity of each response is needed.",
        verdict="not identifiable",
        figure="",
    )


CLAIMS = [
    Claim(
        "To SmolLM2, an outside reader, the less predictable response wins on Vicuna-80 "
        "({vicuna_gpt4:.2f} of GPT-4's verdicts a nat) and the more predictable one on Arena "
        "({arena_gpt4:.2f}); given who wrote the responses and their length, "
        "{vicuna_gpt4_within:.2f} and {arena_gpt4_within:.2f} are left. A curve over all pairs "
        "cannot tell perplexity from authorship, and no release holds the judges' own.",
        RAW | WITHIN,
        {
            "less": lambda n: n.vicuna_gpt4.lo > 0,
            "more": lambda n: n.arena_gpt4.hi < 0,
            "cannot": lambda n: (
                abs(n.vicuna_gpt4_within.value) < abs(n.vicuna_gpt4.value)
                and abs(n.arena_gpt4_within.value) < abs(n.arena_gpt4.value)
            ),
        },
        claim="Judges prefer responses of low perplexity to themselves more than people do.",
        place="Fig. 3",
        test="One language model reads all texts; slopes of wins, raw and given the authors.",
        verdict="not identifiable",
        figure="outside_reader_slopes",
    ),
    _without_perplexities(
        "Judges prefer low perplexity alike, with their own response in the pair or not.", "Fig. 4"
    ),
    _without_perplexities(
        "A judge's own responses have lower perplexity to it than others' do.", "Fig. 5"
    ),
    _without_perplexities(
        "Judges that wrote none of the responses prefer low perplexity as well.", "Fig. 6"
    ),
]
