import { createHash } from 'node:crypto';

/** Half of a SHA-256 finds a flipped bit as well as all of it; nobody is kept from forging one. */
const BYTES = 16;

const digest = (head: string, body: string | Uint8Array): Uint8Array =>
  createHash('sha256').update(head).update(body).digest().subarray(0, BYTES);

export interface FactRow {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly body: string;
  readonly key: string | null;
}

/** JSON keeps the members apart: no two rows give the same text. */
export const hashFactRow = ({ seq, at, type, body, key }: FactRow): Uint8Array =>
  digest(`${JSON.stringify([seq, at, type, key])}\n`, body);

export interface BlockRow {
  readonly hash: string | Uint8Array;
  readonly codec: number;
  readonly body: Uint8Array;
}

/** Over the bytes as they are kept, so that checking need not unpack them. */
export const hashBlockRow = ({ hash, codec, body }: BlockRow): Uint8Array =>
  digest(
    `${JSON.stringify([typeof hash === 'string' ? hash : Buffer.from(hash).toString('hex'), codec])}\n`,
    body,
  );

export const isSameHash = (a: Uint8Array, b: unknown): boolean =>
  b instanceof Uint8Array && Buffer.compare(a, b) === 0;
