"""The study of Xu et al. (arXiv 2402.11436)."""
