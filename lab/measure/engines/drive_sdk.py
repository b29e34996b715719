"""Drives a Tinker server with the official Python SDK, call by call, and says what came of each.

    TINKER_API_KEY=tml-local python drive_sdk.py http://127.0.0.1:PORT

Works with tinker 0.24.1 (the last that sends JSON) and with later ones (protobuf). Leaves with status 1 if anything
that is expected to work did not.
"""

import io
import json
import sys
import tarfile
import urllib.request
import warnings

import tinker
from tinker import types
from tinker.lib.api_future_impl import _APIFuture
from tinker.lib.client_connection_pool_type import ClientConnectionPoolType as Pool

warnings.filterwarnings("ignore")
failures = []


def check(name, call):
    try:
        print(f"  ok    {name}: {call()}")
    except Exception as error:  # every kind is reported, none hidden
        failures.append(name)
        print(f"  FAIL  {name}: {type(error).__name__}: {str(error)[:300]}")


def refused(name, call, *words):
    try:
        call()
    except Exception as error:
        text = str(error)
        if all(word in text for word in words):
            print(f"  ok    {name}: refused: {text.split(' for self')[0][:110]}")
            return
        failures.append(name)
        print(f"  FAIL  {name}: refused otherwise: {type(error).__name__}: {text[:300]}")
        return
    failures.append(name)
    print(f"  FAIL  {name}: was not refused")


def datum(tokens, targets, **inputs):
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens),
        loss_fn_inputs={"target_tokens": targets, **inputs},
    )


def download(url):
    with urllib.request.urlopen(url) as reply:
        return reply.read()


def describe(archive):
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        config = json.load(tar.extractfile("adapter_config.json"))
        return f"{', '.join(tar.getnames())} (r={config['r']})"


def main(url):
    service = tinker.ServiceClient(base_url=url, user_metadata={"who": "drive_sdk"})
    models = service.get_server_capabilities().supported_models
    base = models[0].model_name
    print(f"tinker {tinker.__version__} at {url}: {base}, context {models[0].max_context_length}")

    train = service.create_lora_training_client(base_model=base, rank=4, seed=7)
    check("get_info", lambda: f"{train.get_info().model_id} rank {train.get_info().lora_rank}")

    tokens, targets = [1, 2, 3, 4, 5], [2, 3, 4, 5, 6]
    supervised = [datum(tokens, targets, weights=[0.0, 1.0, 1.0, 1.0, 1.0])] * 3
    logprobs = train.forward(supervised, "cross_entropy").result().loss_fn_outputs[0]["logprobs"].data
    check("forward", lambda: [round(value, 4) for value in logprobs])
    policy = [datum(tokens, targets, logprobs=list(logprobs), advantages=[0.0, 1.0, -1.0, 0.5, 0.25])]
    for loss, config in [
        ("cross_entropy", None),
        ("importance_sampling", None),
        ("ppo", {"clip_low_threshold": 0.9, "clip_high_threshold": 1.1}),
        ("cispo", {"clip_low_threshold": 0.0, "clip_high_threshold": 4.0}),
    ]:
        data = supervised if loss == "cross_entropy" else policy

        def step(loss=loss, config=config, data=data):
            done = train.forward_backward(data, loss, config)
            stepped = train.optim_step(types.AdamParams(learning_rate=0.01, grad_clip_norm=1.0))
            return f"loss:sum {done.result().metrics['loss:sum']:.4f}, step {stepped.result().metrics}"

        check(f"forward_backward {loss} + optim_step", step)

    def learn():
        losses = []
        for _ in range(20):
            done = train.forward_backward(supervised, "cross_entropy")
            train.optim_step(types.AdamParams(learning_rate=0.05)).result()
            losses.append(done.result().metrics["loss:sum"])
        assert losses[-1] < losses[0], losses
        return f"{losses[0]:.3f} -> {losses[-1]:.3f} in 20 steps"

    check("loss falls", learn)
    check("chunks", lambda: len(train.forward(supervised * 800, "cross_entropy").result().loss_fn_outputs))

    refused("token out of range", lambda: train.forward_backward([datum([10**6], [1], weights=[1.0])], "cross_entropy").result(), "vocabulary")
    refused("wrong shape", lambda: train.forward_backward([datum(tokens, [1, 2], weights=[1.0] * 5)], "cross_entropy").result(), "shape")
    refused("unknown loss (dro)", lambda: train.forward_backward(policy, "dro", {"beta": 0.05}).result(), "not known")

    state = train.save_state("first").result().path
    check("save_state", lambda: state)
    refused("save_state, name taken", lambda: train.save_state("first").result(), "exists")
    before = train.forward(supervised, "cross_entropy").result().metrics["loss:sum"]
    train.forward_backward(supervised, "cross_entropy")
    train.optim_step(types.AdamParams(learning_rate=0.5)).result()

    def load():
        train.load_state_with_optimizer(state).result()
        after = train.forward(supervised, "cross_entropy").result().metrics["loss:sum"]
        assert after == before, (before, after)
        return f"loss {after:.6f} as when it was saved"

    check("load_state_with_optimizer", load)
    for name in ["create_training_client_from_state", "create_training_client_from_state_with_optimizer"]:
        check(name, lambda name=name: getattr(service, name)(state).forward(supervised, "cross_entropy").result().metrics["loss:sum"] == before)

    prompt = types.ModelInput.from_ints([1, 2, 3])
    params = types.SamplingParams(max_tokens=6, temperature=1.0, seed=3)
    named = train.save_weights_for_sampler("greedy").result().path
    sampler = service.create_sampling_client(model_path=named)
    check("sample (named)", lambda: [s.tokens for s in sampler.sample(prompt, 2, params).result().sequences])
    check("sample, same seed", lambda: sampler.sample(prompt, 2, params).result().sequences[0].tokens == sampler.sample(prompt, 2, params).result().sequences[0].tokens)
    live = train.save_weights_and_get_sampling_client()
    check("sample (ephemeral)", lambda: live.sample(prompt, 1, params).result().sequences[0].stop_reason)
    check("sample (bare model)", lambda: len(service.create_sampling_client(base_model=base).sample(prompt, 3, params).result().sequences))
    check("prompt logprobs", lambda: live.sample(prompt, 1, params, include_prompt_logprobs=True).result().prompt_logprobs)
    check("compute_logprobs", lambda: [v if v is None else round(v, 4) for v in live.compute_logprobs(prompt).result()])
    check("stop token", lambda: [s.stop_reason for s in live.sample(prompt, 2, types.SamplingParams(max_tokens=60, stop=[4], seed=1)).result().sequences])
    refused("stop text", lambda: live.sample(prompt, 1, types.SamplingParams(max_tokens=2, stop="x")).result(), "token ids")
    check("sampler's base model", lambda: live.get_base_model())

    rest = service.create_rest_client()
    run = train.get_info().model_id
    check("list_training_runs", lambda: [r.training_run_id == run for r in rest.list_training_runs().result().training_runs][-1])
    check("get_training_run", lambda: rest.get_training_run(run).result().last_checkpoint.checkpoint_id)
    check("list_checkpoints", lambda: [c.checkpoint_id for c in rest.list_checkpoints(run).result().checkpoints])
    check("list_user_checkpoints", lambda: rest.list_user_checkpoints().result().cursor.total_count)
    check("weights info", lambda: rest.get_weights_info_by_tinker_path(state).result().lora_rank)
    check("get_session", lambda: rest.get_session(run.split(":")[0]).result().training_run_ids[-1])
    check("get_sampler", lambda: rest.get_sampler(f"{run.split(':')[0]}:sample:0").result().base_model)
    check("set ttl", lambda: rest.set_checkpoint_ttl_from_tinker_path(state, 3600).result())
    if hasattr(rest, "get_checkpoint_archive_url_from_tinker_path"):
        check("archive", lambda: describe(download(rest.get_checkpoint_archive_url_from_tinker_path(state).result().url)))
    else:
        external = train.save_weights_external("export").result().path
        check("external weights", lambda: {k: len(download(v)) for k, v in rest.get_external_weights_urls(external).result().urls.items()})
    check("delete checkpoint", lambda: rest.delete_checkpoint_from_tinker_path(named).result())
    refused("load a deleted one", lambda: service.create_sampling_client(model_path=named), "no checkpoint")

    # The JSON client refuses NaN itself and the number of that request is then missing: the client is of no more use.
    apart = service.create_lora_training_client(base_model=base, rank=4)
    words = "not JSON compliant" if tinker.__version__.startswith("0.24") else "not a number"
    refused("NaN", lambda: apart.forward_backward([datum(tokens, targets, weights=[float("nan")] * 5)], "cross_entropy").result(), words)

    async def below():
        with service.holder.aclient(Pool.TRAIN) as client:
            health = await client.service.health_check()
            beat = await client.service.session_heartbeat(session_id=run.split(":")[0])
            text = f"healthz {health.status}, {beat.type}"
            if hasattr(client.models, "unload"):
                future = await client.models.unload(request=types.UnloadModelRequest(model_id=run))
                promise = _APIFuture(types.UnloadModelResponse, service.holder, future, 0, "UnloadModel")
                text += f", unloaded {(await promise.result_async()).model_id == run}"
            return text

    check("healthz, heartbeat, unload", lambda: service.holder.run_coroutine_threadsafe(below()).result())
    if hasattr(service, "close"):
        check("close the session", lambda: service.close("success").result())
    print("all as expected" if not failures else f"{len(failures)} not as expected: {failures}")
    sys.exit(1 if failures else 0)


main(sys.argv[1])
