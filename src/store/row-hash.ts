import { hash as digestOf } from 'node:crypto';

/** Half of a SHA-256 detects damage as well as all of it; it does not protect against forgery. */
const BYTES = 16;

const digest = (head: string, body: string | Uint8Array): Uint8Array => {
  const whole = typeof body === 'string' ? head + body : Buffer.concat([Buffer.from(head), body]);
  return digestOf('sha256', whole, 'buffer').subarray(0, BYTES);
};

export interface FactRow {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly body: string;
  readonly key: string | null;
}

/** JSON separates the members: no two rows give the same text. */
export const hashFactRow = ({ seq, at, type, body, key }: FactRow): Uint8Array =>
  digest(`${JSON.stringify([seq, at, type, key])}\n`, body);

export interface BlockRow {
  readonly hash: string | Uint8Array;
  readonly codec: number;
  readonly body: Uint8Array;
}

/** Over the stored bytes, so that a check need not decompress them. */
export const hashBlockRow = ({ hash, codec, body }: BlockRow): Uint8Array =>
  digest(
    `${JSON.stringify([typeof hash === 'string' ? hash : Buffer.from(hash).toString('hex'), codec])}\n`,
    body,
  );

export interface BodyRow {
  readonly seq: number;
  readonly codec: number;
  readonly body: Uint8Array;
}

export const hashBodyRow = ({ seq, codec, body }: BodyRow): Uint8Array => digest(`[${seq},${codec}]\n`, body);

/** Whether a row matches its checksum. In a damaged file its columns can have any type. */
export const isSoundFact = (row: FactRow & { readonly hash: unknown }): boolean =>
  typeof row.body === 'string' && isSame(hashFactRow(row), row.hash);

export const isSoundBlock = (row: BlockRow & { readonly sum: unknown }): boolean =>
  row.body instanceof Uint8Array &&
  (typeof row.hash === 'string' || row.hash instanceof Uint8Array) &&
  isSame(hashBlockRow(row), row.sum);

export const isSoundBody = (row: BodyRow & { readonly sum: unknown }): boolean =>
  row.body instanceof Uint8Array && isSame(hashBodyRow(row), row.sum);

/** The checksum of an erased body is all zeros. */
export const isErasedSum = (sum: unknown): boolean =>
  sum instanceof Uint8Array && sum.every((byte) => byte === 0);

const isSame = (hash: Uint8Array, stored: unknown): boolean =>
  stored instanceof Uint8Array && Buffer.compare(hash, stored) === 0;
