import { createHash } from 'node:crypto';

/** 128 bits of SHA-256 in hex: the name of a block. */
export const textHash = (text: string | Uint8Array): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 32);
