"""Rows of the table: what was measured, beside what, and whether that meets its target."""

TOLERANCE = 0.05  # of ratios, which are of medians; a limit is one


def row(name, ours, baseline=None, baseline_name=None, unit="", at_most=None, at_least=None):
    """A row; `at_most` and `at_least` are targets for the ratio."""
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
    if not ratio:  # nothing was measured of one side, which is no reason to praise the other
        return None
    if at_most is not None:
        return "PASS" if ratio <= at_most * (1 + TOLERANCE) else "over"
    if at_least is not None:
        return "PASS" if ratio >= at_least * (1 - TOLERANCE) else "below"
    return None


def limited(name, ours, limit, unit):
    """A row of a value that must stay below a limit."""
    made = row(name, ours, limit, "limit", unit)
    return {**made, "target": f"< {limit:g}", "verdict": "PASS" if ours < limit else "over"}


def none(name, ours, unit):
    """A row of something of which there must be nothing."""
    return {**row(name, ours, unit=unit), "target": "0", "verdict": "PASS" if ours == 0 else "over"}


def exact(name, ours, baseline, baseline_name, unit, at_most):
    """A row of a ratio that is counted rather than measured, so that its target has no tolerance."""
    made = row(name, ours, baseline, baseline_name, unit, at_most=at_most)
    return {**made, "exact": True, "verdict": "PASS" if ours / baseline <= at_most else "over"}


def compared(name, medians, ours, baseline, cpu_at_most=None, throughput_at_least=None):
    """The two rows of two servers that got the same load; `medians` as `load.in_turn` gives them."""
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
