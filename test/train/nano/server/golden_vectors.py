"""Writes messages as the official SDK encodes them: python golden_vectors.py > test/train/nano/server/golden-vectors.json

With the name of a file of messages that we encoded ({name: hex}), says whether the SDK reads them as the same.
"""

import json
import struct
import sys

from tinker.proto import tinker_public_pb2 as pb

request = pb.ForwardBackwardRequest(model_id="s-1:train:0", seq_id=300, loss_fn="ppo", forward_only=True)
request.loss_fn_config["clip_high_threshold"] = 1.25
request.loss_fn_config["clip_low_threshold"] = 0.75
for tokens in ([1, 2, 70000], [7]):
    datum = request.data.add()
    datum.model_input.add().encoded_text.tokens = struct.pack(f"<{len(tokens)}i", *tokens)
    tensor = datum.loss_fn_inputs["advantages"]
    tensor.dense = struct.pack(f"<{len(tokens)}f", *[0.5 - i for i in range(len(tokens))])
    tensor.dtype = pb.DTYPE_FLOAT32
    tensor.shape.append(len(tokens))
    tensor = datum.loss_fn_inputs["target_tokens"]
    tensor.dense = struct.pack(f"<{len(tokens)}q", *[token + 1 for token in tokens])
    tensor.dtype = pb.DTYPE_INT64
    tensor.shape.append(len(tokens))

output = pb.ForwardBackwardOutput(loss_fn_output_type="ArrayRecord")
record = output.loss_fn_outputs.add(type_tag="ArrayRecord", num_datums=2)
batched = record.fields["logprobs"]
batched.data = struct.pack("<3f", -0.5, -1.25, -2)
batched.offsets = struct.pack("<3q", 0, 8, 12)
batched.dtype = pb.DTYPE_FLOAT32
output.metrics["clip:mean"] = 0.125
output.metrics["loss:sum"] = -3.75

sample = pb.SampleResponse(prompt_logprobs=struct.pack("<2f", float("nan"), -0.5))
for reason, tokens in ((pb.STOP_REASON_LENGTH, [5, 6]), (pb.STOP_REASON_STOP, [3])):
    sample.sequences.add(
        stop_reason=reason,
        tokens=struct.pack(f"<{len(tokens)}i", *tokens),
        logprobs=struct.pack(f"<{len(tokens)}f", *[-0.25 * (i + 1) for i in range(len(tokens))]),
    )

messages = {"request": request, "output": output, "sample": sample}
if len(sys.argv) == 1:
    vectors = {name: message.SerializeToString(deterministic=True).hex() for name, message in messages.items()}
    print(json.dumps(vectors, indent=2))
else:
    for name, text in json.load(open(sys.argv[1])).items():
        read = type(messages[name]).FromString(bytes.fromhex(text))
        same = read.SerializeToString(deterministic=True) == messages[name].SerializeToString(deterministic=True)
        print(name, "is the same" if same else "DIFFERS")
