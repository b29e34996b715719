import type { ServerResponse } from 'node:http';

/** Whether the client disconnected before its reply was complete. */
export interface Leaving {
  readonly isGone: boolean;
  /** Created on first use: a request that is relayed as bytes never needs it. */
  readonly signal: AbortSignal;
  /** Replaces the callback for a later disconnect. */
  onGone(callback: (() => void) | undefined): void;
}

/** One listener per response; a class, since every request creates one. */
class ResponseLeaving implements Leaving {
  isGone = false;
  #controller: AbortController | undefined;
  #callback: (() => void) | undefined;

  constructor(response: ServerResponse) {
    response.on('close', () => {
      if (!response.writableFinished) this.#disconnect();
    });
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isGone) this.#controller.abort();
    return this.#controller.signal;
  }

  onGone(callback: (() => void) | undefined): void {
    this.#callback = callback;
  }

  #disconnect(): void {
    this.isGone = true;
    this.#controller?.abort();
    this.#callback?.();
  }
}

export const createLeaving = (response: ServerResponse): Leaving => new ResponseLeaving(response);
