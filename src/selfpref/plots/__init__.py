"""Pictures and printed tables: frames in, files out. No statistic is computed here."""
