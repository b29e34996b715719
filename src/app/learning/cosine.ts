/** The cosine similarity of two unit vectors, −1 to 1. */
export const cosine = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
