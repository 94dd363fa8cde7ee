"""Models behind the store: what is there is replayed, what is new is asked and kept at once."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from typing import Any

from pydantic import TypeAdapter

from selfpref import paths, progress
from selfpref.errors import SelfprefError
from selfpref.models import Answer, Call, Endpoint, Engine, Json, Raw, Together
from selfpref.params import Hosted, Params, Ray
from selfpref.params import Model as Entry
from selfpref.store import Store, call_key, store_path

# Other outcomes are asked again: a prompt that did not fit costs nothing to find out again, and
# neither a refusal nor a failure is an answer.
KEPT = ("ok", "cut")
# From an answer that was kept as JSON.
RESTORED: TypeAdapter[Answer] = TypeAdapter(Answer)


class Model:
    """An engine behind the store.

    Args:
        engine: What answers.
        store: What is kept.
        offline: Replay only; a call that is not in the store is an error.
        title: What the progress bar says; without one there is no bar.
    """

    # The first call of all with its answer, to be shown.
    first: tuple[Call, Answer] | None = None

    def __init__(self, engine: Engine, store: Store, *, offline: bool, title: str) -> None:
        self.engine, self._store, self._offline, self._title = engine, store, offline, title
        self._endpoint = engine if isinstance(engine, Endpoint) else None

    def ask(self, calls: Sequence[Call]) -> list[Any]:
        """Answers in the order of the calls, each of its call's kind; equal ones are asked once.

        Raises:
            SelfprefError: Offline, and a call is not in the store; or the engine cannot answer.
        """
        keys = list(map(self._key, calls))
        asked = dict(zip(keys, calls, strict=True))
        answers = {key: self._read(asked[key], kept) for key, kept in self._store.get(asked)}
        new = {key: call for key, call in asked.items() if key not in answers}
        if new and self._offline:
            raise SelfprefError(
                f"{self._title}: {len(new)} calls are not in {self._store.path}; "
                "set `offline: false`"
            )
        done = len(answers)
        with (
            progress.bar(len(asked), self._title, initial=done, disable=not self._title) as bar,
            # Closed at once where this stops early: an engine goes on asking until it is.
            closing(self._answers(new)) as coming,
        ):
            for key, answer in coming:
                bar.update()
                if isinstance(answer, Raw):
                    self._store.put({key: answer.reply})
                    answers[key] = self._read(new[key], answer.reply)
                    continue
                if answer.status in KEPT:
                    self._store.put({key: asdict(answer)})
                answers[key] = answer
        if self.first is None and calls:
            self.first = calls[0], answers[keys[0]]
        return [answers[key] for key in keys]

    def _answers(self, new: Mapping[str, Call]) -> Generator[tuple[str, Answer | Raw]]:
        """The engine's answers to the calls by key, those equal in options together."""
        alike: dict[tuple[object, ...], list[str]] = {}
        for key, call in new.items():
            alike.setdefault(call.options, []).append(key)
        for part in alike.values():
            for position, answer in self.engine.answer([new[key] for key in part]):
                yield part[position], answer

    def _key(self, call: Call) -> str:
        own = self._endpoint
        sent = own.request(call) if own else {"engine": self.engine.identity, **call.as_json()}
        return call_key(sent)

    def _read(self, call: Call, kept: Json) -> Answer:
        own = self._endpoint
        return own.read(call, kept) if own else RESTORED.validate_python(kept)


# As `open_model`.
OpenModel = Callable[[Params, str, str, str], AbstractContextManager[Model]]


@contextmanager
def open_model(
    params: Params, key: str, dataset: str, title: str, entry: Entry | None = None
) -> Iterator[Model]:
    """One model behind the store.

    Args:
        params: With `models` and `offline`.
        key: A key of `models`.
        dataset: The data set whose items it will read; `{dataset}` in the model's path.
        title: What the progress bar says.
        entry: In place of the key's own.
    """
    with Store(store_path(paths.root())) as store:
        engine = open_engine(key, entry or params.models[key], dataset)
        yield Model(engine, store, offline=params.offline, title=title)


def responder(params: Params, key: str) -> str:
    """What the tables call a model: its own responses are those of the responder of this name."""
    return params.models[key].responder or key


def open_engine(key: str, entry: Entry, dataset: str) -> Engine:
    """What answers for one entry of `models`.

    Args:
        key: Its key.
        entry: The entry.
        dataset: What `{dataset}` in its path stands for.

    Raises:
        SelfprefError: Ray is wanted and not installed.
    """
    # Each library is loaded only where it is used: torch takes seconds.
    if isinstance(entry, Hosted):
        from selfpref.models.served import HostedModel  # noqa: PLC0415

        return HostedModel(key, entry)
    from selfpref.models import local  # noqa: PLC0415

    place = entry.inner if isinstance(entry, Ray) else entry, paths.root(), dataset
    model = partial(local.LocalModel, *place)
    if isinstance(entry, Ray):
        if find_spec("ray") is None:
            raise SelfprefError("engine: ray needs the extra `ray`: pip install -e '.[ray]'")
        from selfpref.models import cluster  # noqa: PLC0415

        answer = partial(cluster.answer, entry, model, paths.root(), paths.ray_log())
    elif entry.processes == 1:
        return model()
    else:
        answer = partial(local.shared, *place)
    return Together(local.loading.identity(*place), answer)
