"""What a reader opens, offline: the book and the judges' page.

    sections   which cells of a chapter a reader sees
    judges     what is known of each judge
    book       the pages of the book; Sphinx builds it from `conf`

Nothing is computed here but counts of what the tables of the figures hold.
"""
