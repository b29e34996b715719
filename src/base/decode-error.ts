/** Bytes from outside that are not what their format says: truncated, malformed, or of a type that is not supported. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}
