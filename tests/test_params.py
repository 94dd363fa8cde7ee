"""params.yaml: what is accepted, what is refused with which words, and switching profiles."""

import pytest
from conftest import REPOSITORY

from selfpref import profiles
from selfpref.errors import SelfprefError
from selfpref.params import StageParams, load

RECORDED = REPOSITORY / "profiles/recorded.yaml"
TEXT = RECORDED.read_text()
LAB = (REPOSITORY / "params.yaml").read_text()


def written(tmp_path, text):
    path = tmp_path / "params.yaml"
    path.write_text(text)
    return path


def test_the_files_in_git_are_valid():
    assert load(REPOSITORY / "params.yaml").profile == "lab"
    assert load(RECORDED).profile == "recorded"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("seed:", "sed:", ["sed: unknown key"]),
        ("  threshold:", "  treshold:", ["wataoka.treshold", "unknown key"]),
        ("threshold: 0.5", "threshold: half", ["wataoka.threshold", "not 'half'"]),
        ("threshold: 0.5", "threshold: 1.5", ["wataoka.threshold", "less than 1"]),
        ("resamples: 10000", "resamples: '10000'", ["bootstrap.resamples", "not '10000'"]),
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


def test_beyond_needs_a_study_to_read(tmp_path):
    bare = TEXT
    for study in ("wataoka", "livebench", "panickssery", "xu"):
        bare = bare.replace(f"  {study}: [recorded]", f"  {study}: []")
    with pytest.raises(SelfprefError, match=r"studies\.beyond reads the other studies"):
        load(written(tmp_path, bare))
    load(written(tmp_path, bare.replace("  beyond: [recorded]", "  beyond: []")))


def test_a_null_mapping_is_named(tmp_path):
    with pytest.raises(SelfprefError, match=r"params\.yaml: datasets: is empty"):
        load(written(tmp_path, LAB.replace("datasets: {}", "datasets:")))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("judge:\n", "judge:\n  nobody: {prompts: lab, min_mass: 0.5}\n", "judge.nobody is no key"),
        ("seeds: [0]", "seeds: []", "the lab profile needs lab.seeds"),
        ('{dataset}/terse"', '{dataset}/terse", trust_remote_code: true', "trust_remote_code"),
        ("articles: 90, train: 30", "articles: 90, train: 90", "no article is left to be judged"),
        ("articles: 90, train: 30", "articles: 90, train: 9", "more than the 9 of articles.notes"),
        ("{on: notes,", "{on: novels,", "notes-2.on: 'novels' is no key of `articles`"),
        ("  clerk: {prompts: lab, max", "  boss: {prompts: lab, max", "is no key of `models`"),
        (
            "  clerk: {prompts: lab, max_tokens: 20, temperature: 1.0}\n",
            "",
            "recognise.clerk: 'clerk' is no key of `summarise`",
        ),
        ("recognise:\n  clerk: {prompts: lab", "recognise:\n  clerk: {prompts: plain", "`lab` is"),
        ("model: host\n", "model: nobody\n", "finetune.host.model: 'nobody' is no key"),
        (
            "recognise:\n  clerk: {prompts: lab",
            "recognise:\n  clerk: {prompts: lab, score_mode: text",
            "recognise.clerk.score_mode",
        ),
        ("variant: always-1", "variant: always-2", "notes-always-1.variant"),
        ("method: full", "method: half", "finetune.clerk.method"),
        (
            "  host: {prompts: lab, min_mass: 0.5}\n",
            "  clerk-notes-2: {prompts: lab, min_mass: 0.5, own: clerk}\n",
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
        ([("model: m", "model: m, budget: 3")], "models.served: budget needs a price"),
        ([("model: m", "model: m, top_logprobs: 21")], "models.served.top_logprobs"),
        (
            [("\nperplexity:\n", "\nperplexity:\n  served: {prompts: lab}\n")],
            "perplexity.served: only `server: vllm` gives likelihoods",
        ),
        (
            [
                ("model: m", "model: m, reasoning: low"),
                ("\njudge:\n", "\njudge:\n  served: {prompts: lab, min_mass: 0.5}\n"),
            ],
            "judge.served: a reasoning model gives no probabilities",
        ),
        (
            [
                ("model: m", "model: m, reasoning: low"),
                ("\nrecognise:\n", "\nrecognise:\n  served: {prompts: lab, min_mass: 0.5}\n"),
            ],
            "recognise.served: a reasoning model gives no probabilities; set `score_mode: sampled`",
        ),
        (
            [("min_mass: 0.5", "min_mass: 0.5, score_mode: sampled")],
            "judge.disclaimer: samples goes with",
        ),
        (
            [("min_mass: 0.5", "min_mass: 0.5, score_mode: sampled, samples: 5")],
            "judge.disclaimer: temperature is 0",
        ),
        ([("min_mass: 0.5", "min_mass: 0.5, samples: 5")], "judge.disclaimer: samples goes with"),
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
    assert "secret" not in message.replace("holds no secrets", "")


@pytest.mark.parametrize("text", ["seed: [1", "just words", "", "- a\n- b\n"])
def test_what_is_no_mapping_is_refused(tmp_path, text):
    with pytest.raises(SelfprefError, match=r"params\.yaml"):
        load(written(tmp_path, text))


def test_a_stage_cannot_read_what_dvc_yaml_does_not_declare():
    params = StageParams("archive@x", {"seed": 3})
    assert params.seed == 3
    with pytest.raises(SelfprefError, match=r"dvc\.yaml: stage archive@x reads 'bootstrap'"):
        _ = params.bootstrap


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
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


LOCAL = "terse: {engine: transformers,"


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ("terse: {engine: ray, inner: transformers, workers: 2, gpus: 0.5,", None),
        ("terse: {engine: ray, inner: rey, workers: 2,", "models.terse.inner: one of 'transf"),
        ("terse: {engine: ray, inner: openai, workers: 2,", "models.terse.threads: unknown key"),
        ("terse: {engine: ray, inner: transformers,", "models.terse.workers: missing"),
        (
            "terse: {engine: ray, inner: transformers, workers: 2, address: 10.0.0.1,",
            "models.terse.address: give local, auto, or ray://",
        ),
        (
            "terse: {engine: ray, inner: transformers, workers: 2, wrokers: 2,",
            "models.terse.wrokers: unknown key",
        ),
        (
            "terse: {engine: ray, inner: transformers, workers: 2, address: auto, trheads: 2,",
            "models.terse.trheads: unknown key",
        ),
        ("terse: {engine: rey,", "models.terse.engine: one of 'transformers', 'openai', "),
        ("terse: {", "models.terse.engine: missing"),
        ("terse: {responder: sure, engine: transformers,", "two models are 'sure'"),
    ],
)
def test_a_model_says_where_it_runs_in_one_line(tmp_path, new, told):
    path = written(tmp_path, LAB.replace(LOCAL, new, 1))
    if told is None:
        entry = load(path).models["terse"]
        assert (entry.workers, entry.gpus, entry.address) == (2, 0.5, "local")
        assert entry.inner == load(written(tmp_path, LAB)).models["terse"]
        return
    with pytest.raises(SelfprefError) as failure:
        load(path)
    assert told in str(failure.value)


def test_a_served_model_runs_on_workers_but_not_in_batches(tmp_path):
    served = (
        'terse: {engine: ray, inner: openai, workers: 2, base_url: "http://127.0.0.1/v1", '
        "model: x, server: vllm"
    )
    local = 'terse: {engine: transformers, model: "data/lab/models/{dataset}/terse", threads: 1'
    entry = load(written(tmp_path, LAB.replace(local, served, 1))).models["terse"]
    assert entry.inner.server == "vllm"
    with pytest.raises(SelfprefError, match="batches need no workers"):
        load(written(tmp_path, LAB.replace(local, f"{served}, batch: true", 1)))
    # What holds of served models holds of them in workers.
    with pytest.raises(SelfprefError, match=r"perplexity\.terse: only `server: vllm`"):
        load(written(tmp_path, LAB.replace(local, served.replace(", server: vllm", ""), 1)))
