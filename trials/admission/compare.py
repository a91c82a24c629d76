"""Measures the cost of admitting a clean reply, compared with Python's json and jsonschema-rs.

Rounds alternate between our bench and this process, and the best time of each counts, so that both
see the same machine. The package of the peer is installed under `target/trials/admission`.
"""

import json
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "trials" / "admission"
ROUNDS = 5
CALLS = 2_000


def main() -> int:
    if "--peer" in sys.argv:
        return measure_peer()
    python = WORK / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(WORK / "venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "jsonschema-rs"], check=True)
    bench = ["cargo", "bench", "-q", "-p", "countersign-shipped-contracts", "--bench", "admit", "--", "--emit", str(WORK)]
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(int(run(bench)))
        theirs.append([int(part) for part in run([str(python), __file__, "--peer"]).split()])
    size = (WORK / "reply.json").stat().st_size
    peer = min(total for total, _ in theirs)
    print(f"{size} bytes, best of {ROUNDS} rounds of {CALLS} calls")
    print(f"  countersign admit           {min(ours) / 1000:8.1f} µs")
    print(f"  json.loads + jsonschema-rs  {peer / 1000:8.1f} µs")
    print(f"  json.loads alone            {min(alone for _, alone in theirs) / 1000:8.1f} µs")
    return 0 if min(ours) <= peer else 1


def run(command: list[str]) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def measure_peer() -> int:
    import jsonschema_rs

    text = (WORK / "reply.json").read_text()
    validator = jsonschema_rs.validator_for(json.loads((WORK / "schema.json").read_text()))
    assert validator.is_valid(json.loads(text))
    print(best(lambda: validator.is_valid(json.loads(text))), best(lambda: json.loads(text)))
    return 0


def best(work) -> int:
    least = sys.maxsize
    for _ in range(CALLS):
        started = time.perf_counter_ns()
        work()
        least = min(least, time.perf_counter_ns() - started)
    return least


if __name__ == "__main__":
    sys.exit(main())
