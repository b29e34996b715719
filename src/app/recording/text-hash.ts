import { hash } from 'node:crypto';

/** 128 bits of SHA-256 in hex: the name of a block. */
export const textHash = (text: string | Uint8Array): string => hash('sha256', text, 'hex').slice(0, 32);
