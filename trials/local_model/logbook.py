"""Reads what a run left behind: its events and the bytes that are kept beside them, straight from the database.

An outside witness: nothing of the program is asked, so a claim it makes about itself is no evidence here.
"""

import hashlib
import json
import sqlite3
from pathlib import Path


class Logbook:
    """The database of a folder of work."""

    def __init__(self, database: Path):
        self.rows = sqlite3.connect(f"file:{database}?mode=ro", uri=True)

    def events(self, run: str) -> list[dict]:
        """The events of a run in their order, each with its time."""
        found = self.rows.execute("SELECT body FROM events WHERE run = ? ORDER BY seq", (run,))
        return [event for (commit,) in found for event in unpacked(commit.encode())]

    def blob(self, name: str) -> bytes:
        """Bytes that are kept, by their digest."""
        return self.rows.execute("SELECT bytes FROM blobs WHERE digest = ?", (name,)).fetchone()[0]


def unpacked(commit: bytes):
    """The events of one commit: each is a line `kind time hash length`, its body, and a line break."""
    while commit:
        line, _, rest = commit.partition(b"\n")
        _, _, _, length = line.split(b" ")
        body = json.loads(rest[: int(length)])
        yield {"time": body["time"], **body["what"]}
        commit = rest[int(length) + 1 :]


def told(book: Logbook, run: str) -> dict:
    """What became of a run, and what its log fails to bear out."""
    calls, refusals, faults = [], [], []
    asked_at = accepted = end = None
    spent = failures = 0
    ticket = woken = None
    for event in book.events(run):
        match event["event"]:
            case "model_asked":
                asked_at = event["time"]
            case "received":
                what = event["input"]["what"]
                if what["input"] == "model_replied":
                    calls.append(call(book, what, event["time"] - asked_at, faults))
                failures += what["input"] == "model_failed"
            case "spent" if event["budget"] == "tokens":
                spent += event["amount"]
            case "reply_refused":
                refusals.append(event["violations"])
            case "reply_accepted":
                accepted = event["attempt"]
            case "document_changed":
                for op in event["patch"]:
                    if op["path"] == "/ticket":
                        ticket = op["value"]
                    if op["path"] == "/woken":
                        woken = op["value"]
            case "ended":
                end = event["end"]
    if spent != sum(one["input_tokens"] + one["output_tokens"] for one in calls):
        faults.append("the tokens spent are not those of the replies")
    return {
        "run": run,
        "end": end,
        "accepted": accepted,
        "ticket": ticket,
        "woken": woken,
        "calls": calls,
        "refusals": [[brief(one) for one in violations] for violations in refusals],
        "provider_failures": failures,
        "faults": faults,
    }


def call(book: Logbook, what: dict, took: int, faults: list[str]) -> dict:
    """One reply of the model: what was sent for it, what it said, what it cost."""
    for name in what["exchange"].values():
        if hashlib.sha256(book.blob(name)).hexdigest() != name:
            faults.append(f"the bytes kept as {name} are others")
    request = json.loads(book.blob(what["exchange"]["request"]))
    return {
        "sent": request.get("response_format", {"type": "nothing"})["type"],
        "text": what["text"],
        "finish": what["finish"],
        "input_tokens": what["usage"]["input_tokens"],
        "output_tokens": what["usage"]["output_tokens"],
        "milliseconds": took,
    }


def brief(violation: dict) -> str:
    """A violation by code and place; places that the contract does not know are one."""
    pointer = violation["pointer"]
    known = pointer.removeprefix("/") in ("kind", "urgency", "quote", "title")
    place = pointer if known else "elsewhere" if pointer else "whole reply"
    return f"{violation['code']}, {place}"
