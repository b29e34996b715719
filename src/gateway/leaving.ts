import type { ServerResponse } from 'node:http';

/** Whether the client has left before its reply was whole. */
export interface Leaving {
  readonly isGone: boolean;
  /** Made when it is first asked for: a request that goes through as bytes never needs it. */
  readonly signal: AbortSignal;
  /** Called when the client leaves from now on, in place of whatever was to be called before. */
  tell(whenGone: (() => void) | undefined): void;
}

/** One listener for all who want to know; a class because every request has one. */
class ResponseLeaving implements Leaving {
  isGone = false;
  #controller: AbortController | undefined;
  #whenGone: (() => void) | undefined;

  constructor(response: ServerResponse) {
    response.on('close', () => {
      if (!response.writableFinished) this.#leave();
    });
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isGone) this.#controller.abort();
    return this.#controller.signal;
  }

  tell(whenGone: (() => void) | undefined): void {
    this.#whenGone = whenGone;
  }

  #leave(): void {
    this.isGone = true;
    this.#controller?.abort();
    this.#whenGone?.();
  }
}

export const createLeaving = (response: ServerResponse): Leaving => new ResponseLeaving(response);
