"""The study of Wataoka, Takahashi & Ri (arXiv 2410.21819)."""
