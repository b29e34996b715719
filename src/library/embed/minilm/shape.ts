/** The shape of all-MiniLM-L6-v2. */
export const HIDDEN = 384;
export const HEADS = 12;
export const HEAD = HIDDEN / HEADS;
export const INNER = 1536;
export const LAYERS = 6;
export const WORDS = 30_522;
/** Texts are cut after this many tokens, the model's training length. */
export const MAX_TOKENS = 256;
