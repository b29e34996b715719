import { hash } from 'node:crypto';

/** The name of a block: 128 bits of SHA-256 in hex. */
export const blockHash = (text: string | Uint8Array): string => hash('sha256', text, 'hex').slice(0, 32);
