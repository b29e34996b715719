"""A language model of the Qwen2 family on one GPU, sampled and trained with LoRA. Speaks frames over standard input and output.

    python3 lab/real-model/torch_engine.py MODEL_FOLDER [--slots 768] [--width 1024] [--from ADAPTER] [--keep FOLDER]

Started by serve-torch.ts, which puts the Tinker protocol in front of it. A frame is a length (4 bytes), a JSON header and the
payload whose bytes the header counts. Sampling is continuous: a place whose reply has ended takes the next prompt, and decoding
runs as CUDA graphs. Adapters keep float32 weights: in bfloat16 small updates would be rounded away.
"""
import argparse
import json
import math
import os
import queue
import struct
import sys
import threading
import time

import numpy as np
import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from safetensors.torch import load_file, save_file

PARTS = {"qkv": ("q_proj", "k_proj", "v_proj"), "o": ("o_proj",), "gate_up": ("gate_proj", "up_proj"), "down": ("down_proj",)}
ATTENTION = ("qkv", "o")


class Invalid(Exception):
    """The call was wrong, not the engine."""


class Model:
    """Frozen weights; projections that read the same input are one matrix."""

    def __init__(self, folder, device, dtype):
        with open(os.path.join(folder, "config.json")) as file:
            config = json.load(file)
        self.hidden, self.heads = config["hidden_size"], config["num_attention_heads"]
        self.kv = config["num_key_value_heads"]
        self.dim = config.get("head_dim") or self.hidden // self.heads
        self.ffn, self.eps = config["intermediate_size"], config["rms_norm_eps"]
        self.count, self.vocabulary = config["num_hidden_layers"], config["vocab_size"]
        self.device, self.dtype = device, dtype
        stored = load_file(os.path.join(folder, "model.safetensors"))

        def take(name):
            return stored[name].to(device, dtype)

        self.embedding, self.norm = take("model.embed_tokens.weight"), take("model.norm.weight")
        self.head = take("lm_head.weight") if "lm_head.weight" in stored else self.embedding
        self.layers = []
        for i in range(self.count):
            at = f"model.layers.{i}."
            qkv = [at + f"self_attn.{x}_proj" for x in "qkv"]
            self.layers.append({
                "before": take(at + "input_layernorm.weight"),
                "after": take(at + "post_attention_layernorm.weight"),
                "qkv": torch.cat([take(x + ".weight") for x in qkv]),
                "bias": torch.cat([take(x + ".bias") for x in qkv]),
                "o": take(at + "self_attn.o_proj.weight"),
                "gate_up": torch.cat([take(at + "mlp.gate_proj.weight"), take(at + "mlp.up_proj.weight")]),
                "down": take(at + "mlp.down_proj.weight"),
            })
        rope = config.get("rope_theta") or config.get("rope_parameters", {}).get("rope_theta", 1e4)
        turns = 1 / rope ** (torch.arange(0, self.dim, 2, device=device).float() / self.dim)
        angles = torch.outer(torch.arange(16_384, device=device).float(), turns).repeat(1, 2)
        self.cos, self.sin = angles.cos().to(dtype), angles.sin().to(dtype)
        q, k = self.heads * self.dim, self.kv * self.dim
        self.sizes = {"qkv": ([q, k, k], self.hidden), "o": ([self.hidden], q), "gate_up": ([self.ffn] * 2, self.hidden), "down": ([self.hidden], self.ffn)}


def project(x, weight, adapter, bias=None):
    y = F.linear(x, weight, bias)
    return y if adapter is None else y + F.linear(F.linear(x, adapter[0]), adapter[1])


def turn(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def run_layer(model, layer, adapter, x, cos, sin, attend):
    """`attend(q, k, v)`: heads before positions; returns what attention reads, heads merged."""
    rows, width, _ = x.shape
    mixed = project(F.rms_norm(x, (model.hidden,), layer["before"], model.eps), layer["qkv"], adapter.get("qkv"), layer["bias"])
    q, k, v = mixed.view(rows, width, -1, model.dim).transpose(1, 2).split([model.heads, model.kv, model.kv], 1)
    x = x + project(attend(turn(q, cos, sin), turn(k, cos, sin), v), layer["o"], adapter.get("o"))
    gate, up = project(F.rms_norm(x, (model.hidden,), layer["after"], model.eps), layer["gate_up"], adapter.get("gate_up")).chunk(2, -1)
    return x + project(F.silu(gate) * up, layer["down"], adapter.get("down"))


def read(model, tokens, adapters, keep=None):
    """Hidden states of sequences that are padded at their end. `keep(layer, k, v)` gets keys and values."""
    rows, width = tokens.shape
    x = F.embedding(tokens, model.embedding)
    cos, sin = model.cos[:width], model.sin[:width]
    group = model.heads // model.kv
    for i, layer in enumerate(model.layers):

        def attend(q, k, v, i=i):
            if keep is not None:
                keep(i, k, v)
            k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return seen.transpose(1, 2).reshape(rows, width, -1)

        x = run_layer(model, layer, adapters[i] if adapters else {}, x, cos, sin, attend)
    return F.rms_norm(x, (model.hidden,), model.norm, model.eps)


class Adapter:
    """A LoRA in training: float32 weights and the state of AdamW."""

    def __init__(self, model, options):
        self.model, self.rank = model, options["rank"]
        self.scale = options["alpha"] / self.rank
        parts = [p for p in PARTS if options["attention"] and p in ATTENTION or options["mlp"] and p not in ATTENTION]
        random = torch.Generator().manual_seed(options["seed"])
        self.weights = {}
        for i in range(model.count):
            for part in parts:
                outs, into = model.sizes[part]
                down = (torch.rand(len(outs) * self.rank, into, generator=random) * 2 - 1) / math.sqrt(into)
                self.weights[f"{i}.{part}.a"] = down.to(model.device)
                for j, out in enumerate(outs):
                    self.weights[f"{i}.{part}.b{j}"] = torch.zeros(out, self.rank, device=model.device)
        for weight in self.weights.values():
            weight.requires_grad_()
        self.optimizer = torch.optim.AdamW(self.weights.values(), fused=model.device != "cpu")
        self.options = options

    def matrices(self):
        """What a forward pass multiplies by, for each layer."""
        found = []
        for i in range(self.model.count):
            layer = {}
            for part in PARTS:
                if f"{i}.{part}.a" not in self.weights:
                    continue
                ups = [self.weights[f"{i}.{part}.b{j}"] for j in range(len(PARTS[part]))]
                up = torch.block_diag(*ups) if len(ups) > 1 else ups[0]
                layer[part] = (self.weights[f"{i}.{part}.a"].to(self.model.dtype), (up * self.scale).to(self.model.dtype))
            found.append(layer)
        return found

    def step(self, call):
        for group in self.optimizer.param_groups:
            group.update(lr=call["learningRate"], betas=(call["beta1"], call["beta2"]), eps=call["eps"], weight_decay=call["weightDecay"])
        given = [w for w in self.weights.values()]
        for weight in given:
            if weight.grad is None:
                weight.grad = torch.zeros_like(weight)
        most = call["gradClipNorm"] if call["gradClipNorm"] > 0 else math.inf
        norm = float(torch.nn.utils.clip_grad_norm_(given, most))
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return norm

    def snapshot(self, with_optimizer):
        state = {"options": self.options, "weights": {k: w.detach().to("cpu", copy=True) for k, w in self.weights.items()}}
        if with_optimizer:
            held = self.optimizer.state_dict()["state"]
            state["optimizer"] = {k: {n: t.to("cpu", copy=True) for n, t in one.items()} for k, one in held.items()}
        return state

    def restore(self, state, with_optimizer):
        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(state["weights"][name])
        if with_optimizer and state.get("optimizer"):
            whole = self.optimizer.state_dict()
            self.optimizer.load_state_dict({**whole, "state": state["optimizer"]})


def write_adapter(path, state):
    """As bfloat16, whole or not at all."""
    save_file({k: w.to(torch.bfloat16).contiguous() for k, w in state["weights"].items()}, path + ".part", {"options": json.dumps(state["options"])})
    os.replace(path + ".part", path)


class Reply:
    def __init__(self, call, prompt, number):
        self.call, self.prompt, self.number = call, prompt, number


class Sampler:
    """Places in a batch, each with its own length. All use the same weights; others wait until the places are empty."""

    STOPS = 4
    CHUNK = 8

    def __init__(self, model, slots, width):
        self.model, self.slots, self.width = model, slots, width
        # Each length that is looked at is a graph of its own.
        self.span = max(128, width // 32)
        on = {"device": model.device}
        self.keys = [torch.zeros(slots * model.kv * width, model.dim, dtype=model.dtype, **on) for _ in range(model.count)]
        self.values = [torch.zeros_like(k) for k in self.keys]
        long = {"dtype": torch.long, **on}
        self.token, self.at, self.made, self.most = (torch.zeros(slots, **long) for _ in range(4))
        self.out = torch.zeros(slots, width, **long)
        self.logprobs = torch.zeros(slots, width, **on)
        self.stops = torch.full((slots, self.STOPS), -1, **long)
        self.ended = torch.ones(slots, dtype=torch.bool, **on)
        self.heat, self.noise = torch.ones(slots, 1, **on), torch.ones(slots, 1, **on)
        self.rows = (torch.arange(slots, **on)[:, None] * model.kv + torch.arange(model.kv, **on)[None]) * width
        self.columns = torch.arange(width, **on)
        self.held, self.used = [None] * slots, slots
        self.waiting, self.weights, self.adapters, self.static, self.graphs, self.pool = [], None, None, None, {}, None

    def use(self, weights, matrices):
        """Weights are copied into fixed places, so that a graph stays true; another rank needs other graphs."""
        self.weights = weights
        if matrices is None and self.static is None:
            self.adapters = None
            return
        shapes = matrices and [{p: (a.shape, b.shape) for p, (a, b) in layer.items()} for layer in matrices]
        if shapes and (self.static is None or shapes != self.shapes):
            self.static, self.shapes, self.graphs = [{p: (a.clone(), b.clone()) for p, (a, b) in layer.items()} for layer in matrices], shapes, {}
            self.pool = None
        self.adapters = self.static
        for mine, theirs in zip(self.static, matrices or [None] * len(self.static)):
            for part, (a, b) in mine.items():
                if theirs is None:
                    b.zero_()
                else:
                    a.copy_(theirs[part][0])
                    b.copy_(theirs[part][1])

    def decode(self, seen, used):
        """One step of the first `used` places, which look at the first `seen` positions."""
        model, group = self.model, self.model.heads // self.model.kv
        made, at, current, ended = self.made[:used], self.at[:used], self.token[:used], self.ended[:used]
        x = F.embedding(current, model.embedding)[:, None]
        cos, sin = model.cos[at][:, None, None], model.sin[at][:, None, None]
        place = (self.rows[:used] + at[:, None]).reshape(-1)
        mask = torch.where(self.columns[:seen] <= at[:, None], 0.0, -math.inf).to(model.dtype)
        mask = mask[:, None, None].expand(used, model.kv, group, seen)
        for i, layer in enumerate(model.layers):

            def attend(q, k, v, i=i):
                self.keys[i].index_copy_(0, place, k.reshape(-1, model.dim))
                self.values[i].index_copy_(0, place, v.reshape(-1, model.dim))
                keys, values = (self.rows_of(c)[:used, :, :seen] for c in (self.keys[i], self.values[i]))
                mixed = F.scaled_dot_product_attention(q.reshape(used, model.kv, group, model.dim), keys, values, attn_mask=mask)
                return mixed.reshape(used, 1, -1)

            x = run_layer(model, layer, self.adapters[i] if self.adapters else {}, x, cos, sin, attend)
        logits = F.linear(F.rms_norm(x[:, 0], (model.hidden,), model.norm, model.eps), model.head).float()
        # The largest of logit / heat plus Gumbel noise is a draw from the softmax.
        drawn = torch.empty_like(logits).exponential_().clamp_min_(1e-20).log_().mul_(-self.noise[:used])
        token = drawn.add_(logits * self.heat[:used]).argmax(-1)
        logprob = logits.gather(1, token[:, None])[:, 0] - logits.logsumexp(-1)
        # A place without a reply writes where nobody reads.
        spot = torch.where(ended, torch.full_like(made, self.width - 1), made)[:, None]
        self.out[:used].scatter_(1, spot, token[:, None])
        self.logprobs[:used].scatter_(1, spot, logprob[:, None])
        alive = (~ended).long()
        made.add_(alive)
        at.add_(alive)
        current.copy_(torch.where(ended, current, token))
        stopped = (token[:, None] == self.stops[:used]).any(1)
        ended.logical_or_(stopped | (made >= self.most[:used]))

    def rows_of(self, cache):
        return cache.view(self.slots, self.model.kv, self.width, self.model.dim)

    def gather(self, seen):
        """With no prompt waiting and half of the places done, the replies that go on move to the front: fewer places are computed."""
        busy = [i for i, one in enumerate(self.held) if one is not None]
        self.used = self.slots if self.waiting or not busy else self.used
        wanted = self.used
        while not self.waiting and wanted >= 2 * max(len(busy), self.slots // 16) and wanted % 2 == 0:
            wanted //= 2
        if wanted == self.used or not busy:
            return
        free = [i for i in range(wanted) if self.held[i] is None]
        high = [i for i in busy if i >= wanted]
        if high:
            device = self.model.device
            source, target = torch.tensor(high, device=device), torch.tensor(free[: len(high)], device=device)
            for cache in (*self.keys, *self.values):
                rows = self.rows_of(cache)
                rows[target, :, :seen] = rows[source, :, :seen]
            for state in (self.token, self.at, self.made, self.most, self.out, self.logprobs, self.stops, self.heat, self.noise, self.ended):
                state[target] = state[source]
            self.ended[source] = True
            for old, new in zip(high, free):
                self.held[new], self.held[old] = self.held[old], None
        self.used = wanted

    def advance(self, seen):
        if self.model.device == "cpu":
            return self.decode(seen, self.used)
        key = (seen, self.used)
        if key not in self.graphs:
            state = [self.token, self.at, self.made, self.ended]
            before = [x.clone() for x in state]
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                self.decode(*key)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=self.pool):
                self.decode(*key)
            self.pool = self.pool or graph.pool()
            self.graphs[key] = graph
            for x, y in zip(state, before):
                x.copy_(y)
        self.graphs[key].replay()

    @property
    def is_idle(self):
        return not self.waiting and all(one is None for one in self.held)

    def fill(self, matrices_of):
        """Gives empty places to prompts that use the weights in place; with no place taken, to those of the first that waits."""
        empty = [i for i, one in enumerate(self.held) if one is None]
        if not self.waiting or not empty:
            return
        self.used = self.slots
        # Reading a few prompts costs as much as reading many: wait for places while the others go on.
        if len(empty) < self.slots // 16 and len(empty) < len(self.waiting):
            return
        if len(empty) == self.slots and self.waiting[0].call["weights"] != self.weights:
            self.use(self.waiting[0].call["weights"], matrices_of(self.waiting[0].call["weights"]))
        taken = [r for r in self.waiting if r.call["weights"] == self.weights][: len(empty)]
        if not taken:
            return
        gone = set(map(id, taken))
        self.waiting = [r for r in self.waiting if id(r) not in gone]
        prompts = {}
        for place, reply in zip(empty, taken):
            self.held[place] = reply
            prompts.setdefault(reply.call["id"], (reply, []))[1].append(place)
        rows = sorted(prompts.values(), key=lambda x: len(x[0].prompt))
        while rows:
            count = max(1, min(len(rows), 24_576 // len(rows[-1][0].prompt)))
            self.begin(rows[-count:])
            rows = rows[:-count]

    def begin(self, rows):
        device, model = self.model.device, self.model
        longest = max(len(r.prompt) for r, _ in rows) - 1
        tokens = np.zeros((len(rows), max(1, longest)), dtype=np.int64)
        for i, (reply, _) in enumerate(rows):
            tokens[i, : len(reply.prompt) - 1] = reply.prompt[:-1]
        places = torch.tensor([p for _, ps in rows for p in ps], device=device)
        source = torch.tensor([i for i, (_, ps) in enumerate(rows) for _ in ps], device=device)
        if longest > 0:

            def keep(i, k, v):
                for cache, new in ((self.keys[i], k), (self.values[i], v)):
                    self.rows_of(cache)[places, :, :longest] = new[source]

            read(model, torch.from_numpy(tokens).to(device), self.adapters, keep)
        calls = [(r, r.call) for r, ps in rows for _ in ps]

        def column(values, dtype):
            return torch.tensor(values, dtype=dtype, device=device)

        self.token[places] = column([int(r.prompt[-1]) for r, _ in calls], torch.long)
        self.at[places] = column([len(r.prompt) - 1 for r, _ in calls], torch.long)
        self.made[places] = 0
        self.most[places] = column([min(c["maxTokens"], self.width - len(r.prompt) - 1) for r, c in calls], torch.long)
        self.stops[places] = column([(c["stop"] + [-1] * self.STOPS)[: self.STOPS] for _, c in calls], torch.long)
        cold = [c["temperature"] <= 0 for _, c in calls]
        self.heat[places, 0] = column([1.0 if z else 1 / c["temperature"] for z, (_, c) in zip(cold, calls)], torch.float32)
        self.noise[places, 0] = column([0.0 if z else 1.0 for z in cold], torch.float32)
        self.ended[places] = False

    def work(self, matrices_of):
        """Some steps of every place; the replies that ended, with their tokens and log-probabilities."""
        self.fill(matrices_of)
        busy = [i for i, one in enumerate(self.held) if one is not None]
        if not busy:
            return []
        furthest = int(self.at[torch.tensor(busy, device=self.model.device)].max())
        self.gather(furthest + 1)
        busy = [i for i, one in enumerate(self.held) if one is not None]
        for i in range(self.CHUNK):
            self.advance(min(self.width, (furthest + i) // self.span * self.span + self.span))
        ended = self.ended.tolist()
        done = [i for i in busy if ended[i]]
        if not done:
            return []
        where = torch.tensor(done, device=self.model.device)
        lengths = self.made[where].tolist()
        tokens, logprobs = self.out[where, : max(lengths)].cpu().numpy(), self.logprobs[where, : max(lengths)].cpu().numpy()
        found = []
        for i, place in enumerate(done):
            reply, self.held[place] = self.held[place], None
            own = tokens[i, : lengths[i]].astype(np.int32)
            found.append((reply, own, logprobs[i, : lengths[i]], "stop" if own[-1] in reply.call["stop"] else "length"))
        return found


def token_loss(loss, logprob, datum, clip):
    if loss == "cross_entropy":
        return -logprob * datum["weights"]
    ratio, gain = (logprob - datum["logprobs"]).exp(), datum["advantages"]
    if loss == "importance_sampling":
        return -ratio * gain
    held = ratio.clamp(clip["low"], clip["high"])
    if loss == "ppo":
        return -torch.minimum(ratio * gain, held * gain)
    return -held.detach() * gain * logprob


class Engine:
    ROWS = 4096

    def __init__(self, options):
        self.options = options
        device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = Model(options.folder, device, torch.bfloat16 if device == "cuda" else torch.float32)
        torch.manual_seed(options.seed)
        self.sampler = Sampler(self.model, options.slots, options.width)
        self.adapters, self.frozen, self.saved, self.number = {}, {}, {}, 0

    def name(self, kind):
        self.number += 1
        return f"{kind}-{self.number}"

    def adapter(self, name):
        if name not in self.adapters:
            raise Invalid(f"there is no adapter {name}")
        return self.adapters[name]

    def matrices_of(self, weights):
        if weights is None:
            return None
        return self.frozen[weights] if weights in self.frozen else self.adapter(weights).matrices()

    def create(self, call):
        adapter = Adapter(self.model, call["options"])
        if self.options.start is not None:
            weights = load_file(self.options.start)
            if all(k in weights and weights[k].shape == w.shape for k, w in adapter.weights.items()):
                adapter.restore({"weights": weights}, False)
        name = self.name("adapter")
        self.adapters[name] = adapter
        return {"name": name}

    def freeze(self, call):
        name = self.name("frozen")
        with torch.no_grad():
            self.frozen[name] = self.adapter(call["adapter"]).matrices()
        return {"name": name}

    def save(self, call):
        """Snapshots stay here; the caller gets their name. The newest of each adapter is also a file."""
        name = self.name("saved")
        self.saved[name] = self.adapter(call["adapter"]).snapshot(call["withOptimizer"])
        if self.options.keep is not None and self.saved[name].get("optimizer"):
            write_adapter(os.path.join(self.options.keep, f"{call['adapter']}.safetensors"), self.saved[name])
        return {"name": name}

    def load(self, call):
        if call["saved"] not in self.saved:
            raise Invalid("these weights were saved by an engine that has ended")
        state = self.saved[call["saved"]]
        adapter = Adapter(self.model, state["options"])
        adapter.restore(state, call["withOptimizer"])
        name = self.name("adapter")
        self.adapters[name] = adapter
        return {"name": name}

    def dispose(self, call):
        self.adapters.pop(call["name"], None)
        self.frozen.pop(call["name"], None)
        return {}

    def step(self, call):
        return {"metrics": {"grad_norm:mean": self.adapter(call["adapter"]).step(call["adam"])}}

    def train(self, call, payload):
        """Log-probabilities of all targets that count, and the loss, summed over tokens."""
        lengths = call["lengths"]
        fields, at = {}, 0
        for name, kind in call["fields"]:
            count = sum(lengths)
            fields[name] = np.split(np.frombuffer(payload, kind, count, at), np.cumsum(lengths)[:-1])
            at += 4 * count
        adapter = None if call["adapter"] is None else self.adapter(call["adapter"])
        order = sorted(range(len(lengths)), key=lambda i: lengths[i])
        results, total = [None] * len(lengths), 0.0
        while order:
            count = max(1, min(len(order), self.options.budget // lengths[order[-1]]))
            batch, order = order[-count:], order[:-count]
            with torch.set_grad_enabled(call["backward"]):
                total += self.train_some(call, adapter, {n: [rows[i] for i in batch] for n, rows in fields.items()}, results, batch)
        flat = np.concatenate(results).astype(np.float32)
        return {"metrics": {"loss:sum": total}, "lengths": lengths}, flat.tobytes()

    def train_some(self, call, adapter, fields, results, batch):
        device = self.model.device
        tokens = fields["tokens"]
        width = max(map(len, tokens))
        ids = np.zeros((len(tokens), width), dtype=np.int64)
        for i, row in enumerate(tokens):
            ids[i, : len(row)] = row
        counts = [self.counting(call["loss"], fields, i) for i in range(len(tokens))]
        spots = np.concatenate([i * width + np.nonzero(c)[0] for i, c in enumerate(counts)])

        def gathered(name):
            return torch.from_numpy(np.concatenate([fields[name][i][c] for i, c in enumerate(counts)]).copy()).to(device)

        for i, place in enumerate(batch):
            results[place] = np.zeros(len(tokens[i]), dtype=np.float32)
        if len(spots) == 0:
            return 0.0
        hidden = read(self.model, torch.from_numpy(ids).to(device), adapter and adapter.matrices())
        hidden = hidden.reshape(-1, self.model.hidden)[torch.from_numpy(spots).to(device)]
        targets = gathered("targets").long()
        datum = {n: gathered(n) for n in ("weights", "advantages", "logprobs") if n in fields}
        if "advantages" in datum and "weights" in datum:
            datum["advantages"] = datum["advantages"] * (datum["weights"] != 0)

        def logprobs_of(rows, wanted):
            return -F.cross_entropy(F.linear(rows, self.model.head).float(), wanted, reduction="none")

        parts = [
            torch.utils.checkpoint.checkpoint(logprobs_of, h, t, use_reentrant=False) if call["backward"] else logprobs_of(h, t)
            for h, t in zip(hidden.split(self.ROWS), targets.split(self.ROWS))
        ]
        logprob = torch.cat(parts)
        loss = token_loss(call["loss"], logprob, datum, call.get("clip")).sum()
        if call["backward"]:
            loss.backward()
        flat, at = logprob.detach().float().cpu().numpy(), 0
        for i, place in enumerate(batch):
            some = int(counts[i].sum())
            results[place][counts[i]] = flat[at : at + some]
            at += some
        return float(loss.detach())

    @staticmethod
    def counting(loss, fields, i):
        """Tokens that have a part in the loss, or whose log-probability the sampler gave."""
        if loss == "cross_entropy":
            return fields["weights"][i] != 0
        return (fields["advantages"][i] != 0) | (fields["logprobs"][i] != 0)


def read_frames(stream, inbox):
    while True:
        size = stream.read(4)
        if len(size) < 4:
            break
        header = json.loads(stream.read(struct.unpack("<I", size)[0]))
        inbox.put((header, stream.read(header.get("bytes", 0))))
    inbox.put((None, b""))


def serve(engine):
    inbox, out = queue.Queue(), os.fdopen(os.dup(1), "wb")
    # What a library prints must not come between frames.
    os.dup2(2, 1)
    threading.Thread(target=read_frames, args=(sys.stdin.buffer, inbox), daemon=True).start()
    open_calls = {}
    spent = {"sampling": 0.0, "training": 0.0, "tokens": 0, "told": time.time()}

    def send(header, payload=b""):
        text = json.dumps({**header, "bytes": len(payload)}).encode()
        out.write(struct.pack("<I", len(text)) + text + payload)
        out.flush()

    def end(reply, tokens, logprobs, stop):
        call, found = open_calls[reply.call["id"]]
        found[reply.number] = (tokens, logprobs, stop)
        if len(found) < call["count"]:
            return
        del open_calls[call["id"]]
        rows = [found[i] for i in range(call["count"])]
        send(
            {"id": call["id"], "lengths": [len(t) for t, _, _ in rows], "stops": [s for _, _, s in rows]},
            b"".join(t.tobytes() for t, _, _ in rows) + b"".join(p.astype(np.float32).tobytes() for _, p, _ in rows),
        )

    def begin(call, payload):
        prompt = np.frombuffer(payload, np.int32)
        if len(prompt) < 1 or len(prompt) + 2 > engine.options.width:
            raise Invalid(f"a prompt of {len(prompt)} tokens does not fit into {engine.options.width}")
        if call["topK"] != -1 or call["topP"] != 1:
            raise Invalid("this engine draws from all tokens: leave top_k and top_p out")
        if call["weights"] is not None and call["weights"] not in engine.frozen:
            engine.adapter(call["weights"])
        open_calls[call["id"]] = (call, {})
        engine.sampler.waiting += [Reply(call, prompt, i) for i in range(call["count"])]

    def answer(call, payload):
        if call["op"] == "sample":
            return begin(call, payload)
        since = time.time()
        header, body = engine.train(call, payload) if call["op"] == "train" else (getattr(engine, call["op"])(call), b"")
        spent["training"] += time.time() - since
        send({"id": call["id"], **header}, body)

    send({"id": 0, "vocabulary": engine.model.vocabulary, "layers": engine.model.count, "width": engine.model.hidden, "context": engine.options.width})
    while True:
        is_waiting = engine.sampler.is_idle
        while is_waiting or not inbox.empty():
            call, payload = inbox.get()
            if call is None:
                return
            try:
                answer(call, payload)
            except Exception as error:  # noqa: BLE001: the caller is told, and decides
                send({"id": call["id"], "error": f"{type(error).__name__}: {error}", "isInvalid": isinstance(error, Invalid)})
            is_waiting = False
        since = time.time()
        with torch.no_grad():
            for reply, tokens, logprobs, stop in engine.sampler.work(engine.matrices_of):
                spent["tokens"] += len(tokens)
                end(reply, tokens, logprobs, stop)
        spent["sampling"] += time.time() - since
        if time.time() - spent["told"] > 30:
            spent["told"] = time.time()
            print(f"sampling {spent['sampling']:.0f} s ({spent['tokens']} tokens), the rest {spent['training']:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--slots", type=int, default=768)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--budget", type=int, default=16_384, help="tokens of a micro-batch in training")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--from", dest="start", help="an adapter's file: new adapters of its shape begin with it")
    parser.add_argument("--keep", help="a folder for the adapters that were saved")
    serve(Engine(parser.parse_args()))
