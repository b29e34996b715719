/** Bytes of a server that are not what the protocol says they should be. */
export class WireError extends Error {
  override readonly name = 'WireError';
}
