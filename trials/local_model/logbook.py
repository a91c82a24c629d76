"""Reads the events of a run and the bytes stored with them, as `countersign export` writes them."""

import base64
import hashlib
import json


class Logbook:
    """The log of one run."""

    def __init__(self, exported: str):
        lines = [json.loads(line) for line in exported.splitlines()]
        self.run = lines[0]["run"]
        entries = [json.loads(line["body"]) for line in lines if line.get("line") == "entry"]
        self.events = [{"time": one["time"], **event} for one in entries for event in one["events"]]
        self.blobs = {line["digest"]: kept(line) for line in lines if line.get("line") == "blob"}


def kept(line: dict) -> bytes:
    """The bytes of a blob, which need not be text."""
    return line["text"].encode() if "text" in line else base64.b64decode(line["base64"])


def told(book: Logbook) -> dict:
    """The outcome of a run, and what its log does not confirm."""
    calls, refusals, faults = [], [], []
    asked_at = accepted = end = None
    spent = failures = 0
    ticket = woken = None
    for event in book.events:
        match event["event"]:
            case "model_requested":
                asked_at = event["time"]
            case "input_received":
                what = event["input"]["payload"]
                if what["kind"] == "model_replied":
                    calls.append(call(book, what, event["time"] - asked_at, faults))
                failures += what["kind"] == "model_failed"
            case "budget_spent" if event["budget"] == "tokens":
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
        "run": book.run,
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
    """One reply of the model: the request, the text, the cost."""
    for name in what["exchange"].values():
        if hashlib.sha256(book.blobs[name]).hexdigest() != name:
            faults.append(f"the bytes stored as {name} are different")
    request = json.loads(book.blobs[what["exchange"]["request"]])
    return {
        "sent": request.get("response_format", {"type": "nothing"})["type"],
        "text": what["text"],
        "finish": what["finish"],
        "input_tokens": what["usage"]["input_tokens"],
        "output_tokens": what["usage"]["output_tokens"],
        "milliseconds": took,
    }


def brief(violation: dict) -> str:
    """A violation by code and pointer; pointers unknown to the contract count as one."""
    pointer = violation["pointer"]
    known = pointer.removeprefix("/") in ("kind", "urgency", "quote", "title")
    place = pointer if known else "elsewhere" if pointer else "whole reply"
    return f"{violation['code']}, {place}"
