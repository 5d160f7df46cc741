"""Rows of the result table: the value, the baseline, and whether the ratio meets its target."""

TOLERANCE = 0.05  # for targets of ratios, which vary from run to run; not for limits


def row(name, ours, baseline=None, baseline_name=None, unit="", at_most=None, at_least=None):
    """Returns a row. `at_most` and `at_least` are targets for the ratio."""
    ratio = ours / baseline if baseline else None
    target = f"≤ {at_most:g}" if at_most is not None else f"≥ {at_least:g}" if at_least is not None else None
    return {
        "row": name,
        "proteus": round(ours, 3),
        "baseline": round(baseline, 3) if baseline else None,
        "baseline_name": baseline_name,
        "unit": unit,
        "ratio": None if ratio is None else round(ratio, 3),
        "target": target,
        "verdict": _verdict(ratio, at_most, at_least),
    }


def _verdict(ratio, at_most, at_least):
    if not ratio:  # one side has no measurement
        return None
    if at_most is not None:
        return "PASS" if ratio <= at_most * (1 + TOLERANCE) else "over"
    if at_least is not None:
        return "PASS" if ratio >= at_least * (1 - TOLERANCE) else "below"
    return None


def limited(name, ours, limit, unit):
    """Returns a row for a value that must stay below a limit."""
    made = row(name, ours, limit, "limit", unit)
    return {**made, "target": f"< {limit:g}", "verdict": "PASS" if ours < limit else "over"}


def none(name, ours, unit):
    """Returns a row for a value that must be 0."""
    return {**row(name, ours, unit=unit), "target": "0", "verdict": "PASS" if ours == 0 else "over"}


def exact(name, ours, baseline, baseline_name, unit, at_most):
    """Returns a row for a ratio of counts, whose target has no tolerance."""
    made = row(name, ours, baseline, baseline_name, unit, at_most=at_most)
    return {**made, "exact": True, "verdict": "PASS" if ours / baseline <= at_most else "over"}


def compared(name, medians, ours, baseline, cpu_at_most=None, throughput_at_least=None):
    """Returns the rows for throughput and CPU time of two servers, with the medians of `load.in_turn`."""
    first, second = medians[ours], medians[baseline]
    return [
        row(
            f"{name}: throughput",
            first["throughput"],
            second["throughput"],
            baseline,
            "requests/s",
            at_least=throughput_at_least,
        ),
        row(f"{name}: CPU per request", first["cpu_us"], second["cpu_us"], baseline, "µs", at_most=cpu_at_most),
    ]


def show(rows):
    def number(value):
        return "-" if value is None else f"{value:,.2f}" if abs(value) < 1000 else f"{value:,.0f}"

    lines = [("", "proteus", "baseline", "", "unit", "ratio", "target", "")]
    for r in rows:
        ratio = "-" if r["ratio"] is None else f"{r['ratio']:.3f}" if r.get("exact") else f"{r['ratio']:.2f}"
        cells = (r["row"], number(r["proteus"]), number(r["baseline"]), r["baseline_name"] or "", r["unit"], ratio)
        lines.append((*cells, r["target"] or "", r["verdict"] or ""))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    right = {1, 2, 5}
    for line in lines:
        cells = (c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths)))
        print("  ".join(cells).rstrip())
