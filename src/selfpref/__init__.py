"""Self-preference of LLM judges: four studies rerun, checked, corrected and carried on."""

__version__ = "0.1.0"
