"""Keys of the store: what was asked once is found again by every later version."""

from dataclasses import asdict

import pytest

from selfpref.models import Choice, Choose, Generate, Likelihood, Prompt, Score, Text, Together
from selfpref.models.calls import Model
from selfpref.store import Store

PROMPT = Prompt((("system", "Be brief."), ("user", "Why is the sky “blue”?")), "[[")
ASKED = Prompt(PROMPT.messages)
CALLS = {
    "choose": Choose(PROMPT, ("A", "B")),
    "score": Score(PROMPT, " Rayleigh"),
    "generate": Generate(PROMPT, 64, 0.7, 7, "[[", ("A", "B")),
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


KEPT = {
    "choose": Choice((0.5, 0.25), "ok"),
    "score": Likelihood(1.5, 2, "ok"),
    "generate": Text("[[A]]", "cut"),
}


@pytest.mark.parametrize("kind", LOCAL)
def test_keys_of_local_models_stay(tmp_path, kind):
    """And what was kept before is read as ever."""
    identity = {"provider": "transformers", "weights": "org/m@abc", "dtype": "float32"}
    kept = KEPT[kind.partition(",")[0]]
    with Store(tmp_path / "store.sqlite") as store:
        store.put({LOCAL[kind]: asdict(kept)})
        model = Model(Together(identity, None), store, offline=True, title="")
        assert model.ask([CALLS[kind]]) == [kept]
