"""Numbers that the engine must come to, in double precision from the weights that ship.

    python3 lab/measure/nano/reference.py --model models/nano --out test/train/nano/engine/reference.json

Run it again whenever the weights change; test/train/nano/engine/reference.slow.ts says what the numbers are. The prompts are what the
model itself says, so that nothing but the model is needed. Needs PyTorch, safetensors, and the checkout's node_modules.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import numpy as np
import torch
from safetensors.torch import load_file

sys.dont_write_bytecode = True
from pretrain import Decoder, projections, sha256

BEGIN, SKILL, TASK, REPLY = 1, 2, 3, 4
ADAPTER = {"rank": 4, "alpha": 8, "amplitude": 0.05, "frequency": 0.7}
BATCHES = [
    {"loss": "cross_entropy"},
    {"loss": "importance_sampling"},
    {"loss": "ppo"},
    {"loss": "ppo", "clip": {"low": 0.9, "high": 1.3}},
    {"loss": "cispo", "clip": {"low": 0.9, "high": 1.3}},
]
GREEDY_TOKENS = 40
FIRST = 4
# Single precision may choose otherwise, or clip otherwise, where two numbers are closer than this.
NEAR = 1e-3


def rounded(tensor):
    return [float(f"{x:.7g}") for x in tensor.flatten().tolist()]


def read_model(folder):
    shape = json.loads((folder / "config.json").read_text())["shape"]
    model = Decoder(shape)
    stored = load_file(str(folder / "weights.safetensors"))
    model.load_state_dict({name.removeprefix("model."): tensor.float() for name, tensor in stored.items()}, strict=True)
    return model.double().requires_grad_(False)


def make_adapter(model):
    """Factors by their names in PEFT, rounded to single precision as the engine has them."""
    factors = {}
    rank, amplitude, frequency = ADAPTER["rank"], ADAPTER["amplitude"], ADAPTER["frequency"]
    for name, matrix in projections(model):
        outputs, inputs = matrix.weight.shape
        for letter, size in (("A", (rank, inputs)), ("B", (outputs, rank))):
            values = amplitude * np.sin(frequency * np.arange(size[0] * size[1]) + len(factors))
            tensor = torch.from_numpy(values.astype(np.float32).astype(np.float64)).view(size).requires_grad_()
            factors[f"base_model.model.{name}.lora_{letter}.weight"] = tensor
    return factors


def wear(model, factors):
    """From here on the model has the adapter."""
    pairs = list(factors.values())
    for number, (_, matrix) in enumerate(projections(model)):
        matrix.lora = (*pairs[2 * number : 2 * number + 2], ADAPTER["alpha"] / ADAPTER["rank"])


def next_logprobs(model, tokens):
    return model(torch.tensor([tokens]))[0, -1].log_softmax(-1)


@torch.no_grad()
def speak(model, start, count, generator):
    tokens = list(start)
    for _ in range(count):
        tokens.append(int(torch.multinomial(next_logprobs(model, tokens).exp(), 1, generator=generator)))
    return tokens


@torch.no_grad()
def greedy(model, tokens):
    said = []
    while len(said) < GREEDY_TOKENS:
        best = next_logprobs(model, [*tokens, *said]).topk(2)
        if float(best.values[0] - best.values[1]) < NEAR:
            break
        said.append(int(best.indices[0]))
    return said


def describe_prompt(model, tokens, with_adapter):
    with torch.no_grad():
        last = rounded(next_logprobs(model, tokens))
    said = greedy(model, tokens)
    if len(said) < GREEDY_TOKENS // 2:
        raise SystemExit("two tokens are about as likely: try another seed")
    return {"tokens": tokens, "withAdapter": with_adapter, "lastLogprobs": last, "greedy": said}


def target_logprobs(model, datum):
    logprobs = model(torch.tensor([datum["tokens"]]))[0].log_softmax(-1)
    return logprobs[torch.arange(len(datum["tokens"])), torch.tensor(datum["targets"])]


@torch.no_grad()
def make_datum(model, prompt, reply, number):
    """Signs and sizes of all kinds; sampled near enough to now that some ratios are clipped and some are not."""
    sequence = prompt + reply
    datum = {"tokens": sequence[:-1], "targets": sequence[1:]}
    at = torch.arange(len(datum["tokens"]), dtype=torch.float64)
    mask = (at >= len(prompt) - 1).double()
    datum["weights"] = rounded(mask * (1 + 0.5 * torch.sin(at)))
    datum["advantages"] = rounded(mask * (0.4 + torch.cos(0.5 * at + number)))
    datum["logprobs"] = rounded(target_logprobs(model, datum) + 0.5 * torch.sin(1.7 * at + number))
    return datum


def token_losses(batch, p, datum):
    weights, advantages, q = (torch.tensor(datum[key], dtype=torch.float64) for key in ("weights", "advantages", "logprobs"))
    if batch["loss"] == "cross_entropy":
        return -p * weights
    ratio = (p - q).exp()
    low, high = batch.get("clip", {"low": 0.8, "high": 1.2}).values()
    clipped = ratio.clamp(low, high)
    kinks = torch.minimum((ratio - low).abs(), (ratio - high).abs())[advantages != 0]
    if float(kinks.detach().min()) < NEAR:
        raise SystemExit("a ratio is about where it is clipped: try another seed")
    if batch["loss"] == "importance_sampling":
        return -ratio * advantages * weights
    if batch["loss"] == "ppo":
        return -torch.minimum(ratio * advantages, clipped * advantages) * weights
    return -clipped.detach() * p * advantages * weights


def describe_batch(model, factors, batch, data):
    logprobs = [target_logprobs(model, datum) for datum in data]
    loss = sum(token_losses(batch, p, datum).sum() for p, datum in zip(logprobs, data))
    if abs(float(loss.detach())) < 1:
        raise SystemExit("a loss is about zero: try another seed")
    gradients = torch.autograd.grad(loss, list(factors.values()))
    return {
        **batch,
        "data": data,
        "lossSum": float(loss.detach()),
        "targetLogprobs": [rounded(p.detach()) for p in logprobs],
        "gradient": {
            name: {"norm": float(gradient.norm()), "first": rounded(gradient.flatten()[:FIRST])}
            for name, gradient in zip(factors, gradients)
        },
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=pathlib.Path, default=pathlib.Path("models/nano"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("test/train/nano/engine/reference.json"))
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    model = read_model(args.model)
    generator = torch.Generator().manual_seed(args.seed)
    with_skills = [*speak(model, [BEGIN, SKILL], 120, generator), REPLY]
    bare = [*speak(model, [BEGIN, TASK], 40, generator), REPLY]
    prompts = [describe_prompt(model, tokens, False) for tokens in ([BEGIN], bare, with_skills)]
    factors = make_adapter(model)
    wear(model, factors)
    prompts += [describe_prompt(model, tokens, True) for tokens in (bare, with_skills)]
    data = [make_datum(model, each["tokens"], each["greedy"], number) for number, each in enumerate(prompts[1:3])]
    weights = args.model / "weights.safetensors"
    reference = {
        "weightsFile": str(weights),
        "weightsSha256": sha256(weights),
        "adapter": ADAPTER,
        "prompts": prompts,
        "batches": [describe_batch(model, factors, batch, data) for batch in BATCHES],
    }
    args.out.write_text(json.dumps(reference))
    subprocess.run(["node_modules/.bin/biome", "format", "--write", str(args.out)], check=True)


if __name__ == "__main__":
    main()
