"""What comes in: the release (`release`), or LiveBench itself from the Hub (`hub`)."""
