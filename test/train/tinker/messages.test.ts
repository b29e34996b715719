import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DecodeError } from '../../../src/base/decode-error.ts';
import { toBytes } from '../../../src/base/little-endian.ts';
import { createProtobufWriter, protobufFields } from '../../../src/base/protobuf.ts';
import { PROFILES } from '../../../train/tinker/profiles.ts';
import {
  decodeJsonSample,
  decodeJsonTrain,
  decodeProtoSample,
  decodeProtoTrain,
  encodeTrainCall,
} from '../../../train/tinker/train-messages.ts';
/** Written by the protobuf code of the official SDK (tinker 0.25.0; `typedRequest`: 0.36.0), from the values in the tests. */
import official from './official-messages.json' with { type: 'json' };

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));

const call = {
  modelId: 'session-1:train:0',
  seq: 300,
  forwardOnly: true,
  input: {
    loss: 'ppo' as const,
    config: { clip_low_threshold: 0.75 },
    data: [
      {
        tokens: [1, 2, 70_000],
        targets: [2, 70_000, 4],
        weights: [0, 1, 1],
        advantages: [0, 1, -0.5],
        logprobs: [0, -1.5, -0.25],
      },
    ],
  },
};

/** A message as nested lists, with the entries of maps in one order: protobuf leaves theirs open. */
function unfold(message: Uint8Array, depth: number): unknown[] {
  const fields = [...protobufFields(message)].map(({ number, wire: type, bits, bytes: held }) => {
    if (type !== 2) return [number, type, String(bits)];
    try {
      return [number, type, depth === 0 ? Buffer.from(held).toString('hex') : unfold(held, depth - 1)];
    } catch {
      return [number, type, Buffer.from(held).toString('hex')];
    }
  });
  return fields.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

describe('the messages of the protocol', () => {
  it('writes a request as the official SDK does, field by field', () => {
    const { bytes: own, route, type } = encodeTrainCall(call, 'protobuf', PROFILES.tinker);
    expect({ route, type }).toEqual({ route: 'forward_backward', type: 'application/x-protobuf' });
    expect(own.length).toBe(official.request.length / 2);
    expect(unfold(own, 2)).toEqual(unfold(bytes(official.request), 2));
  });

  it('writes the settings of a loss twice for a server that reads the typed map, as SDK 0.36 does', () => {
    const newer = { ...PROFILES.tinker, readsTypedConfig: true };
    const { bytes: own } = encodeTrainCall(call, 'protobuf', newer);
    expect(own.length).toBe(official.typedRequest.length / 2);
    expect(unfold(own, 2)).toEqual(unfold(bytes(official.typedRequest), 2));
    const { bytes: older } = encodeTrainCall(call, 'protobuf', PROFILES.tinker);
    expect([...protobufFields(older)].some(({ number }) => number === 7)).toBe(false);
    // JSON has one map, and numbers and texts in it.
    const inJson = (profile: typeof newer) =>
      Buffer.from(encodeTrainCall(call, 'json', profile).bytes).toString();
    expect(inJson(newer)).toBe(inJson({ ...newer, readsTypedConfig: false }));
  });

  it('reads what the official SDK wrote', () => {
    expect(decodeProtoTrain(bytes(official.output))).toEqual({
      logprobs: [[-0.5, -1.25], [-3], [-0.125, -2, -4]],
      metrics: { 'loss:sum': 1.75, 'kl:mean': 0 },
    });
    expect(decodeProtoSample(bytes(official.sample))).toEqual([
      { tokens: [5, 6], logprobs: [-0.5, -0.25], stop: 'length' },
      { tokens: [7], logprobs: [-2], stop: 'stop' },
    ]);
  });

  it('sends weights only to servers that divide by them, and folds them into the advantages elsewhere', () => {
    const names = (profile: keyof typeof PROFILES): string[] => {
      const weighted = {
        ...call,
        input: { ...call.input, data: call.input.data.map((one) => ({ ...one, weights: [0, 1, 0.5] })) },
      };
      const { bytes: own } = encodeTrainCall(weighted, 'json', PROFILES[profile]);
      const [first] = JSON.parse(Buffer.from(own).toString()).forward_input.data;
      return Object.entries(first.loss_fn_inputs).map(
        ([name, tensor]) => `${name}:${(tensor as { data: number[] }).data}`,
      );
    };
    expect(names('tinker')).toEqual([
      'target_tokens:2,70000,4',
      'logprobs:0,-1.5,-0.25',
      'advantages:0,1,-0.25',
    ]);
    expect(names('skyrl')).toEqual([
      'target_tokens:2,70000,4',
      'logprobs:0,-1.5,-0.25',
      'advantages:0,1,-0.5',
      'weights:0,1,0.5',
    ]);
  });

  it('sums the token losses where there is no loss:sum', () => {
    const body = {
      loss_fn_outputs: [{ logprobs: { data: [-1, null] }, elementwise_loss: { data: [0.5, 1] } }],
    };
    expect(decodeJsonTrain(Buffer.from(JSON.stringify(body)))).toEqual({
      logprobs: [[-1, Number.NaN]],
      metrics: { 'loss:sum': 1.5 },
    });
  });

  it('decodes any bytes to a value or to a DecodeError', () => {
    const decoders = [decodeProtoTrain, decodeProtoSample, decodeJsonTrain, decodeJsonSample];
    let refused = 0;
    let read = 0;
    const attempt = (given: Uint8Array): void => {
      for (const decode of decoders) {
        try {
          decode(given);
          read++;
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError);
          refused++;
        }
      }
    };
    const sources = [official.output, official.sample, official.request].map(bytes);
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), attempt), { numRuns: 300, seed: 1 });
    const damage = fc.record({
      source: fc.constantFrom(...sources),
      at: fc.nat(259),
      value: fc.nat(255),
      end: fc.nat(260),
    });
    fc.assert(
      fc.property(damage, ({ source, at, value, end }) => {
        const changed = source.slice(0, Math.max(1, end % (source.length + 1)));
        changed[at % changed.length] = value;
        attempt(changed);
      }),
      { numRuns: 1500, seed: 2 },
    );
    expect(refused).toBeGreaterThan(1000);
    expect(read).toBeGreaterThan(100);
  });

  it.each([
    ['a length beyond the message', '0a7f00'],
    ['a length of eight bytes', '0affffffffffffffff7f'],
    ['a varint without an end', '08ffffffffffffffffffffff'],
    ['a varint that is cut off', '08ff'],
    ['the field 0', '0000'],
    ['a group', '0b0c'],
    ['text that is not UTF-8 as a metric', '1a030a01ff'],
  ])('refuses %s', (_, hex) => {
    expect(() => decodeProtoTrain(bytes(hex))).toThrow(DecodeError);
  });

  it.each([
    ['a row that ends outside of its tensor', [0, 4, 12], 1, 2, /outside its tensor/],
    ['a row that ends before it starts', [0, 8, 4], 1, 2, /outside its tensor/],
    ['a row that starts before its tensor', [-4, 4, 8], 1, 2, /outside its tensor/],
    ['a row with half a number', [0, 3, 8], 1, 2, /3 bytes are not a whole number of 32-bit numbers/],
    ['rows for other data than there are', [0, 4, 8], 1, 3, /2 rows for 3 data/],
    ['numbers of another type', [0, 8], 2, 1, /type 2/],
  ] as const)('refuses %s', (_, offsets, dtype, count, message) => {
    const tensor = createProtobufWriter();
    tensor.message(1, toBytes(Float32Array.of(-1, -2)));
    tensor.message(2, toBytes(BigInt64Array.from(offsets, BigInt)));
    tensor.integer(3, dtype);
    const record = createProtobufWriter();
    record.entry(2, 'logprobs', tensor.finish());
    record.integer(3, count);
    const output = createProtobufWriter();
    output.message(2, record.finish());
    const decode = (): unknown => decodeProtoTrain(output.finish());
    expect(decode).toThrow(DecodeError);
    expect(decode).toThrow(message);
  });
});
