#!/usr/bin/env python3
"""Prints the failed tests of a JUnit report with their output, the skipped tests, and the counts that test.sh reads."""
import sys
import xml.etree.ElementTree as xml

OUTPUT_LINES = 60

suite = xml.parse(sys.argv[1]).getroot()
outcomes = {"passed": [], "failed": [], "skipped": []}
for case in suite.iter("testcase"):
    if case.find("skipped") is not None:
        outcome = "skipped"
    elif case.get("status") == "run":
        outcome = "passed"
    else:
        outcome = "failed"
    outcomes[outcome].append(case.get("name"))
    if outcome == "failed":
        print("\n".join((case.findtext("system-out") or "").splitlines()[-OUTPUT_LINES:]))

for outcome in ("failed", "skipped"):
    for name in outcomes[outcome]:
        print(f"{outcome}: {name}")
print(", ".join(f"{len(names)} {outcome}" for outcome, names in outcomes.items()))
