"""What a refinement may cost, counted before anything is asked."""

import pandas as pd
from scripted_refiner import SAMPLING, TRANSLATION, ScriptedEngine, plan

from selfpref import tables
from selfpref.models.calls import Model
from selfpref.models.served import HostedModel
from selfpref.models.served.tokens import Meter
from selfpref.params import Hosted
from selfpref.store import Store
from selfpref.studies.xu import refine
from selfpref.studies.xu.prompts import PLAIN
from selfpref.studies.xu.refine.ceiling import Ceiling
from selfpref.studies.xu.refine.judges import Participant


def ceiling(tmp_path, use):
    entry = Hosted(engine="openai", model="m", base_url="http://127.0.0.1:1/v1")
    meter = Meter()
    with Store(tmp_path / "store.sqlite") as store:
        calls = Model(HostedModel("m", entry, meter), store, offline=False, title="")
        me = Participant("me", Ceiling(calls), PLAIN, SAMPLING)
        found, missing = refine.run("xu", [TRANSLATION], me, None, use)
    assert not missing
    return meter, {name: tables.validate(table, name, name) for name, table in found.items()}


def test_every_call_to_the_last_step_is_counted(tmp_path):
    meter, found = ceiling(tmp_path, plan(3, ("accept-all",)))
    # A text and its reading; a step is a revision and its reading, in the first step the same for
    # both arms; then a fresh reading of the four texts that were kept.
    assert meter.calls == 2 + 2 + 4 + 4 + 4
    assert meter.tokens.reply == meter.calls * 50
    assert set(found["ratings"]["status"]) == {"ok"}


def test_no_run_asks_more_than_was_counted(tmp_path):
    use = plan(4, ("accept-all", "accept-random", "noise"), best_of=(2, 3))
    meter, _ = ceiling(tmp_path / "counted", use)

    def say(kind, text, seed):
        return "'x' is a minor style error" if kind == "feedback" else f"text {seed}"

    engine = ScriptedEngine(say)
    with Store(tmp_path / "store.sqlite") as store:
        calls = Model(engine, store, offline=False, title="")
        refine.run("xu", [TRANSLATION], Participant("me", calls, PLAIN, SAMPLING), None, use)
    assert pd.Series(engine.asked).nunique() <= meter.calls
