"""Local weights through `transformers`: tensors alone, no remote code, fp32 probabilities."""

from selfpref.models.local.model import LocalModel
from selfpref.models.local.pool import shared

__all__ = ["LocalModel", "shared"]
