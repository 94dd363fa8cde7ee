"""Write the sentences, claims and numbers of README.md and pages of docs anew, from the tables.

What stands between `<!-- wataoka: excess -->` and `<!-- end -->` becomes the finding of that study
and key; between `<!-- testbed: excess of partisan -->` and the end, that quantity of
docs/lab-reference/seeds.csv; between `<!-- claims: xu -->` and the end, the claims of that study's
paper in data/claims.csv, and after `<!-- verdicts -->` how many of all there are of each verdict.
"""

import re
from pathlib import Path

import pandas as pd

from selfpref import paths
from selfpref.say import said
from selfpref.studies.claims import counted

ROOT = Path(__file__).parent.parent
DOCS = ("figures", "rules", "lab-reference/README")
PAGES = ("README.md", *(f"docs/{name}.md" for name in DOCS))
SEEDS = pd.read_csv(ROOT / "docs/lab-reference/seeds.csv", index_col="quantity")
MARKED = re.compile(r"<!-- (?P<study>\w+)(?:: (?P<key>[\w -]+?))? -->.*?<!-- end -->", re.DOTALL)


def claimed(table: pd.DataFrame, study: str) -> str:
    """The claims of a study's paper as a table of Markdown, the verdict a link to the figure."""
    (paper,) = table.loc[table["study"].eq(study), "paper"].unique()
    lines = ["", "", "| claim | in | verdict |", "|---|---|---|"]
    for row in table[table["paper"].eq(paper)].to_dict("records"):
        verdict, figure = row["verdict"], row["figure"]
        verdict = verdict if pd.isna(figure) else f"[{verdict}]({figure})"
        part = "" if pd.isna(row["part"]) else f": {row['part']}"
        lines.append(f"| {row['claim']} | {row['place']} | {verdict}{part} |")
    return "\n".join([*lines, "", ""])


def over_seeds(quantity: str) -> str:
    """A quantity of the testbed: its mean over the seeds, the least and the greatest value."""
    text = "{mean:.2f} [{min:.2f} to {max:.2f}]".format(**SEEDS.loc[quantity])
    return text.replace("-", "\N{MINUS SIGN}")


def filled(text: str) -> str:
    """The page with its marked parts as the tables have them."""
    claims = pd.read_csv(paths.data_file("claims"))

    def fill(match: re.Match[str]) -> str:
        study, key = match["study"], match["key"]
        if key is None:
            told = counted(claims)
        elif study == "claims":
            told = claimed(claims, key)
        elif study == "testbed":
            told = over_seeds(key)
        else:
            told = said(paths.figure_dir(paths.RELEASED, study))[key]["text"]
        begin = match[0][: match[0].index("-->") + 3]
        return f"{begin}{told}<!-- end -->"

    return MARKED.sub(fill, text)


if __name__ == "__main__":
    for page in (ROOT / name for name in PAGES):
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
