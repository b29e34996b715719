/** Numbers at least 0 and less than 1, the same for the same seed on every machine. Not for secrets. */
export type Random = () => number;

/** What the generator's author asks for, so that near seeds have nothing in common. */
const WARM_UP = 15;

/** MurmurHash3's last step: every bit of the input moves every bit of the output. */
const scatter = (value: number): number => {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
};

/** sfc32 ("small fast counting", Chris Doty-Humphrey). Each `stream` of a seed is a sequence of its own. */
export const createRandom = (seed: number, stream: number): Random => {
  let a = scatter(seed);
  let b = scatter(Math.floor(seed / 2 ** 32) ^ 0x9e3779b9);
  let c = scatter(stream ^ 0x243f6a88);
  let counter = 1;
  const next = (): number => {
    const out = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + out) | 0;
    return out >>> 0;
  };
  for (let round = 0; round < WARM_UP; round++) next();
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
};
