/** A message that cannot be read: the sender's fault. `status` is the HTTP status that says so. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}
