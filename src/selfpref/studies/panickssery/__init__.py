"""The study of Panickssery, Bowman & Feng (arXiv 2404.13076)."""
