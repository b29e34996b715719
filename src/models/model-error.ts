import { createFailure, type Failure } from '../core/failure.ts';

/** Carries a failure to where it becomes a reply's last event; no model throws it to its caller. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export const createAborted = (): Failure =>
  createFailure('aborted', 'The request was cancelled before the reply was complete.');
