import type { Shape } from '../shape.ts';

/** The seven matrices of a layer, as Hugging Face names them. */
export const PROJECTIONS = ['q', 'k', 'v', 'o', 'gate', 'up', 'down'] as const;
export type Projection = (typeof PROJECTIONS)[number];

export const isOfAttention = (projection: Projection): boolean => ['q', 'k', 'v', 'o'].includes(projection);

export const projectionName = (layer: number, projection: Projection): string =>
  `model.layers.${layer}.${isOfAttention(projection) ? 'self_attn' : 'mlp'}.${projection}_proj`;

export const projectionSize = (
  shape: Shape,
  projection: Projection,
): { readonly inputs: number; readonly outputs: number } => {
  if (isOfAttention(projection)) return { inputs: shape.width, outputs: shape.width };
  if (projection === 'down') return { inputs: shape.inner, outputs: shape.width };
  return { inputs: shape.width, outputs: shape.inner };
};
