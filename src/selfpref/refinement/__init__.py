"""Self-refinement: what feedback says, which concepts a text holds, what a chain of steps obeys.

Read by the reader of the release, by the laboratory's loop and by the metrics alike.
"""
