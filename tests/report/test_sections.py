"""Which cells of a chapter a reader of one source of data sees."""

import nbformat
import pytest

from selfpref.report.sections import of_source, without_empty

SHOWN = nbformat.v4.new_output("stream", text="shown")
NOT_DRAWN = nbformat.v4.new_output("display_data", metadata={"drawn": False})
CELLS = [
    ("# Title", None),
    ("import x", []),
    ("## Words alone", None),
    ("## A finding", None),
    ("show()", [SHOWN]),
    ("### Nothing of it in these data", None),
    ("Text of that.", None),
    ("show()", []),
    ("### Another finding", None),
    ("show()", [SHOWN]),
    ("## Nothing at all", None),
    ("show()", []),
    ("### nor here", None),
    ("show()", [NOT_DRAWN]),
    ("## The end", None),
]


def notebook(cells):
    made = [
        nbformat.v4.new_markdown_cell(source)
        if outputs is None
        else nbformat.v4.new_code_cell(source, outputs=outputs)
        for source, outputs in cells
    ]
    return nbformat.v4.new_notebook(cells=made)


def test_a_section_whose_code_showed_nothing_is_left_out_and_named():
    left = [cell.source for cell in without_empty(notebook(CELLS)).cells]
    kept = [*CELLS[:5], *CELLS[8:10], CELLS[-1]]
    assert left[:-1] == [source for source, _ in kept]
    assert left[-1].endswith("there: Nothing of it in these data; Nothing at all*")


def test_a_chapter_with_something_to_show_everywhere_stays_as_it_is():
    cells = [cell for cell in CELLS if cell[1] != []]
    assert len(without_empty(notebook(cells[:5])).cells) == 5


@pytest.mark.parametrize(
    ("profile", "seen"),
    [("lab", "lab"), ("demo", "lab"), ("recorded", "recorded"), ("live", "live"), ("xu", "live")],
)
def test_a_reader_sees_what_is_for_all_and_for_the_source_of_the_profile(profile, seen):
    made = notebook([("all", None), ("lab", None), ("recorded", []), ("live", None)])
    for cell in made.cells[1:]:
        cell.metadata["tags"] = [cell.source]
    assert [cell.source for cell in of_source(made, profile).cells] == ["all", seen]
