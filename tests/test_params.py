"""params.yaml: what is accepted, what is refused with which words, and switching profiles."""

import itertools

import pytest
from conftest import REPOSITORY
from ruamel.yaml import YAML

from selfpref import profiles
from selfpref.__main__ import main
from selfpref.errors import SelfprefError
from selfpref.params import load
from selfpref.params.whole import TASKS

RECORDED = REPOSITORY / "profiles/recorded.yaml"
TEXT = RECORDED.read_text()
LAB = (REPOSITORY / "params.yaml").read_text()
yaml = YAML(typ="safe")


def written(tmp_path, text):
    path = tmp_path / "params.yaml"
    path.write_text(text)
    return path


PROFILES = sorted((REPOSITORY / "profiles").glob("*.yaml"))


def test_the_files_in_git_are_valid():
    assert load(REPOSITORY / "params.yaml").profile == "lab"


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_a_profile_is_valid_and_named_by_its_file(path):
    """Its sources are there, apart from those that another profile's user brings."""
    params = load(path, sources=REPOSITORY)
    assert params.profile == path.stem
    assert params.studies


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("seed:", "sed:", ["sed: unknown key"]),
        ("  threshold:", "  treshold:", ["wataoka.treshold", "unknown key"]),
        ("threshold: 0.5", "threshold: half", ["wataoka.threshold", "not 'half'"]),
        ("threshold: 0.5", "threshold: 1.5", ["wataoka.threshold", "less than 1"]),
        ("resamples: 10000", "resamples: '10000'", ["bootstrap.resamples", "not '10000'"]),
        ("figures: [svg]", "figures: [pdf]", ["figures: ", "with svg", "not ['pdf']"]),
        ("human_ties: drop", "human_ties: keep", ["wataoka.human_ties", "'drop' or 'half'"]),
        ("reader: mt-bench", "reader: mtbench", ["datasets.mt-bench.reader", "'pairs'"]),
        ("judges: [gpt-4]", "judges: []", ["datasets.mt-bench.judges"]),
        ("reader: mt-bench", "reader:", ["datasets.mt-bench.reader", "is empty"]),
        ("  vicuna80:\n", "  vicuna.80:\n", ["datasets.vicuna.80", "a dot or slash breaks DVC"]),
        ("  vicuna80:\n", "  a/b:\n", ["datasets.a/b", "a dot or slash breaks DVC"]),
        ("source: src/", "source: ../", ["datasets.mt-bench.source", "inside the repository"]),
        ("profile: recorded", "profile: dead", ["profile"]),
    ],
)
def test_a_bad_value_names_file_key_and_remedy(tmp_path, old, new, told):
    assert old in TEXT
    with pytest.raises(SelfprefError) as failure:
        load(written(tmp_path, TEXT.replace(old, new, 1)))
    message = str(failure.value)
    assert message.startswith("params.yaml: ")
    assert len(message.splitlines()) == 1
    for part in told:
        assert part in message


def test_a_null_mapping_is_named(tmp_path):
    with pytest.raises(SelfprefError, match=r"params\.yaml: wataoka\.respond: is empty"):
        load(written(tmp_path, TEXT.replace("respond: {}", "respond:", 1)))


ASKED = "  recognise:\n    readers: "


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "judge:\n",
            "judge:\n    nobody: {prompts: lab, min_mass: 0.5}\n",
            "wataoka.judge.nobody is no key",
        ),
        (
            '{dataset}/{name}"',
            '{dataset}/{name}"\n    trust_remote_code: true',
            "trust_remote_code",
        ),
        ("articles: 90, train: 30", "articles: 90, train: 90", "no article is left to be judged"),
        (
            "articles: 90, train: 30",
            "articles: 90, train: 9",
            "more than the 9 of panickssery.datasets.notes.train",
        ),
        ("{on: notes,", "{on: novels,", "notes-2.on: 'novels' is no articles of"),
        (
            "    writers: {prompts: lab, max",
            "    boss: {prompts: lab, max",
            "is no key of `models`",
        ),
        (
            "    writers: {prompts: lab, max",
            "    solver: {prompts: lab, max",
            "recognise.readers: 'clerk' is no model of `panickssery.respond`",
        ),
        (f"{ASKED}{{prompts: lab", f"{ASKED}{{prompts: plain", "`lab` is"),
        ("model: readers\n", "model: nobody\n", "finetune.readers.model: 'nobody' is no key"),
        (
            f"{ASKED}{{prompts: lab, min_mass: 0.5, score_mode: logprobs",
            f"{ASKED}{{prompts: lab, min_mass: 0.5, score_mode: text",
            "recognise.readers.score_mode",
        ),
        ("variant: always-1", "variant: always-2", "notes-always-1.variant"),
        ("method: full", "method: half", "finetune.readers.method"),
        (
            f"{ASKED}{{prompts: lab, min_mass: 0.5, score_mode: logprobs}}\n",
            f"{ASKED[:-9]}clerk-notes-2: {{prompts: lab, min_mass: 0.5, own: clerk}}\n",
            "recognise.clerk-notes-2 is no key",
        ),
    ],
)
def test_models_and_their_uses_agree(tmp_path, old, new, told):
    assert old in LAB
    with pytest.raises(SelfprefError) as failure:
        load(written(tmp_path, LAB.replace(old, new, 1)))
    assert told in str(failure.value)
    assert len(str(failure.value).splitlines()) == 1


SERVED = "  served: {engine: openai, model: m, base_url: http://127.0.0.1:1/v1}\n"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([("model: m", "modle: m")], "models.served.modle: unknown key"),
        ([("engine: openai", "engine: opnai")], "models.served.engine: one of"),
        ([("engine: openai, ", "")], "models.served.engine: missing"),
        ([("model: m", "model: m, key: sk-secret-0123")], "models.served.key: give the name of"),
        ([("http://127", "http://user:secret@127")], "models.served.base_url: an address holds no"),
        ([("http://127.0.0.1:1/v1", "127.0.0.1/v1")], "models.served.base_url: give an http"),
        ([(", base_url: http://127.0.0.1:1/v1", "")], "models.served: key is missing; add `key:"),
        ([("model: m", "model: m, max_calls: 0")], "models.served.max_calls"),
        ([("model: m", "model: m, top_logprobs: 21")], "models.served.top_logprobs"),
        (
            [("\n  perplexity:\n", "\n  perplexity:\n    served: {prompts: lab}\n")],
            "wataoka.perplexity.served: only `server: vllm` gives likelihoods",
        ),
        (
            [("model: m", "model: m, extra: {temperature: 1}")],
            "models.served.extra: 'temperature' is set by the entry's own keys or by the task",
        ),
        (
            [("model: m", "model: m, extra: {api_key: secret}")],
            "models.served.extra: a request's fields hold no secrets; see `key`",
        ),
        (
            [("model: m", "model: m, extra: {a: [{headers: Bearer secret}]}")],
            "models.served.extra: a request's fields hold no secrets; see `key`",
        ),
        (
            [("model: m", "model: m, reasoning_tokens: 9")],
            "models.served: reasoning_tokens: only a model that reasons needs them",
        ),
        ([("model: m", "model: m, system: drop")], "models.served.system: "),
        (
            [
                ("model: m", "model: m, reasoning: low"),
                ("\n  judge:\n", "\n  judge:\n    served: {prompts: lab, min_mass: 0.5}\n"),
            ],
            "wataoka.judge.served: a reasoning model gives no probabilities",
        ),
        (
            [
                ("model: m", "model: m, reasoning: low"),
                ("\n  recognise:\n", "\n  recognise:\n    served: {prompts: lab, min_mass: 0.5}\n"),
            ],
            "panickssery.recognise.served: a reasoning model gives no probabilities; "
            "set `score_mode: sampled`",
        ),
        (
            [("score_mode: logprobs", "score_mode: sampled")],
            "wataoka.judge.judges: samples goes with",
        ),
        (
            [("score_mode: logprobs", "score_mode: sampled, samples: 5")],
            "wataoka.judge.judges: temperature is 0",
        ),
        (
            [("min_mass: 0.5", "min_mass: 0.5, samples: 5")],
            "wataoka.judge.judges: samples goes with",
        ),
    ],
)
def test_a_served_model_is_asked_for_what_it_gives_and_its_secrets_are_not_told(
    tmp_path, changes, told
):
    text = LAB.replace("\nmodels:\n", f"\nmodels:\n{SERVED}")
    assert load(written(tmp_path, text)).models["served"].engine == "openai"
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    with pytest.raises(SelfprefError) as failure:
        load(written(tmp_path, text))
    message = str(failure.value)
    assert message.startswith(f"params.yaml: {told}")
    assert len(message.splitlines()) == 1
    assert "secret" not in message.replace("no secrets", "")


BREAKS = (
    "  judge:\n    contestants: ",
    "  judge:\n    umpire: {prompts: lab, orders: cyclic, min_mass: 0.5}\n    contestants: ",
)
WITHOUT = 'names: [clerk, host], model: "data/lab/models/seed-0/clerk"'


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            [("umpire: {engine", "fair: {engine")],
            "models: fair and translators both name 'fair' and differ; change one name",
        ),
        (
            [("umpire: {engine", "umpire: {responder: partisan, engine"), BREAKS],
            "livebench.judge: two models are 'partisan'; change one `responder`",
        ),
        (
            [(", names: [clerk, host]", "")],
            "models.readers: names and `{name}` in the folder go together",
        ),
        (
            [('names: [clerk, host], model: "data/lab/models/seed-0/{name}"', WITHOUT)],
            "models.readers: names and `{name}` in the folder go together",
        ),
        (
            [("names: [clerk, host]", "names: [clerk, host], responder: x")],
            "models.readers: responder: models of one entry have their own names",
        ),
        ([("names: [clerk, host]", "names: [Clerk]")], "models.readers.names.0: keys are slugs"),
        ([("names: [clerk, host]", "names: []")], "models.readers.names: "),
        (
            [("arms: [accept-all, noise]", "arms: [accept-all, external]")],
            "xu.refine.solver.external: name another model, or drop the arm",
        ),
        (
            [("names: [fair, small, partial]", "names: [fair]")],
            "xu.refine.translators.external: name another model, or drop the arm",
        ),
    ],
)
def test_models_of_one_entry_have_names_of_their_own(tmp_path, changes, told):
    text = LAB
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    with pytest.raises(SelfprefError) as failure:
        load(written(tmp_path, text))
    assert str(failure.value).startswith(f"params.yaml: {told}")
    assert len(str(failure.value).splitlines()) == 1


def test_an_entry_for_several_models_stands_for_each_of_them():
    params = load(REPOSITORY / "params.yaml")
    assert params.names("readers") == ["clerk", "host"]
    assert params.names("solver") == ["solver"]
    every = params.every_model()
    # Entries may share a model; `writers` names one more.
    assert [every[name].model for name in ("clerk", "host", "aide", "solver")] == [
        f"data/lab/models/seed-0/{name}" for name in ("clerk", "host", "aide", "solver")
    ]
    assert every["clerk"].names is None
    assert "readers" not in every
    # Evaluators are named after their base where there are several, else after the entry.
    (tuned,) = params.panickssery.finetune.values()
    assert params.tuned_from("readers", tuned) == {"clerk": "clerk", "host": "host"}
    alone = tuned.model_copy(update={"model": "solver"})
    assert params.tuned_from("mine", alone) == {"mine": "solver"}


def test_a_source_that_is_not_there_is_named_by_the_check(repository, capsys):
    """By the command line: its key and its remedy, and nothing is swept or written."""
    (repository / "src").unlink()
    kept = repository / "data/recorded/wataoka/verdicts/former.parquet"
    kept.parent.mkdir(parents=True)
    kept.touch()
    assert main(["check", "--out", str(repository / "checked.txt")]) == 1
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(
        "error: params.yaml: wataoka.datasets.mt-bench.source: "
        "src/selfpref/studies/wataoka/read/mt-bench.csv: no such file; put it there or correct it"
    )
    assert kept.exists()
    assert not (repository / "checked.txt").exists()


@pytest.mark.parametrize("text", ["seed: [1", "just words", "", "- a\n- b\n"])
def test_what_is_no_mapping_is_refused(tmp_path, text):
    with pytest.raises(SelfprefError, match=r"params\.yaml"):
        load(written(tmp_path, text))


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "data").mkdir()
    for name in ("src", "data/published"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    written(tmp_path, TEXT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_switching_saves_the_active_file_to_its_own_profile(repository):
    (repository / "profiles").mkdir()
    (repository / "profiles/lab.yaml").write_text(LAB)
    edited = TEXT + "# a judge that a user added\n"
    written(repository, edited)
    profiles.use("lab")
    assert (repository / "params.yaml").read_text() == LAB
    assert (repository / "profiles/recorded.yaml").read_text() == edited
    profiles.use("recorded")
    assert (repository / "params.yaml").read_text() == edited


def test_the_active_profile_stays_as_it_is(repository):
    (repository / "profiles").mkdir()
    (repository / "profiles/recorded.yaml").write_text("stale")
    profiles.use("recorded")
    assert (repository / "params.yaml").read_text() == TEXT


def test_an_unknown_or_broken_profile_changes_nothing(repository):
    with pytest.raises(
        SelfprefError, match=r"profiles/lab\.yaml: no such profile; choose one of: rec"
    ):
        profiles.use("lab")
    (repository / "profiles").mkdir()
    (repository / "profiles/lab.yaml").write_text("profile: lab\nsed: 1\n")
    with pytest.raises(SelfprefError, match=r"lab\.yaml"):
        profiles.use("lab")
    assert (repository / "params.yaml").read_text() == TEXT


LOCAL = "umpire: {engine: transformers,"


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ("umpire: {engine: ray, inner: transformers, workers: 2, gpus: 0.5,", None),
        ("umpire: {engine: ray, inner: rey, workers: 2,", "models.umpire.inner: one of 'transf"),
        ("umpire: {engine: ray, inner: openai, workers: 2,", "models.umpire.threads: unknown key"),
        ("umpire: {engine: ray, inner: transformers,", "models.umpire.workers: missing"),
        (
            "umpire: {engine: ray, inner: transformers, workers: 2, address: 10.0.0.1,",
            "models.umpire.address: give local, auto, or ray://",
        ),
        (
            "umpire: {engine: ray, inner: transformers, workers: 2, wrokers: 2,",
            "models.umpire.wrokers: unknown key",
        ),
        (
            "umpire: {engine: ray, inner: transformers, workers: 2, address: auto, trheads: 2,",
            "models.umpire.trheads: unknown key",
        ),
        ("umpire: {engine: rey,", "models.umpire.engine: one of 'transformers', 'openai', "),
        ("umpire: {", "models.umpire.engine: missing"),
    ],
)
def test_a_model_says_where_it_runs_in_one_line(tmp_path, new, told):
    path = written(tmp_path, LAB.replace(LOCAL, new, 1))
    if told is None:
        entry = load(path).models["umpire"]
        assert (entry.workers, entry.gpus, entry.address) == (2, 0.5, "local")
        assert entry.inner == load(written(tmp_path, LAB)).models["umpire"]
        return
    with pytest.raises(SelfprefError) as failure:
        load(path)
    assert told in str(failure.value)


UMPIRE = 'model: "data/lab/models/{dataset}/umpire"'
GGUF = 'gguf: "weights_of:m.gguf"'
PIN = f"sha256: {'a' * 64}"


@pytest.mark.parametrize(
    ("new", "told"),
    [
        (f"{GGUF}, {PIN}", None),
        (f'gguf: "data/m.gguf", {PIN}', None),
        (f"{UMPIRE}, {GGUF}, {PIN}", "give either `model` or `gguf`"),
        ("dtype: float32", "give either `model` or `gguf`"),
        (GGUF, "`gguf` is pinned by `sha256`"),
        (f"{UMPIRE}, {PIN}", "`gguf` is pinned by `sha256`"),
        (f"{GGUF}, {PIN}, revision: {'a' * 40}", "a `model` of the Hub by `revision`"),
        (f"{GGUF}, sha256: abc", "models.umpire.sha256"),
        (f'gguf: "a.b:m.gguf", {PIN}', "models.umpire.gguf: give `<package>:<file>`"),
        (f'gguf: "a:../m.gguf", {PIN}', "models.umpire.gguf: give a path inside"),
        (f'gguf: "../m.gguf", {PIN}', "models.umpire.gguf: give a path inside"),
    ],
)
def test_weights_are_a_folder_of_the_hub_or_one_pinned_file(tmp_path, new, told):
    assert UMPIRE in LAB
    path = written(tmp_path, LAB.replace(UMPIRE, new, 1))
    if told is None:
        assert load(path).models["umpire"].sha256 == "a" * 64
        return
    with pytest.raises(SelfprefError) as failure:
        load(path)
    assert told in str(failure.value)
    assert len(str(failure.value).splitlines()) == 1


def test_a_served_model_runs_on_workers(tmp_path):
    served = (
        'umpire: {engine: ray, inner: openai, workers: 2, base_url: "http://127.0.0.1/v1", '
        "model: x, server: vllm"
    )
    local = 'umpire: {engine: transformers, model: "data/lab/models/{dataset}/umpire", threads: 1'
    entry = load(written(tmp_path, LAB.replace(local, served, 1))).models["umpire"]
    assert entry.inner.server == "vllm"
    # What holds of served models holds of them in workers.
    scores = LAB.replace("\n  perplexity:\n", "\n  perplexity:\n    umpire: {prompts: lab}\n", 1)
    load(written(tmp_path, scores.replace(local, served, 1)))
    with pytest.raises(SelfprefError, match=r"perplexity\.umpire: only `server: vllm`"):
        load(written(tmp_path, scores.replace(local, served.replace(", server: vllm", ""), 1)))


def test_no_two_profiles_share_a_stage():
    """A stage of the same name would take the other's place in dvc.lock, and run at each switch."""
    files = [REPOSITORY / "params.yaml", *sorted((REPOSITORY / "profiles").glob("*.yaml"))]
    params = {found.profile: found for found in map(load, files)}
    for one, other in itertools.combinations(params.values(), 2):
        assert not {*one.lab.seeds} & {*other.lab.seeds}
        for study in TASKS:
            assert not {*one.study(study).datasets} & {*other.study(study).datasets}, study
        for (study, task, mine), (*_, theirs) in zip(one.tasks(), other.tasks(), strict=True):
            assert not {*mine} & {*theirs}, (study, task)


def test_anyone_responds_in_any_profile_and_votes_stand_in_a_file(tmp_path):
    params = yaml.load((REPOSITORY / "profiles/paper.yaml").read_text())
    section = params["wataoka"]
    section["respond"] = {"gpt-4": {"prompts": "chat", "max_tokens": 9, "temperature": 0.0}}
    section["datasets"]["mine"] = {"reader": "prompts", "source": "mine.jsonl"}
    section["label"] = {"mine": {"source": "votes.csv"}}
    section["judge"]["gpt-4"]["pairs"] = "own"
    with open(tmp_path / "params.yaml", "w") as handle:
        YAML().dump(params, handle)
    found = load(tmp_path / "params.yaml")
    assert found.wataoka.datasets["mine"].sample is None
    assert "wataoka.label.mine.source: votes.csv" in found.missing_sources(REPOSITORY)


JUDGED = "judges: {prompts: lab, min_mass: 0.5, score_mode: logprobs}"


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("seed-0: {source", "seed-1: {source", "label.seed-1 is no key of `wataoka.datasets`"),
        (", pairs: 1500, noise: 0.15", "", "label.seed-0: `pairs` and `noise` are for data sets"),
        (", noise: 0.15", "", "label.seed-0: pairs and noise go together"),
        (
            "noise: 0.15",
            "noise: 0.15, aliases: {x: y}",
            "label.seed-0: aliases: only for a file of votes; the testbed has none",
        ),
        (
            JUDGED,
            JUDGED.replace("}", ", pairs: mine}"),
            "judge.judges.pairs: give labelled, own, all, or a number of pairs from 1, not 'mine'",
        ),
    ],
)
def test_what_labels_and_pairs_may_say(tmp_path, old, new, wanted):
    assert old in LAB
    with pytest.raises(SelfprefError) as raised:
        load(written(tmp_path, LAB.replace(old, new, 1)))
    assert wanted in str(raised.value)


def test_a_release_has_no_other_names(tmp_path):
    text = RECORDED.read_text()
    named = text.replace("reader: mt-bench\n", "reader: mt-bench\n      aliases: {x: y}\n", 1)
    with pytest.raises(SelfprefError, match="mt-bench: aliases: only for files of judgments"):
        load(written(tmp_path, named))


@pytest.mark.parametrize(
    ("panel", "wanted"),
    [("[sure, sue]", "'sue' judges nothing here"), ("[sure, sure]", "a judge stands there twice")],
)
def test_a_panel_is_of_judges(tmp_path, panel, wanted):
    with pytest.raises(SelfprefError, match=rf"wataoka\.panel: {wanted}"):
        load(written(tmp_path, LAB.replace("panel: []", f"panel: {panel}", 1)))
    assert load(written(tmp_path, LAB.replace("panel: []", "panel: [sure]", 1))).wataoka.panel
