"""The one exception that a user is meant to read."""


class SelfprefError(Exception):
    """Bad input: one or two lines that name the file or key and the remedy."""
