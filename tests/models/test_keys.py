"""Keys of the store: what was asked once is found again by every later version."""

import pytest

from selfpref.models import Choose, Generate, Likelihood, Prompt, Score
from selfpref.models.calls import Model
from selfpref.models.served import HostedModel
from selfpref.params import Hosted
from selfpref.store import call_key

PROMPT = Prompt((("system", "Be brief."), ("user", "Why is the sky “blue”?")), "[[")
ASKED = Prompt(PROMPT.messages)
CALLS = {
    "choose": Choose(PROMPT, ("A", "B")),
    "score": Score(PROMPT, " Rayleigh"),
    "generate": Generate(PROMPT, 64, 0.7, 7, "[[", ("A", "B")),
    "plain": Generate(PROMPT, 64, 0.7, 7),
    "choose, asked": Choose(ASKED, ("A", "B")),
    "generate, asked": Generate(ASKED, 64, 0.7, 7),
    "score, no messages": Score(Prompt((), "<assistant>"), " Rayleigh"),
}
LOCAL = {
    # Of given answers, since they begin where the assistant's turn has them.
    "choose": "e9aab6f28b565ee03e7c24f92c702597fd37ea55b2402fbf67e8ce4befae2f44",
    "score": "b74170251b93d4d572aba037a65a38fd69a2955c3a70289faaec538ba32e64d4",
    "generate": "61cf807499f312ae8fbe27b1a2324b7e2d94c25b8846f496781de0097c9b27d0",
    # Of labels, since they are read behind a format's own space where that is a token of its own.
    "choose, asked": "1153757f6b915efdbe01ec8990d5e924367d7ef9ab8c2264155f1fdbc4a86dc4",
    # Of all others, as ever.
    "generate, asked": "afaee7f59ecbcf358a163de8073e7a7b4f2527758fcf516bc82cb05566163a03",
    "score, no messages": "7295414c8ed70b60f26b93727b3373f4d9fc404b15fb903b1705fe864a7d330e",
}
SERVED = {
    ("openai", "choose"): "f677920297b4d4b754e4db3059e0ddd0e8e9c9760885985230ea0949c3ebbdf1",
    ("openai", "generate"): "7e31debbd87bd6145cb65d6ec71014c07e250fb130acb1f3fa16c028118aea3f",
    ("vllm", "choose"): "5ed1f6e2977895b6f59c83c6bd5e43a358bc61efdd7612f5e0f3572ced590501",
    ("vllm", "score"): "fa00f4f814b3e42b0566fa4b2c8865050685ebe7389832db6c3370c901ee3116",
    ("vllm", "score, no messages"): (
        "8a22d9ec72168e589a1a5ece771e2874f3820328650e82aa4e63062c9d1bc43d"
    ),
    ("vllm", "generate"): "067c524beaec41e162655974629a525d97b8bfa818a596169082b8e7af9860ec",
    ("llama.cpp", "choose"): "746162d815a090f18b57a8f9842fc652717fe81dbff687aebd70a26636eca898",
    ("llama.cpp", "generate"): "39fb8a7404bf4b279b2fadea62085906e54f9ec2b08d4af6588e0bc4375d6afd",
    # Since its limit holds what it reasons.
    ("reasoning", "plain"): "ab2de1263ca114d7cdfe7f61b123663fab93829bae624fa70e130db8971af99a",
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
        }[kind.partition(",")[0]]
    )
    (answer,) = Model(Local(), kept, offline=True, title="").ask([CALLS[kind]])
    assert kept.keys == [LOCAL[kind]]
    # What was kept before is read as ever.
    assert answer == Likelihood(1.5, 2, "ok") or not kind.startswith("score")
    assert answer.status == kept.reply["status"]


@pytest.mark.parametrize(("server", "kind"), SERVED)
def test_keys_of_served_models_stay(server, kind):
    how = {"reasoning": "low"} if server == "reasoning" else {"server": server}
    entry = Hosted(engine="openai", model="m", base_url="https://h.example/v1", **how)
    found = HostedModel("m", entry, None).request(CALLS[kind])
    assert call_key(found) == SERVED[server, kind]
