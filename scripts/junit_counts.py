#!/usr/bin/env python3
"""Prints the failed and the skipped tests of a JUnit report, then the line of counts that test.sh reads."""
import sys
import xml.etree.ElementTree as xml

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

for outcome in ("failed", "skipped"):
    for name in outcomes[outcome]:
        print(f"{outcome}: {name}")
print(", ".join(f"{len(names)} {outcome}" for outcome, names in outcomes.items()))
