"""Local weights through `transformers`: safetensors only, no remote code, fp32 probabilities."""

from selfpref.engines.local.model import LocalModel

__all__ = ["LocalModel"]
