# SPDX-License-Identifier: GPL-2.0
"""Settings of Sphinx for "make docs".  tools/docs/build calls it.

The documents link to each other by file, as `text <file.rst>`_, so that they can be read without
Sphinx.  This file makes these links lead to the pages that Sphinx writes, and reports those that
lead nowhere.
"""

import os
import posixpath
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

project = "krdma"
author = "the krdma authors"
version = release = os.environ["KRDMA_VERSION"]
html_last_updated_fmt = None
root_doc = "index"
extensions = []
highlight_language = "none"
nitpicky = True
html_theme = "alabaster"
html_theme_options = {
    "description": "RDMA as a kernel service",
    "fixed_sidebar": True,
    "page_width": "70em",
    "sidebar_width": "16em",
    "show_powered_by": False,
    "font_family": "sans-serif",
}
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False

# The pages that come from the top of the tree, with the document that Sphinx sees.
TOP_PAGES = {"README.rst": "readme", "CHANGELOG.rst": "changelog", "SECURITY.rst": "security-policy"}
FOLDER = "Documentation/"


def file_of(docname):
    """The file of the tree that a document was copied from."""
    for name, page in TOP_PAGES.items():
        if page == docname:
            return name
    return FOLDER + docname + ".rst"


def document_of(name):
    """The document that is made of a file of the tree; None if there is none."""
    if name in TOP_PAGES:
        return TOP_PAGES[name]
    if name.startswith(FOLDER) and name.endswith(".rst"):
        return name[len(FOLDER):-len(".rst")]
    return None


def resolve(app, doctree):
    """Makes links between files links between documents."""
    here = posixpath.dirname(file_of(app.env.docname))
    for node in list(doctree.findall(nodes.reference)):
        target = node.get("refuri", "")
        if not target or re.match(r"\w+:", target):
            continue
        name = posixpath.normpath(posixpath.join(here, target.split("#")[0]))
        page = document_of(name)
        if page is None:
            # A file that is no document: the text remains.
            node.replace_self(nodes.inline("", "", *node.children))
            continue
        if page not in app.env.found_docs:
            logging.getLogger(__name__).warning("the link to %s leads nowhere", target,
                                                location=node)
            continue
        link = addnodes.pending_xref("", refdomain="std", reftype="doc", reftarget="/" + page,
                                     refexplicit=True, refwarn=True, refdoc=app.env.docname)
        link += nodes.inline("", node.astext())
        node.replace_self(link)


def setup(app):
    """Called by Sphinx."""
    # Before Sphinx collects the links of the document.
    app.connect("doctree-read", resolve, priority=100)
    return {"parallel_read_safe": True}
