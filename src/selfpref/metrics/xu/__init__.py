"""Self-bias in self-refinement (Xu et al., arXiv 2402.11436): definitions and controls."""
