import { compact } from '../../core/json.ts';
import type { EngineProfile, StepInput, TrainDatum } from '../../core/training.ts';
import {
  joinBytes,
  writeBytes,
  writeDoubleEntry,
  writeInteger,
  writeIntegers,
  writeMessage,
  writeMessageEntry,
  writeText,
} from './proto-write.ts';
import { float32Bytes, int32Bytes, int64Bytes } from './raw-values.ts';

export type WireKind = EngineProfile['wire'];

/** A forward or forward_backward of one chunk of data. */
export interface TrainCall {
  readonly modelId: string;
  readonly seq: number;
  readonly input: StepInput;
  readonly forwardOnly: boolean;
}

/** A body and where it goes. */
export interface EncodedCall {
  readonly route: string;
  /** POST unless said. */
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
 * Only what the loss reads is sent: servers refuse tensors that they do not know. Where token losses are summed, a
 * weight is a factor of the advantage and needs no tensor; where each sequence is divided by the sum of its weights,
 * leaving them out would divide by the prompt's length too.
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
  const data = input.data.map((datum) => {
    const text = writeMessage(1, [writeBytes(1, int32Bytes(datum.tokens))]);
    const tensors = tensorsOf(datum, input.loss, profile).map(({ name, dtype, values }) =>
      writeMessageEntry(2, name, [
        writeBytes(1, dtype === 'int64' ? int64Bytes(values) : float32Bytes(values)),
        writeInteger(3, DTYPE[dtype]),
        writeIntegers(4, [values.length]),
      ]),
    );
    return writeMessage(3, [writeMessage(1, [text]), ...tensors]);
  });
  const config = Object.entries(input.config ?? {}).map(([name, value]) => writeDoubleEntry(5, name, value));
  return {
    route: 'forward_backward',
    type: 'application/x-protobuf',
    bytes: joinBytes([
      writeText(1, modelId),
      writeInteger(2, seq),
      ...data,
      writeText(4, input.loss),
      ...config,
      writeInteger(6, forwardOnly ? 1 : 0),
    ]),
  };
}
