import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../src/nano/create-engine.ts';
import { loadWeights } from '../../../src/nano/model/load-weights.ts';
import { readSafetensors, type Tensor, writeSafetensors } from '../../../src/nano/safetensors.ts';
import { SMALL, smallWeights } from './small-model.ts';

const file = (header: unknown, data: Uint8Array): Uint8Array => {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
};

describe('safetensors', () => {
  it('come back as they were written', () => {
    const floats = fc.float32Array({ minLength: 1, maxLength: 20, noNaN: true });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), floats, { maxKeys: 5 }), fc.string(), (values, note) => {
        const names = Object.keys(values).filter((name) => name !== '__metadata__' && name !== '__proto__');
        const tensors = new Map<string, Tensor>(
          names.map((name) => [
            name,
            { shape: [values[name]?.length ?? 0], values: values[name] ?? new Float32Array() },
          ]),
        );
        const read = readSafetensors(writeSafetensors(tensors, { note }));
        expect(read.metadata).toEqual({ note });
        expect(Object.fromEntries(read.tensors)).toEqual(Object.fromEntries(tensors));
      }),
    );
  });

  it('are read in F16 and BF16, at any place in memory', () => {
    const bytes = new Uint8Array(new Uint16Array([0x3c00, 0xc100, 0x0001, 0x7c00, 0x3fc0, 0xc040]).buffer);
    const made = file(
      {
        half: { dtype: 'F16', shape: [2, 2], data_offsets: [0, 8] },
        brain: { dtype: 'BF16', shape: [2], data_offsets: [8, 12] },
      },
      bytes,
    );
    const shifted = new Uint8Array(made.length + 1);
    shifted.set(made, 1);
    const { tensors } = readSafetensors(shifted.subarray(1));
    expect([...(tensors.get('half')?.values ?? [])]).toEqual([1, -2.5, 2 ** -24, Infinity]);
    expect([...(tensors.get('brain')?.values ?? [])]).toEqual([1.5, -3]);
  });

  it.each([
    ['a few bytes', new Uint8Array(5), 'ends within its first 8 bytes'],
    ['a header longer than the file', new Uint8Array(8).fill(1), 'not a safetensors file'],
    ['a header that is not JSON', file('{', new Uint8Array()), 'not JSON'],
    ['a header that is a list', file([], new Uint8Array()), 'not an object'],
    [
      'integers',
      file({ x: { dtype: 'I64', shape: [1], data_offsets: [0, 8] } }, new Uint8Array(8)),
      'tensor x is I64',
    ],
    ['an entry without a shape', file({ x: { dtype: 'F32' } }, new Uint8Array()), 'tensor x has no dtype'],
    [
      'a tensor beyond the end',
      file({ x: { dtype: 'F32', shape: [2], data_offsets: [0, 8] } }, new Uint8Array(4)),
      'does not lie',
    ],
    [
      'a negative place',
      file({ x: { dtype: 'F32', shape: [1], data_offsets: [-4, 0] } }, new Uint8Array(4)),
      'tensor x has no',
    ],
  ])('made of %s are refused', (_name, bytes, why) => {
    expect(() => readSafetensors(bytes)).toThrow(
      expect.objectContaining({ name: 'EngineError', message: expect.stringContaining(why) }),
    );
  });
});

describe('weights', () => {
  const { tensors } = readSafetensors(smallWeights());
  const without = (name: string): Uint8Array =>
    writeSafetensors(new Map([...tensors].filter(([key]) => key !== name)), {});
  const having = (name: string, tensor: Tensor): Uint8Array =>
    writeSafetensors(new Map(tensors).set(name, tensor), {});

  it.each([
    [
      'a tensor that is missing',
      without('model.layers.1.mlp.up_proj.weight'),
      'no model.layers.1.mlp.up_proj.weight',
    ],
    [
      'a tensor of another shape',
      having('model.norm.weight', { shape: [8], values: new Float32Array(8) }),
      'model.norm.weight has shape [8]',
    ],
    [
      'a tensor with no place',
      having('model.layers.2.mlp.up_proj.weight', { shape: [1], values: new Float32Array(1) }),
      'no place for: model.layers.2',
    ],
    [
      'a number that is not finite',
      having('model.norm.weight', { shape: [32], values: new Float32Array(32).fill(Number.NaN) }),
      'not finite',
    ],
  ])('with %s are refused by its name', (_name, bytes, why) => {
    expect(() => createEngine({ weights: bytes, shape: SMALL, name: 'x' })).toThrow(why);
  });

  it('of a shape that the kernels cannot work on are refused by that side', () => {
    for (const [change, why] of [
      [{ vocabulary: 41 }, 'vocabulary is 41'],
      [{ width: 36 }, 'width is 36'],
      [{ inner: 25 }, 'inner is 25'],
      [{ heads: 8 }, 'width / heads is 4'],
      [{ layers: 0 }, 'layers is 0'],
    ] as const) {
      expect(() => loadWeights(smallWeights(), { ...SMALL, ...change })).toThrow(why);
    }
  });

  it('have a hash that tells them apart', () => {
    expect(loadWeights(smallWeights(), SMALL).hash).toBe(loadWeights(smallWeights(), SMALL).hash);
    expect(loadWeights(smallWeights(SMALL, 2), SMALL).hash).not.toBe(loadWeights(smallWeights(), SMALL).hash);
  });
});
