/** The dimensions of a small Llama-style decoder: RMS norm, rotary positions, gated MLP, tied embeddings. */
export interface Shape {
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  /** The width of the MLP's inner layer. */
  readonly inner: number;
  readonly contextLength: number;
  readonly ropeBase: number;
  readonly normEps: number;
}

/** The model that ships: 0.41 million parameters with a vocabulary of 768. */
export const NANO: Shape = {
  vocabulary: 768,
  width: 96,
  layers: 3,
  heads: 3,
  inner: 256,
  contextLength: 768,
  ropeBase: 10_000,
  normEps: 1e-5,
};
