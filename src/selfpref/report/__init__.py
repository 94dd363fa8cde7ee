"""What a reader opens: chapters, the index, a card for each judge, where time went; all offline."""
