"""Dialogues with votes, rows of the schemas of Chatbot Arena and MT-Bench on the Hub."""

import itertools
import random

from conftest import lines

NAMES = ("gpt-4", "gpt-3.5-turbo", "vicuna-13b")
DIALOGUES = 24
WORDS = ("river", "lamp", "clock", "cherry", "sky", "maybe", "sure")


def said(model, number, turns):
    answer = " ".join(random.Random(f"{model}/{number}").choices(WORDS, k=5))
    texts = (f"question {number}.{{}}?", f"{model} says {{}} {answer}")
    return [
        {"content": text.format(turn), "role": role}
        for turn in range(turns)
        for role, text in zip(("user", "assistant"), texts, strict=True)
    ]


def arena(dialogues=DIALOGUES):
    draw = random.Random(0)
    pairs = itertools.cycle(itertools.combinations(NAMES, 2))
    for number in range(dialogues):
        (a, b), turns = next(pairs), 2 if number % 4 == 0 else 1
        yield {
            **{"question_id": f"{number:032x}", "model_a": a, "model_b": b},
            "winner": draw.choice(["model_a", "model_b", "model_b", "tie (bothbad)"]),
            "judge": f"arena_user_{number}",
            "conversation_a": said(a, number, turns),
            "conversation_b": said(b, number, turns),
            **{"turn": turns, "language": "English"},
        }


def votes():
    for question, turn in itertools.product((81, 82, 83), (1, 2)):
        yield {
            **{"question_id": question, "model_a": "gpt-4", "model_b": "gpt-3.5-turbo"},
            "winner": "model_a" if question % 2 else "model_b",
            "judge": "expert_0",
            "conversation_a": said("gpt-4", question, 2),
            "conversation_b": said("gpt-3.5-turbo", question, 2),
            "turn": turn,
        }


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
_ROWS = (
    {"name": name, "system_prompt": name, "prompt_template": template}
    for name, template in PROMPTS_OF_JUDGES.items()
)
PROMPTS_FILE = {"fastchat/llm_judge/data/judge_prompts.jsonl": lines(*_ROWS)}
