"""Model calls through the store: what is there is replayed, what is new is kept at once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from selfpref import progress
from selfpref.engines import Choice, Engine, Generation, Prompt, Score
from selfpref.errors import SelfprefError
from selfpref.store import Store, call_key


def _choice(reply: dict[str, Any]) -> Choice:
    return Choice(tuple(reply["probabilities"]), reply["status"])


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
        ask: Callable[[list[int]], Iterable[tuple[int, Generation | Choice | Score]]],
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
            for position, answer in ask(new):
                key, reply = keys[new[position]], asdict(answer)
                # A prompt that did not fit was never asked; it costs nothing to find out again.
                if reply["status"] != "truncated":
                    self._store.put({key: reply})
                replies[key] = reply
                bar.update()
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
        return [_choice(reply) for reply in replies]

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
        marker: str = "",
        labels: Sequence[str] = (),
    ) -> list[Generation]:
        """As `Engine.generate`."""
        options = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "marker": marker,
            "labels": list(labels),
        }
        requests = [
            {"call": "generate", "prompt": asdict(prompt), **options, "seed": seed}
            for prompt, seed in zip(prompts, seeds, strict=True)
        ]
        replies = self._through(
            requests,
            lambda part: self._engine.generate(
                [prompts[i] for i in part],
                max_tokens=max_tokens,
                temperature=temperature,
                seeds=[seeds[i] for i in part],
                marker=marker,
                labels=labels,
            ),
        )
        return [
            Generation(reply["text"], reply["status"], reply["choice"] and _choice(reply["choice"]))
            for reply in replies
        ]
