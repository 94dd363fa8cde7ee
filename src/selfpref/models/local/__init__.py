"""Local weights through `transformers`: safetensors only, no remote code, fp32 probabilities."""

from selfpref.models.local.model import LocalModel

__all__ = ["LocalModel"]
