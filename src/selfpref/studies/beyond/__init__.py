"""Beyond the papers: every statistic for every judge."""
