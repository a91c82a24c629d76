"""Serves a GGUF model on loopback with the OpenAI-compatible API of llama.cpp, until its standard input is closed.

Runs inside the virtual environment that run.py makes. Prints one line of JSON when it listens.
"""

import json
import sys

import xllamacpp


def main() -> None:
    model, seed, temperature = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    context, reply = int(sys.argv[4]), int(sys.argv[5])
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    # Without it, the log would name a file path on this machine as the model.
    params.model_alias = {"smollm2"}
    params.n_ctx = context
    # Used if a request sets no limit; -1 means no limit.
    params.n_predict = reply
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.sampling.seed = seed
    # The agents set none, so this one applies.
    params.sampling.temp = temperature
    server = xllamacpp.Server(params)
    print(json.dumps({"address": server.listening_address}), flush=True)
    # The pipe closes when the parent process ends for any reason, so no server is left behind.
    sys.stdin.read()


main()
