"""Statistics: tables in, frames out. No module here runs a model or draws a figure."""
