"""Generation in batches, and the labels after a marker."""

import itertools
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_generate  # noqa: E402
from small_models import byte_level, load, save, save_chain  # noqa: E402

from selfpref.models import Prompt  # noqa: E402
from selfpref.models.local import generation  # noqa: E402
from selfpref.models.local.encoding import Encoder  # noqa: E402

TEXTS = ("hello", "which answer is better", "list three things that add", "or")
PROMPTS = [Prompt((("user", text),)) for text in TEXTS]
MARKED = {"marker": "[[", "labels": ("A", "B")}
KINDS = {
    "llama": {"num_key_value_heads": 2},
    "mistral": {"sliding_window": 20, "num_key_value_heads": 2},
    "gpt_neox": {},
}


@pytest.fixture(scope="module", params=KINDS)
def engine(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "m"
    return load(save(folder, byte_level(), request.param, **KINDS[request.param]))


def test_batch_mates_do_not_change_a_sample(engine):
    options = {"max_tokens": 10, "temperature": 0.7, **MARKED}
    together = engine.answer(to_generate(PROMPTS * 2, seeds=range(8), **options))
    for prompt, seed, made in zip(PROMPTS * 2, range(8), together, strict=True):
        assert engine.answer(to_generate([prompt], seeds=[seed], **options)) == [made]
    assert len({made.text for made in together}) > 4


def test_every_step_has_the_models_own_probabilities_and_its_draw(engine):
    """However many of the lines beside it are finished already."""
    rows = [
        np.array(engine.encode(prompt))[-size:] for prompt in PROMPTS[:3] for size in (3, 9, 99)
    ]
    limits, watched, options = [1, 2, 3, 5, 8, 8, 9, 9, 12], [70, 71, 99], {"stops": set()}
    options |= {"watched": watched, "budget": 4096, "temperature": 0.8}
    with torch.no_grad():
        made = dict(generation.continuations(engine.model, rows, limits, range(9), **options))
    for place, (row, limit) in enumerate(zip(rows, limits, strict=True)):
        found = made[place]
        assert (len(found.ids), found.ended) == (limit, False)
        with torch.no_grad():
            logits = engine.model(torch.tensor([[*row, *found.ids]])).logits[0].double()
        logits = logits[len(row) - 1 : -1]
        p = logits.softmax(-1)[:, watched]
        assert found.watched == pytest.approx(p.numpy(), abs=1e-6)
        # The first token at which the cumulative sum at this temperature exceeds the draw.
        reached = (logits / 0.8).softmax(-1).cumsum(-1).numpy()
        draws = np.random.default_rng(place).random(limit)
        drawn = [np.searchsorted(each, u, "right") for each, u in zip(reached, draws, strict=True)]
        assert found.ids == drawn


def written(folder, tokenizer, text, **branches):
    """A model that writes `text` after a prompt, with logit 9 a token, and ends."""
    ids = tokenizer("\n" + text, add_special_tokens=False)["input_ids"]
    follows = {one: {other: 9.0} for one, other in itertools.pairwise(ids)}
    follows[ids[-1]] = {tokenizer.eos_token_id: 9.0}
    for token, logits in branches.items():
        numbers = tokenizer.convert_tokens_to_ids(list(logits))
        place = tokenizer.convert_tokens_to_ids(token)
        follows[place] = dict(zip(numbers, logits.values(), strict=True))
    return load(save_chain(folder, tokenizer, follows))


def only(model, tokens, temperature=0, seed=0):
    options = {"max_tokens": tokens, "temperature": temperature, "seeds": [seed]}
    (made,) = model.answer(to_generate(PROMPTS[:1], **options, **MARKED))
    return made


def test_labels_are_read_after_the_marker_at_temperature_one(tmp_path):
    """p(A) + p( A) and p(B) + p( B) of the raw logits, though the text is sampled at 0.7."""
    tokenizer, text = byte_level(), "my verdict [[A]]"
    verdict = {"A": 9.0, "ĠA": 8.0, "B": 7.0}
    model = written(tmp_path / "m", tokenizer, text, **{"Ġ[[": verdict})
    made = only(model, 30, temperature=0.7, seed=5)
    whole = sum(math.exp(logit) for logit in verdict.values()) + (len(tokenizer) - 3)
    wanted = (math.exp(9) + math.exp(8)) / whole, (math.exp(7) + 1) / whole
    assert (made.text[-5:], made.status) == ("[[A]]", "ok")
    assert made.choice.probabilities == pytest.approx(wanted)
    # Cut at the marker it has none.
    tokens = tokenizer(text)["input_ids"].index(tokenizer.convert_tokens_to_ids("Ġ[[")) + 1
    for count, status, read in ((tokens, "cut", False), (tokens + 1, "cut", True)):
        made = only(model, count)
        assert (made.status, made.choice is not None) == (status, read)
    # Every stop ends an answer.
    config = model.model.generation_config
    config.eos_token_id = [1, *tokenizer.convert_tokens_to_ids(["Ġverdict"])]
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
    choice = generation.label_after(
        encoder, "[[", forms, generation.Continuation(ids, ended, watched)
    )
    if step is None:
        assert choice is None
        return
    assert choice.probabilities == (watched[step, :2].sum(), watched[step, 2:].sum())
