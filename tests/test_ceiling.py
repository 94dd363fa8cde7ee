"""What models are asked at most: never less than a server is asked, and known before it is."""

import itertools

import pandas as pd
import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from conftest import STAGED, refused
from ruamel.yaml import YAML
from scripted import Scripted, by_rule, completion, position

from selfpref import paths, tables
from selfpref.__main__ import main
from selfpref.commands import ceiling
from selfpref.params import load
from selfpref.studies import registry
from selfpref.tables.parts import part

yaml = YAML()
# By study its sets, then every task with its entries.
SECTIONS = YAML(typ="safe").load("""
wataoka:
  datasets: {own: &own {reader: prompts, source: params.yaml}}
  label: {}
  respond: {one: &chat {prompts: chat, max_tokens: 30, temperature: 1.0}, two: *chat}
  judge:
    one: {prompts: chat, min_mass: 0.1}
    two: {prompts: chat, min_mass: 0.1, pairs: 3, questions: {own: 2},
      <<: &sampled {score_mode: sampled, samples: 3, temperature: 1.0, max_tokens: 30}}
  perplexity:
    one: {prompts: chat, questions: {own: 2}}
    two: {prompts: chat, without_prompt: []}
livebench:
  datasets: {own: {<<: *own, reader: livebench-hub}}
  categories: {list: {responders: [one, two, anna], judges: [one, two], tie_breaker: two, start: 1,
    end: 3}}
  respond: {one: &writing {prompts: plain, max_tokens: 30, temperature: 1.0}, two: *writing}
  judge:
    one: {prompts: plain, min_mass: 0.1, orders: cyclic, tries: 2, temperature: 1.0}
    two: {prompts: plain, min_mass: 0.1, orders: seeded, <<: *sampled}
  tie_break: {two: &plain {prompts: plain, min_mass: 0.1}}
panickssery:
  datasets: {own: &articles {<<: *own, reader: articles, articles: 4, train: 1}, rest: *articles}
  respond: {one: *writing, two: *writing}
  finetune: {host: {model: two, prompts: plain, min_mass: 0.1, method: export, evaluators: {
    self: {on: own, variant: self-recognition, articles: 1, replay: 0.5}}}}
  recognise: {one: *plain, two: {<<: [*plain, *sampled]}}
xu:
  datasets: {words: {<<: *own, reader: commongen-hard}, sums: {<<: *own, reader: math}}
  refine:
    one: {tasks: [coverage, correctness], external: two, best_of: [1, 3], rounds: [2, 4], steps: 3,
      arms: [accept-all, accept-random, external, noise], feedback_tokens: 20, <<: *writing}
    two: {tasks: [coverage], external: two, steps: 2, feedback_tokens: 20, <<: *writing}
""")


NUMBERS = itertools.count()


def says(body):
    """Finds fault with every text in other words."""
    # A label alone is asked for, or a verdict in few words.
    if body["max_tokens"] <= 16:
        return by_rule(body)
    n = next(NUMBERS)
    said = f"{n} " + "'word' is a major accuracy error " * (n % 3) + f"[word] \\boxed{{{n}}} "
    return completion(body, [position(word, {word: 1.0}) for word in (said, "[[", "no", "]]")])


def write(study, part, category, number, metadata, responses=()):
    names = [f"{part}/{n}" for n in range(number)]
    said = [[{"role": "user", "content": f"question {name} for {study}"}] for name in names]
    items = {"item_id": names, "cluster": names, "messages": said, "category": category}
    items["metadata"] = [metadata % n for n in range(number)]
    for table, rows in {"items": pd.DataFrame(items), "responses": responses, "labels": ()}.items():
        filled = tables.fill(rows, table, study=study)
        tables.write(filled, table, paths.table_dir("live", table, study) / f"{part}.parquet")


class Repository:
    """One whose items are there, with two served models and everything that they are asked."""

    def __init__(self, path, server):
        self.path, self.server = path, server
        self.params = yaml.load((STAGED / "profiles/live.yaml").read_text())
        served = {"engine": "openai", "base_url": server.url, "server": "vllm", "retries": 0}
        self.params["models"] = {name: served | {"model": name} for name in ("one", "two")}
        for study, section in SECTIONS.items():
            self.params[study].update(section)

    def load(self):
        yaml.dump(self.params, self.path)
        return load(self.path)


@pytest.fixture
def repository(repository, monkeypatch):
    """Four items of each study; those of three have a released response, which the first lacks."""
    monkeypatch.setenv("SELFPREF_STORE", str(repository / "store.sqlite"))
    there = [{"item_id": f"own/{n}", "responder": "anna", "text": str(n)} for n in range(1, 4)]
    for study in ("wataoka", "livebench", "panickssery"):
        write(study, "own", "list", 4, '{"index": %s, "task": "none"}', there)
    write("panickssery", "rest", "list", 4, '{"index": %s}')
    requested = '{"task": "%s", "concepts": ["dog", "word %%s"]}'
    write("xu", "words", "commongen", 2, requested % "coverage")
    write("xu", "sums", "mathematics", 2, requested % "correctness")
    with Scripted(says) as server:
        yield Repository(repository / "params.yaml", server)


def row(rows, stage, model="two"):
    (found,) = rows[rows["model"].eq(model) & rows["stage"].eq(stage)].to_dict("records")
    return found


def test_no_stage_asks_more_than_was_known_before(repository):
    params = repository.load()
    before, exact, stages = ceiling.bounds(params), set(), set()
    # Of likelihoods, which no server gives: of two questions twice each text, of all once.
    for name, calls in {"one": 2 * (3 + 3), "two": 3 + 3 + 3 + 2}.items():
        assert row(before, f"wataoka.perplexity.{name}", name)["calls"] == calls
    # Of two requests three texts each: written, judged, and read afresh.
    assert row(before, "xu.refine.two")["calls"] == 2 * 3 * (1 + 1 + 1)
    for study, task, uses in params.tasks():
        for key, use in uses.items() if task != "perplexity" else ():
            stages.add(stage := f"{study}.{task}.{key}")
            models = {model := getattr(use, "model", key), getattr(use, "external", model)}
            earlier = len(repository.server.bodies)
            made = registry.make(params, study, task, key)
            if task != "finetune":
                registry.STUDIES[study].write("live", part(task, key), **made)
            for name in models:
                bodies, known = repository.server.bodies[earlier:], row(before, stage, name)
                asked = [body for body in bodies if body["model"] == name]
                assert 0 < len(asked) <= known["calls"], stage
                assert sum(body["max_tokens"] for body in asked) <= known["reply tokens"], stage
                exact |= {stage} if len(asked) == known["calls"] else set()
    # Which questions are read is drawn, all pairs may be labelled, revisions accepted.
    assert exact == stages - {"wataoka.judge.two", "xu.refine.one", "xu.refine.two"}
    # What is answered counts all the same.
    pd.testing.assert_frame_equal(ceiling.bounds(params), before)


def test_a_judge_reads_the_labelled_pairs_where_there_are_some(repository):
    params = repository.load()
    judged = row(ceiling.bounds(params), "wataoka.judge.one", "one")
    # A verdict in probabilities has the limit of 16 tokens.
    assert (judged["calls"], judged["reply tokens"]) == (2 * (3 * 3 + 1), 16 * 20)
    sides = [("one", "anna", "a"), ("anna", "one", "b")]
    votes = [("own/1", *side, who) for side in sides for who in ("p", "q")]
    columns = ["item_id", "responder_a", "responder_b", "label", "annotator"]
    filled = tables.fill(pd.DataFrame(votes, columns=columns), "labels", study="wataoka")
    tables.write(filled, "labels", paths.table_dir("live", "labels", "wataoka") / "own.parquet")
    assert row(ceiling.bounds(params), "wataoka.judge.one", "one")["calls"] == 2


def test_a_pinned_set_that_is_not_read_yet_is_counted_by_its_size():
    rows = ceiling.bounds(load(STAGED / "profiles/paper-livebench.yaml"))
    assert rows["calls"].gt(0).all()
    assert rows["known after"].str.startswith("dvc repro livebench-items@").all()
    assert ceiling.text(rows).startswith("model ")
    assert "by the sizes of sets that are not read yet" in ceiling.text(rows)


def test_what_is_not_read_yet_is_not_counted(repository):
    rows = ceiling.bounds(load(STAGED / "params.yaml"))
    assert rows["calls"].isna().all()
    assert {"panickssery.recognise-tuned.readers", "xu.refine.translators"} <= {*rows["stage"]}
    assert rows["known after"].iloc[0] == "dvc repro wataoka-items@seed-0"
    assert "At most 0 calls; the commands read the rest" in ceiling.text(rows)


def test_a_model_above_its_max_calls_is_refused_before_anything_is_asked(repository, capsys):
    one, two = repository.params["models"].values()
    rows = ceiling.bounds(repository.load())
    assert not rows["known after"].any()
    calls = int(rows.loc[rows["model"].eq("two"), "calls"].sum())
    one["max_calls"], two["max_calls"] = 1_000_000, calls - 1
    params = repository.load()
    assert main(["check", "--out", "checked"]) == 1
    told = capsys.readouterr().err
    assert f"models.two.max_calls is {calls - 1:,}: wataoka.respond.two, wataoka.judge.two" in told
    assert f"may ask {calls:,} calls; nothing was asked" in told
    assert not paths.root().joinpath("checked").exists()
    # A stage looks at its own models.
    ceiling.refuse(params.model_copy(update={"models": {"one": params.models["one"]}}))
    with refused(match=r"models\.two\.max_calls"):
        ceiling.refuse(params.model_copy(update={"models": {"two": params.models["two"]}}))
    two["max_calls"] = calls
    repository.load()
    assert main(["check"]) == 0
    assert f"At most {rows['calls'].sum():,} calls" in capsys.readouterr().out
    # Nothing is asked where the store answers.
    repository.params["offline"] = True
    repository.load()
    assert main(["check"]) == 0
    assert capsys.readouterr().out == ""
    assert not repository.server.received
