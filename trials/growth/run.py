#!/usr/bin/env python3
"""How time and memory grow with hostile input, through the binary, for one or more builds.

    python3 trials/growth/run.py target/release/countersign [before=path/to/another/countersign]

Each family is run at n, 2n, 4n and 8n with every binary in turn. Time is the processor's, memory is
the peak of the process (both as the kernel counts them). A run ends after 60 seconds or 6 GiB; the
table then says so. The exponent is the slope of a line through the logarithms; a time below 40 ms
or a peak below 64 MiB is put on that floor, because starting the program costs about as much.
"""

import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SECONDS = 60
BYTES = 6 << 30
TIME_FLOOR = 0.04
MEMORY_FLOOR = 64 << 20

CONTRACT = {
    "type": "object",
    "required": ["a", "b"],
    "additionalProperties": False,
    "properties": {
        "a": {"type": "integer"},
        "b": {"enum": ["x", "y"]},
        "list": {"type": "array", "items": {"type": "string"}},
    },
}


def contract(folder, name, schema):
    path = os.path.join(folder, name + ".yaml")
    with open(path, "w") as file:
        file.write(f"id: {name}\nversion: 1.0.0\nintake: tolerant\nschema: {json.dumps(schema)}\n")
    return path


def reply(make):
    """A family of replies: `admit` of one text against one contract."""

    def prepare(folder, size):
        path = contract(folder, "growth", CONTRACT)
        text = os.path.join(folder, "reply.txt")
        with open(text, "w") as file:
            file.write(make(size))
        return ["admit", path, text]

    return prepare


def diff(make):
    """A family of pairs of schemas: `contract diff`."""

    def prepare(folder, size):
        old, new = make(size)
        return ["contract", "diff", contract(folder, "old", old), contract(folder, "new", new)]

    return prepare


def export(make, target):
    def prepare(folder, size):
        return ["contract", "export", contract(folder, "growth", make(size)), "--for", target]

    return prepare


def check(make):
    """A family of protocol folders: `check`."""

    def prepare(folder, size):
        os.makedirs(os.path.join(folder, "workflows"))
        with open(os.path.join(folder, "index.yaml"), "w") as file:
            file.write("name: t\nversion: 1.0.0\ndefault_workflow: main\n")
        with open(os.path.join(folder, "workflows", "main.yaml"), "w") as file:
            file.write("id: main\n" + make(size))
        return ["check", folder]

    return prepare


def many(open_, item, close, size):
    return open_ + ",".join([item] * max(1, (size - len(open_)) // (len(item) + 1))) + close


def phases(size, to):
    lines = ["phases:"] + [f"  - {{ id: phase{n} }}" for n in range(size)]
    lines += ["  - { id: end, terminal: true }", "transitions:"]
    lines += [f"  - {{ from: phase{n}, to: {to(n)} }}" for n in range(size)]
    return "\n".join(lines) + "\n"


def required(count):
    return {"type": "object", "required": [f"f{n}" for n in range(count)]}


def either(count):
    choice = lambda n: {"anyOf": [{"required": [f"a{n}"]}, {"required": [f"b{n}"]}]}
    return {"allOf": [choice(n) for n in range(count)]}


def mutual(count):
    name = lambda n: {"$ref": f"#/$defs/f{n}", "description": "x"}
    definition = {"type": "object", "properties": {f"p{n}": name(n) for n in range(count)}}
    return {"$ref": "#/$defs/f0", "$defs": {f"f{n}": definition for n in range(count)}}


FAMILIES = [
    ("reply: one long key around many members", 50_000,
     reply(lambda n: many('{"' + "k" * (n // 2) + '": [', "0", "]}", n))),
    ("reply: many members of another type", 100_000,
     reply(lambda n: many('{"a":1,"b":"x","list":[', "0", "]}", n))),
    ("reply: many unknown fields", 100_000,
     reply(lambda n: "{" + ",".join(f'"f{i:06}":0' for i in range(n // 12)) + "}")),
    ("reply: one key again and again", 100_000, reply(lambda n: many("{", '"a":1', "}", n))),
    ("reply: braces in prose", 100_000, reply(lambda n: "{x} " * (n // 4))),
    ("reply: quoted braces in prose", 100_000, reply(lambda n: '"{x}" ' * (n // 6))),
    ("reply: prose that names fields", 100_000,
     reply(lambda n: 'the field "a" and "b". ' * (n // 23) + '\n{"a":1,"b":"x"}')),
    ("contract diff: minProperties", 1_000_000,
     diff(lambda n: ({"type": "object", "minProperties": n}, {"type": "object", "minProperties": n + 1}))),
    ("contract diff: many required fields", 100, diff(lambda n: (required(n), required(n + 1)))),
    ("contract diff: allOf of anyOf", 3, diff(lambda n: (either(n), either(n + 1)))),
    ("contract export: definitions that name each other", 1, export(mutual, "openai")),
    ("check: transitions to misspelt phases", 250, check(lambda n: phases(n, lambda i: f"phasse{i}"))),
    ("check: a long chain", 250,
     check(lambda n: phases(n, lambda i: f"phase{i + 1}" if i + 1 < n else "end"))),
]


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def measure(binary, arguments, folder):
    """Processor seconds, peak bytes, and why it ended early, if it did."""
    process = subprocess.Popen([binary, *arguments], cwd=folder, preexec_fn=limit, start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started = time.monotonic()
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() - started > SECONDS:
            os.killpg(process.pid, signal.SIGKILL)
            _, status, usage = os.wait4(process.pid, 0)
            return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, f"over {SECONDS} s"
        time.sleep(0.005)
    # Rust exits with 101 after a panic, and with a signal if an allocation fails.
    broken = os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 101
    ended = "out of memory or crashed" if broken else None
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, ended


def exponent(sizes, values, floor):
    if len(values) < 2 or all(value <= floor for value in values):
        return None
    xs = [math.log(size) for size in sizes[: len(values)]]
    ys = [math.log(max(value, floor)) for value in values]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def show(power):
    return "–" if power is None else f"{power:.2f}"


def main():
    binaries = []
    for argument in sys.argv[1:]:
        name, _, path = argument.rpartition("=")
        binaries.append((name or "now", os.path.abspath(path)))
    if not binaries:
        sys.exit(__doc__)
    print("| family | build | n | seconds at n, 2n, 4n, 8n | peak MiB | time^ | memory^ |")
    print("|---|---|---|---|---|---|---|")
    for family, base, prepare in FAMILIES:
        sizes = [base * times for times in (1, 2, 4, 8)]
        rows = {name: ([], [], None) for name, _ in binaries}
        for size in sizes:
            for name, binary in binaries:
                times, peaks, ended = rows[name]
                if ended:
                    continue
                folder = tempfile.mkdtemp()
                try:
                    seconds, peak, ended = measure(binary, prepare(folder, size), folder)
                finally:
                    shutil.rmtree(folder)
                times.append(seconds)
                peaks.append(peak)
                rows[name] = (times, peaks, ended)
        for name, _ in binaries:
            times, peaks, ended = rows[name]
            shown = ", ".join(f"{value:.2f}" for value in times) + (f" ({ended})" if ended else "")
            memory = ", ".join(f"{value / (1 << 20):.0f}" for value in peaks)
            # A run that ended early would have taken longer, so it is not part of the slope.
            whole = len(times) - 1 if ended else len(times)
            print(f"| {family} | {name} | {base:,} | {shown} | {memory} | "
                  f"{show(exponent(sizes, times[:whole], TIME_FLOOR))} | "
                  f"{show(exponent(sizes, peaks[:whole], MEMORY_FLOOR))} |", flush=True)


if __name__ == "__main__":
    main()
