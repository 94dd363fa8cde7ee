"""A release in the layout of LiveBench's, small and made up: six tables and a tie-break log."""

import itertools
import json

import numpy as np
import pandas as pd

CONFIGURED = ["openai/o3-mini-2025-01-31", "anthropic/claude-3-7-sonnet-20250219"]
PLAIN, THINKING = "gemini/gemini-2.0-flash", "gemini/gemini-2.0-flash-thinking-exp"
FOLDER = "results/LiveBench/"
PATHS = {
    "instruction_following": ("voting/livebench_if_judgement.csv", PLAIN),
    "language": ("voting/livebench_lang_judgement.csv", PLAIN),
    "coding": ("voting/livebench_coding_judgement.csv", PLAIN),
    "data_analysis": ("voting/livebench_data_analysis_judgement.csv", THINKING),
    "reasoning": ("voting/livebench_reasoning_judgement.csv", THINKING),
    "math": ("judgements/livebench_math_judgement.csv", THINKING),
}
# Category, task, question, key (or none), a right response, a wrong one.
TASKS = r"""
instruction_following | summarize | Sum up {n}. | - | Short {n}. | Long {n}.
language | typos | Mend the text {n}. | A tidy text {n}. | A tidy text {n}. | A tydy text.
language | connections | Group {n}. | ant, bee, fly, wasp, oak, elm, ash, fir
 | **bee, ant, wasp, fly, elm, oak, fir, ash** | **ant, oak, bee, elm, fly, ash, wasp, fir**
coding | LCB_generation | ### Question: Code {n}.¶### Format: x | - | ok | no {n}
data_analysis | cta | Name the class {n}. | city | city | year
data_analysis | tablejoin | Join {n}. | {{"a": "x"}} | {{'a': 'x'}} | {{'a': 'y', 'b': None}}
reasoning | web_of_lies_v2 | Who lies in {n}? | yes, no, yes | **yes, no, yes** | **no, no, no**
reasoning | spatial | Count {n}. | 4 | **4** | It is **7**.
math | AMPS_Hard | Differentiate $x^2 + {n}$. Please put your final answer in a $\boxed{{}}$.
 | 2 x | $\boxed{{2x}}$ | $\boxed{{x}}$
math | olympiad | The question is: prove {n}. The solution is: gap | 2,1 | Answer: 2, 1 | ?
"""
MARKS = "\n".join(f"{number + 1}. Criterion (1): met" for number in range(11))


def log_cell(lines):
    """A notebook whose one output is this text."""
    output = {"output_type": "stream", "name": "stdout", "text": [line + "\n" for line in lines]}
    return json.dumps({"cells": [{"cell_type": "code", "source": [], "outputs": [output]}]})


def livebench_files(rows, seed=0):
    """The files of a release with so many rows a task.

    Every judge leans to itself and to the first response; of three different votes the tie-breaker
    chooses one at random, and its number is looked up in the configured order.
    """
    rng = np.random.default_rng(seed)
    files, log = {}, []
    for category, (path, gemini) in PATHS.items():
        models = [*CONFIGURED, gemini]
        log += ["", f"category: {category}"]
        records = []
        given = (line.split(" | ") for line in TASKS.strip().replace("\n |", " |").splitlines())
        tasks = [texts for of, *texts in given if of == category]
        for (task, *texts), number in itertools.product(tasks, range(rows)):
            question, key, right, wrong = (
                None if text == "-" else text.replace("¶", "\n").format(n=number) for text in texts
            )
            record = {"question_id": f"{task}-{number}", "question": question, "task": task}
            if key is not None:
                record["ground_truth"] = key
            record |= {m: (right if rng.random() < 0.6 else wrong) for m in models}
            for judge, responder in itertools.product(models, models):
                scored = category != "math" or number < 2
                total = int(rng.integers(5, 12))
                record[f"{judge}_SCORING_{responder}"] = f"{total}.0" if scored else ""
                record[f"{judge}_SR_{responder}"] = f"Justification:\n{MARKS}" if scored else ""
            leans = np.array([0.45, 0.25, 0.2]) + 0.3 * np.eye(3)
            votes = [models[rng.choice(3, p=lean / lean.sum())] for lean in leans]
            named = [f"{judge}_PREFERENCE" for judge in models]
            record |= zip(named, votes, strict=True)
            winner = max(votes, key=votes.count)
            if len(set(votes)) == 3:
                winner = models[rng.integers(3)]
                shown = ", ".join(f"'{vote}': 1" for vote in votes)
                log += [f"Result was Counter({{{shown}}})", "Tie breaker Judge called."]
                log += [f"tiebreaker decision: {winner}"]
            if category != "math":
                record["majority_vote"] = winner
            records.append(record)
        files[FOLDER + path] = pd.DataFrame(records).to_csv(index=False)
    return files | {"results.ipynb": log_cell(log)}
