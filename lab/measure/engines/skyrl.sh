#!/usr/bin/env bash
# Our client and our trainer against SkyRL with its JAX backend, on the CPU, from nothing: installs it, makes a tiny random
# model, starts it, drives it, trains, is interrupted in three ways, and compares the weights at the end.
#
#   npm run -s build && lab/measure/engines/skyrl.sh FOLDER [PYTHON]
#
# FOLDER is where the virtual environment, the model, the log and the checkpoints go (about 7 GB: it installs torch). PYTHON is
# 3.12 or later: on 3.11 SkyRL 0.3.0 does not start with the pydantic of today. A second run in the same folder installs
# nothing. PORT chooses another port, STEPS the length of the training run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. lab/measure/engines/server.sh

folder=$(mkdir -p "$1" && cd "$1" && pwd)
python=${2:-python3.12}
port=${PORT:-10700}
steps=${STEPS:-16}
venv=$folder/venv

if [ ! -e "$venv/installed" ]; then
  "$python" -m venv "$venv"
  "$venv/bin/pip" install -q uv
  "$venv/bin/uv" pip install -q --python "$venv/bin/python" 'skyrl[tinker,jax]==0.3.0' 'tinker<=0.24.1'
  touch "$venv/installed"
fi
"$venv/bin/uv" pip list -q --python "$venv/bin/python" 2>/dev/null | grep -E '^(skyrl|tinker|jax|flax|transformers) '
[ -e "$folder/tiny/model.safetensors" ] || "$venv/bin/python" lab/measure/engines/tiny_model.py "$folder/tiny" 2>/dev/null

# The server starts its engine the way it was started itself and accepts no other way than `uv run`.
export VIRTUAL_ENV=$venv PATH=$venv/bin:$PATH UV_OFFLINE=1 HF_HUB_OFFLINE=1 JAX_PLATFORMS=cpu
rm -rf "$folder/run" && mkdir "$folder/run"
start() {
  # The sizes of batches are fixed: JAX compiles anew for each that it has not seen.
  start_server "$folder/run/log" "$port" \
    uv run --no-project --active -m skyrl.tinker.api --host 127.0.0.1 --port "$port" \
    --base-model "$folder/tiny" --backend jax \
    --backend-config '{"max_lora_adapters":8,"max_lora_rank":8,"train_micro_batch_size":16,"sample_max_num_sequences":16}' \
    --checkpoints-base "$folder/run/checkpoints" --database-url "sqlite:///$folder/run/server.db"
}
drive() {
  timeout 1200 node dist/lab/measure/engines/drive-client.js --url "http://127.0.0.1:$port" --model "$folder/tiny" \
    --profile skyrl "$@"
}
train() {
  local journal=$1
  shift
  drive --losses importance_sampling --journal "$folder/run/$journal.jsonl" --steps "$steps" --rate 5e-3 --rise 0.2 "$@" |
    tee -a "$folder/run/$journal.out"
}

start
echo "== call by call"
drive --rate 3e-3 --many 48
echo "== the trainer, left alone"
train alone
echo "== the same run: paused in the middle of a step"
train interrupted --pause-after $((steps / 4))
echo "== the server ended and started again; then the trainer killed in the middle of a step"
stop_server
start
train interrupted --kill-after $((steps / 4)) || echo "killed"
echo "== gone on to the end"
train interrupted
alone=$(grep ' weights: ' "$folder/run/alone.out")
interrupted=$(grep ' weights: ' "$folder/run/interrupted.out")
[ "$alone" = "$interrupted" ] || { echo "the two runs ended at other weights"; exit 1; }
echo "both runs ended at the same weights, to the last digit"
