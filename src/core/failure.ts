export type FailureKind =
  | 'bad-request'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'too-large'
  | 'rate-limited'
  | 'overloaded'
  | 'upstream-error'
  | 'unreachable'
  | 'timeout'
  | 'truncated'
  | 'aborted'
  | 'internal';

/**
 * Why a turn failed, as a value. `message` is the provider's own text if there is one: clients match on it (an agent
 * compacts its history on "prompt is too long").
 */
export interface Failure {
  readonly kind: FailureKind;
  /** The HTTP status for the caller if nothing was sent yet. */
  readonly status: number;
  readonly message: string;
  /** The provider's machine-readable code, such as `context_length_exceeded`. */
  readonly code?: string;
  /** The wait that the provider asked for. */
  readonly retryAfterMs?: number;
  /** The provider stated that a retry is of no use. */
  readonly final?: boolean;
}

/** What was asked for is refused. */
export interface Refused {
  readonly ok: false;
  readonly why: Failure;
}

export const refused = (why: Failure): Refused => ({ ok: false, why });

const STATUS: Record<FailureKind, number> = {
  'bad-request': 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'too-large': 413,
  'rate-limited': 429,
  overloaded: 503,
  'upstream-error': 502,
  unreachable: 502,
  timeout: 504,
  truncated: 502,
  aborted: 499,
  internal: 500,
};

export function createFailure(
  kind: FailureKind,
  message: string,
  more: Partial<Omit<Failure, 'kind' | 'message'>> = {},
): Failure {
  return { kind, status: STATUS[kind], message, ...more };
}

export function failureKindOf(status: number): FailureKind {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'not-found';
  if (status === 413) return 'too-large';
  if (status === 429) return 'rate-limited';
  if (status === 503 || status === 529) return 'overloaded';
  if (status === 408 || status === 504) return 'timeout';
  if (status >= 500) return 'upstream-error';
  return 'bad-request';
}

/** A failure as the result of a function. */
export interface FailedResult {
  readonly ok: false;
  readonly why: string;
  readonly failure: Failure;
}

export const refusal = (failure: Failure): FailedResult => ({ ok: false, why: failure.message, failure });

/** What was thrown, in words. */
export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
