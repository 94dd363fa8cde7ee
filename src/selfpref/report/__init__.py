"""What a reader opens, offline: the book, a chapter on its own, the judges' page.

    sections   which cells of a chapter a reader sees
    chapter    an executed chapter as a page of its own
    judges     what is known of each judge, and a table of judges a study
    book       the pages of the book; Sphinx builds it from `conf`
    page       templates, and what makes texts of models harmless

Nothing is computed here but counts of what the tables of the figures hold.
"""
