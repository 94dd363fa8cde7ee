"""A small release of the layout of LLM-SP: two judges, one opponent, three sets of questions."""

from conftest import lines

JUDGES, OPPONENTS = ("gemma-2-9b", "llama-3.1-8b"), ("llama-3.2-1b",)
SETS = ("math500", "mbpp-plus", "mmlu")
# Whether the judge's and the other's answer are right, and [A, tie, B] in both orders.
ROWS = [
    (True, False, [0.75, 0.0, 0.25], [0.25, 0.0, 0.75]),
    (False, True, [0.5, 0.25, 0.25], [0.75, 0.125, 0.125]),
    (True, True, [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]),
    (False, False, [0.0, 1.0, 0.0], [0.125, 0.125, 0.75]),
]


def row(number, judge, opponent):
    """A row as the release has it; a text names its model and question."""
    mine, theirs, first, second = ROWS[number % len(ROWS)]
    found = {"unique_id": f"q{number}", "problem": f"question {number}?"}
    for place, who, right in ((1, judge, mine), (2, opponent, theirs)):
        found[f"assistent_{place}_answer"] = f"{who} on {number}"
        found[f"assistent_{place}_is_correct"] = right
    scores = {"game_1_spb_score": first, "game_2_spb_score": second}
    return found | scores | {"game_1_output": "A", "game_2_output": "T"}


def path(of, judge, opponent):
    """Where the release has a file."""
    return f"sp/{of}/{judge.partition('-')[0]}/{judge}_{opponent}_eval.jsonl"


def files(questions=4):
    """The release's files by path."""
    return {
        path(of, judge, other): lines(*(row(n, judge, other) for n in range(questions)))
        for of in SETS
        for judge in JUDGES
        for other in OPPONENTS
    }
