"""MT-Bench's categories and reference answers (Zheng et al., arXiv 2306.05685), from FastChat.

A judge reads a reference answer, GPT-4's, to the questions of `math`, `reasoning` and `coding`, in
FastChat's prompt `pair-math-v1` and its form for two turns. The files are pinned beside this one.
"""

from collections.abc import Sequence
from pathlib import Path

from selfpref.download.fetch import fetch
from selfpref.formats.records import needed

FILES = Path(__file__).with_name("mt-bench-references.csv")
QUESTIONS = "fastchat/llm_judge/data/mt_bench/question.jsonl"
REFERENCES = "fastchat/llm_judge/data/mt_bench/reference_answer/gpt-4.jsonl"
CATEGORIES = ("math", "reasoning", "coding")


def categories_and_references() -> tuple[dict[int, str], dict[int, Sequence[str]]]:
    """Of each question, by its number, the category; and of some the reference answers by turn.

    Raises:
        SelfprefError: A file cannot be had or read.
    """
    files = fetch(FILES)
    category = {
        question: name for _, question, name in needed(files[QUESTIONS], "question_id", "category")
    }
    references = {
        question: choices[0]["turns"]
        for _, question, choices in needed(files[REFERENCES], "question_id", "choices")
        if category.get(question) in CATEGORIES
    }
    return category, references
