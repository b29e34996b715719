import { createFailure, type Failure } from '../core/failure.ts';

/** A failure on its way to becoming a reply's last event; it never leaves this folder as an exception. */
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
