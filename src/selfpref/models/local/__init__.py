"""Local weights through `transformers`: tensors alone, no remote code, fp32 probabilities."""

from selfpref.models.local.loading import identity
from selfpref.models.local.model import LocalModel, shared

__all__ = ["LocalModel", "identity", "shared"]
