"""From rows to calls of a model to rows."""
