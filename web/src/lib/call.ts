import { type Query, toSearch } from './route.ts';

/** A refusal of the server, in its own words. `status` 0: it did not answer. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly status: number;
  /** What the server answered, for conflicts that say what changed. */
  readonly body: unknown;

  constructor(status: number, message: string, body?: unknown) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

export interface CallOptions {
  readonly query?: Query;
  readonly body?: object;
  readonly signal?: AbortSignal;
}

const WORD = 'instar-page';

/** What this page was given when it signed in. Other servers of this machine see its cookie, and not this. */
export const pageWord = (): string => localStorage.getItem(WORD) ?? '';
export const keepPageWord = (word: string): void => localStorage.setItem(WORD, word);

/** Announced when the server no longer accepts this page's cookie. */
export const SIGNED_OUT = 'instar-signed-out';

/** One request to the API of the daemon that served this page. Rejects with a CallError, or with the signal's reason. */
export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const { query, body, signal } = options;
  let response: Response;
  try {
    response = await fetch(`${path}${toSearch(query ?? {})}`, {
      method,
      // Only scripts of this origin can set it, and know it.
      headers: {
        'x-instar-page': pageWord(),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      credentials: 'same-origin',
      cache: 'no-store',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new CallError(0, 'Instar does not answer. It may have stopped: start it with "instar up".');
  }
  const text = await response.text();
  const value = parse(text);
  if (response.ok) return value as T;
  if (response.status === 401) dispatchEvent(new Event(SIGNED_OUT));
  throw new CallError(response.status, messageIn(value) ?? `The request failed (${response.status}).`, value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `{ error: { message } }`, `{ error: 'text' }` or `{ message }`. */
function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value.slice(0, 400);
  if (typeof value !== 'object' || value === null) return undefined;
  const { error, message } = value as { readonly error?: unknown; readonly message?: unknown };
  if (typeof error === 'string') return error;
  return typeof message === 'string' ? message : messageIn(error);
}
