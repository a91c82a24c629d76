"""Counts outcomes and writes them as Markdown."""

import json
from collections import Counter


def tally(outcomes: list[dict]) -> dict:
    """The figures of one half of a workflow."""
    calls = [call for outcome in outcomes for call in outcome["calls"]]
    accepted = [outcome for outcome in outcomes if outcome["accepted"]]
    milliseconds = sorted(sum(call["milliseconds"] for call in one["calls"]) for one in outcomes)
    return {
        "runs": len(outcomes),
        "accepted at first": sum(one["accepted"] == 1 for one in accepted),
        "accepted after re-asking": sum(one["accepted"] > 1 for one in accepted),
        "refused for good": sum(not one["accepted"] and bool(one["refusals"]) for one in outcomes),
        "ended by the provider": sum(not one["accepted"] and not one["refusals"] for one in outcomes),
        "accepted, and the kind is right": sum(one["ticket"]["kind"] == one["kind"] for one in accepted),
        "accepted, and the title is one of the examples'": sum(one["parroted"] for one in accepted),
        "accepted, and somebody is woken for no fault": sum(
            one["woken"] is not None and one["kind"] != "fault" for one in accepted
        ),
        "accepted, and re-asking turned a right kind into a wrong one": sum(
            first_kind(one) == one["kind"] != one["ticket"]["kind"] for one in accepted
        ),
        "replies": len(calls),
        "replies cut off by their length": sum(call["finish"] == "length" for call in calls),
        "provider failures": sum(one["provider_failures"] for one in outcomes),
        "tokens read": sum(call["input_tokens"] for call in calls),
        "tokens written": sum(call["output_tokens"] for call in calls),
        "tokens per accepted ticket": (
            round(sum(call["input_tokens"] + call["output_tokens"] for call in calls) / len(accepted))
            if accepted
            else None
        ),
        "median time of a run, s": round(milliseconds[len(milliseconds) // 2] / 1000, 1),
    }


def first_kind(outcome: dict) -> str | None:
    """The kind in the first reply, if it was plain JSON."""
    try:
        return json.loads(outcome["calls"][0]["text"]).get("kind")
    except (ValueError, AttributeError):
        return None


def violations(outcomes: list[dict]) -> Counter:
    """How often each violation was found, over all replies."""
    return Counter(one for outcome in outcomes for refusal in outcome["refusals"] for one in refusal)


def markdown(groups: dict[str, list[dict]]) -> str:
    """Two tables: the outcomes of the runs, and the violations that were found."""
    counted = {name: tally(outcomes) for name, outcomes in groups.items()}
    found = {name: violations(outcomes) for name, outcomes in groups.items()}
    total = sum(found.values(), Counter())
    rows = [[figure, *(counted[name][figure] for name in groups)] for figure in next(iter(counted.values()))]
    kinds = [[f"`{kind}`", *(found[name][kind] for name in groups)] for kind, _ in total.most_common()]
    return table(["", *groups], rows) + "\n" + table(["violation", *groups], kinds)


def table(head: list[str], rows: list[list]) -> str:
    """A table, figures to the right."""
    shown = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    cells = [["–" if cell is None else f"{cell:,}" if type(cell) is int else str(cell) for cell in row] for row in shown]
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)
