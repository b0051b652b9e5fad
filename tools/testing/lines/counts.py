# SPDX-License-Identifier: GPL-2.0
"""gcov's counts of the module's objects."""

import json
import os
import shutil
import subprocess
import tempfile


class CannotCount(Exception):
    """There is no figure; the text says why."""


def run_gcov(build, obj, counts):
    """gcov's report on one object, with or without the counts of a run."""
    notes = os.path.join(build, obj + ".gcno")
    if not os.path.exists(notes):
        raise CannotCount(f"{obj} was not built to count its lines (KRDMA_GCOV=y)")
    with tempfile.TemporaryDirectory(prefix="krdma-lines.") as work:
        # gcov finds both files by one name, and leaves others beside them.
        shutil.copy(notes, os.path.join(work, "x.gcno"))
        if counts:
            shutil.copy(counts, os.path.join(work, "x.gcda"))
        done = subprocess.run(["gcov", "--json-format", "--stdout", "x.gcno"], cwd=work,
                              capture_output=True, text=True, check=False)
    if "stamp mismatch" in done.stderr:
        raise CannotCount(f"{counts} was counted by another build of {obj} than {notes} "
                          "belongs to; run the tiers again")
    # After any error gcov goes on as if nothing had been executed.
    if done.returncode or not done.stdout or (counts and done.stderr):
        raise CannotCount(f"gcov cannot read {counts or notes}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def objects(build):
    """The objects of krdma.ko, without their suffix."""
    try:
        with open(os.path.join(build, "krdma.mod"), encoding="utf-8") as names:
            return [os.path.relpath(os.path.join(build, name), build).removesuffix(".o")
                    for name in names.read().split()]
    except OSError as error:
        raise CannotCount(f"the module was not built in {build}: {error.strerror}") from error
