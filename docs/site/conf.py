"""Settings of the documentation site; tools/shoal_dev/site.py builds it."""

project = "shoal"
author = "the shoal authors"
extensions = ["myst_nb"]
html_theme = "furo"
html_title = "shoal"
html_copy_source = False
html_show_sphinx = False
# Beside the pages; relative to this folder.
html_static_path = ["static"]
html_css_files = ["site.css"]
# The simulator's page as it is; tools/shoal_dev/site.py puts it there.
html_extra_path = []
# Links to headings, as on repository hosts.
myst_heading_anchors = 4
# Every cell of a notebook is run when the site is built, and must succeed.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
# MathJax would come from another host; formulas are written as text.
html_math_renderer = "mathjax"


def setup(app):
    """Takes the simulator's page from the folder of the copied pages."""
    app.connect("config-inited", lambda app, config: setattr(config, "html_extra_path", [f"{app.srcdir}/_extra"]))
    app.connect("config-inited", lambda app, config: config.exclude_patterns.append("_extra"))
