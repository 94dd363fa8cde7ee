"""Local weights against the definition: scores and choices of every architecture."""

import math

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_choose, to_generate, to_score  # noqa: E402
from small_models import CHATML, byte_level, load, save  # noqa: E402

from selfpref.errors import SelfprefError  # noqa: E402
from selfpref.models import Choice, Likelihood, Prompt, Text  # noqa: E402
from selfpref.models.local.fast import passes, products  # noqa: E402

PROMPTS = [Prompt((("user", text),)) for text in ("which answer is better", "hello world", "or")]
TEXTS = ["the lamp stands by a red house", "hello <|im_end|> 日本 🙂", "1 + 2 = 3! " * 3, " A"]
PAIRS = [(prompt, text) for prompt in PROMPTS for text in TEXTS]
DYNAMIC = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}
# Architectures with their settings, and whether they can run on packed lines.
KINDS = {
    "llama": ({"num_key_value_heads": 2}, True),
    "llama, one layer": ({"num_hidden_layers": 1}, True),
    "llama, dynamic positions": ({"rope_parameters": DYNAMIC}, True),
    "qwen2": ({"num_key_value_heads": 2}, True),
    "gpt_neox": ({}, True),
    "mistral": ({"sliding_window": 24, "num_key_value_heads": 2}, True),
    "cohere": ({}, True),
    "gemma2": ({"head_dim": 8, "sliding_window": 16, "num_key_value_heads": 2}, False),
    "bloom": ({}, False),
    "mamba": ({}, False),
}


def log_p(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].double().log_softmax(-1)


@pytest.mark.parametrize("kind", KINDS)
def test_every_architecture_answers_as_the_definition_says(tmp_path, kind):
    settings, packing = KINDS[kind]
    save(tmp_path / "m", byte_level(), kind.split(",")[0], **settings)
    found = load(tmp_path / "m", attention="sdpa" if packing else "eager", batch_tokens=200)
    assert (found._packed is not None) == packing
    prompts, texts = zip(*PAIRS, strict=True)
    pairs = found.pairs(prompts, texts)
    for score, (context, own) in zip(found.answer(to_score(prompts, texts)), pairs, strict=True):
        p = log_p(found.model, context + own)
        nll = -sum(float(p[len(context) + n - 1, token]) for n, token in enumerate(own))
        assert (score.n_tokens, score.status) == (len(own), "ok")
        assert score.sum_nll == pytest.approx(nll, abs=1e-5 * len(own))
    for prompt, choice in zip(PROMPTS, found.answer(to_choose(PROMPTS, "AB")), strict=True):
        p = log_p(found.model, found.encode(prompt))[-1].exp()
        # With a space before it or none.
        forms = [found.tokenizer.convert_tokens_to_ids([label, f"Ġ{label}"]) for label in "AB"]
        assert choice.probabilities == pytest.approx(
            [float(p[ids].sum()) for ids in forms], abs=1e-6
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save(tmp_path_factory.mktemp("model") / "m", byte_level())


def test_a_pass_that_does_not_give_the_models_own_states_is_not_used(folder, monkeypatch):
    assert load(folder).engine._packed is passes.llama_pass
    right = passes.llama_pass
    monkeypatch.setattr(passes, "llama_pass", lambda model, line: right(model, line) + 0.01)
    assert load(folder).engine._packed is passes.own_pass


def test_either_product_gives_the_same_answers(folder, monkeypatch):
    """Each on any machine: which one is taken is a matter of the processor."""
    calls, found = to_score(*zip(*PAIRS, strict=True)), {}
    for fast in (True, False):
        monkeypatch.setattr(products, "_fast_onednn", lambda fast=fast: fast)
        model = load(folder)
        layers = {type(layer) for layer in model.model.modules()}
        assert (products.Linear in layers) == fast
        assert (products.step(model.model) > 1) == fast
        found[fast] = model.answer(calls)
    for one, other in zip(found[True], found[False], strict=True):
        assert one.sum_nll == pytest.approx(other.sum_nll, abs=1e-5 * one.n_tokens)


def test_what_exceeds_the_context_is_truncated_and_what_reaches_its_limit_is_cut(folder):
    """As in lm-evaluation-harness a text may be one token longer than the context."""
    model = load(folder)
    room = model.context - len(model.encode(PROMPTS[0])) + 1
    one, more, none = model.answer(to_score([PROMPTS[0]] * 3, [" A" * room, " A" * (room + 1), ""]))
    assert (one.status, one.n_tokens) == ("ok", room)
    # Long enough to be attended to in several blocks.
    ((context, own),) = model.pairs(PROMPTS[:1], [" A" * room])
    p = log_p(model.model, (context + own)[:-1])
    nll = -sum(float(p[len(context) + n - 1, token]) for n, token in enumerate(own))
    assert one.sum_nll == pytest.approx(nll, abs=1e-5 * room)
    assert (more.status, more.n_tokens, math.isnan(more.sum_nll)) == ("truncated", room + 1, True)
    assert none == Likelihood(0.0, 0, "ok")
    # Prompts of 159, 160 and 161 tokens, where 160 are seen.
    free = model.context - len(model.encode(Prompt((("user", ""),))))
    prompts = [Prompt((("user", " A" * count),)) for count in (free - 1, free, free + 1)]
    assert [len(model.encode(prompt)) for prompt in prompts] == [159, 160, 161]
    chosen = model.answer(to_choose(prompts, "AB"))
    assert [choice.status for choice in chosen] == ["ok", "ok", "truncated"]
    assert chosen[2] == Choice((), "truncated")
    made = model.answer(to_generate(prompts, max_tokens=9, temperature=0, seeds=[0] * 3))
    assert made[0].status == "cut"
    assert made[1:] == [Text("", "truncated")] * 2


def test_a_gpu_that_is_full_is_told_in_one_line(folder, monkeypatch):
    model = load(folder)

    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate ...")

    monkeypatch.setattr(model.engine, "_states", full)
    with pytest.raises(SelfprefError, match=r"batches of 2048 tokens; set a lower `batch_tokens`"):
        model.answer(to_choose(PROMPTS, "AB"))


def test_identity_holds_what_changes_an_answer(tmp_path):
    chat = ("<|prompter|>", "<|im_start|>", "<|im_end|>", "<|assistant|>", "<|endoftext|>")
    folder, file = save(tmp_path / "m", byte_level(special=chat)), tmp_path / "mine.jinja"
    base = load(folder).identity
    assert base.keys() == {"provider", "weights", "dtype"}
    assert load(folder, batch_tokens=7).identity == base
    assert load(folder, dtype="float16").identity == base | {"dtype": "float16"}
    assert load(folder, system="fold").identity == base | {"system": "fold"}
    assert "<|prompter|>" in load(folder, template="oasst-pythia").identity["template"]
    for text in (CHATML, CHATML.replace("assistant", "model")):
        file.write_text(text)
        model = load(folder, template="mine.jinja")
        assert model.identity == base | {"template": text}
    # An answer ends where the file ends it, and where the tokenizer does.
    ends = model.tokenizer.convert_tokens_to_ids(["<|im_end|>", "<|endoftext|>"])
    assert model._stops == {*ends}
    save(folder, byte_level(special=chat), initializer_range=0.2)
    assert load(folder).identity["weights"] != base["weights"]
