"""The server under load: see README.md."""

import argparse
import asyncio
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PORT = 7171
BASE = f"http://127.0.0.1:{PORT}"
CONNECTIONS = (1, 16, 64)
KINDS = ("health", "admit", "start", "submit", "compose")
STREAMS = 1_000
WAITS = 24_000
TOKEN = ""


def target() -> Path:
    return Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()


def built() -> Path:
    subprocess.run(["cargo", "build", "--release", "-p", "countersign"], cwd=ROOT, check=True)
    return target() / "release" / "countersign"


def wrk() -> str:
    found = shutil.which("wrk")
    if not found:
        raise SystemExit("error: `wrk` is not installed; install the Debian package `wrk`")
    return found


def allowed() -> dict:
    """The authorization header of the folder's owner."""
    return {"authorization": f"Bearer {TOKEN}"} if TOKEN else {}


def call(method: str, path: str, body: object = None, headers: dict | None = None) -> tuple[object, float]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data, {"content-type": "application/json"} | allowed() | (headers or {}), method=method)
    begun = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as response:
        text = response.read()
    return json.loads(text), (time.perf_counter() - begun) * 1000


class Server:
    """A `countersign serve` in a folder of its own, with an SQLite file."""

    def __init__(self, binary: Path, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(HERE / "protocol", folder / ".opencode" / "protocol")
        # All streams use the same key.
        (folder / "countersign.toml").write_text(f"[limits]\nstreams_per_key = {STREAMS}\n")
        command = [binary, "serve", "--listen", f"127.0.0.1:{PORT}"]
        log = (folder / "log").open("w")
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until = time.monotonic() + 30
        while True:
            try:
                call("GET", "/v1/ready")
                global TOKEN
                TOKEN = (folder / ".countersign" / "token").read_text().strip()
                return
            except OSError:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise SystemExit(f"error: the server did not start; see {folder / 'log'}") from None
                time.sleep(0.05)

    def resident(self) -> float:
        """MiB in memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)


def load(kind: str, connections: int, seconds: float, folder: Path) -> dict:
    """wrk's figures for one kind of request."""
    environment = os.environ | {"KIND": kind, "RUNS": str(folder / "runs.txt"), "TOKEN": TOKEN}
    if kind == "submit":
        lines = []
        for _ in range(connections):
            started, _ = call("POST", "/v1/runs", {"protocol": "desk", "workflow": "notes"}, {"prefer": "wait=10"})
            lines.append(f"{started['run']} {started['version']}")
        (folder / "runs.txt").write_text("\n".join(lines) + "\n")
    # One thread per connection: the next request of a connection depends on its last response.
    command = [wrk(), "-t", str(connections), "-c", str(connections), "-d", f"{seconds:.0f}s", "-s", str(HERE / "requests.lua"), BASE]
    told = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    line = next(line for line in told.splitlines() if line.startswith("FIGURES"))
    requests, refused, taken, *percentiles = (float(part) for part in line.split()[1:])
    return {"rate": (requests - refused) / (taken / 1e6), "refused": int(refused), "p": percentiles}


async def stream(run: str, opened: asyncio.Semaphore, heard: list[float], first: asyncio.Event) -> None:
    async with opened:
        reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
        writer.write(f"GET /v1/runs/{run}/stream HTTP/1.1\r\nhost: 127.0.0.1:{PORT}\r\naccept: text/event-stream\r\nauthorization: Bearer {TOKEN}\r\n\r\n".encode())
        await reader.readuntil(b"event: version")
    first.set()
    while line := await reader.readline():
        if b"note of the trial" in line:
            heard.append(time.perf_counter())
            break
    writer.close()


async def streams(server: Server) -> dict:
    """Opens many streams of one run and measures when each receives a step."""
    started, _ = call("POST", "/v1/runs", {"protocol": "desk", "workflow": "notes"}, {"prefer": "wait=10"})
    run, before = started["run"], server.resident()
    heard: list[float] = []
    opened, ready = asyncio.Semaphore(64), [asyncio.Event() for _ in range(STREAMS)]
    tasks = [asyncio.create_task(stream(run, opened, heard, first)) for first in ready]
    for first in ready:
        await asyncio.wait_for(first.wait(), 60)
    during = server.resident()
    version = call("GET", f"/v1/runs/{run}")[0]["version"]
    begun = time.perf_counter()
    body = {"text": json.dumps({"text": "note of the trial", "tags": []})}
    await asyncio.to_thread(call, "POST", f"/v1/runs/{run}/submit", body, {"if-match": f'"{version}"'})
    await asyncio.wait_for(asyncio.gather(*tasks), 60)
    delays = sorted((moment - begun) * 1000 for moment in heard)
    return {"heard": len(delays), "p50": delays[len(delays) // 2], "last": delays[-1], "before": before, "during": during}


def inbox(folder: Path, browser: Path | None) -> None:
    """Fills the inbox, requests it, and opens it in a browser."""
    begun = time.monotonic()
    while True:
        load("start", 16, 10, folder)
        here = waits()
        if here >= WAITS:
            break
        if time.monotonic() - begun > 1200:
            raise SystemExit(f"error: only {here} waits after twenty minutes")
    times = sorted(call("GET", "/v1/inbox")[1] for _ in range(200))
    print(f"inbox of {here} waits: p50 {times[100]:.1f} ms, p95 {times[190]:.1f} ms, p99 {times[198]:.1f} ms for a page of 50")
    if browser is None:
        print("the page was not measured: no browser (`cargo xtask verify` installs one)")
        return
    environment = os.environ | {"COUNTERSIGN_TEST_BROWSER": str(browser), "BASE": BASE, "TOKEN": TOKEN, "TMPDIR": str(browser / "unpacked")}
    subprocess.run(["node", HERE / "inbox.mjs"], env=environment, check=True)


def waits() -> int:
    """Open waits, counted page by page."""
    found, cursor = 0, ""
    while True:
        page, _ = call("GET", f"/v1/inbox?limit=500{cursor}")
        found += len(page["items"])
        if "next_cursor" not in page:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def flat(server: Server, minutes: float, folder: Path) -> None:
    """Mixed load for some minutes on a new server; reports its memory, minute by minute."""
    begun, rounds = time.monotonic(), []
    while time.monotonic() < begun + minutes * 60:
        samples, answered = [], 0
        until = min(begun + minutes * 60, time.monotonic() + 60)
        while time.monotonic() < until:
            for kind in ("admit", "submit", "compose"):
                answered += load(kind, 16, 3, folder)["rate"] * 3
                samples.append(server.resident())
        rounds.append((statistics.median(samples), answered))
    told = ", ".join(f"{resident:.0f}" for resident, _ in rounds)
    print(f"MiB in memory, the median of each of {minutes:g} minutes: {told}; {sum(answered for _, answered in rounds):.2g} requests answered, about")


def remembering(binary: Path, folder: Path) -> Server:
    """A server with a thousand events in its memory."""
    server = Server(binary, folder)
    words = ("delivery", "invoice", "garden", "price")
    things = [{"event": f"Event {n}: the {words[n % 4]} of {n % 97} is due on day {n % 365}.", "id": f"e{n}"} for n in range(1_000)]
    call("POST", "/v1/memory/remember", {"user": "ann", "agent": "helper", "items": things})
    return server


def main() -> None:
    parser = argparse.ArgumentParser(description="The server under load.")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--only", default="load,streams,inbox,flat")
    parser.add_argument("--binary", type=Path, help="an existing `countersign` binary")
    arguments = parser.parse_args()
    only = arguments.only.split(",")
    folder, browser = target() / "trials" / "load", target() / "foreign" / "browser"
    binary = arguments.binary.resolve() if arguments.binary else built()
    server = remembering(binary, folder)
    try:
        if "load" in only:
            print(f"{'':<9}{'connections':>12}{'a second':>10}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}{'refused':>9}")
            for kind in KINDS:
                for connections in CONNECTIONS:
                    found = load(kind, connections, arguments.seconds, folder)
                    p50, p95, p99 = found["p"]
                    print(f"{kind:<9}{connections:>12}{found['rate']:>10.0f}{p50:>9.2f}{p95:>9.2f}{p99:>9.2f}{found['refused']:>9}", flush=True)
        if "streams" in only:
            found = asyncio.run(streams(server))
            print(f"{found['heard']} of {STREAMS} open streams received a step: half within {found['p50']:.0f} ms, the last within {found['last']:.0f} ms; {found['before']:.0f} MiB before, {found['during']:.0f} MiB with them", flush=True)
        if "inbox" in only:
            inbox(folder, browser if (browser / "has").exists() else None)
        if "flat" in only:
            server.end()
            server = remembering(binary, folder)
            flat(server, arguments.minutes, folder)
    finally:
        server.end()


if __name__ == "__main__":
    sys.exit(main())
