"""Model calls through the store: what is there is replayed, what is new is kept at once."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from selfpref import progress
from selfpref.engines import Choice, Engine, Generation, Prompt, Score
from selfpref.errors import SelfprefError
from selfpref.store import Store, call_key

# Calls that an engine answers at once, and that are then kept at once: a killed stage asks these
# again, and nothing that was kept.
CHUNK = 256


class Calls:
    """An engine behind the store.

    Args:
        engine: What answers.
        store: What is kept.
        offline: Replay only; a call that is not in the store is an error.
        title: What the progress bar says.
    """

    def __init__(self, engine: Engine, store: Store, *, offline: bool, title: str) -> None:
        self._engine, self._store, self._offline, self._title = engine, store, offline, title

    def _through(
        self,
        requests: Sequence[dict[str, Any]],
        ask: Callable[[list[int]], Sequence[Generation | Choice | Score]],
    ) -> list[dict[str, Any]]:
        """Raw replies in the order of the requests; `ask` answers those of the given indices."""
        keys = [call_key({"engine": self._engine.identity, **request}) for request in requests]
        replies = self._store.get(dict.fromkeys(keys))
        # Equal requests are one call.
        missing = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))
        new = sorted(index for key, index in missing.items() if key not in replies)
        if new and self._offline:
            raise SelfprefError(
                f"{self._title}: {len(new)} calls are not in {self._store.path}; "
                "set `offline: false`"
            )
        with progress.bar(len(keys), self._title, initial=len(keys) - len(new)) as bar:
            for start in range(0, len(new), CHUNK):
                part = new[start : start + CHUNK]
                answers = [asdict(answer) for answer in ask(part)]
                made = {keys[i]: answer for i, answer in zip(part, answers, strict=True)}
                # A prompt that did not fit was never asked; it costs nothing to find out again.
                self._store.put({key: a for key, a in made.items() if a["status"] != "truncated"})
                replies |= made
                bar.update(len(part))
        return [replies[key] for key in keys]

    def choose(self, prompts: Sequence[Prompt], labels: Sequence[str]) -> list[Choice]:
        """As `Engine.choose`."""
        requests = [
            {"call": "choose", "prompt": asdict(prompt), "labels": list(labels)}
            for prompt in prompts
        ]
        replies = self._through(
            requests, lambda part: self._engine.choose([prompts[i] for i in part], labels)
        )
        return [Choice(tuple(reply["probabilities"]), reply["status"]) for reply in replies]

    def score(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> list[Score]:
        """As `Engine.score`."""
        requests = [
            {"call": "score", "prompt": asdict(prompt), "continuation": text}
            for prompt, text in zip(prompts, continuations, strict=True)
        ]
        replies = self._through(
            requests,
            lambda part: self._engine.score(
                [prompts[i] for i in part], [continuations[i] for i in part]
            ),
        )
        return [Score(**reply) for reply in replies]

    def generate(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        temperature: float,
        seeds: Sequence[int],
    ) -> list[Generation]:
        """As `Engine.generate`."""
        sampling = {"max_tokens": max_tokens, "temperature": temperature}
        requests = [
            {"call": "generate", "prompt": asdict(prompt), **sampling, "seed": seed}
            for prompt, seed in zip(prompts, seeds, strict=True)
        ]
        replies = self._through(
            requests,
            lambda part: self._engine.generate(
                [prompts[i] for i in part],
                max_tokens=max_tokens,
                temperature=temperature,
                seeds=[seeds[i] for i in part],
            ),
        )
        return [Generation(**reply) for reply in replies]
