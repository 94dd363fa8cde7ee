"""The studies: a folder each, with what they read, measure and draw."""
