/** A request that is not accepted, with its HTTP status. A request that was accepted and then failed is an Outcome. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, message: string, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
