#!/usr/bin/env bash
# Our client against TuFT in its CPU mode, from nothing: installs it, starts it, drives it.
#
#   npm run -s build && lab/measure/engines/tuft.sh FOLDER [PYTHON]
#
# FOLDER is where the virtual environment, the log and the checkpoints go (about 6 GB: TuFT imports torch). PYTHON is 3.11
# or later. A second run in the same folder installs nothing. PORT chooses another port.
#
# In CPU mode TuFT checks every message as strictly as it always does and computes numbers that only look like a model's.
# So this shows the protocol, and that our self-test and our trainer do not fall for it.
set -euo pipefail
cd "$(dirname "$0")/../.."
. lab/measure/engines/server.sh

folder=$(mkdir -p "$1" && cd "$1" && pwd)
python=${2:-python3}
port=${PORT:-10611}
venv=$folder/venv

if [ ! -e "$venv/installed" ]; then
  "$python" -m venv "$venv"
  "$venv/bin/pip" install -q uv
  # Its own list has vllm and ray in it, which CPU mode does not import.
  "$venv/bin/uv" pip install -q --python "$venv/bin/python" --no-deps tuft==0.2.2
  "$venv/bin/uv" pip install -q --python "$venv/bin/python" \
    'tinker==0.25.*' 'fastapi>=0.133,<0.137' uvicorn httpx numpy protobuf zstandard typer omegaconf pyyaml psutil \
    nvidia-ml-py opentelemetry-api opentelemetry-sdk opentelemetry-exporter-otlp \
    opentelemetry-instrumentation-{fastapi,logging,redis,system-metrics} torch peft
  touch "$venv/installed"
fi
"$venv/bin/uv" pip list -q --python "$venv/bin/python" 2>/dev/null | grep -E '^(tuft|tinker|fastapi|torch) '

rm -rf "$folder/run" && mkdir "$folder/run"
# It knows models by the name of their folder, which is not opened in CPU mode.
cat >"$folder/run/tuft.yaml" <<YAML
checkpoint_dir: $folder/run/checkpoints
supported_models:
  - model_name: tiny
    model_path: $folder/run/Qwen3-tiny
    max_model_len: 512
authorized_users:
  tml-test: default
YAML
export TUFT_CPU_TEST=1
start_server "$folder/run/log" "$port" "$venv/bin/tuft" launch --config "$folder/run/tuft.yaml" --port "$port"

drive() {
  timeout 600 node dist/lab/measure/engines/drive-client.js --url "http://127.0.0.1:$port" --key tml-test --model tiny "$@"
}
echo "== the profile for it"
drive --profile tuft --pretends
echo "== a profile that knows nothing of it"
drive --profile generic --pretends
echo "== our trainer: all attempts are the same there, so there is nothing to learn and no step"
drive --profile tuft --pretends --journal "$folder/run/habits.jsonl" --steps 2 --rise 0 | tee "$folder/run/trainer"
[ "$(grep -c step-idle "$folder/run/trainer")" = 2 ]
