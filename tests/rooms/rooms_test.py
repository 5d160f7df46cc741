#!/usr/bin/env python3
"""rooms_test.py <build folder>: checks that rooms and layers can include only what src/CMakeLists.txt lets them know.

The files in a layer's own folder count as a room called root, which knows all rooms of the layer. For each room, the
compiler must find one header of every room that it knows, of every room of the layers that its layer knows, and no
other.
"""
import json
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src"
BUILD = pathlib.Path(sys.argv[1])


def read_plan():
    """Returns what each layer knows, and what each room of each layer knows."""
    layers, rooms = {}, {}
    for kind, name, knows in re.findall(r"proteus_(layer|room)\(([\w/]+)(?: KNOWS ([\w ]+?))?(?: USES [^)]*)?\)",
                                        (SOURCE / "CMakeLists.txt").read_text()):
        if kind == "layer":
            layers[name] = knows.split()
        else:
            layer, room = name.split("/")
            rooms.setdefault(layer, {})[room] = knows.split()
    return layers, rooms


def closure(graph, start):
    known, todo = set(), [start]
    while todo:
        for name in graph.get(todo.pop(), []):
            if name not in known:
                known.add(name)
                todo.append(name)
    return known


def include_path_of(target, commands):
    for entry in commands:
        command = entry["command"]
        if f"/{target}.dir/" in command and "-x c++-header" not in command:
            return command.split()[0:1] + re.findall(r"(?:-I|-isystem )\S+", command)
    return None


def found(headers, flags):
    """Returns the headers that a source with these flags can include."""
    words = [word for flag in flags for word in flag.split()]
    asked = "".join(f'#if __has_include("{header}")\n{header}\n#endif\n' for header in headers)
    run = subprocess.run([*words, "-E", "-P", "-x", "c++", "-"], input=asked, text=True, capture_output=True, check=True)
    return set(run.stdout.split())


def main():
    layers, rooms = read_plan()
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    headers = {}
    for header in sorted([*SOURCE.glob("*/*.hpp"), *SOURCE.glob("*/*/*.hpp")]):
        layer, *room, _ = header.relative_to(SOURCE).parts
        headers.setdefault("/".join([layer, *(room or ["root"])]), str(header.relative_to(SOURCE)))
    tried, faults = 0, []
    for layer in layers:
        below = closure(layers, layer)
        of_layer = rooms.get(layer, {})
        for room in [*of_layer, "root"]:
            command = include_path_of(f"proteus_{layer}" if room == "root" else f"proteus_{layer}_{room}", commands)
            if command is None:
                continue
            command[0] = "clang++-19"
            friends = set(of_layer) if room == "root" else closure(of_layer, room)
            known = {f"{layer}/{other}" for other in friends | {room}}
            there = found(headers.values(), command)
            for folder, header in headers.items():
                other_layer, other = folder.split("/")
                allowed = other != "testing" and (folder in known or other_layer in below)
                tried += 1
                if (header in there) != allowed:
                    faults.append(f"{layer}/{room} {'does not find' if allowed else 'finds'} {header}")
    for fault in faults:
        print(fault)
    print(f"{tried} includes tried, {len(faults)} wrong")
    return 1 if faults or not tried else 0


sys.exit(main())
