/** An invalid message of a client. `status` is the HTTP status of the reply. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}
