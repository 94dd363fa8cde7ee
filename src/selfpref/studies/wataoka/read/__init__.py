"""Readers of data sets with pairs and votes; the profiles name one for each data set.

| reader | votes and verdicts of | files |
|---|---|---|
| `mt_bench` | people and GPT-4 | `mt-bench.csv` |
| `vicuna80` | people and five judges | `vicuna80.csv` |
| `mt_bench_hub` | people alone, with all texts, for models that judge here | `mt-bench-hub.csv` |
| `chatbot_arena` | people alone, with all texts, for models that judge here | `chatbot-arena.csv` |
"""
