"""An engine whose answers a test writes, and who counts what it is asked."""

from selfpref import tables
from selfpref.models import Choice, Generate, Likelihood, Text
from selfpref.models.calls import Model
from selfpref.params import Refine
from selfpref.store import Store
from selfpref.studies.xu import refine
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
        revising = "Write a better" in text or "that use them all" in text
        judging = "feedback" if text.startswith("Below are") else "write"
        self.asked.append(("revise" if revising else judging, text, seed))
        said = self._say(*self.asked[-1])
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
    asked = Model(engine, store, offline=False, title="")
    return Participant(name, asked, PLAIN, use, seed=0, scores=scores)


def plan(steps=3, **more):
    limits = {"max_tokens": 50, "feedback_tokens": 40, "temperature": 1.0, "external": "other"}
    tasks = ["mqm", "coverage", "correctness"]
    return Refine(prompts="plain", tasks=tasks, steps=steps, **limits | more)


def refined(folder, asked, use, say, other=None, **more):
    """The tables of a run, validated, how many items have none, and the engine that was asked."""
    engine = say if isinstance(say, ScriptedEngine) else ScriptedEngine(say)
    with Store(folder / "store.sqlite") as store:
        external = other and model(store, ScriptedEngine(other, "other"), use, "other", **more)
        found, missing = refine.run("xu", asked, model(store, engine, use), external)
    tables_ = {name: tables.validate(table, name, name) for name, table in found.items()}
    return tables_, missing, engine
