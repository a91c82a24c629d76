"""A second, independent check of accepted replies: the contract and the gate again, in Python."""


def wrongs(message: str, outcome: dict, half: str) -> list[str]:
    """Returns the guarantees that this run breaks; none is expected."""
    ticket, found = outcome["ticket"], list(outcome["faults"])
    let_in = outcome["accepted"] is not None
    if let_in != (ticket is not None):
        found.append("the document must have a ticket if and only if a reply was accepted")
    if let_in != (outcome["end"] == "completed"):
        found.append(f"accepted is {let_in}, but the run ended as {outcome['end']}")
    expected = "json_schema" if half == "send" else "nothing"
    if any(call["sent"] != expected for call in outcome["calls"]):
        found.append(f"the server did not receive {expected}")
    if ticket is not None:
        found += contract(message, ticket)
        calls = outcome["calls"]
        if len(calls) != outcome["accepted"] or calls[-1]["finish"] != "stop":
            found.append("the accepted reply is not the last one, or the last one was cut off")
        urgent = ticket["kind"] == "fault" and ticket["urgency"] >= 4
        if urgent != (outcome["woken"] is not None):
            found.append("someone must be woken if and only if it is an urgent fault")
    return found


def contract(message: str, ticket: dict) -> list[str]:
    """Returns the rules of contracts/ticket.yaml that the ticket breaks."""
    rules = {
        "fields": set(ticket) == {"kind", "urgency", "quote", "title"},
        "kind": ticket.get("kind") in ("fault", "question", "wish"),
        "urgency": type(ticket.get("urgency")) is int and 1 <= ticket["urgency"] <= 5,
        "quote": 8 <= len(ticket.get("quote", "")) <= 80,
        "title": 5 <= len(ticket.get("title", "")) <= 60,
        "quote is from the message": ticket.get("quote", "").lower() in message.lower(),
        "only faults are urgent": ticket.get("urgency", 0) < 4 or ticket.get("kind") == "fault",
    }
    return [f"accepted against the contract: {name}" for name, holds in rules.items() if not holds]
