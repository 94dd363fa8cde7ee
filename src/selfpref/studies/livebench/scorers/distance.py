"""Edit distance between two sequences (Levenshtein 1966)."""

from collections.abc import Sequence


def edit_distance(one: Sequence[object], two: Sequence[object]) -> int:
    """The least number of insertions, deletions and replacements that turn one into the other."""
    row = list(range(len(two) + 1))
    for number, left in enumerate(one, start=1):
        corner, row[0] = row[0], number
        for place, right in enumerate(two, start=1):
            corner, row[place] = (
                row[place],
                min(row[place] + 1, row[place - 1] + 1, corner + (left != right)),
            )
    return row[-1]
