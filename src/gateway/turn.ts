import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Failure } from '../core/failure.ts';
import type { TurnRecord } from '../core/recorder.ts';
import type { Outline, Wire } from '../core/wire.ts';
import type { Identity } from './identify.ts';
import type { Leaving } from './leaving.ts';
import type { SessionMatch } from './sessions.ts';

/**
 * `chat` asks a model, `count` asks how long a prompt is, `other` is a provider's route that we only pass on
 * (embeddings, files, stored responses).
 */
export type TurnKind = 'chat' | 'count' | 'other';

/** One request on its way through the gateway. */
export interface Turn {
  readonly id: string;
  readonly kind: TurnKind;
  readonly wire: Wire;
  /** The path under the provider's base, with its query string. */
  readonly path: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The client's bytes as they came, perhaps compressed. */
  readonly raw: Buffer;
  /** The same as plain JSON text; undefined when it cannot be read here. */
  readonly body: Buffer | undefined;
  readonly outline: Outline | undefined;
  readonly identity: Identity;
  readonly session: SessionMatch;
  readonly leaving: Leaving;
  /** Milliseconds on the monotonic clock. */
  readonly startedAt: number;
}

/** What a prompt gets from the library. */
export interface ShownLessons {
  readonly generation: number;
  readonly lessons: readonly string[];
  /** Goes behind the client's own system text. */
  readonly block?: string;
  /** Goes to the end of the message behind a link of the conversation. */
  readonly additions: readonly { readonly link: string; readonly text: string }[];
  /** Of all the text that is put in. */
  readonly hash?: string;
  /** Takes the place of the client's long system text; the span lies between the quotes of its JSON string. */
  readonly shortened?: {
    readonly span: readonly [start: number, end: number];
    readonly text: string;
    readonly hash: string;
  };
}

/** A turn that is being recorded, or not, and has begun to call providers. */
export interface RunningTurn extends Turn {
  readonly record: TurnRecord;
  readonly shown: ShownLessons;
}

/** Member by member: spreading an object that holds a fraction, as `startedAt` does, costs microseconds. */
export const toRunning = (turn: Turn, shown: ShownLessons, record: TurnRecord): RunningTurn => ({
  id: turn.id,
  kind: turn.kind,
  wire: turn.wire,
  path: turn.path,
  request: turn.request,
  response: turn.response,
  raw: turn.raw,
  body: turn.body,
  outline: turn.outline,
  identity: turn.identity,
  session: turn.session,
  leaving: turn.leaving,
  startedAt: turn.startedAt,
  record,
  shown,
});

export type TurnEnd = 'complete' | 'client-abort' | 'upstream-error' | 'truncated' | 'refused';

/** What one try at a provider came to. */
export type Attempt =
  /** The client has its reply, or the part of it that there was. */
  | { readonly kind: 'sent'; readonly end: TurnEnd; readonly status: number; readonly failure?: Failure }
  /** Nothing was sent yet: another try or another model may follow. */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly reply?: ProviderReply };

/** A provider's own error reply, kept so that its wording reaches the client untouched. */
export interface ProviderReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** What is known of a turn when it is over. */
export interface TurnReport {
  readonly id: string;
  readonly session: string;
  readonly wire: string;
  readonly provider: string;
  readonly model: string;
  readonly end: TurnEnd;
  readonly status: number;
  readonly tries: number;
  readonly totalMs: number;
  readonly failure?: Failure;
}
