"""params.yaml with one mistake each: a line with file, key and remedy."""

import re

import pytest
from conftest import STAGED, refused
from ruamel.yaml import YAML

from selfpref.params import _overlaid, load, mapping, validated

yaml = YAML(typ="safe")
# By profile what stands over a key of its parameters, and what is told.
CASES = """
recorded | wataoka.treshold = 0.5 | wataoka.treshold: unknown key; remove it or correct its spelling
recorded | wataoka.datasets.mt-bench.source = ../a.csv | source: give a path inside the repository
recorded | wataoka.datasets.mt-bench.aliases = {x: y} | mt-bench: aliases: only for `reader: pairs
recorded | wataoka.datasets.A = {reader: vicuna80, source: a} | [key]: write it in a-z, 0-9
recorded | xu.truth = chrf | xu.truth: take a metric on the scale of MQM, whose name ends in mqm
lab | wataoka.judge.nobody = ASKED | judge.nobody: 'nobody' is not in `models`; add or correct it
lab | wataoka.judge.judges.datasets = [seed-1] | judges.datasets: 'seed-1' is not in
lab | wataoka.judge.judges = {score_mode: sampled, samples: 5} | judges: temperature is 0
lab | wataoka.judge.judges.samples = 5 | judges: samples goes with `score_mode: sampled`, and only
lab | wataoka.label.seed-0.noise = null | seed-0: pairs and noise: both for `reader: lab`, and only
lab | wataoka.panel = [sure, sue] | wataoka.panel: 'sue' is not in `wataoka.judge`; add or correct
lab | livebench.categories.sum.tie_breaker = sure | sum: 'sure' is not in `livebench.tie_break`
lab | panickssery.datasets.notes.train = 90 | lab: train: nothing is left to be judged
lab | panickssery.datasets.notes.train = 9 | evaluators.notes-10.articles: more than the 9 of
lab | panickssery.finetune.readers.evaluators.notes-2.on = novels | readers: 'novels' is not in
lab | panickssery.recognise.solver = ASKED | solver.own: 'solver' is not in `panickssery.respond`
lab | xu.refine.solver.arms = [external] | solver.external: name another model, or drop the arm
lab | models.fair = {engine: transformers, model: a} | translators: another entry names a model
lab | models.readers.model = data/clerk | transformers: names goes with `{name}` in `model`
lab | models.umpire.sha256 = PIN | transformers: give `model` (of the Hub: its `revision`)
lab | models.umpire = {model: '', gguf: 'a:../m.gguf', sha256: PIN} | gguf: String should match
lab | models.umpire = {model: '', gguf: a, sha256: PIN, revision: COMMIT} | give `model` (of the
lab | models.umpire = {processes: 2, device_map: auto} | processes: for one model on a CPU
lab | models.mine = {engine: ray, inner: {engine: transformers, model: m}} | workers: missing
lab | models.mine = {model: m} | models.mine: no `engine` (of a model) or `reader` (of a data set)
lab | models.mine = {engine: openai, model: m} | openai: key is missing; add `key: OPENAI_API_KEY`
lab | models.mine = SERVED, key: sk-secret-0123} | key: name the environment variable
lab | models.mine = {engine: openai, model: m, base_url: 'http://user:secret@a'} | base_url: give
lab | models.mine = SERVED, extra: {headers: {Authorization: Bearer sk-secret-0123}}} | extra: a
lab | models.mine = SERVED, extra: {user: sk-secret-0123}} | extra: a field that another key says
lab | models.mine = SERVED, extra: {model: other}} | extra: a field that another key says
"""
SERVED = "{engine: openai, model: m, base_url: 'http://127.0.0.1:1/v1'"
WORDS = {"PIN": "a" * 64, "COMMIT": "b" * 40, "SERVED": SERVED}
WORDS |= {"ASKED": "{prompts: lab, min_mass: 0.5}"}
PATHS = {"lab": STAGED / "params.yaml", "recorded": STAGED / "profiles/recorded.yaml"}


def changed(profile, *changes):
    values = mapping(PATHS[profile])
    for change in changes:
        place, _, text = change.partition(" = ")
        for word, meant in WORDS.items():
            text = text.replace(word, meant)
        value = yaml.load(text)
        for key in reversed(place.split(".")):
            value = {key: value}
        values = _overlaid(values, value)
    return validated(values, "params.yaml")


@pytest.mark.parametrize(
    "change",
    [
        "wataoka.panel = [sure]",
        "models.umpire = {model: '', gguf: 'weights_of:m.gguf', sha256: PIN}",
        "models.mine = SERVED, extra: {top_k: 5, chat_template_kwargs: {thinking: false}}}",
    ],
)
def test_what_may_be_said_is_taken(change):
    assert changed("lab", change).seed


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_a_mistake_is_told_in_one_line_that_repeats_no_secret(case):
    profile, change, told = case.split(" | ")
    with refused() as failure:
        changed(profile, change)
    said = str(failure.value)
    assert said.startswith(f"params.yaml: {change.partition('.')[0]}")
    assert told in said
    assert "\n" not in said
    assert not re.search(r"sk-secret|user:secret|Bearer", said)


def test_of_two_mistakes_one_is_told_and_the_other_counted():
    with refused(match=r"colour: unknown key; .* \(and 1 more\)$"):
        changed("lab", "colour = red", "size = 2")
    terse = "models.umpire.responder = terse", "wataoka.perplexity.umpire.prompts = lab"
    with refused(match=r"wataoka\.perplexity: two are called 'terse'"):
        changed("lab", *terse)


@pytest.mark.parametrize(
    ("text", "told"),
    [("a: 1\nseed: [1, :\n", ", line 2: not YAML"), ("- a\n", ": expected a mapping")],
)
def test_what_is_no_mapping_is_refused(tmp_path, text, told):
    (tmp_path / "params.yaml").write_text(text)
    with refused(match=rf"params\.yaml{told}"):
        load(tmp_path / "params.yaml")
