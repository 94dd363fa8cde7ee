"""Local weights against the definition: answers of every architecture, and what makes them fast."""

import itertools
import math
from functools import partial
from unittest.mock import Mock

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_choose, to_generate, to_score
from small_models import CHATML, byte_level, load, save, save_chain

from selfpref.errors import SelfprefError
from selfpref.models import Choice, Likelihood, Prompt, Text, local
from selfpref.models.local import passes
from selfpref.models.local.encoding import Encoder

PROMPTS = [Prompt((("user", text),)) for text in ("which answer is better", "hello world", "or")]
TEXTS = ["the lamp stands by a red house", "hello <|im_end|> 日本 🙂", "1 + 2 = 3! " * 3, " A"]
PAIRS = [(prompt, text) for prompt in PROMPTS for text in TEXTS]
DYNAMIC = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}
HEADS = {"num_key_value_heads": 2}
CAPPED = {"head_dim": 8, "sliding_window": 16, "final_logit_softcapping": 2.0}
# Architectures with their settings, and the longest row that is packed. Phi's output layer has a
# bias, Cohere's logits are scaled.
KINDS = {
    "llama": (HEADS, math.inf),
    "llama, one layer": ({"num_hidden_layers": 1}, math.inf),
    "llama, dynamic positions": ({"rope_parameters": DYNAMIC}, math.inf),
    "qwen2": (HEADS, math.inf),
    "mistral": ({"sliding_window": 24} | HEADS, 24),
    "gemma2": (CAPPED | HEADS, 0),
    "cohere": ({"logit_scale": 0.25}, 0),
    **dict.fromkeys(("gpt_neox", "mamba", "phi"), ({}, 0)),
}


def logits_of(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].double()


def nll_of(model, context, own):
    p = logits_of(model, (context + own)[:-1]).log_softmax(-1)
    nll = -sum(float(p[len(context) + n - 1, token]) for n, token in enumerate(own))
    return pytest.approx(nll, abs=1e-5 * len(own))


def defined(engine):
    """Likelihoods are those of the model's own logits."""
    prompts, texts = zip(*PAIRS, strict=True)
    scores = engine.answer(to_score(prompts, texts))
    for score, (context, own) in zip(scores, engine.pairs(prompts, texts), strict=True):
        assert (score.n_tokens, score.status) == (len(own), "ok")
        assert score.sum_nll == nll_of(engine.model, context, own)


@pytest.mark.parametrize("kind", KINDS)
def test_every_architecture_answers_as_the_definition_says(tmp_path, kind):
    settings, window = KINDS[kind]
    save(tmp_path / "m", byte_level(), kind.split(",")[0], **settings)
    found = load(tmp_path / "m", attention="sdpa" if window else "eager", batch_tokens=200)
    assert (found._packed, found._budget) == (window, 1 if "dynamic" in kind else 200)
    defined(found)
    for prompt, choice in zip(PROMPTS, found.answer(to_choose(PROMPTS, "AB")), strict=True):
        p = logits_of(found.model, found.encode(prompt))[-1].softmax(-1)
        # With a space before it or none.
        forms = [found.tokenizer.convert_tokens_to_ids([label, f"Ġ{label}"]) for label in "AB"]
        wanted = [float(p[ids].sum()) for ids in forms]
        assert choice.probabilities == pytest.approx(wanted, abs=1e-6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save(tmp_path_factory.mktemp("model") / "m", byte_level())


def test_what_exceeds_the_context_is_truncated_and_what_reaches_its_limit_is_cut(folder):
    """As in lm-evaluation-harness a text may be one token longer than the context."""
    model = load(folder)
    room = model.context - len(model.encode(PROMPTS[0])) + 1
    one, more, none = model.answer(to_score([PROMPTS[0]] * 3, [" A" * room, " A" * (room + 1), ""]))
    # Long enough to be attended to in several blocks.
    ((context, own),) = model.pairs(PROMPTS[:1], [" A" * room])
    assert (one.status, one.n_tokens) == ("ok", room)
    assert one.sum_nll == nll_of(model.model, context, own)
    assert (more.status, more.n_tokens, math.isnan(more.sum_nll)) == ("truncated", room + 1, True)
    assert none == Likelihood(0.0, 0, "ok")
    # Prompts of 159, 160 and 161 tokens, where 160 are seen.
    free = model.context - len(model.encode(Prompt((("user", ""),))))
    prompts = [Prompt((("user", " A" * count),)) for count in (free - 1, free, free + 1)]
    *chosen, long = model.answer(to_choose(prompts, "AB"))
    assert ([choice.status for choice in chosen], long) == (["ok"] * 2, Choice((), "truncated"))
    cut, *long = model.answer(to_generate(prompts, max_tokens=9, temperature=0, seeds=[0] * 3))
    assert (cut.status, long) == ("cut", [Text("", "truncated")] * 2)


def test_a_gpu_without_room_says_what_to_lower(folder, monkeypatch):
    monkeypatch.setattr(passes, "likelihoods", Mock(side_effect=torch.OutOfMemoryError))
    with pytest.raises(SelfprefError, match=r"m: no room on the GPU for 7 tokens.*`batch_tokens`"):
        load(folder, batch_tokens=7).answer(to_score(PROMPTS[:1], ["A"]))


def test_identity_holds_what_changes_an_answer(tmp_path):
    chat = ("<|prompter|>", "<|im_start|>", "<|im_end|>", "<|assistant|>", "<|endoftext|>")
    folder, file = save(tmp_path / "m", byte_level(special=chat)), tmp_path / "mine.jinja"
    base = load(folder).identity
    assert base.keys() == {"provider", "weights", "dtype"}
    assert load(folder, batch_tokens=7).identity == base
    half = load(folder, dtype="float16")
    assert (half.identity, half.model.dtype) == (base | {"dtype": "float16"}, torch.float16)
    assert load(folder, system="fold").identity == base | {"system": "fold"}
    assert "<|prompter|>" in load(folder, template="oasst-pythia").identity["template"]
    file.write_text(CHATML)
    model = load(folder, template="mine.jinja")
    assert model.identity == base | {"template": CHATML}
    # An answer ends at a special token of the file, and where the tokenizer ends it.
    ends = ["<|im_start|>", "<|im_end|>", "<|endoftext|>"]
    assert model._stops == {*model.tokenizer.convert_tokens_to_ids(ends)}
    save(folder, byte_level(special=chat), initializer_range=0.2)
    assert load(folder).identity["weights"] != base["weights"]


# --- texts, and the labels in them ----------------------------------------------------------------

ASKED = [Prompt((("user", "list three things that add"),)), *PROMPTS]
MARKED = {"marker": "[[", "labels": ("A", "B")}


@pytest.fixture(scope="module", params=("llama", "mistral", "gpt_neox"))
def engine(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "m"
    return load(save(folder, byte_level(), request.param, **KINDS[request.param][0]))


def test_batch_mates_do_not_change_a_sample(engine):
    options = {"max_tokens": 10, "temperature": 0.7, **MARKED}
    together = engine.answer(to_generate(ASKED * 2, seeds=range(8), **options))
    for prompt, seed, made in zip(ASKED * 2, range(8), together, strict=True):
        assert engine.answer(to_generate([prompt], seeds=[seed], **options)) == [made]
    assert len({made.text for made in together}) > 4


def test_every_step_has_the_models_own_probabilities_and_its_draw(engine):
    """However many of the lines beside it are finished already."""
    rows = [np.array(engine.encode(prompt))[-size:] for prompt in ASKED[:3] for size in (3, 9, 99)]
    limits, watched = [1, 2, 3, 5, 8, 8, 9, 9, 12], [70, 71, 99]
    draws = [np.random.default_rng(seed).random(limit) for seed, limit in enumerate(limits)]
    with torch.no_grad():
        made = local.continued(engine.model, rows, draws, 0.8, set(), watched)
    for row, drawn, found in zip(rows, draws, made, strict=True):
        assert (len(found.ids), found.ended) == (len(drawn), False)
        logits = logits_of(engine.model, [*row, *found.ids])[len(row) - 1 : -1]
        assert found.watched == pytest.approx(logits.softmax(-1)[:, watched].numpy(), abs=1e-6)
        # The first token at which the cumulative sum at this temperature exceeds the draw.
        reached = (logits / 0.8).softmax(-1).cumsum(-1).numpy()
        assert found.ids == list(map(partial(np.searchsorted, side="right"), reached, drawn))


def only(model, tokens, temperature=0, seed=0):
    options = {"max_tokens": tokens, "temperature": temperature, "seeds": [seed]}
    (made,) = model.answer(to_generate(ASKED[:1], **options, **MARKED))
    return made


def test_labels_are_read_after_the_marker_at_temperature_one(tmp_path):
    """p(A) + p( A) and p(B) + p( B) of the raw logits, though the text is sampled at 0.7."""
    tokenizer, text = byte_level(), "my verdict [[A]]"
    verdict = {"A": 9.0, "ĠA": 8.0, "B": 7.0}
    # A model that writes the text after a prompt, with logit 9 a token, and ends.
    ids = tokenizer("\n" + text, add_special_tokens=False)["input_ids"]
    follows = {one: {other: 9.0} for one, other in itertools.pairwise(ids)}
    follows[ids[-1]] = {tokenizer.eos_token_id: 9.0}
    number = tokenizer.convert_tokens_to_ids
    follows[number("Ġ[[")] = {number(token): logit for token, logit in verdict.items()}
    model = load(save_chain(tmp_path / "m", tokenizer, follows))
    made = only(model, 30, temperature=0.7, seed=5)
    whole = sum(math.exp(logit) for logit in verdict.values()) + (len(tokenizer) - 3)
    wanted = (math.exp(9) + math.exp(8)) / whole, (math.exp(7) + 1) / whole
    assert (made.text[-5:], made.status) == ("[[A]]", "ok")
    assert made.choice.probabilities == pytest.approx(wanted)
    # Cut at the marker it has none.
    tokens = tokenizer(text)["input_ids"].index(number("Ġ[[")) + 1
    for count, status, read in ((tokens, "cut", False), (tokens + 1, "cut", True)):
        made = only(model, count)
        assert (made.status, made.choice is not None) == (status, read)
    # Every stop ends an answer.
    config = model.model.generation_config
    config.eos_token_id = [1, number("Ġverdict")]
    config.save_pretrained(tmp_path / "m")
    made = only(load(tmp_path / "m"), 30)
    assert (made.text, made.status, made.choice) == ("my", "ok", None)


@pytest.mark.parametrize(
    ("tokens", "ended", "step"),
    [
        (["Ġ[", "[", "A", "]"], True, 2),
        (["Ġ[[", "ĠA", "]"], True, 1),
        # The last marker counts.
        (["Ġ[[", "A", "Ġ[[", "B"], True, 3),
        # The model ended right after it, or was cut.
        (["A", "Ġ[["], True, 2),
        (["A", "Ġ[["], False, None),
        (["A", "B"], True, None),
        # The label is no token of its own.
        (["A", "Ċ", "[[A", "]"], True, None),
    ],
)
def test_the_marker_may_be_cut_anyhow_into_tokens(tokens, ended, step):
    tokenizer = byte_level(merges=["[[A"])
    encoder = Encoder(tokenizer)
    forms, ids = encoder.forms("AB", ["[["]), tokenizer.convert_tokens_to_ids(tokens)
    wanted = [tokenizer.convert_tokens_to_ids([label, f"Ġ{label}"]) for label in "AB"]
    assert list(map(set, forms)) == list(map(set, wanted))
    # Each watched token has a number of its own at each step.
    watched = np.arange((len(ids) + ended) * 4).reshape(-1, 4) ** 2.0
    choice = local.label_after(encoder, "[[", forms, local.Continuation(ids, ended, watched))
    wanted = step and (watched[step, :2].sum(), watched[step, 2:].sum())
    assert (choice and choice.probabilities) == wanted


# --- packed lines ---------------------------------------------------------------------------------


def lay(texts, budget, read=None, step=1):
    """Lines whose rows are read whole, unless told."""
    rows = [np.array([ord(letter) for letter in text]) for text in texts]
    return list(passes.packed(rows, read or list(map(len, texts)), budget, step))


def letters(line):
    return "".join(map(chr, line.inputs["input_ids"].flatten().tolist()))


def test_a_shared_prefix_is_laid_down_once():
    (line,) = lay(["qr", "abcde", "abcxy", "abc", "qr"], 100)
    assert letters(line) == "abcdexyqr"
    assert line.inputs["position_ids"].tolist() == [[0, 1, 2, 3, 4, 3, 4, 0, 1]]
    assert line.rows == [3, 1, 2, 0, 4]
    assert line.read.tolist() == [0, 1, 2, 0, 1, 2, 3, 4, 0, 1, 2, 5, 6, 7, 8, 7, 8]
    # In the last layer those attend whose states are read: both responses read the prompt's end.
    (line,) = lay(["abcde", "abcxy"], 100, read=[3, 3])
    assert line.attend[1][0].tolist() == [2, 3, 4, 5, 6]
    assert line.read.tolist() == [0, 1, 2, 0, 3, 4]
    # Filled up to whole steps.
    (line,) = lay(["abcde", "abcxy"], 100, read=[1, 1], step=4)
    assert line.inputs["input_ids"].shape == line.inputs["position_ids"].shape == (1, 8)
    assert [len(tokens) for tokens, _ in line.attend] == [8, 4]


def test_a_full_line_ends_between_prompts_not_between_their_responses():
    texts = [f"{prompt * 6}{answer}" for prompt in "abcd" for answer in ("xx", "yy", "zz")]
    lines = sorted(map(letters, lay(texts, 34)))
    assert lines == ["aaaaaaxxyyzzbbbbbbxxyyzz", "ccccccxxyyzzddddddxxyyzz"]
    # The longest row comes first, and next to no prefix ends no line.
    assert [len(letters(line)) for line in lay(["a" * 5, "b" * 40, "c" * 20], 20)] == [40, 20, 5]
    texts = [letter * 10 for letter in "abcd"] + [f"x{letter * 9}" for letter in "abcd"]
    assert [len(letters(line)) for line in lay(texts, 60)] == [59, 19]


# --- products -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fast", [True, False])
def test_either_product_gives_the_answers_of_the_definition(folder, monkeypatch, fast):
    """Each on any machine: which one is taken is a matter of the processor."""
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: fast)
    model = load(folder)
    assert (passes.step(model.model) > 1) == fast
    defined(model)
