"""Calls in rows, in few words."""

from selfpref.models import Choose, Generate, Score


def to_choose(prompts, labels):
    return [Choose(prompt, tuple(labels)) for prompt in prompts]


def to_score(prompts, texts):
    return [Score(*pair) for pair in zip(prompts, texts, strict=True)]


def to_generate(prompts, *, max_tokens, temperature, seeds, marker="", labels=()):
    return [
        Generate(prompt, max_tokens, temperature, seed, marker, tuple(labels))
        for prompt, seed in zip(prompts, seeds, strict=True)
    ]
