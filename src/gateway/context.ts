import type { Clock } from '../core/clock.ts';
import type { Desk } from '../core/desk.ts';
import type { JsonObject } from '../core/json.ts';
import type { LessonsDesk } from '../core/lessons-desk.ts';
import type { TurnRecorder } from '../core/recorder.ts';
import type { Records } from '../core/records.ts';
import type { RetryRule } from '../core/retry.ts';
import type { Catalogue, Exchange } from '../core/upstream.ts';
import type { Authorize } from './authorize.ts';
import type { Arrival } from './clues.ts';
import type { Identity } from './identify.ts';
import type { Sessions } from './sessions.ts';
import type { ShownLessons, Turn, TurnReport } from './turn.ts';

/** A name no model has: resolves to the provider of a wire when the body does not say which model it wants. */
export const ANY_MODEL = '*';

/** What the hot path is given; nothing in it may block. */
export interface GatewayContext {
  readonly catalogue: Catalogue;
  readonly exchange: Exchange;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryRule;
  readonly maxBodyBytes: number;
  readonly newId: (prefix: string) => string;
  /** Waits, or less when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** What the library has for this turn. At once when its conversation is known; a first turn may take a moment. */
  readonly lessons: (turn: Turn) => ShownLessons | Promise<ShownLessons>;
  readonly recorder: TurnRecorder;
  readonly records: Records;
  readonly desk: Desk;
  readonly shelf: LessonsDesk;
  readonly identify: (arrival: Arrival) => Identity;
  readonly sessions: Sessions;
  /** The client said that this was its session's last turn. */
  readonly sessionEnded: (session: string) => void;
  readonly report: (report: TurnReport) => void;
  /** For `GET /api/status`. */
  readonly status: () => JsonObject;
  /** For `GET /metrics`. */
  readonly metrics: () => Promise<string>;
}
