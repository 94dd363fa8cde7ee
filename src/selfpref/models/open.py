"""From an entry of `models` in the parameters to what answers for it, behind the store."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.util import find_spec

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.models import Engine, Together
from selfpref.models.calls import Model
from selfpref.models.served import HostedModel
from selfpref.params import Hosted, Params, Ray
from selfpref.params import Model as Entry
from selfpref.store import Store, store_path

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
        from selfpref.models.served.live import send  # noqa: PLC0415

        return HostedModel(key, entry, partial(send, key, entry))
    from selfpref.models import local  # noqa: PLC0415

    root = paths.root()
    if isinstance(entry, Ray):
        if find_spec("ray") is None:
            raise SelfprefError("engine: ray needs the extra `ray`: pip install -e '.[ray]'")
        from selfpref.models import cluster  # noqa: PLC0415

        model = partial(local.LocalModel, entry.inner, root, dataset)
        answer = partial(cluster.answer, entry, model, root, paths.ray_log())
        return Together(local.loading.identity(entry.inner, root, dataset), answer)
    if entry.processes == 1:
        return local.LocalModel(entry, root, dataset)
    answer = partial(local.shared, entry, root, dataset)
    return Together(local.loading.identity(entry, root, dataset), answer)
