#!/usr/bin/env python3
"""Runs the shipped protocols with a real model, each until it ends or waits.

What the model manages is no promise. What is asked is that every run ends or waits with a sentence that a person can
use, that its document fits its contract, and that its log proves itself.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import nullcontext
from datetime import datetime, timezone
from pathlib import Path

import workplace
from logbook import Logbook

TEMPLATES = workplace.ROOT / "crates" / "protocols" / "templates"

CASES = [
    ("chairs", "intake", "I need a contract for the supply of 200 chairs."),
    (
        "tea",
        "delivery",
        {"task": {"id": "tea", "title": "A note on tea", "description": "Three sentences on what tea is."}},
    ),
    ("late", "answer", "How many tasks of project Atlas are late?"),
    (
        "warehouse",
        "intake",
        {
            "text": "Мы сдаём в аренду склад 400 м² в Твери на 11 месяцев, оплата помесячно.",
            "locale": {"language": "ru", "jurisdiction": "RU"},
        },
    ),
    ("note", "delivery", "A note on countersigning"),
    ("budget", "answer", "Who approves a budget change of more than 10 percent?"),
]

# The inputs that the shipped scripts are written for.
SCRIPTED = {"chairs", "note", "late"}

# The contract for the document of each workflow's runs.
CONTRACTS = {
    "intake": "pre_skeleton_state",
    "skeleton": "skeleton",
    "delivery": "delivery_state",
    "task": "task_state",
    "answer": "answer_state",
}

# The agents set no limit, and a model of this size seldom stops by itself.
CONTEXT, REPLY = 8192, 400


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=7, help="the seed of the server's sampling (7)")
    parser.add_argument("--temperature", type=float, default=0.2, help="the temperature of the sampling (0.2)")
    parser.add_argument("--minutes", type=int, default=10, help="how long a run may take (10)")
    parser.add_argument("--binary", type=Path, help="a countersign to use; without it, one is built")
    parser.add_argument("--only", action="append", help="the name of a case; repeat for several")
    parser.add_argument("--script", action="store_true", help="use the shipped scripts instead of a model")
    return parser.parse_args()


class Desk:
    """A working folder and the program in it."""

    def __init__(self, binary: Path, folder: Path):
        self.binary, self.folder = binary, folder

    def asked(self, *arguments: str, good: tuple = (0,), minutes: int = 1) -> str:
        """The standard output of a command."""
        environment = {**os.environ, "COUNTERSIGN_SCHEMA": "send"}
        environment.pop("COUNTERSIGN_MODEL", None)
        done = subprocess.run(
            [self.binary, *arguments],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60 * minutes,
        )
        if done.returncode not in good:
            raise SystemExit(f"error: {arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def json(self, *arguments: str):
        return json.loads(self.asked(*arguments, "--json"))


def family(desk: Desk, run: str) -> list[dict]:
    """The status of a run and of all its children, the run first."""
    status = desk.json("status", run)
    return [status] + [one for child in status["children"] for one in family(desk, child["run"])]


def counted(desk: Desk, run: str) -> Counter:
    """The outcomes of the replies of one run."""
    counts = Counter()
    for event in Logbook(desk.asked("export", run)).events:
        match event["event"]:
            case "reply_accepted":
                counts["at once" if event["attempt"] == 1 else "after asking again"] += 1
            case "reply_refused":
                counts["refused, asked again" if event.get("feedback") else "refused for good"] += 1
                counts.update(f"violation {one['code']}" for one in event["violations"])
            case "provider_failed":
                counts["provider failures"] += 1
    return counts


def sentences(standing: dict) -> list[str]:
    """What a person reads about a run that has ended or waits."""
    told = [wait["question"] for wait in standing["waits"]]
    told += [gate["reason"] for gate in standing["closed_gates"]]
    values = [one["value"] for one in standing["output"]]
    told += [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in values]
    if standing["end"] and standing["end"]["reason"]:
        told.append(standing["end"]["reason"])
    return [one for one in told if one and one.strip()]


def wrongs(desk: Desk, protocol: str, standings: list[dict], in_time: bool) -> list[str]:
    """The guarantees that a run and its children broke."""
    broken = []
    for standing in standings:
        run, status = standing["run"], standing["status"]
        pending = [child for child in standing["children"] if child.get("completed") is None]
        if status == "running" and in_time and not pending:
            broken.append(f"{run} neither ended nor waits")
        if status in ("waiting", "failed") and not pending and not sentences(standing):
            broken.append(f"{run} is {status} without a reason")
        document = desk.folder / "document.json"
        document.write_text(desk.asked("show", run))
        contract, contracts = CONTRACTS[standing["workflow"]], TEMPLATES / protocol / "contracts"
        held = subprocess.run(
            [desk.binary, "admit", contract, document, "--contracts", contracts],
            capture_output=True,
            text=True,
        )
        if held.returncode != 0:
            broken.append(f"{run}: its document does not fit `{contract}`: {held.stderr.strip()}")
    return broken


def one(desk: Desk, case: tuple, model: str, minutes: int) -> dict:
    """Runs one case and returns its outcome."""
    name, protocol, given = case
    given = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    begun, in_time = datetime.now(timezone.utc), True
    command = ["run", protocol, "--model", model, "--input", given, "--idempotency-key", name, "--detach"]
    try:
        # Exit code 1 means that the run failed, which is an outcome here.
        desk.asked(*command, good=(0, 1), minutes=minutes)
    except subprocess.TimeoutExpired:
        in_time = False
    took = (datetime.now(timezone.utc) - begun).total_seconds()
    standings = family(desk, f"key-{name}")
    counts = sum((counted(desk, standing["run"]) for standing in standings), Counter())
    return {
        "case": name,
        "protocol": protocol,
        "given": given,
        "in time": in_time,
        "minutes": round(took / 60, 1),
        "tokens read": sum(standing["input_tokens"] for standing in standings),
        "tokens written": sum(standing["output_tokens"] for standing in standings),
        "counts": dict(sorted(counts.items())),
        "runs": [
            {
                "run": standing["run"],
                "status": standing["status"],
                "phase": standing["phase"],
                "blocked": standing["blocked"],
                "says": sentences(standing),
            }
            for standing in standings
        ],
        "broken": wrongs(desk, protocol, standings, in_time),
    }


def main() -> int:
    args = arguments()
    place = workplace.place()
    binary = args.binary.resolve() if args.binary else workplace.built()
    work = place / "shipped"
    shutil.rmtree(work, ignore_errors=True)
    # A separate home folder; otherwise a folder above it would be used.
    (work / ".countersign").mkdir(parents=True)
    cases = [case for case in CASES if not args.only or case[0] in args.only]
    if args.script:
        cases = [case for case in cases if case[0] in SCRIPTED]
        server, weights = nullcontext(), None
    else:
        python, weights = workplace.prepared(place)
        server = workplace.served(python, weights, args.seed, args.temperature, place, CONTEXT, REPLY)
    desk, results, broken = Desk(binary, work), [], []
    with server as address:
        for case in cases:
            model = f"openai:smollm2@{address}/v1"
            if args.script:
                shutil.copy(TEMPLATES / case[1] / "replies.yaml", work / f"{case[1]}.yaml")
                model = f"script:{case[1]}.yaml"
            result = one(desk, case, model, args.minutes)
            print(json.dumps(result, indent=1, ensure_ascii=False), flush=True)
            results.append(result)
            broken += [f"{case[0]}: {wrong}" for wrong in result["broken"]]
    proof = subprocess.run([binary, "replay", "--all", "--verify"], cwd=work, capture_output=True, text=True)
    told = (proof.stdout + proof.stderr).strip().splitlines()[-1:]
    if proof.returncode != 0:
        broken.append(f"replay: {told}")
    result = {
        "machine": f"{os.cpu_count()} cores, {platform.platform()}",
        "server": workplace.SERVER,
        "weights": {"file": weights.name, "sha256": workplace.digest(weights)} if weights else None,
        "seed": args.seed,
        "temperature": args.temperature,
        "replay": told,
        "broken": broken,
        "cases": results,
    }
    file = place / "shipped.json"
    file.write_text(json.dumps(result, indent=2, ensure_ascii=False))
    print(f"replay: {told}; guarantees broken: {len(broken)}; full results: {file}; the log: {work}")
    for wrong in broken:
        print(f"- {wrong}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
