"""Data sets of the Hugging Face Hub, for judges that run here.

A reader takes the data set's key, its entry in the parameters and the file that pins it, and
returns the tables. Responses that a set holds are read, never generated anew.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref.studies.livebench.read import hub as livebench_hub
from selfpref.studies.wataoka.read import chatbot_arena, mt_bench_hub

# From the data set's key, its entry in the parameters and its pins to the tables.
Reader = Callable[[str, Any, Path], dict[str, pd.DataFrame]]

READERS: dict[str, Reader] = {
    "chatbot-arena": chatbot_arena.read,
    "mt-bench-hub": mt_bench_hub.read,
    "livebench-hub": livebench_hub.read,
}
