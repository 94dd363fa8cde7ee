"""Readers of data sets with pairs and votes."""
