"""Serves a GGUF file on this machine's processor, with the routes of OpenAI's chat API, on loopback.

    python3 -m venv .cache/real-model/venv && .cache/real-model/venv/bin/pip install xllamacpp
    .cache/real-model/venv/bin/python lab/real-model/serve_cpu.py [FILE] [--port 8099] [--threads 2]

Needs about 2 GB of memory. Two idle cores write about ten tokens a second; a busy machine with more threads than free cores is far slower.
"""
import argparse
import sys
import time

try:
    import xllamacpp
except ImportError:
    sys.exit("xllamacpp is missing: pip install xllamacpp, in a virtual environment of its own")

parser = argparse.ArgumentParser()
parser.add_argument("file", nargs="?", default=".cache/real-model/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf")
parser.add_argument("--port", type=int, default=8099)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--context", type=int, default=8192)
given = parser.parse_args()

params = xllamacpp.CommonParams()
params.model.path = given.file
params.n_ctx = given.context
params.n_parallel = 1
params.port = given.port
params.cpuparams.n_threads = given.threads
params.cpuparams_batch.n_threads = given.threads
server = xllamacpp.Server(params)
print(f"listening on {server.listening_address}", flush=True)
while True:
    time.sleep(3600)
