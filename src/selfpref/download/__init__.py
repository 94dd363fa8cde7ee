"""Downloads: every one pinned."""
