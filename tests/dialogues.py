"""Dialogues with votes, rows of the schemas of Chatbot Arena and MT-Bench on the Hub."""

import itertools
import random

import pandas as pd

NAMES = ("gpt-4", "gpt-3.5-turbo", "vicuna-13b")
DIALOGUES = 24
WORDS = ("river", "lamp", "clock", "cherry", "sky", "maybe", "sure")


def said(model, number, turns):
    answer = " ".join(random.Random(f"{model}/{number}").choices(WORDS, k=5))
    texts = {"user": f"question {number}.{{}}?", "assistant": f"{model} says {{}} {answer}"}
    return [
        {"content": text.format(turn), "role": role}
        for turn in range(turns)
        for role, text in texts.items()
    ]


def arena(dialogues=DIALOGUES):
    draw = random.Random(0)
    pairs = itertools.cycle(itertools.combinations(NAMES, 2))
    for number in range(dialogues):
        (a, b), turns = next(pairs), 2 if number % 4 == 0 else 1
        texts = {"conversation_a": said(a, number, turns), "conversation_b": said(b, number, turns)}
        winner = draw.choice(["model_a", "model_b", "model_b", "tie (bothbad)"])
        key = {"question_id": f"{number:032x}", "model_a": a, "model_b": b, "turn": turns}
        yield (
            key | texts | {"winner": winner, "judge": f"arena_user_{number}", "language": "English"}
        )


def votes():
    a, b = NAMES[:2]
    for question, turn in itertools.product((81, 82, 83), (1, 2)):
        texts = {"conversation_a": said(a, question, 2), "conversation_b": said(b, question, 2)}
        winner = "model_a" if question % 2 else "model_b"
        key = {"question_id": question, "model_a": a, "model_b": b, "turn": turn}
        yield key | texts | {"winner": winner, "judge": "expert_0"}


# FastChat's prompts of judges, in words of these tests.
PROMPTS_OF_JUDGES = {
    "pair-v2": "{question} {answer_a} {answer_b}",
    "pair-v2-multi-turn": "{question_1} {answer_a_1} {question_2} {answer_a_2} / "
    "{question_1} {answer_b_1} {question_2} {answer_b_2}",
    "pair-math-v1": "{question} {ref_answer_1} {answer_a} {answer_b}",
    "pair-math-v1-multi-turn": "{ref_answer_1} {ref_answer_2} / {question_1} {answer_a_1} "
    "{question_2} {answer_a_2} / {question_1} {answer_b_1} {question_2} {answer_b_2}",
}
# The file of FastChat's that holds them.
_TABLE = pd.DataFrame(PROMPTS_OF_JUDGES.items(), columns=["name", "prompt_template"])
_TEXT = _TABLE.assign(system_prompt=_TABLE["name"]).to_json(orient="records", lines=True)
PROMPTS_FILE = {"fastchat/llm_judge/data/judge_prompts.jsonl": _TEXT}
