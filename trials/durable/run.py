"""Compares durable steps: see README.md."""

import argparse
import json
import os
import pwd
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RUNS = 64
PEERS = ["langgraph==1.2.20", "langgraph-checkpoint-postgres==3.2.0", "psycopg[binary,pool]==3.3.8", "dbos==3.3.0"]


def place() -> Path:
    target = os.environ.get("CARGO_TARGET_DIR") or ROOT / "target"
    folder = Path(target).resolve() / "trials" / "durable"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def built() -> Path:
    command = ["cargo", "build", "--release", "-p", "countersign", "--message-format=json-render-diagnostics"]
    output = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
    for line in output.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "countersign":
            return Path(message["executable"])
    raise SystemExit("error: cargo built no `countersign`")


def peers(folder: Path) -> Path:
    """Returns a Python with the compared packages installed."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS], check=True)
    return python


def programs() -> Path:
    """Returns the folder with the programs of the newest server."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pgbench"), key=lambda path: int(path.parts[4]))
    if not found:
        raise SystemExit("error: no PostgreSQL server with pgbench in /usr/lib/postgresql")
    return found[-1].parent


class Server:
    """A private cluster with the durability of the shipped settings."""

    def __init__(self) -> None:
        self.bin = programs()
        self.folder = Path(tempfile.mkdtemp(prefix="countersign-durable-"))
        # A server refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user)
        self.call("initdb", "-D", self.data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C")
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c max_connections=300"
        self.call("pg_ctl", "-D", self.data, "-l", self.folder / "log", "-o", options, "-w", "start")

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def call(self, program: str, *arguments: object) -> None:
        who = {}
        if self.user:
            found = pwd.getpwnam(self.user)
            who = {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
        command = [self.bin / program, *map(str, arguments)]
        subprocess.run(command, check=True, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **who)

    def sql(self, database: str, text: str) -> str:
        command = ["psql", "-h", self.folder, "-U", "tester", "-d", database, "-Atqc", text]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    @contextmanager
    def database(self, name: str):
        self.sql("postgres", f"CREATE DATABASE {name}")
        try:
            yield f"postgresql://tester@{str(self.folder).replace('/', '%2F')}/{name}"
        finally:
            self.sql("postgres", f"DROP DATABASE {name} WITH (FORCE)")

    def end(self) -> None:
        self.call("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


def bare(server: Server, clients: int, seconds: float) -> float:
    """Single-row commits per second by pgbench."""
    with server.database("bare"):
        server.sql("bare", "CREATE TABLE bare (id int PRIMARY KEY, n bigint NOT NULL) WITH (fillfactor = 50)")
        server.sql("bare", f"INSERT INTO bare SELECT n, 0 FROM generate_series(1, {RUNS}) AS n")
        script = server.folder / "bare.sql"
        script.write_text("UPDATE bare SET n = n + 1 WHERE id = :client_id + 1;\n")
        command = ["pgbench", "-h", server.folder, "-U", "tester", "-n", "-M", "prepared", "-f", script]
        command = [server.bin / command[0], *command[1:], "-c", clients, "-j", min(clients, 2), "-T", int(seconds), "bare"]
        told = subprocess.run([str(one) for one in command], check=True, stdout=subprocess.PIPE, text=True).stdout
    line = next(line for line in told.splitlines() if line.startswith("tps"))
    return float(line.split()[2])


def ours(server: Server, binary: Path, workers: int, seconds: float, folder: Path) -> float:
    """Steps per second by `countersign worker` processes."""
    site = folder / "site"
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(HERE / "protocol", site / "protocol")
    cells = [{"op": "add", "path": "/cells", "value": ["0" * 200] * 10}]
    reply = lambda step: [{"op": "replace", "path": f"/cells/{step * 31 % 10}", "value": f"{step:0>200}"}]
    replies = [{"patch": cells if step == 0 else reply(step)} for step in range(4_000)]
    (site / "script.yaml").write_text("".join(f"- reply: {json.dumps(one)}\n" for one in replies))
    with server.database("ours") as url:
        environment = os.environ | {"COUNTERSIGN_STORE": url, "COUNTERSIGN_PROTOCOL": "protocol"}
        quiet = {"cwd": site, "env": environment, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        start = [binary, "run", "--queue", "--model", "script:script.yaml"]
        for _ in range(RUNS):
            subprocess.run(start, check=True, stderr=subprocess.DEVNULL, **quiet)
        work = [binary, "worker", "--no-memory", "--capacity", str(RUNS // workers)]
        crew = [subprocess.Popen(work, stderr=subprocess.PIPE, text=True, **quiet) for _ in range(workers)]
        try:
            total = "SET countersign.all_tenants = 'on'; SELECT coalesce(sum(version), 0), count(*) FILTER (WHERE version < 3) FROM countersign.runs"
            read = lambda: [int(part) for part in server.sql("ours", total).split("|")]
            until = time.monotonic() + 60
            while read()[1] > 0:
                if time.monotonic() > until:
                    raise SystemExit("error: the workers did not start every run within a minute")
                time.sleep(0.2)
            first, begun = read()[0], time.monotonic()
            time.sleep(seconds)
            last, ended = read()[0], time.monotonic()
        finally:
            for worker in crew:
                worker.send_signal(signal.SIGTERM)
            for worker in crew:
                worker.communicate(timeout=60)
    return (last - first) / (ended - begun)


def peer(server: Server, python: Path, script: str, workers: int, seconds: float) -> float:
    """Steps per second by another tool: its own processes, its runs as threads."""
    with server.database("peer"):
        # SQLAlchemy accepts the folder of a socket only as a parameter.
        url = f"postgresql://tester@/peer?host={server.folder}"
        if script.startswith("langgraph"):
            setup = "import sys; from langgraph.checkpoint.postgres import PostgresSaver\nwith PostgresSaver.from_conn_string(sys.argv[1]) as saver: saver.setup()"
            subprocess.run([python, "-c", setup, url], check=True)
        else:
            # One process creates its tables before the others start.
            subprocess.run([python, HERE / script, url, "1", "0.1", "first"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        command = lambda at: [python, HERE / script, url, str(RUNS // workers), str(seconds), f"w{at}"]
        crew = [subprocess.Popen(command(at), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for at in range(workers)]
        rate = 0.0
        for worker in crew:
            try:
                told, _ = worker.communicate(timeout=seconds * 6 + 60)
            except subprocess.TimeoutExpired:
                for one in crew:
                    one.kill()
                print(f"{script}: did not finish with {workers} processes", file=sys.stderr)
                return float("nan")
            steps, taken = told.split()[-2:]
            rate += float(steps) / float(taken)
    return rate


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares durable steps per second.")
    parser.add_argument("--workers", default="1,2,4,8")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--binary", type=Path, help="an existing `countersign` binary")
    arguments = parser.parse_args()
    folder = place()
    binary = arguments.binary.resolve() if arguments.binary else built()
    python = None if arguments.without_peers else peers(folder)
    server = Server()
    try:
        print(f"{'':<22}{'workers':>8}{'steps/s':>10}{'of pgbench':>12}{'of 64 clients':>15}")
        for workers in map(int, arguments.workers.split(",")):
            rows: dict[str, list[float]] = {}
            for _ in range(arguments.rounds):
                rows.setdefault("pgbench", []).append(bare(server, workers, arguments.seconds))
                rows.setdefault("Countersign", []).append(ours(server, binary, workers, arguments.seconds, folder))
                rows.setdefault(f"pgbench, {RUNS} clients", []).append(bare(server, RUNS, arguments.seconds))
                if python:
                    rows.setdefault("LangGraph", []).append(peer(server, python, "langgraph_steps.py", workers, arguments.seconds))
                    rows.setdefault("DBOS", []).append(peer(server, python, "dbos_steps.py", workers, arguments.seconds))
            rates = {name: statistics.median(found) for name, found in rows.items()}
            for name, rate in rates.items():
                few, many = rate / rates["pgbench"], rate / rates[f"pgbench, {RUNS} clients"]
                print(f"{name:<22}{workers:>8}{rate:>10.0f}{few:>12.2f}{many:>15.2f}", flush=True)
    finally:
        server.end()


if __name__ == "__main__":
    main()
