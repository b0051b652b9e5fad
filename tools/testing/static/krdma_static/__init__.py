# SPDX-License-Identifier: GPL-2.0
"""The checks that need no kernel: each looks at the tree and yields findings."""
