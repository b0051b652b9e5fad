# SPDX-License-Identifier: GPL-2.0
"""Does the Python package have the layout of the list?  layout.py LIST FOLDER"""

import ctypes
import enum
import importlib.util
import os
import re
import sys


def load(folder):
    """The module of the headers alone: the package would load the library."""
    path = os.path.join(folder, "krdma", "_abi.py")
    spec = importlib.util.spec_from_file_location("abi", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def has_value(module, name, value):
    """Whether the package has a constant, or a member of an enumeration for it."""
    if hasattr(module, name):
        return getattr(module, name) == value
    return any(name.endswith("_" + member) and its == value
               for kind in vars(module).values()
               if isinstance(kind, type) and issubclass(kind, enum.Enum)
               for member, its in kind.__members__.items())


def main():
    module = load(sys.argv[2])
    with open(sys.argv[1], encoding="utf-8") as stream:
        lines = re.findall(r"^([A-Z_]+)\((.*)\);$", stream.read(), re.M)
    wrong, requests = [], set()
    structs = {}
    for kind, arguments in lines:
        name, *rest = arguments.split(", ")
        if kind == "VALUE" and name.startswith("KRDMA_CMD_"):
            requests.add(name.replace("_CMD", ""))
        elif kind == "VALUE" and name not in requests:
            value = int(rest[0].rstrip("UL"), 0)
            if not has_value(module, name, value):
                wrong.append(f"{name} is not {value}")
        elif kind in ("STRUCT", "STRUCT_OF_ADDRESSES"):
            structs[name] = getattr(module, name, None)
            if not structs[name]:
                wrong.append(f"there is no {name}")
            elif ctypes.sizeof(structs[name]) != int(rest[0]):
                wrong.append(f"{name} has {ctypes.sizeof(structs[name])} bytes, not {rest[0]}")
        elif kind == "FIELD" and structs.get(name):
            field = getattr(structs[name], rest[0], None)
            found = (field.offset, field.size) if field else None
            if found != (int(rest[1]), int(rest[2])):
                wrong.append(f"{name}.{rest[0]} is {found}, not {rest[1]}, {rest[2]}")
    if not structs or not requests:
        wrong.append(f"{sys.argv[1]} has no structures, or no requests")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
