import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FloatTensor, readSafetensors, writeSafetensors } from '../../src/base/safetensors.ts';

const file = (header: unknown, data: Uint8Array): Uint8Array => {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
};

describe('safetensors', () => {
  it('round-trip', () => {
    const floats = fc.float32Array({ minLength: 1, maxLength: 20, noNaN: true });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), floats, { maxKeys: 5 }), fc.string(), (values, note) => {
        const names = Object.keys(values).filter((name) => name !== '__metadata__' && name !== '__proto__');
        const tensors = new Map<string, FloatTensor>(
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

  it('are read in F16 and BF16, at any alignment', () => {
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
      'a negative offset',
      file({ x: { dtype: 'F32', shape: [1], data_offsets: [-4, 0] } }, new Uint8Array(4)),
      'tensor x has no',
    ],
  ])('with %s are rejected', (_name, bytes, why) => {
    expect(() => readSafetensors(bytes)).toThrow(
      expect.objectContaining({ name: 'DecodeError', message: expect.stringContaining(why) }),
    );
  });
});
