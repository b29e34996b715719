import { describe, expect, it } from 'vitest';
import { type FloatTensor, readSafetensors, writeSafetensors } from '../../../../src/base/safetensors.ts';
import { loadDecoderWeights } from '../../../../train/nano/model/decoder-weights.ts';
import { createEngine } from '../../../support/one-thread-engine.ts';
import { SMALL, smallWeights } from './small-model.ts';

describe('weights', () => {
  const { tensors } = readSafetensors(smallWeights());
  const without = (name: string): Uint8Array =>
    writeSafetensors(new Map([...tensors].filter(([key]) => key !== name)), {});
  const having = (name: string, tensor: FloatTensor): Uint8Array =>
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
      'an unexpected tensor',
      having('model.layers.2.mlp.up_proj.weight', { shape: [1], values: new Float32Array(1) }),
      'does not have: model.layers.2',
    ],
    [
      'a number that is not finite',
      having('model.norm.weight', { shape: [32], values: new Float32Array(32).fill(Number.NaN) }),
      'not finite',
    ],
  ])('with %s are rejected by its name', (_name, bytes, why) => {
    expect(() => createEngine({ weights: bytes, shape: SMALL, name: 'x' })).toThrow(why);
  });

  it('of a shape that the kernels do not support are rejected with the name of that dimension', () => {
    for (const [change, why] of [
      [{ vocabulary: 41 }, 'vocabulary is 41'],
      [{ width: 36 }, 'width is 36'],
      [{ inner: 25 }, 'inner is 25'],
      [{ heads: 8 }, 'width / heads is 4'],
      [{ layers: 0 }, 'layers is 0'],
    ] as const) {
      expect(() => loadDecoderWeights(smallWeights(), { ...SMALL, ...change })).toThrow(why);
    }
  });

  it('have a hash that distinguishes them', () => {
    expect(loadDecoderWeights(smallWeights(), SMALL).hash).toBe(
      loadDecoderWeights(smallWeights(), SMALL).hash,
    );
    expect(loadDecoderWeights(smallWeights(SMALL, 2), SMALL).hash).not.toBe(
      loadDecoderWeights(smallWeights(), SMALL).hash,
    );
  });
});
