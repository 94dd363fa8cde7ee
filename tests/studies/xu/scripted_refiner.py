"""An engine whose answers a test writes, and who counts what it is asked."""

from selfpref import tables
from selfpref.models import Choice, Text
from selfpref.models.calls import Model
from selfpref.params import Refine
from selfpref.store import Store
from selfpref.studies.xu import stages
from selfpref.studies.xu.items import Item
from selfpref.studies.xu.prompts import PLAIN

TRANSLATION = Item("yor-en/1", "mqm", "Ẹ káàárọ̀.", "Good morning.", "Yoruba", "English")
CONCEPTS = Item("commongen/1", "coverage", "dog, frisbee", concepts=("dog", "frisbee"))
PROBLEM = Item("math/1", "correctness", "What is 1/4 + 1/4?", r"\frac{1}{2}")


class ScriptedEngine:
    """Answers with what `say(kind, prompt, seed)` returns; kind is write, feedback or revise."""

    def __init__(self, say, name="scripted"):
        self.identity, self.asked, self._say = {"provider": name}, [], say

    def answer(self, calls):
        for number, call in enumerate(calls):
            text = call.prompt.messages[0][1]
            revising = "Write a better" in text or "that use them all" in text
            judging = "feedback" if text.startswith("Below are") else "write"
            self.asked.append(("revise" if revising else judging, text, call.seed))
            said = self._say(*self.asked[-1])
            made = said if isinstance(said, Text) else Text(said, "ok")
            if call.marker and "[[yes]]" in made.text:
                made = Text(made.text, made.status, Choice((0.75, 0.125), "ok"))
            yield number, made


def refined(folder, asked, say, other=None, steps=3, **more):
    """The tables of a run, validated; how many items have none is in `dropped`."""
    limits = {"max_tokens": 50, "feedback_tokens": 40, "temperature": 1.0, "external": "other"}
    tasks = ["mqm", "coverage", "correctness"]
    use = Refine(prompts="plain", tasks=tasks, steps=steps, **limits | more)
    engines = {"me": say if isinstance(say, ScriptedEngine) else ScriptedEngine(say)}
    engines |= {"other": ScriptedEngine(other, "other")} if other else {}
    with Store(folder / "store.sqlite") as store:
        writer, *others = (
            stages.Participant(
                name, Model(engine, store, offline=False, title=""), PLAIN, use, seed=0
            )
            for name, engine in engines.items()
        )
        found = stages.run(asked, writer, others)
    dropped = found.pop("dropped")
    tables_ = {name: tables.validate(table, name, name) for name, table in found.items()}
    return tables_ | {"dropped": dropped}
