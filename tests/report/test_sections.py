"""Which cells of a chapter a reader of one source of data sees."""

import nbformat

from selfpref.report.sections import of_source, without_empty

SHOWN = nbformat.v4.new_output("stream", text="shown")
NOT_DRAWN = nbformat.v4.new_output("display_data", metadata={"drawn": False})
# Each with its outputs if it is code, and whether it stays.
CELLS = [
    ("# Title", None, True),
    ("import x", [], True),
    ("## A finding", None, True),
    ("show()", [SHOWN], True),
    ("### Nothing of it in these data", None, False),
    ("Text of that.", None, False),
    ("show()", [], False),
    ("## Nothing at all", None, False),
    ("show()", [], False),
    ("### nor here", None, False),
    ("show()", [NOT_DRAWN], False),
    ("## The end", None, True),
]


def test_a_section_whose_code_showed_nothing_is_left_out_and_named():
    cells = [
        nbformat.v4.new_markdown_cell(source)
        if outputs is None
        else nbformat.v4.new_code_cell(source, outputs=outputs)
        for source, outputs, _ in CELLS
    ]
    made = without_empty(nbformat.v4.new_notebook(cells=cells))
    *left, named = [cell.source for cell in made.cells]
    assert left == [source for source, _, stays in CELLS if stays]
    assert named.endswith("there: Nothing of it in these data; Nothing at all*")
    assert without_empty(nbformat.v4.new_notebook(cells=cells[:4])).cells == cells[:4]


def test_a_reader_sees_what_is_for_all_and_for_the_source_of_the_profile():
    sources = {"lab": "lab", "demo": "lab", "recorded": "recorded", "live": "live", "xu": "live"}
    for profile, seen in sources.items():
        cells = [
            nbformat.v4.new_code_cell(name, metadata={"tags": [name]})
            for name in ("all", "lab", "recorded", "live")
        ]
        made = of_source(nbformat.v4.new_notebook(cells=cells), profile)
        assert [cell.source for cell in made.cells] == ["all", seen]
