"""Model calls through the store: what is there is replayed, what is new is kept at once."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, TypeVar, cast

from selfpref import progress, records
from selfpref.errors import SelfprefError
from selfpref.models import (
    Answer,
    Choice,
    Endpoint,
    Engine,
    Generation,
    Json,
    Prompt,
    Raw,
    Score,
    choose_call,
    generate_call,
    score_call,
)
from selfpref.store import Store, call_key, chunks

# Other outcomes are asked again: a prompt that did not fit costs nothing to find out again, and
# neither a refusal nor a failure is an answer.
KEPT = ("ok", "cut")
T = TypeVar("T")


def _kept(answer: Answer | Raw) -> Json | bytes | None:
    """What the store holds of an answer."""
    if isinstance(answer, Raw):
        return answer.sent or answer.reply
    return asdict(answer) if answer.status in KEPT else None


def _restore(call: Json, reply: Json) -> Answer:
    """The answer that was kept as it is."""

    def choice(fields: Json) -> Choice:
        return Choice(tuple(fields["probabilities"]), fields["status"])

    match call["call"]:
        case "choose":
            return choice(reply)
        case "score":
            return Score(**reply)
        case _:
            made = reply["choice"]
            return Generation(reply["text"], reply["status"], made and choice(made))


@contextmanager
def _closed(coming: Iterator[T]) -> Iterator[Iterator[T]]:
    """Closed at once where its reader stops early: an engine goes on asking until it is."""
    try:
        yield coming
    finally:
        if isinstance(coming, Generator):
            coming.close()


def _together(
    coming: Iterator[tuple[int, Answer | Raw]],
) -> Iterator[list[tuple[int, Answer | Raw]]]:
    """Answers as they come, those that are there at the same time in one list."""
    come = []
    for position, answer in coming:
        come.append((position, answer))
        if not (isinstance(answer, Raw) and answer.more):
            yield come
            come = []


class Calls:
    """An engine behind the store.

    Args:
        engine: What answers.
        store: What is kept.
        offline: Replay only; a call that is not in the store is an error.
        title: What the progress bar says; without one there is no bar.
    """

    def __init__(self, engine: Engine, store: Store, *, offline: bool, title: str) -> None:
        self._engine, self._store, self._offline, self._title = engine, store, offline, title
        self._endpoint = engine if isinstance(engine, Endpoint) else None

    def _through(
        self, calls: Sequence[Json], ask: Callable[[list[int]], Iterator[tuple[int, Answer | Raw]]]
    ) -> list[Answer]:
        """Answers in the order of the calls; `ask` answers those of the given indices."""
        keys = [self._key(call) for call in calls]
        # Equal requests are one call.
        first = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))
        answers: dict[str, Answer] = {}
        for part in chunks(list(first)):
            for key, reply in self._store.get(part).items():
                answers[key] = self._read(calls[first[key]], reply)
        new = sorted(index for key, index in first.items() if key not in answers)
        if new and self._offline:
            raise SelfprefError(
                f"{self._title}: {len(new)} calls are not in {self._store.path}; "
                "set `offline: false`"
            )
        done, spent = len(first) - len(new), 0.0
        with (
            progress.bar(len(first), self._title, initial=done, disable=not self._title) as bar,
            _closed(ask(new) if new else iter(())) as coming,
        ):
            for come in _together(coming):
                self._store.put(
                    {
                        keys[new[position]]: reply
                        for position, answer in come
                        if (reply := _kept(answer)) is not None
                    }
                )
                for position, answer in come:
                    index = new[position]
                    if isinstance(answer, Raw):
                        answers[keys[index]] = self._read(calls[index], answer.reply)
                        if self._endpoint and (cost := self._endpoint.cost(answer.reply)):
                            spent += cost
                            bar.set_postfix_str(f"${spent:.2f}", refresh=False)
                    else:
                        answers[keys[index]] = answer
                bar.update(len(come))
        records.count_calls(len(new), done, spent)
        return [answers[key] for key in keys]

    def _key(self, call: Json) -> str:
        if self._endpoint:
            return call_key(self._endpoint.request(call))
        return call_key({"engine": self._engine.identity, **call})

    def _read(self, call: Json, reply: Json) -> Answer:
        return self._endpoint.read(call, reply) if self._endpoint else _restore(call, reply)

    def choose(self, prompts: Sequence[Prompt], labels: Sequence[str]) -> list[Choice]:
        """As `Engine.choose`."""
        answers = self._through(
            [choose_call(prompt, labels) for prompt in prompts],
            lambda part: self._engine.choose([prompts[i] for i in part], labels),
        )
        return cast(list[Choice], answers)

    def score(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> list[Score]:
        """As `Engine.score`."""
        answers = self._through(
            [score_call(*pair) for pair in zip(prompts, continuations, strict=True)],
            lambda part: self._engine.score(
                [prompts[i] for i in part], [continuations[i] for i in part]
            ),
        )
        return cast(list[Score], answers)

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
        options: dict[str, Any] = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "marker": marker,
            "labels": labels,
        }
        answers = self._through(
            [
                generate_call(prompt, seed, **options)
                for prompt, seed in zip(prompts, seeds, strict=True)
            ],
            lambda part: self._engine.generate(
                [prompts[i] for i in part], seeds=[seeds[i] for i in part], **options
            ),
        )
        return cast(list[Generation], answers)
