"""An engine whose answers a test writes, and who counts what it is asked."""

from selfpref.models import Choice, Generate, Likelihood, Text
from selfpref.models.calls import Model
from selfpref.params import Refine
from selfpref.studies.xu.items import Item
from selfpref.studies.xu.prompts import PLAIN
from selfpref.studies.xu.refine.judges import Participant

TRANSLATION = Item("yor-en/1", "mqm", "Ẹ káàárọ̀.", "Good morning.", "Yoruba", "English")
CONCEPTS = Item(
    "commongen/1", "coverage", "dog, frisbee", concepts=("dog", "frisbee"), reference=None
)
PROBLEM = Item("math/1", "correctness", "What is 1/4 + 1/4?", r"\frac{1}{2}")


class ScriptedEngine:
    """Answers with what `say(kind, prompt, seed)` returns; kind is write, feedback or revise."""

    def __init__(self, say, name="scripted", dies_at=None):
        self.identity = {"provider": name}
        self.asked = []
        self._say, self._dies_at = say, dies_at

    def _ask(self, prompt, seed):
        if len(self.asked) == self._dies_at:
            raise KeyboardInterrupt
        text = prompt.messages[0][1]
        kind = (
            "revise"
            if "Write a better" in text or "that use them all" in text
            else "feedback"
            if text.startswith("Below are")
            else "write"
        )
        self.asked.append((kind, text, seed))
        said = self._say(kind, text, seed)
        return said if isinstance(said, Text) else Text(said, "ok")

    def answer(self, calls):
        for number, call in enumerate(calls):
            if isinstance(call, Generate):
                made = self._ask(call.prompt, call.seed)
                if call.marker and "[[yes]]" in made.text:
                    made = Text(made.text, made.status, Choice((0.75, 0.125), "ok"))
                yield number, made
            else:
                count = len(call.continuation.split())
                yield number, Likelihood(2.0 * count, count, "ok")


def model(store, engine, use, name="me", scores=True):
    return Participant(
        name, Model(engine, store, offline=False, title=""), PLAIN, use, seed=0, scores=scores
    )


def plan(steps=3, arms=(), best_of=(), rounds=(), repeats=1):
    return Refine(
        prompts="plain",
        tasks=["mqm", "coverage", "correctness"],
        external="other",
        arms=list(arms),
        steps=steps,
        best_of=list(best_of),
        rounds=list(rounds),
        repeats=repeats,
        max_tokens=50,
        feedback_tokens=50,
        temperature=1.0,
    )
