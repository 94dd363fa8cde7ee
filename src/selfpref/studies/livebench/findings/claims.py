"""What became of the release's claims."""

from selfpref.statements import Claim
from selfpref.studies.livebench.findings import appendix, chapter

README = "README of the release, Key Findings"

CLAIMS: list[Claim] = [
    Claim(
        chapter.FINDINGS["own"].text,
        chapter.FINDINGS["own"].cells,
        chapter.FINDINGS["own"].holds,
        claim="o3-mini prefers its own responses in all categories.",
        place=README,
        test="Shares by category, beside the first place and choices among identical responses.",
        verdict="not identifiable",
        figure="preference_shares",
    ),
    Claim(
        chapter.FINDINGS["vote"].text,
        chapter.FINDINGS["vote"].cells,
        chapter.FINDINGS["vote"].holds,
        claim="The vote with a tie-breaker lowers o3-mini's share in all categories.",
        place=README,
        test="The released vote against o3-mini's own choices and the mean of the judges.",
        verdict="holds",
        figure="preference_shares",
    ),
    Claim(
        appendix.FINDINGS["gemini tasks"].text,
        appendix.FINDINGS["gemini tasks"].cells,
        appendix.FINDINGS["gemini tasks"].holds,
        claim="Gemini never considers itself the best in any task.",
        place=README,
        test="The most frequent choice by category and by task.",
        verdict="does not hold",
        figure="preference_shares_by_task",
    ),
    Claim(
        appendix.FINDINGS["gemini favourites"].text,
        appendix.FINDINGS["gemini favourites"].cells,
        appendix.FINDINGS["gemini favourites"].holds,
        claim="Gemini prefers Claude in instruction following, language and reasoning.",
        place=README,
        test="The most frequent choice by category.",
        verdict="does not hold",
        figure="preference_shares",
    ),
    Claim(
        chapter.FINDINGS["neutral"].text,
        chapter.FINDINGS["neutral"].cells,
        chapter.FINDINGS["neutral"].holds,
        claim="Claude is more neutral.",
        place=README,
        test="Its choices of itself against the others' choices of it on the same rows, beside the "
        "same of the other judges.",
        verdict="not identifiable",
        figure="excess",
    ),
]
