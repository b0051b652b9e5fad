# SPDX-License-Identifier: GPL-2.0
"""The tree that is checked, and the results of a check."""

import os
import re
import subprocess


class CannotCheck(Exception):
    """A check could not run.  That is a failure, never a pass."""


class Finding:
    """One defect: where it is and what is wrong."""

    def __init__(self, path, line, text):
        self.path = path
        self.line = line
        self.text = text

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


class Note:
    """A remark that is not a defect."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


class Tree:
    """The files that belong to the project below one folder."""

    def __init__(self, root):
        self.root = os.path.realpath(root)
        self._files = None
        self._texts = {}
        self._names = None
        # What checks have parsed, by file: see circles.py.
        self.parsed = {}

    def path(self, name):
        """The path in the file system of a file of the tree."""
        return os.path.join(self.root, name)

    def files(self, *suffixes, under=()):
        """Names of the files, optionally of some suffixes and folders only."""
        if self._files is None:
            self._files = self._list()
        return [name for name in self._files
                if (not suffixes or name.endswith(suffixes)) and
                (not under or name.startswith(tuple(under)))]

    def has(self, name):
        """Whether a file belongs to the tree."""
        if self._names is None:
            self._names = set(self.files())
        return name in self._names

    def _list(self):
        # The user that runs the checks may not own the tree (sudo), so git needs
        # safe.directory.  Files that are not committed yet count too.
        git = ["git", "-c", "safe.directory=*", "-C", self.root, "ls-files", "-z",
               "--cached", "--others", "--exclude-standard"]
        listing = subprocess.run(git, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 check=False)
        if listing.returncode:
            why = listing.stderr.decode(errors="replace").strip()
            raise CannotCheck(f"cannot list the files of {self.root}: {why}; "
                              "the checks want a git checkout")
        names = sorted(set(os.fsdecode(listing.stdout).split("\0")) - {""})
        return [name for name in names if os.path.isfile(self.path(name))]

    def text(self, name):
        """The file's text; bytes that are not UTF-8 do not stop a check."""
        if name not in self._texts:
            with open(self.path(name), encoding="utf-8", errors="replace") as stream:
                self._texts[name] = stream.read()
        return self._texts[name]

    def lines(self, name):
        """The file's lines with their numbers, from 1."""
        return enumerate(self.text(name).splitlines(), 1)

    def interpreter(self, name):
        """What follows "#!" in the first line, "" without it."""
        first = self.text(name).split("\n", 1)[0]
        return first[2:].strip() if first.startswith("#!") else ""

    def shell(self, name):
        """The shell that a script is written for: bash, dash or None."""
        head = "\n".join(self.text(name).split("\n", 10)[:10])
        told = re.search(r"^# shellcheck shell=(\w+)", head, re.MULTILINE)
        words = re.split(r"[\s/]+", self.interpreter(name))
        if told:
            return "bash" if told.group(1) == "bash" else "dash"
        if "bash" in words or (name.endswith(".bash") and not words[0]):
            return "bash"
        # busybox calls its shell "sh"; dash is the nearest that can be checked
        if {"sh", "dash", "ash"} & set(words) or name.endswith(".sh"):
            return "dash"
        return None

    def shells(self):
        """The shell scripts of the tree, with the shell of each."""
        for name in self.files():
            shell = self.shell(name)
            if shell:
                yield name, shell

    def grep(self, names, pattern, what):
        """A finding for each line of the files that matches."""
        regex = re.compile(pattern)
        for name in names:
            for number, line in self.lines(name):
                if regex.search(line):
                    yield Finding(name, number, what)


def run(command, **options):
    """A command's exit status and its whole output."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, **options)
    except FileNotFoundError as error:
        raise CannotCheck(f"{command[0]} is not installed; "
                          "install what the checks need with: tools/deps install check"
                          ) from error
    return done.returncode, done.stdout.decode(errors="replace")
