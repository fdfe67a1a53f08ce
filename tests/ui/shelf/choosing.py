"""Chooses entries of the shelf, as a click does."""


def choose(page, *rows):
    """Chooses entries of the list."""
    select = page.list.selectionModel().select
    flag = page.list.selectionModel().SelectionFlag
    page.list.clearSelection()
    for row in rows:
        select(page.list.entries.index(row), flag.Select)
