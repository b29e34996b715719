import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DecodeError } from '../../../../src/base/decode-error.ts';
import { ProtocolError } from '../../../../train/nano/tinker/json-fields.ts';
import {
  decodeTrainOutput,
  encodeSampleOutput,
  encodeTrainOutput,
} from '../../../../train/nano/tinker/output.ts';
import type { TinkerTensor } from '../../../../train/nano/tinker/train-request.ts';
import {
  decodeJsonTrainRequest,
  decodeTrainRequest,
  type TinkerTrainRequest,
} from '../../../../train/nano/tinker/train-request.ts';
import { decodeSampleOutput, encodeTrainRequest } from './client-messages.ts';

/** Made by the official SDK: bench/engines/golden_vectors.py. */
const golden = JSON.parse(readFileSync(new URL('golden-vectors.json', import.meta.url), 'utf8')) as {
  readonly request: string;
  readonly output: string;
  readonly sample: string;
};
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const floats = (values: readonly number[]): TinkerTensor => ({
  dtype: 'float32',
  data: Float32Array.from(values),
  shape: [values.length],
});
const integers = (values: readonly number[]): TinkerTensor => ({
  dtype: 'int64',
  data: Float64Array.from(values),
  shape: [values.length],
});
const REQUEST: TinkerTrainRequest = {
  modelId: 's-1:train:0',
  seqId: 300,
  loss: 'ppo',
  forwardOnly: true,
  config: new Map([
    ['clip_high_threshold', 1.25],
    ['clip_low_threshold', 0.75],
  ]),
  data: [[1, 2, 70000], [7]].map((tokens) => ({
    tokens: Int32Array.from(tokens),
    foreign: [],
    inputs: new Map([
      ['advantages', floats(tokens.map((_, i) => 0.5 - i))],
      ['target_tokens', integers(tokens.map((token) => token + 1))],
    ]),
  })),
};
const OUTPUT = {
  logprobs: [Float32Array.of(-0.5, -1.25), Float32Array.of(-2)],
  metrics: { 'clip:mean': 0.125, 'loss:sum': -3.75 },
};
const SAMPLE = {
  sequences: [
    { stop: 'length' as const, tokens: Int32Array.of(5, 6), logprobs: Float32Array.of(-0.25, -0.5) },
    { stop: 'stop' as const, tokens: Int32Array.of(3), logprobs: Float32Array.of(-0.25) },
  ],
  promptLogprobs: Float32Array.of(Number.NaN, -0.5),
};

describe('messages of the official SDK', () => {
  it('are decoded to their values', () => {
    expect(decodeTrainRequest(bytesOf(golden.request))).toEqual(REQUEST);
    expect(decodeTrainOutput(bytesOf(golden.output))).toEqual(OUTPUT);
    expect(decodeSampleOutput(bytesOf(golden.sample))).toEqual(SAMPLE);
  });

  it('are encoded to the same bytes', () => {
    expect(hexOf(encodeTrainRequest(REQUEST))).toBe(golden.request);
    expect(hexOf(encodeTrainOutput(OUTPUT))).toBe(golden.output);
    expect(hexOf(encodeSampleOutput(SAMPLE))).toBe(golden.sample);
  });

  it('have the same meaning in JSON', () => {
    const tensor = (values: TinkerTensor) =>
      values.dtype === 'sparse'
        ? {}
        : { data: Array.from(values.data), dtype: values.dtype, shape: [...values.shape] };
    const body = {
      model_id: REQUEST.modelId,
      seq_id: 300,
      forward_input: {
        loss_fn: 'ppo',
        loss_fn_config: Object.fromEntries(REQUEST.config),
        data: REQUEST.data.map(({ tokens, inputs }) => ({
          model_input: { chunks: [{ type: 'encoded_text', tokens: Array.from(tokens) }] },
          loss_fn_inputs: Object.fromEntries([...inputs].map(([name, value]) => [name, tensor(value)])),
        })),
      },
    };
    expect(decodeJsonTrainRequest(body, true)).toEqual(REQUEST);
  });
});

const anyTensor = fc.oneof(
  fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { maxLength: 8 }).map(floats),
  fc.array(fc.maxSafeInteger(), { maxLength: 8 }).map((values) => integers(values.map((value) => value + 0))),
);
const anyRequest: fc.Arbitrary<TinkerTrainRequest> = fc.record({
  modelId: fc.string({ unit: 'grapheme' }),
  seqId: fc.option(fc.integer({ min: 1, max: 2 ** 31 - 1 }), { nil: undefined }),
  loss: fc.string(),
  forwardOnly: fc.boolean(),
  config: fc
    .array(fc.tuple(fc.string(), fc.double({ noNaN: true })), { maxLength: 4 })
    .map((all) => new Map(all)),
  data: fc.array(
    fc.record({
      tokens: fc.array(fc.integer(), { maxLength: 8 }).map((all) => Int32Array.from(all)),
      foreign: fc.constant([]),
      inputs: fc.array(fc.tuple(fc.string(), anyTensor), { maxLength: 3 }).map((all) => new Map(all)),
    }),
    { maxLength: 4 },
  ),
});

const readOrRefuse = (read: (bytes: Uint8Array) => unknown, bytes: Uint8Array): 'read' | 'refused' => {
  try {
    read(bytes);
    return 'read';
  } catch (error) {
    if (error instanceof DecodeError || error instanceof ProtocolError) return 'refused';
    throw error;
  }
};

describe('any message', () => {
  it('round-trips', () => {
    fc.assert(
      fc.property(anyRequest, (request) => {
        expect(decodeTrainRequest(encodeTrainRequest(request))).toEqual(request);
      }),
    );
    const row = fc.array(fc.float({ noNaN: true }), { maxLength: 6 }).map((all) => Float32Array.from(all));
    const metrics = fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}:(sum|mean)$/), fc.double({ noNaN: true }));
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), metrics, (logprobs, named) => {
        const back = decodeTrainOutput(encodeTrainOutput({ logprobs, metrics: named }));
        expect(back.logprobs).toEqual(logprobs);
        expect({ ...back.metrics }).toEqual({ ...named });
      }),
    );
  });

  it('that is random bytes, or a real one with a byte changed or cut, gives a DecodeError, a ProtocolError or a value (never another error)', () => {
    const count = { read: 0, refused: 0 };
    const readers = [decodeTrainRequest, decodeTrainOutput, decodeSampleOutput];
    const see = (bytes: Uint8Array): void => {
      for (const read of readers) count[readOrRefuse(read, bytes)]++;
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), see), { numRuns: 500 });
    const real = [golden.request, golden.output, golden.sample].map(bytesOf);
    fc.assert(
      fc.property(fc.constantFrom(...real), fc.nat(), fc.nat(255), fc.nat(), (message, at, byte, cut) => {
        const changed = message.slice();
        changed[at % changed.length] = byte;
        see(changed);
        see(message.slice(0, cut % message.length));
      }),
      { numRuns: 500 },
    );
    expect(count.read).toBeGreaterThan(100);
    expect(count.refused).toBeGreaterThan(1000);
  });

  it.each([
    ['a varint without an end', 'ffffffffffffffffffffff'],
    ['a length beyond the end', '0aff01'],
    ['a length of 2^63', '0affffffffffffffff7f'],
    ['field 0', '0001'],
    ['a group', '0b'],
    ['text that is not UTF-8', '0a01ff'],
    ['tokens of a partial length', '1a090a070a050a03010203'],
  ])('with %s is rejected', (_, hex) => {
    expect(() => decodeTrainRequest(bytesOf(hex))).toThrow(DecodeError);
  });
});
