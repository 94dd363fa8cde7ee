"""Dialogues with people's votes from the Hugging Face Hub, for judges that run here.

A reader takes the data set's key, its entry in the parameters and the file that pins it, and
returns the tables. Responses that a set holds are read, never generated anew.
"""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from selfpref.datasets import chatbot_arena, mt_bench_hub
from selfpref.params import Dialogues

Reader = Callable[[str, Dialogues, Path], dict[str, pd.DataFrame]]

READERS: dict[str, Reader] = {
    "chatbot-arena": chatbot_arena.read,
    "mt-bench-hub": mt_bench_hub.read,
}
