# SPDX-License-Identifier: GPL-2.0
"""Checks that need no running kernel.  Each reads the tree and yields findings."""
