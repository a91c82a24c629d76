#!/usr/bin/env python3
"""The shipped protocols with a real model: each is run once, to its end or to where it honestly waits.

What the model manages is no promise. What is asked is that every run ends or waits with a sentence, that its
document fits its contract, and that its log proves itself.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import workplace
from logbook import Logbook

GIVEN = {
    "intake": "Мы сдаём в аренду склад 400 м² в Твери на 11 месяцев, оплата помесячно.",
    "delivery": json.dumps(
        {"task": {"id": "T1", "title": "A note", "goal": "Write three sentences on what tea is."}}
    ),
    "answer": "How many tasks of project Atlas are late?",
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=7, help="the seed of the server's sampling (7)")
    parser.add_argument("--temperature", type=float, default=0.2, help="of the sampling (0.2)")
    parser.add_argument("--minutes", type=int, default=10, help="how long a run may take (10)")
    parser.add_argument("--binary", type=Path, help="a countersign to use; without it, one is built")
    return parser.parse_args()


def one(binary: Path, work: Path, name: str, model: str, minutes: int) -> dict:
    """Runs a protocol to its end or to where it waits; what became of it."""
    command = [binary, "run", name, "--model", model, "--input", GIVEN[name], "--detach", "--json"]
    environment = {**os.environ, "COUNTERSIGN_SCHEMA": "send"}
    done = subprocess.run(
        command, cwd=work, env=environment, capture_output=True, text=True, timeout=60 * minutes
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"error: {name}: exit {done.returncode}\n{done.stderr}")
    run = json.loads(done.stdout)["run"]
    asked = subprocess.run([binary, "status", run, "--json"], cwd=work, capture_output=True, text=True, check=True)
    status = json.loads(asked.stdout)
    exported = subprocess.run([binary, "export", run], cwd=work, capture_output=True, text=True, check=True)
    kinds = Counter(event["event"] for event in Logbook(exported.stdout).events)
    return {
        "protocol": name,
        "run": run,
        "status": status["status"],
        "phase": status["phase"],
        "waits": [wait["question"] for wait in status["waits"]],
        "end": status["end"],
        "replies": kinds["reply_accepted"] + kinds["reply_refused"],
        "accepted": kinds["reply_accepted"],
        "versions": status["version"],
    }


def main() -> int:
    args = arguments()
    place = workplace.place()
    binary = args.binary.resolve() if args.binary else workplace.built()
    python, weights = workplace.prepared(place)
    work = place / "shipped"
    shutil.rmtree(work, ignore_errors=True)
    (work / ".countersign").mkdir(parents=True)
    broken = []
    with workplace.served(python, weights, args.seed, args.temperature, place) as address:
        for name in GIVEN:
            told = one(binary, work, name, f"openai:smollm2@{address}/v1", args.minutes)
            print(json.dumps(told, ensure_ascii=False))
            if told["status"] == "running":
                broken.append(f"{name}: neither ended nor waits")
            if told["status"] == "waiting" and not told["waits"]:
                broken.append(f"{name}: waits, and does not say for what")
    proof = subprocess.run(
        [binary, "replay", "--all", "--verify"], cwd=work, capture_output=True, text=True
    )
    if proof.returncode != 0:
        broken.append(f"replay: {proof.stderr.strip()}")
    print(f"promises broken: {len(broken)}")
    for wrong in broken:
        print(f"- {wrong}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
