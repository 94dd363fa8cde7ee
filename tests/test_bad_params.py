"""params.yaml with one mistake each: the whole message, with key and remedy."""

import re
from functools import reduce

import pytest
from conftest import STAGED
from ruamel.yaml import YAML

from selfpref.errors import SelfprefError
from selfpref.params.reading import mapping, validated

yaml = YAML(typ="safe")
SERVED = "models: {served: {engine: openai, model: m, base_url: 'http://127.0.0.1:1/v1'}}"
# By profile mistakes, as what stands over its parameters, each with what is told.
MISTAKES = {
    "profiles/recorded.yaml": """
wataoka: {treshold: 0.5}
    wataoka.treshold: unknown key; remove it or correct its spelling
wataoka: {threshold: half}
    wataoka.threshold: Input should be a valid number, not 'half'
figures: [pdf]
    figures: give a list with svg, which the chapters show, not ['pdf']
wataoka: {respond: null}
    wataoka.respond: is empty; Input should be a valid dictionary
wataoka: {datasets: {mt-bench: {reader: mtbench}}}
    wataoka.datasets.mt-bench.reader: one of 'mt-bench', 'vicuna80', 'elobench', 'llm-sp', 'pairs',
    'scores', 'perplexities', 'fastchat', 'arena', 'alpaca-eval', 'reviews', 'chatbot-arena',
    'mt-bench-hub', 'prompts', 'lab', not 'mtbench'
wataoka: {datasets: {mt-bench: {source: ../mt-bench.csv}}}
    wataoka.datasets.mt-bench.source: give a path inside the repository, relative to its root, not
    '../mt-bench.csv'
wataoka: {datasets: {mt-bench: {aliases: {x: y}}}}
    wataoka.datasets.mt-bench: aliases: only for files of judgments (pairs, fastchat, arena,
    alpaca-eval, reviews)
wataoka: {datasets: {vicuna.80: {reader: vicuna80, source: a.csv}}}
    wataoka.datasets.vicuna.80: keys are slugs of a-z, 0-9 and single hyphens (a dot or slash
    breaks DVC), not 'vicuna.80'
""",
    "params.yaml": """
wataoka: {judge: {nobody: {prompts: lab, min_mass: 0.5}}}
    wataoka.judge.nobody is no key of `models`; add it there, or correct it
wataoka: {judge: {judges: {score_mode: sampled}}}
    wataoka.judge.judges: samples goes with `score_mode: sampled`, and only with it
wataoka: {judge: {judges: {score_mode: sampled, samples: 5}}}
    wataoka.judge.judges: temperature is 0, so all samples are one; set it above 0
wataoka: {judge: {judges: {samples: 5}}}
    wataoka.judge.judges: samples goes with `score_mode: sampled`, and only with it
wataoka: {judge: {judges: {pairs: mine}}}
    wataoka.judge.judges.pairs: give labelled, own, all, or a number of pairs from 1, not 'mine'
wataoka: {label: {seed-1: {source: src/selfpref/lab, pairs: 9, noise: 0.1}}}
    wataoka.label.seed-1 is no key of `wataoka.datasets`; add it there, or correct it
wataoka: {label: {seed-0: {pairs: null, noise: null}}}
    wataoka.label.seed-0: `pairs` and `noise` are for data sets of the testbed (`reader: lab`); the
    others take a file of votes as `source`
wataoka: {label: {seed-0: {noise: null}}}
    wataoka.label.seed-0: pairs and noise go together: the testbed's annotator has both
wataoka: {label: {seed-0: {aliases: {x: y}}}}
    wataoka.label.seed-0: aliases: only for a file of votes; the testbed has none
wataoka: {panel: [sure, sue]}
    wataoka.panel: 'sue' judges nothing here; correct it
wataoka: {panel: [sure, sure]}
    wataoka.panel: a judge stands there twice; name each once
panickssery: {datasets: {notes: {train: 90}}}
    panickssery.datasets.notes: train: no article is left to be judged; set it below 90
panickssery: {datasets: {notes: {train: 9}}}
    panickssery.finetune.readers.evaluators.notes-10.articles: more than the 9 of
    panickssery.datasets.notes.train; the others are judged
panickssery: {finetune: {readers: {evaluators: {notes-2: {on: novels}}}}}
    panickssery.finetune.readers.evaluators.notes-2.on: 'novels' is no articles of
    `panickssery.datasets`; add it there, or correct it
panickssery: {finetune: {readers: {model: nobody}}}
    panickssery.finetune.readers.model: 'nobody' is no key of `models`; add it there, or correct it
panickssery: {recognise: {readers: {own: host-2}}}
    panickssery.recognise.readers: 'host-2' is no model of `panickssery.respond`, and `own` names
    none; add it there, or correct it
panickssery: {recognise: {solver: {prompts: lab, min_mass: 0.5}}}
    panickssery.recognise.solver is no model of `panickssery.respond`, and `own` names none; add it
    there, or correct it
panickssery: {recognise: {readers: {prompts: plain}}}
    panickssery.recognise.readers.prompts: 'plain' does not fit panickssery.datasets.notes; `lab`
    is for the testbed's models and data, `authors` and `plain` for all others
xu: {refine: {solver: {arms: [accept-all, external]}}}
    xu.refine.solver.external: name another model, or drop the arm `external`
models: {umpire: {trust_remote_code: true}}
    models.umpire.trust_remote_code: unknown key; remove it or correct its spelling
models: {fair: {engine: transformers, model: data/fair}}
    models: translators and fair both name 'fair' and differ; change one name, or make them equal
{models: {umpire: {responder: terse}}, wataoka: {perplexity: {umpire: {prompts: lab}}}}
    wataoka.perplexity: two models are 'terse'; change one `responder`
models: {readers: {names: null}}
    models.readers: names and `{name}` in the folder go together
models: {readers: {model: data/clerk}}
    models.readers: names and `{name}` in the folder go together
models: {readers: {responder: x}}
    models.readers: responder: models of one entry have their own names
models: {readers: {names: [Clerk]}}
    models.readers.names.0: keys are slugs of a-z, 0-9 and single hyphens (a dot or slash breaks
    DVC), not 'Clerk'
models: {translators: {names: [fair]}}
    xu.refine.translators.external: name another model, or drop the arm `external`
models: {umpire: {gguf: 'weights_of:m.gguf', sha256: PIN}}
    models.umpire: give either `model` or `gguf`
models: {umpire: {model: '', dtype: float32}}
    models.umpire: give either `model` or `gguf`
models: {umpire: {model: '', gguf: 'weights_of:m.gguf'}}
    models.umpire: `gguf` is pinned by `sha256`, a `model` of the Hub by `revision`
models: {umpire: {sha256: PIN}}
    models.umpire: `gguf` is pinned by `sha256`, a `model` of the Hub by `revision`
models: {umpire: {model: '', gguf: 'weights_of:m.gguf', sha256: PIN, revision: COMMIT}}
    models.umpire: `gguf` is pinned by `sha256`, a `model` of the Hub by `revision`
models: {umpire: {model: '', gguf: 'a.b:m.gguf', sha256: PIN}}
    models.umpire.gguf: give `<package>:<file>` as the package is imported, or a path, not
    'a.b:m.gguf'
models: {umpire: {model: '', gguf: 'a:../m.gguf', sha256: PIN}}
    models.umpire.gguf: give a path inside the repository, relative to its root, not 'a:../m.gguf'
models: {umpire: {model: '', gguf: ../m.gguf, sha256: PIN}}
    models.umpire.gguf: give a path inside the repository, relative to its root, not '../m.gguf'
models: {umpire: {engine: ray, inner: rey, workers: 2}}
    models.umpire.inner: one of 'transformers', 'openai', not 'rey'
models: {umpire: {engine: ray, inner: openai, workers: 2}}
    models.umpire.threads: unknown key; remove it or correct its spelling
models: {umpire: {engine: ray, inner: transformers}}
    models.umpire.workers: missing; add it (docs/parameters.md lists every key)
models: {umpire: {engine: ray, inner: transformers, workers: 2, address: 10.0.0.1}}
    models.umpire.address: Input should be 'local' or 'auto', not '10.0.0.1'
models: {umpire: {engine: ray, inner: transformers, workers: 2, wrokers: 2}}
    models.umpire.wrokers: unknown key; remove it or correct its spelling
models: {umpire: {engine: null}}
    models.umpire.engine: is empty; one of 'transformers', 'openai', 'ray'
models: {mine: {model: m}}
    models.mine.engine: missing; add it (docs/parameters.md lists every key)
models: {mine: {engine: openai, model: m}}
    models.mine: key is missing; add `key: OPENAI_API_KEY`
""",
    SERVED: """
models: {served: {key: sk-secret-0123}}
    models.served.key: give the name of an environment variable, never the key
models: {served: {base_url: 'http://user:secret@127.0.0.1:1/v1'}}
    models.served.base_url: an address holds no secrets; see `key`
models: {served: {base_url: 127.0.0.1/v1}}
    models.served.base_url: give an http or https address such as http://127.0.0.1:8000/v1, not
    '127.0.0.1/v1'
models: {served: {reasoning_tokens: 9}}
    models.served: reasoning_tokens: only a model that reasons needs them; remove it
models: {served: {extra: {temperature: 1}}}
    models.served.extra: 'temperature' is set by the entry's own keys or by the task; remove it
models: {served: {extra: {api_key: secret}}}
    models.served.extra: a request's fields hold no secrets; see `key`
models: {served: {extra: {a: [{headers: Bearer secret}]}}}
    models.served.extra: a request's fields hold no secrets; see `key`
wataoka: {perplexity: {served: {prompts: lab}}}
    wataoka.perplexity.served: only `server: vllm` gives likelihoods of a given text
{models: {served: {reasoning: low}}, wataoka: {judge: {served: {prompts: lab, min_mass: 0.5}}}}
    wataoka.judge.served: a reasoning model gives no probabilities; set `score_mode: sampled`
{models: {served: {reasoning: low}}, panickssery: {recognise: {served: {prompts: lab, min_mass:
  0.5}}}}
    panickssery.recognise.served: a reasoning model gives no probabilities; set `score_mode:
    sampled`
""",
}
CASES = [
    (base, *case)
    for base, text in MISTAKES.items()
    for case in re.findall(r"^(\S.*(?:\n  \S.*)*)\n((?:    .*\n)+)", text, re.MULTILINE)
]


def over(old, new):
    """The values with others over them."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    return old | {key: over(old.get(key), value) for key, value in new.items()}


def values(base, *changes):
    """A file of parameters, or the testbed's with a served model, after changes."""
    made = [base, *changes] if base == SERVED else changes
    found = mapping(STAGED / ("params.yaml" if base == SERVED else base))
    return reduce(over, map(yaml.load, made), found)


@pytest.mark.parametrize(
    ("base", "change"),
    [
        *((base, "{}") for base in MISTAKES),
        ("params.yaml", "wataoka: {panel: [sure]}"),
        ("params.yaml", "models: {umpire: {model: '', gguf: 'weights_of:m.gguf', sha256: PIN}}"),
        ("params.yaml", "models: {umpire: {model: '', gguf: data/m.gguf, sha256: PIN}}"),
    ],
)
def test_what_may_be_said_is_taken(base, change):
    assert validated(values(base, change.replace("PIN", "a" * 64)), "params.yaml").seed


@pytest.mark.parametrize(("base", "change", "told"), CASES, ids=[case[1] for case in CASES])
def test_a_mistake_is_told_in_one_line(base, change, told):
    change = change.replace("PIN", "a" * 64).replace("COMMIT", "a" * 40)
    with pytest.raises(SelfprefError) as failure:
        validated(values(base, change), "params.yaml")
    assert str(failure.value) == f"params.yaml: {' '.join(told.split())}"
