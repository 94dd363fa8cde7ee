"""Keys of the store: what was asked once is found again by every later version."""

import pytest

from selfpref.models import Choose, Generate, Likelihood, Prompt, Score
from selfpref.models.calls import Model
from selfpref.models.served import HostedModel
from selfpref.params import Hosted
from selfpref.store import call_key

PROMPT = Prompt((("system", "Be brief."), ("user", "Why is the sky “blue”?")), "[[")
CALLS = {
    "choose": Choose(PROMPT, ("A", "B")),
    "score": Score(PROMPT, " Rayleigh"),
    "generate": Generate(PROMPT, 64, 0.7, 7, "[[", ("A", "B")),
    "plain": Generate(PROMPT, 64, 0.7, 7),
}
LOCAL = {
    "choose": "7248f18a8a1057a5d3e009e106265bae237599a34f5079c6622cb612db78d1c3",
    "score": "fbfb70989cdbcac581771ce3effb18c9280c1e273bdd340e8bd630a7638a788d",
    "generate": "eb56e275b4d0891bbe2ddee2816676eac97848df4b265051ed33207e51c01850",
}
SERVED = {
    ("openai", "choose"): "f677920297b4d4b754e4db3059e0ddd0e8e9c9760885985230ea0949c3ebbdf1",
    ("openai", "generate"): "7e31debbd87bd6145cb65d6ec71014c07e250fb130acb1f3fa16c028118aea3f",
    ("vllm", "choose"): "5ed1f6e2977895b6f59c83c6bd5e43a358bc61efdd7612f5e0f3572ced590501",
    ("vllm", "score"): "340645defb131e9ec52e8ab5bf654a0978a7312632375f039c80f74538d14840",
    ("vllm", "generate"): "067c524beaec41e162655974629a525d97b8bfa818a596169082b8e7af9860ec",
    ("llama.cpp", "choose"): "746162d815a090f18b57a8f9842fc652717fe81dbff687aebd70a26636eca898",
    ("llama.cpp", "generate"): "39fb8a7404bf4b279b2fadea62085906e54f9ec2b08d4af6588e0bc4375d6afd",
    ("reasoning", "plain"): "0cd612f422f174fe590e9475e98f10cd2bdf3610b1476e1204a1e942c6b42319",
}


class Kept:
    """A store that holds an answer to every call whose key it was given."""

    path = "store"

    def __init__(self, reply):
        self.reply, self.keys = reply, []

    def get(self, keys):
        self.keys += keys
        return dict.fromkeys(keys, self.reply)

    def put(self, replies):
        assert not replies


@pytest.mark.parametrize("kind", LOCAL)
def test_keys_of_local_models_stay(kind):
    class Local:
        identity = {"provider": "transformers", "weights": "org/m@abc", "dtype": "float32"}  # noqa: RUF012

        def answer(self, calls):
            raise NotImplementedError

    kept = Kept(
        {
            "choose": {"probabilities": [0.5, 0.25], "status": "ok"},
            "score": {"sum_nll": 1.5, "n_tokens": 2, "status": "ok"},
            "generate": {"text": "[[A]]", "status": "cut", "choice": None},
        }[kind]
    )
    (answer,) = Model(Local(), kept, offline=True, title="").ask([CALLS[kind]])
    assert kept.keys == [LOCAL[kind]]
    # What was kept before is read as ever.
    assert answer == Likelihood(1.5, 2, "ok") or kind != "score"
    assert answer.status == kept.reply["status"]


@pytest.mark.parametrize(("server", "kind"), SERVED)
def test_keys_of_served_models_stay(server, kind):
    how = {"reasoning": "low"} if server == "reasoning" else {"server": server}
    entry = Hosted(engine="openai", model="m", base_url="https://h.example/v1", **how)
    found = HostedModel("m", entry, None).request(CALLS[kind])
    assert call_key(found) == SERVED[server, kind]
