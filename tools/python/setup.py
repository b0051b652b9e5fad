# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The Python package krdma: make python, at the top of the tree, builds a wheel."""

import os
import re

from setuptools import setup

HERE = os.path.dirname(os.path.abspath(__file__))


def version() -> str:
    """The version of the tree, which "make python" passes; else that of krdma/version.h."""
    passed = os.environ.get("KRDMA_VERSION")
    if passed:
        return passed
    with open(os.path.join(HERE, "..", "..", "krdma", "version.h"), encoding="utf-8") as stream:
        found = re.search(r'^#define KRDMA_VERSION\s+"(.*)"$', stream.read(), re.M)
    assert found, "krdma/version.h does not say the version"
    return found.group(1)


setup(
    name="krdma",
    version=version(),
    description="RDMA through /dev/krdma, with libkrdma",
    license="LGPL-2.1 OR BSD-2-Clause",
    packages=["krdma"],
    package_data={"krdma": ["py.typed"]},
    python_requires=">=3.8",
)
