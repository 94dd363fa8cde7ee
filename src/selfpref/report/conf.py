"""How Sphinx and myst-nb make the book of a profile, which `selfpref.report.book` lays out."""

project = html_title = "selfpref"
extensions = ["myst_nb"]
nb_execution_mode = "off"
smartquotes = False
html_theme = "sphinx_book_theme"
html_theme_options = {
    "home_page_in_toc": True,
    "use_download_button": False,
    "navbar_persistent": [],
    "footer_content_items": [],
}
html_static_path = templates_path = ["templates/book"]
html_css_files = ["book.css"]
html_context = {"default_mode": "auto"}
html_copy_source = False
