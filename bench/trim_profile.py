#!/usr/bin/env python3
"""Filters a profile in text form: keeps functions that ran often, because the others hardly help the compiler."""
import sys

OFTEN = 5000


def counts(function):
    lines = function.split("\n")
    begin = lines.index("# Counter Values:") + 1
    number = int(lines[lines.index("# Num Counters:") + 1])
    return [int(line) for line in lines[begin : begin + number]]


def main():
    text = sys.stdin.read()
    kind, functions = ":ir", text[text.index(":ir\n") + len(":ir\n") :].split("\n\n")
    kept = [each for each in functions if "# Counter Values:" in each and max(counts(each)) >= OFTEN]
    print("\n\n".join([f"{kind}\n{kept[0]}", *kept[1:]]))
    print(f"{len(kept)} of {len(functions)} functions", file=sys.stderr)


if __name__ == "__main__":
    main()
