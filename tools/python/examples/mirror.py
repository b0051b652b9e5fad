#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Copies a folder from a server, as "krdma get -r -u -p" does: only what differs.

    mirror.py serve FOLDER          offers a folder, read-only
    mirror.py ADDRESS FOLDER        makes FOLDER a copy of it; what is only here, stays
"""

import os
import sys
from typing import List

import krdma
from krdma import files
from krdma.files import FileFlags, FileType


def serve(folder: str) -> None:
    """Offers a folder until Ctrl-C."""
    def report(one: files.Report) -> None:
        text = str(one.error) if one.error else f"{one.transferred} bytes"
        print(f"{one.peer[0]}: {one.operation.name} {one.name!r}: {text}", flush=True)

    with krdma.Session() as session, \
            files.Server(session, ("", files.PORT), folder, report=report) as server:
        try:
            server.run()
        except KeyboardInterrupt:
            pass


def mirror(address: str, folder: str) -> int:
    """Copies the files that differ; the number of those that could not be copied."""
    failed = copied = 0
    flags = FileFlags.UPDATE | FileFlags.TIMES
    with krdma.Session() as session, \
            files.Client(session, (address, files.PORT), flags) as client:
        os.makedirs(folder, exist_ok=True)
        # Folders come before what is in them.
        for entry in client.list(recursive=True):
            target = os.path.join(folder, entry.name)
            try:
                if entry.type == FileType.FOLDER:
                    os.makedirs(target, exist_ok=True)
                elif entry.type == FileType.FILE:
                    copied += not client.get(entry.name, target).skipped
            except OSError as error:
                print(f"mirror: {error}", file=sys.stderr)
                failed += 1
    print(f"{copied} files copied")
    return failed


def main(arguments: List[str]) -> int:
    """The program."""
    try:
        if len(arguments) == 2 and arguments[0] == "serve":
            serve(arguments[1])
            return 0
        if len(arguments) == 2:
            return 1 if mirror(*arguments) else 0
    except krdma.Error as error:
        print(f"mirror: {error}", file=sys.stderr)
        return 1
    print("usage: mirror.py serve FOLDER | mirror.py ADDRESS FOLDER", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
