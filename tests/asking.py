"""Calls in rows, in few words."""

from selfpref.models import Choose, Generate, Score


class Ruled:
    """In the place of a `Model`: answers by a rule of prompt and labels, and keeps the calls."""

    def __init__(self, rule):
        self.rule, self.calls = rule, []

    def ask(self, calls):
        self.calls += calls
        return [self.rule(call.prompt.messages[-1][1], call.labels) for call in calls]


def to_choose(prompts, labels):
    return [Choose(prompt, tuple(labels)) for prompt in prompts]


def to_score(prompts, texts):
    return [Score(*pair) for pair in zip(prompts, texts, strict=True)]


def to_generate(prompts, *, max_tokens, temperature, seeds, marker="", labels=()):
    return [
        Generate(prompt, max_tokens, temperature, seed, marker, tuple(labels))
        for prompt, seed in zip(prompts, seeds, strict=True)
    ]
