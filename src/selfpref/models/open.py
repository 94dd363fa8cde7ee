"""From an entry of `models` in the parameters to what answers for it, behind the store."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.util import find_spec

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.models import Answering, Engine, Together
from selfpref.models.calls import PART, Model
from selfpref.models.served import HostedModel
from selfpref.params import Hosted, Params, Ray, Transformers
from selfpref.params import Model as Entry
from selfpref.store import Store, store_path

# For Ray's workers, who load their model anew each time.
LARGE_PART = 50_000
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
    entry = entry or params.models[key]
    part = LARGE_PART if isinstance(entry, Ray) else PART
    with Store(store_path(paths.root())) as store:
        engine = open_engine(key, entry, dataset)
        yield Model(engine, store, offline=params.offline, title=title, at_a_time=part)


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
    inner = entry.inner if isinstance(entry, Ray) else entry
    root, answer = paths.root(), None
    # Each library is loaded only where it is used: torch takes seconds.
    if isinstance(entry, Ray):
        if find_spec("ray") is None:
            raise SelfprefError("engine: ray needs the extra `ray`: pip install -e '.[ray]'")
        from selfpref.models import cluster  # noqa: PLC0415

        # Each worker opens the inner engine.
        opened = partial(_answering, key, entry.inner, dataset)
        answer = partial(cluster.answer, entry, opened, root, paths.ray_log())
    if isinstance(inner, Hosted):
        return HostedModel(key, inner, answer or _answering(key, inner, dataset))
    from selfpref.models import local  # noqa: PLC0415

    if answer is None and inner.processes > 1:
        answer = partial(local.shared, inner, root, dataset)
    if answer is None:
        return local.LocalModel(inner, root, dataset)
    return Together(local.loading.identity(inner, root, dataset), answer)


def _answering(key: str, entry: Hosted | Transformers, dataset: str) -> Answering:
    """What answers requests to a served model, or calls of a local one."""
    if isinstance(entry, Hosted):
        from selfpref.models.served.live import send  # noqa: PLC0415

        return partial(send, key, entry)
    return open_engine(key, entry, dataset).answer
