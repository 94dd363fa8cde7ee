"""What a reader opens: chapters, the index, a card for each judge; all offline."""
