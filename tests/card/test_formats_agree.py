"""One set of judgments gives the same numbers in whatever format it comes."""

import json

import numpy as np
import pandas as pd
import pytest
from judgment_files import WITHOUT_ORDER, WRITERS
from test_measured import FOUR, judgments

from selfpref.__main__ import main
from selfpref.card import measured

POSITION = ("first_position", "flips", "reversals")


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch):
    monkeypatch.setattr(measured, "RESAMPLES", 200)


@pytest.fixture(scope="module")
def judged():
    """Verdicts, ties and missing ones among them, and votes, as the writers take them."""
    frame = judgments(items=40, judges=FOUR, responders=FOUR)
    pair = ["item", "responder_a", "responder_b"]
    votes = frame[[*pair, "annotator", "label"]].drop_duplicates().astype({"item": "str"})
    votes.loc[votes.index[::4], "label"] = "tie"
    turned = frame["order"].eq("ba")
    one, two = frame["responder_a"], frame["responder_b"]
    choice = one.where(frame["verdict"].eq("a"), two).astype(object)
    choice[frame.index % 11 == 0] = "tie"
    choice[frame.index % 13 == 0] = None
    verdicts = pd.DataFrame({"item": frame["item"].astype("str"), "judge": frame["judge"]})
    first, second = one.where(~turned, two), two.where(~turned, one)
    return verdicts.assign(first=first, second=second, choice=choice), votes


def cards(form, judged, folder):
    path, votes = WRITERS[form](*judged, folder, "set")
    given = [str(path), "--json", str(folder / "card.json")]
    assert main(["measure", *given, *(["--votes", str(votes)] if votes else [])]) == 0
    return json.loads((folder / "card.json").read_text())["judges"]


@pytest.fixture(scope="module")
def wanted(judged, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measured, "RESAMPLES", 200)
        return cards("pairs", judged, tmp_path_factory.mktemp("pairs"))


def flat(card, at=()):
    for key, value in card.items():
        if isinstance(value, dict):
            yield from flat(value, (*at, key))
        else:
            yield (*at, key), value


def test_the_set_is_no_easy_one(wanted):
    for card in wanted.values():
        assert card["judge_ties"] * card["human_ties"] * card["no_verdict"]
        assert card["excess"]["n"] * card["regression"]["n"]
        assert card["flips"]["value"] > 0


@pytest.mark.parametrize("form", [form for form in WRITERS if form != "pairs"])
def test_every_format_gives_the_same_numbers(form, judged, wanted, tmp_path):
    found = cards(form, judged, tmp_path)
    assert list(found) == list(wanted) == list(FOUR)
    for judge, card in wanted.items():
        told = dict(flat(found[judge]))
        for key, value in flat(card):
            if form in WITHOUT_ORDER and key[0] in POSITION:
                assert told[key] == (0 if key[1] == "n" else None), key
            elif form in WITHOUT_ORDER and key == ("latent_quality", "value"):
                # It reads the place where it is known.
                assert told[key] == pytest.approx(value, abs=0.03), key
            elif form in WITHOUT_ORDER and key[0] == "latent_quality":
                continue
            elif isinstance(value, float):
                np.testing.assert_allclose(told[key], value, atol=2e-6, err_msg=str(key))
            else:
                assert told[key] == value, key
        if form in WITHOUT_ORDER:
            assert "which response was read first" in found[judge]["flips"]["reason"]
