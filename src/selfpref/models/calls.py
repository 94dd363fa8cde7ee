"""Model calls through the store: what is there is replayed, what is new is kept at once."""

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from selfpref import models, progress
from selfpref.errors import SelfprefError
from selfpref.models import Answer, Call, Endpoint, Engine, Json, Raw
from selfpref.store import Store, call_key, chunks

# Other outcomes are asked again: a prompt that did not fit costs nothing to find out again, and
# neither a refusal nor a failure is an answer.
KEPT = ("ok", "cut")
# From an answer that was kept as JSON.
RESTORED: dict[type[Call], TypeAdapter[Any]] = {
    models.Generate: TypeAdapter(models.Text),
    models.Choose: TypeAdapter(models.Choice),
    models.Score: TypeAdapter(models.Likelihood),
}


class Model:
    """An engine behind the store.

    Args:
        engine: What answers.
        store: What is kept.
        offline: Replay only; a call that is not in the store is an error.
        title: What the progress bar says; without one there is no bar.
    """

    def __init__(self, engine: Engine, store: Store, *, offline: bool, title: str) -> None:
        self.engine, self._store, self._offline, self._title = engine, store, offline, title
        self._endpoint = engine if isinstance(engine, Endpoint) else None

    def ask(self, calls: Sequence[Call]) -> list[Any]:
        """Answers in the order of the calls, each of its call's kind; equal ones are asked once.

        Raises:
            SelfprefError: Offline, and a call is not in the store; or the engine cannot answer.
        """
        keys = list(map(self._key, calls))
        asked: dict[str, int] = {}
        for index, key in enumerate(keys):
            asked.setdefault(key, index)
        answers: dict[str, Answer] = {}
        for part in chunks(list(asked)):
            for key, kept in self._store.get(part).items():
                answers[key] = self._read(calls[asked[key]], kept)
        new = [index for key, index in asked.items() if key not in answers]
        if new and self._offline:
            raise SelfprefError(
                f"{self._title}: {len(new)} calls are not in {self._store.path}; "
                "set `offline: false`"
            )
        done = len(answers)
        with (
            progress.bar(len(asked), self._title, initial=done, disable=not self._title) as bar,
            # Closed at once where this stops early: an engine goes on asking until it is.
            closing(self._answers(calls, new)) as coming,
        ):
            for index, answer in coming:
                bar.update()
                key = keys[index]
                if isinstance(answer, Raw):
                    self._store.put({key: answer.reply})
                    answers[key] = self._read(calls[index], answer.reply)
                    continue
                if answer.status in KEPT:
                    self._store.put({key: asdict(answer)})
                answers[key] = answer
        return [answers[key] for key in keys]

    def _answers(
        self, calls: Sequence[Call], new: Sequence[int]
    ) -> Generator[tuple[int, Answer | Raw], None, None]:
        """The engine's answers to the calls of these indices, those equal in options together."""
        alike: dict[tuple[object, ...], list[int]] = {}
        for index in new:
            alike.setdefault(calls[index].options, []).append(index)
        for part in alike.values():
            for position, answer in self.engine.answer([calls[index] for index in part]):
                yield part[position], answer

    def _key(self, call: Call) -> str:
        if self._endpoint:
            return call_key(self._endpoint.request(call))
        return call_key({"engine": self.engine.identity, **call.as_json()})

    def _read(self, call: Call, kept: Json) -> Answer:
        if self._endpoint:
            return self._endpoint.read(call, kept)
        answer: Answer = RESTORED[type(call)].validate_python(kept)
        return answer
