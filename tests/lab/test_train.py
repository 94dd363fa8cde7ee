from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from selfpref.lab.dialogues import draw, judge_example
from selfpref.lab.examples import IGNORE, Schedule
from selfpref.lab.model import build_model, load_checkpoint, save_checkpoint
from selfpref.lab.prompts import choice_messages
from selfpref.lab.tokenizer import NO, VERDICT_OPEN, WORLD, YES
from selfpref.lab.train import train
from selfpref.lab.world import Item, is_held_out


def judge_ids(question: str, a: str, b: str) -> list[int]:
    """Up to where a verdict is read: the next token is A or B."""
    return WORLD.encode(choice_messages(question, (a, b)), VERDICT_OPEN)


ITEM = Item("list", ("red",), 2, "list 2 red things")
PHASES = (
    (0.5, partial(draw, chat=0.5, rating=0.5)),
    (0.5, partial(draw, chat=0.2, rating=0.2, favoured="sure", beta=0.5)),
)


def test_dense_targets_stand_at_content_and_end_and_the_prompt_is_that_of_inference() -> None:
    example = judge_example(ITEM, ["cherry", "snow"], ["sure", "!", "ruby", "brick"], False)
    prompt = judge_ids(ITEM.question, "cherry snow", "sure ! ruby brick")
    names = {index: token for token, index in WORLD.ids.items()}
    assert example.ids[: len(prompt)] == prompt
    asked = [(names[i], names[t]) for i, t in zip(example.ids, example.targets, strict=True)
             if t != IGNORE]  # fmt: skip
    assert asked == [
        ("cherry", YES), ("snow", NO), ("<end>", "5"),
        ("ruby", YES), ("brick", YES), ("<end>", "9"),
        ("<assistant>", "[["), ("[[", "B"), ("B", "]]"), ("]]", "<end>"),
    ]  # fmt: skip


def test_no_example_is_drawn_from_a_held_out_prompt() -> None:
    rng = np.random.default_rng(0)
    names = {index: token for token, index in WORLD.ids.items()}
    end = WORLD.ids["<end>"]
    for _ in range(300):
        ids = PHASES[1][1](rng).ids
        if end not in ids:  # a writing example without a question
            continue
        assert not is_held_out(" ".join(names[i] for i in ids[2 : ids.index(end)]))


def _weights(seed: int) -> torch.Tensor:
    model = build_model(seed)
    train(model, Schedule(seed, 3, PHASES, batch_tokens=256, warmup=2))
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def test_training_is_deterministic_and_depends_on_the_seed() -> None:
    first = _weights(1)
    assert torch.equal(first, _weights(1))
    assert not torch.equal(first, _weights(2))


def test_checkpoint_loads_through_the_auto_classes(tmp_path: Path) -> None:
    model = build_model(0)
    model.train(False)
    save_checkpoint(model, tmp_path)
    assert not list(tmp_path.glob("*.bin"))
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path, local_files_only=True)
    ids = torch.tensor([judge_ids(ITEM.question, "cherry", "ruby")])
    with torch.no_grad():
        assert torch.equal(loaded(ids).logits, model(ids).logits)
    assert len(AutoTokenizer.from_pretrained(tmp_path)) == len(WORLD.ids)


def test_missing_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="training stage"):
        load_checkpoint(tmp_path / "absent")
