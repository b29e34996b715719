import type { ServerResponse } from 'node:http';

/** Whether the client has left before its reply was whole. */
export interface Leaving {
  readonly isGone: boolean;
  /** Made when it is first asked for: a request that goes through as bytes never needs it. */
  readonly signal: AbortSignal;
}

export function createLeaving(response: ServerResponse): Leaving {
  let isGone = false;
  let controller: AbortController | undefined;
  response.on('close', () => {
    if (response.writableFinished) return;
    isGone = true;
    controller?.abort();
  });
  return {
    get isGone() {
      return isGone;
    },
    get signal() {
      controller ??= new AbortController();
      if (isGone) controller.abort();
      return controller.signal;
    },
  };
}
