"""The study "Self-bias in LLM as Judge" on LiveBench."""
