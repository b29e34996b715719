import { toBytes } from '../../base/little-endian.ts';
import { createProtobufWriter } from '../../base/protobuf.ts';
import { compact } from '../../core/json.ts';
import type { EngineProfile, StepInput, TrainDatum } from '../../core/training.ts';

export type WireKind = EngineProfile['wire'];

/** A forward or forward_backward request with one chunk of data. */
export interface TrainCall {
  readonly modelId: string;
  readonly seq: number;
  readonly input: StepInput;
  readonly forwardOnly: boolean;
}

/** A request body and its route. */
export interface EncodedCall {
  readonly route: string;
  /** POST by default. */
  readonly method?: 'GET';
  readonly type: 'application/json' | 'application/x-protobuf';
  readonly bytes: Uint8Array;
}

interface NamedTensor {
  readonly name: string;
  readonly dtype: 'int64' | 'float32';
  readonly values: readonly number[];
}

const DTYPE = { float32: 1, int64: 2 } as const;

/**
 * Only the tensors that the loss reads: servers refuse others. Where token losses are summed, weights are multiplied into
 * the advantages. Where each sequence is divided by the sum of its weights, they must be sent: else the prompt's length
 * would count too.
 */
function tensorsOf(
  datum: TrainDatum,
  loss: StepInput['loss'],
  profile: Pick<EngineProfile, 'reduction' | 'inputs'>,
): readonly NamedTensor[] {
  const { targets, weights, advantages = [], logprobs = [] } = datum;
  const floats = (name: string, values: readonly number[]): NamedTensor => ({
    name,
    dtype: 'float32',
    values,
  });
  const target: NamedTensor = { name: 'target_tokens', dtype: 'int64', values: targets };
  const isSummed = profile.reduction === 'sum';
  const tensors =
    loss === 'cross_entropy'
      ? [target, floats('weights', weights)]
      : isSummed
        ? [
            target,
            floats('logprobs', logprobs),
            floats(
              'advantages',
              advantages.map((value, i) => value * (weights[i] ?? 0)),
            ),
          ]
        : [
            target,
            floats('logprobs', logprobs),
            floats('advantages', advantages),
            floats('weights', weights),
          ];
  return tensors.filter(({ name }) => profile.inputs.includes(name));
}

export function encodeTrainCall(
  call: TrainCall,
  wire: WireKind,
  profile: Pick<EngineProfile, 'reduction' | 'inputs'>,
): EncodedCall {
  return wire === 'protobuf' ? encodeProto(call, profile) : encodeJson(call, profile);
}

function encodeJson(
  { modelId, seq, input, forwardOnly }: TrainCall,
  profile: Pick<EngineProfile, 'reduction' | 'inputs'>,
): EncodedCall {
  const step = compact({
    data: input.data.map((datum) => ({
      model_input: { chunks: [{ type: 'encoded_text', tokens: datum.tokens }] },
      loss_fn_inputs: Object.fromEntries(
        tensorsOf(datum, input.loss, profile).map(({ name, dtype, values }) => [
          name,
          { data: values, dtype, shape: [values.length] },
        ]),
      ),
    })),
    loss_fn: input.loss,
    loss_fn_config: input.config,
  });
  const body = forwardOnly ? { forward_input: step } : { forward_backward_input: step };
  return {
    route: forwardOnly ? 'forward' : 'forward_backward',
    type: 'application/json',
    bytes: Buffer.from(JSON.stringify({ ...body, model_id: modelId, seq_id: seq })),
  };
}

function encodeProto(
  { modelId, seq, input, forwardOnly }: TrainCall,
  profile: Pick<EngineProfile, 'reduction' | 'inputs'>,
): EncodedCall {
  const request = createProtobufWriter();
  request.text(1, modelId);
  request.integer(2, seq);
  for (const one of input.data) {
    const text = createProtobufWriter();
    text.message(1, toBytes(Int32Array.from(one.tokens)));
    const chunk = createProtobufWriter();
    chunk.message(1, text.finish());
    const datum = createProtobufWriter();
    datum.message(1, chunk.finish());
    for (const { name, dtype, values } of tensorsOf(one, input.loss, profile)) {
      const tensor = createProtobufWriter();
      tensor.message(
        1,
        toBytes(dtype === 'int64' ? BigInt64Array.from(values, BigInt) : Float32Array.from(values)),
      );
      tensor.integer(3, DTYPE[dtype]);
      tensor.packed(4, [values.length]);
      datum.entry(2, name, tensor.finish());
    }
    request.message(3, datum.finish());
  }
  request.text(4, input.loss);
  for (const [name, value] of Object.entries(input.config ?? {})) request.entry(5, name, value);
  request.integer(6, forwardOnly ? 1 : 0);
  return {
    route: 'forward_backward',
    type: 'application/x-protobuf',
    bytes: request.finish(),
  };
}
