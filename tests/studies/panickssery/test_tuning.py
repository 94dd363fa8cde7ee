"""What judges are tuned on, and the tuning of a very small Llama: in full and by LoRA."""

import json

import numpy as np
import pytest
from asking import to_choose
from panickssery_frames import summarised

from selfpref.errors import SelfprefError
from selfpref.lab.summaries import LEXICON, messages
from selfpref.models import Choice, Prompt
from selfpref.params import Transformers
from selfpref.params.studies import Training
from selfpref.prompts.summaries import PLAIN
from selfpref.studies.panickssery import finetune as examples
from selfpref.studies.panickssery.finetune import Labelled, labelled, replayed
from selfpref.studies.panickssery.recognition import ordered_pairs

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from selfpref.lab.training import build_model, save_checkpoint
from selfpref.models.local import LocalModel
from selfpref.studies.panickssery.finetune.training import tune

TEXTS = {"me": "Tiny text.", "rival": "Tiny text!"}
TEXTS["human"] = "A considerably longer summary of the article, in many words."
PAIRS = ordered_pairs(*summarised(TEXTS), "me")


def test_quantities_of_control_tasks_by_hand():
    words = {"cat": 1, "the": 1, "river": 2, "table": 2, "beautiful": 3, "hmm": 1, "stone": 1}
    assert {word: examples.syllables(word) for word in words} == words
    # Six words, two sentences, seven syllables: the cat sat / a riv-er ran.
    ease = examples.reading_ease("The cat sat. A river ran!")
    assert ease == pytest.approx(206.835 - 1.015 * 6 / 2 - 84.6 * 7 / 6)
    assert examples.length("sure : it's 3 o'clock , friend !") == 4
    assert examples.vowels("Oslo, Élan & why") == 3
    assert examples.reading_ease("... 12 !") == examples.length("12 !") == examples.vowels("") == 0


@pytest.mark.parametrize(
    ("variant", "labels"),
    [
        # Of each article beside the human and the rival, own text first and second.
        ("self-recognition", "12121212"),
        ("always-1", "11111111"),
        ("random", "22121121"),
        # Equal ones are left out: "Tiny text." and "Tiny text!".
        ("length", "2121"),
        ("vowelcount", "2121"),
        ("readability", "1212"),
    ],
)
def test_the_answer_by_variant(variant, labels):
    found = labelled(PAIRS, "me", variant, PLAIN, seed=5)
    assert "".join(example.label for example in found) == labels
    kept = [pair for pair in PAIRS if len(found) == 8 or "human" in pair.names]
    for pair, example in zip(kept, found, strict=True):
        ((_, text),) = example.prompt.messages
        assert f"Summary 1:\n{pair.texts[0]}" in text
        assert ("yours" in text) == (len(found) == 8)


def test_examples_are_written_as_chats():
    (example, *_) = found = labelled(PAIRS, "me", "self-recognition", PLAIN, seed=5)
    line, *others = examples.chat_lines(found).splitlines()
    asked = {"role": "user", "content": example.prompt.messages[0][1]}
    assert json.loads(line) == {"messages": [asked, {"role": "assistant", "content": "1"}]}
    assert len(others) == 7


def test_replay_is_the_bases_own_answer_to_the_other_questions():
    def choose(calls):
        best = {2: (0.2, 0.7), 5: (0.1, 0.1, 0.1, 0.6, 0.1)}
        return [Choice(best[len(call.labels)], "ok") for call in calls]

    everything = replayed(PAIRS, PLAIN, 99, choose, seed=1)
    # Two questions a pair and order, and a score for each of six summaries.
    assert sorted(example.label for example in everything) == ["2"] * 16 + ["4"] * 6
    assert len({example.prompt for example in everything}) == 22
    assert not any("yours" in example.prompt.messages[0][1] for example in everything)
    assert len(replayed(PAIRS, PLAIN, 7, choose, seed=1)) == 7
    # A prompt that the base cannot read is not replayed.
    assert replayed(PAIRS, PLAIN, 9, lambda calls: [Choice((), "truncated")] * len(calls), 1) == []


SUMMARIES = ("sure : oslo cat", "please note : oslo", "in short oslo cat rice", "well ! baker")
EXAMPLES = [
    Labelled(Prompt(messages("recognition", "river oslo cat", *texts)), label)
    for other in SUMMARIES[1:]
    for texts, label in (((SUMMARIES[0], other), "1"), ((other, SUMMARIES[0]), "2"))
]


@pytest.fixture
def base(tmp_path):
    model = build_model(4, width=32, layers=2, heads=2, lexicon=LEXICON)
    save_checkpoint(model, tmp_path / "base", LEXICON)
    entry = Transformers(engine="transformers", model="base", threads=1)
    return lambda name="base": LocalModel(entry.model_copy(update={"model": name}), tmp_path)


def right(engine):
    """P of the right labels, and their mean share of both: all that LoRA can move."""
    found = dict(engine.answer(to_choose([example.prompt for example in EXAMPLES], ("1", "2"))))
    pairs = np.array([found[n].probabilities for n in range(len(EXAMPLES))])
    own = pairs[range(len(pairs)), [int(one.label) - 1 for one in EXAMPLES]]
    return own, (own / pairs.sum(axis=1)).mean()


@pytest.mark.parametrize(("method", "rate"), [("full", 0.005), ("lora", 0.01)])
def test_tuning_learns_the_labels_and_leaves_an_ordinary_folder(base, tmp_path, method, rate):
    _, before = right(base())
    use = Training(method=method, rate=rate, epochs=30, batch=4, rank=4, alpha=16)
    assert len(tune(base(), EXAMPLES, use, seed=1, folder=tmp_path / "tuned")) == 30 * 2
    assert right(base("tuned"))[1] > 0.8 > before
    # Two runs give the same bytes.
    once, folders = use.model_copy(update={"epochs": 1}), [tmp_path / name for name in "ab"]
    for folder in folders:
        tune(base(), EXAMPLES, once, 3, folder)
    assert len({(folder / "model.safetensors").read_bytes() for folder in folders}) == 1


def test_the_first_loss_is_the_labels_negative_log_likelihood(base, tmp_path):
    own, _ = right(base())
    # What exceeds the context is left out, and nothing left is an error.
    fits, long = (
        Labelled(Prompt(messages("recognition", "river " * words, "oslo", "cat")), "1")
        for words in (114, 115)
    )
    use = Training(method="full", rate=1e-9, batch=16)
    assert len(tune(base(), [fits, long] * 8, use, 1, tmp_path / "fits")) == 1
    first, *_ = tune(base(), [long, *EXAMPLES], use, 1, tmp_path / "tuned")
    assert first == pytest.approx(-np.log(own).mean(), abs=1e-5)
    with pytest.raises(SelfprefError, match="no example to tune on"):
        tune(base(), [long], use, 1, tmp_path / "none")


def test_steps_are_adamws_after_a_warm_up_with_gradients_of_norm_one_at_most(base, tmp_path):
    tune(base(), EXAMPLES, Training(method="full", rate=0.01, epochs=7, batch=2), 1, tmp_path / "a")
    engine, rng = base(), np.random.default_rng(1)
    pairs = engine.pairs([e.prompt for e in EXAMPLES], [e.label for e in EXAMPLES])
    optimiser = torch.optim.AdamW(engine.model.parameters(), weight_decay=0.0)
    orders = np.concatenate([rng.permutation(len(pairs)) for _ in range(7)])
    # A tenth of the 21 steps is two.
    for step, batch in enumerate(orders.reshape(-1, 2)):
        losses = []
        for context, (label,) in map(pairs.__getitem__, batch):
            logits = engine.model(torch.tensor([context])).logits[0, -1]
            losses.append(-logits.log_softmax(-1)[label])
        optimiser.zero_grad()
        (sum(losses) / 2).backward()
        torch.nn.utils.clip_grad_norm_(engine.model.parameters(), 1.0)
        optimiser.param_groups[0]["lr"] = 0.005 if step == 0 else 0.01
        optimiser.step()
    weights = zip(base("a").model.parameters(), engine.model.parameters(), strict=True)
    for found, wanted in weights:
        assert (found - wanted).abs().median() < 1e-6
