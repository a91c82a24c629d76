#!/usr/bin/env python3
"""A real model end to end: a small one, served by llama.cpp on this machine, with the schema and without it.

Nothing but Python 3.11, cargo and PyPI is needed. See README.md beside this file.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import judge
import report
import workplace
from logbook import Logbook, told

HALVES = {"send": "with the schema", "omit": "without it"}
WORKFLOWS = {"schema_only": "no example", "with_example": "two examples"}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20, help="how many runs of each kind (20)")
    parser.add_argument("--seed", type=int, default=7, help="the seed of the server's sampling (7)")
    parser.add_argument("--temperature", type=float, default=0.2, help="the temperature of the sampling (0.2)")
    parser.add_argument("--binary", type=Path, help="a countersign to use; without it, one is built")
    return parser.parse_args()


def one_run(binary: Path, work: Path, workflow: str, half: str, model: str, message: str) -> str:
    """Starts a run and drives it to its end; returns its id."""
    (work / "document.json").write_text(json.dumps({"message": message}))
    command = [binary, "run", workflow, "--protocol", "protocol", "--model", model]
    command += ["--document", "document.json", "--detach", "--json"]
    environment = {**os.environ, "COUNTERSIGN_SCHEMA": half}
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True)
    # Exit code 1 means that the run failed, which is an outcome here.
    if done.returncode not in (0, 1):
        raise SystemExit(f"error: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)["run"]


def exported(binary: Path, work: Path, run: str) -> str:
    """The whole log of a run."""
    command = [binary, "export", run]
    return subprocess.run(command, cwd=work, stdout=subprocess.PIPE, check=True, text=True).stdout


def replayed(binary: Path, work: Path) -> tuple[bool, str]:
    """Whether every run verifies, and the message about it."""
    done = subprocess.run([binary, "replay", "--all", "--verify"], cwd=work, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).strip().splitlines()
    return done.returncode == 0, lines[-1] if lines else "nothing was said"


def main() -> int:
    args = arguments()
    place = workplace.place()
    binary = args.binary.resolve() if args.binary else workplace.built()
    python, weights = workplace.prepared(place)
    messages = json.loads((workplace.HERE / "messages.json").read_text())
    examples = (workplace.HERE / "protocol" / "agents" / "sorter_with_example.yaml").read_text()
    work = place / "work"
    shutil.rmtree(work, ignore_errors=True)
    # A separate home folder; otherwise a folder above it would be used.
    (work / ".countersign").mkdir(parents=True)
    # The program writes state files next to a protocol, and they do not belong into the sources.
    shutil.copytree(workplace.HERE / "protocol", work / "protocol")

    begun = datetime.now(timezone.utc)
    groups, broken = {}, []
    with workplace.served(python, weights, args.seed, args.temperature, place) as address:
        model = f"openai:smollm2@{address}/v1"
        for workflow, shown in WORKFLOWS.items():
            for half, spoken in HALVES.items():
                outcomes = groups.setdefault(f"{shown}, {spoken}", [])
                for number in range(args.runs):
                    case = messages[number % len(messages)]
                    run = one_run(binary, work, workflow, half, model, case["message"])
                    book = Logbook(exported(binary, work, run))
                    outcome = {**told(book), **case, "parroted": False}
                    if outcome["ticket"]:
                        outcome["parroted"] = json.dumps(outcome["ticket"]["title"]) in examples
                    outcomes.append(outcome)
                    wrongs = judge.wrongs(case["message"], outcome, half)
                    broken += [f"run {run}: {wrong}" for wrong in wrongs]
                    verdict = f"accepted on attempt {outcome['accepted']}" if outcome["accepted"] else "refused"
                    print(f"{shown}, {spoken}, {number + 1}: {run} {verdict}", file=sys.stderr)
    proved, proof = replayed(binary, work)
    if not proved:
        broken.append(f"replay: {proof}")
    result = {
        "begun": begun.isoformat(timespec="seconds"),
        "minutes": round((datetime.now(timezone.utc) - begun).total_seconds() / 60, 1),
        "machine": f"{os.cpu_count()} cores, {platform.platform()}",
        "server": workplace.SERVER,
        "weights": {"file": weights.name, "sha256": workplace.digest(weights)},
        "seed": args.seed,
        "temperature": args.temperature,
        "replay": proof,
        "broken": broken,
        "figures": {name: report.tally(outcomes) for name, outcomes in groups.items()},
        "runs": groups,
    }
    file = place / "result.json"
    file.write_text(json.dumps(result, indent=2, ensure_ascii=False))
    print(report.markdown(groups))
    print(f"{result['minutes']} minutes, seed {args.seed}, temperature {args.temperature}; replay: {proof}")
    print(f"guarantees broken: {len(broken)}; every reply and its verdict: {file}; the log: {work}")
    for wrong in broken:
        print(f"- {wrong}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
