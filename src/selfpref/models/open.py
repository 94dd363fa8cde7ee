"""From an entry of `models` in the parameters to what answers for it, behind the store."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from selfpref import paths
from selfpref.models import Engine
from selfpref.models.calls import PART, Model
from selfpref.models.ray_pool import RayEndpoint, RayPool
from selfpref.models.served import HostedModel
from selfpref.params import Hosted, Params, Ray, hosted
from selfpref.params import Model as Entry
from selfpref.store import Store, store_path

# For Ray's workers, who load their model anew each time.
LARGE_PART = 50_000
# As `open_model`.
OpenModel = Callable[[Params, str, str, str], AbstractContextManager[Model]]


@contextmanager
def open_model(params: Params, key: str, dataset: str, title: str) -> Iterator[Model]:
    """One model behind the store.

    Args:
        params: With `models` and `offline`.
        key: A key of `models`.
        dataset: The data set whose items it will read; `{dataset}` in the model's path.
        title: What the progress bar says.
    """
    with open_entry(params, key, params.models[key], dataset, title) as (_, model):
        yield model


@contextmanager
def open_entry(
    params: Params, key: str, entry: Entry, dataset: str, title: str
) -> Iterator[tuple[Engine, Model]]:
    """As `open_model`, of an entry that may differ from the key's own; the bare engine first."""
    with Store(store_path(paths.root())) as store:
        engine = open_engine(key, entry, dataset)
        yield (
            engine,
            Model(
                engine,
                store,
                offline=params.offline,
                title=title,
                at_a_time=LARGE_PART if isinstance(entry, Ray) else PART,
            ),
        )


def responder(params: Params, key: str) -> str:
    """What the tables call a model: its own responses are those of the responder of this name."""
    return params.models[key].responder or key


def gives_likelihoods(params: Params, key: str) -> bool:
    """Whether a model tells the likelihood of a given text."""
    entry = hosted(params.models[key])
    return entry is None or entry.server == "vllm"


def open_engine(key: str, entry: Entry, dataset: str) -> Engine:
    """What answers for one entry of `models`.

    Args:
        key: Its key.
        entry: The entry.
        dataset: What `{dataset}` in its path stands for.
    """
    if isinstance(entry, Ray):
        return _pool(key, entry, dataset)
    # Each library is loaded only where it is used: torch takes seconds.
    if isinstance(entry, Hosted):
        return _served(key, entry)
    from selfpref.models.local import LocalModel, LocalPool  # noqa: PLC0415

    kind = LocalModel if entry.processes == 1 else LocalPool
    return kind(entry, paths.root(), dataset)


def _pool(key: str, entry: Ray, dataset: str) -> RayPool:
    open_inner = partial(open_engine, key, entry.inner, dataset)
    if isinstance(entry.inner, Hosted):
        reader = _served(key, entry.inner)
        return RayEndpoint(entry, open_inner, reader, paths.root(), paths.ray_log())
    from selfpref.models.local.weights import identity  # noqa: PLC0415

    known = identity(entry.inner, paths.root(), dataset)
    return RayPool(entry, open_inner, known, paths.root(), paths.ray_log())


def _served(key: str, entry: Hosted) -> HostedModel:
    from selfpref.models.served.live import Live  # noqa: PLC0415

    return HostedModel(key, entry, Live(key, entry))
