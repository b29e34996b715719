import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../core/caller.ts';
import type { ChatEvent } from '../core/chat.ts';
import type { Failure } from '../core/failure.ts';
import type { PromptState } from '../core/gateway-process.ts';
import type { OverlayQuery, TurnLimits } from '../core/overlay.ts';
import { placeOfSession } from '../core/principal.ts';
import type { ReaskedReplies, TurnRecord } from '../core/recorder.ts';
import type { RetryRule } from '../core/retry.ts';
import type { Target } from '../core/upstream.ts';
import type { Outline, Wire } from '../core/wire.ts';
import type { TurnKind } from './client-clues.ts';
import type { Identity } from './identify.ts';
import type { SessionMatch } from './session-matcher.ts';

/** A request of which only the headers have been read. */
export interface IncomingTurn {
  readonly id: string;
  readonly kind: TurnKind;
  readonly wire: Wire;
  /** The path under the provider's base, with its query string. */
  readonly path: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whose Instar key the request carries; undefined without one. */
  readonly caller: Caller | undefined;
  readonly disconnect: ClientDisconnect;
  /** Milliseconds on the monotonic clock. */
  readonly startedAt: number;
}

/** The same request, read and identified. It alone holds the bytes: they are released when the reply begins. */
export interface Turn extends IncomingTurn {
  /** The client's bytes as received, perhaps compressed. */
  readonly raw: Buffer;
  /** The same bytes, decompressed; undefined when their encoding is not supported here. */
  readonly body: Buffer | undefined;
  readonly outline: Outline | undefined;
  readonly identity: Identity;
  readonly session: SessionMatch;
  /** Without a key: the caller of the provider credential that the request carries, once the provider has accepted it. */
  readonly credential: Caller | undefined;
}

const NO_BYTES = Buffer.alloc(0);

/** Lets go of the bytes of a request that nobody needs any more. */
export function releaseRequest(turn: { -readonly [K in 'raw' | 'body' | 'outline']: Turn[K] }): void {
  turn.raw = NO_BYTES;
  turn.body = undefined;
  turn.outline = undefined;
}

/** What the library adds to a prompt. */
export interface ShownLessons {
  readonly generation: number;
  readonly lessons: readonly string[];
  /** Appended to the client's system text. */
  readonly block?: string;
  /** Texts that are appended to a message, which is named by its link in the conversation's chain. */
  readonly additions: readonly { readonly link: string; readonly text: string }[];
  /** Appended to the message with the user's newest words, wherever that is; an attempt has no place of its own for it. */
  readonly said?: string;
  /** Hash of all inserted text. */
  readonly hash?: string;
  /** What another gateway needs to go on with the session; absent where nobody shares the record. */
  readonly prompt?: PromptState;
  /** Replaces the client's long system text; the span lies between the quotes of its JSON string. */
  readonly shortened?: {
    readonly span: readonly [start: number, end: number];
    readonly text: string;
    readonly hash: string;
  };
}

export const NOTHING_SHOWN: ShownLessons = { generation: 0, lessons: [], additions: [] };

/** Whose overlays act on a turn. */
export const overlayQueryOf = ({
  session,
  identity: { agent, client, project, runKind },
}: Pick<Turn, 'session' | 'identity'>): OverlayQuery & { readonly session: string } => ({
  session: session.session,
  runKind,
  ...placeOfSession(session.session, { agent: agent ?? client, project: project?.id }),
});

/** Headers that are added to the reply. */
export type ReplyMarks = Readonly<Record<string, string>>;

/** A model that may answer a turn. */
export interface PlannedTarget {
  /** With the credentials that are used there. */
  readonly target: Target;
  /** The caller's own credential, if that is used: a 2xx reply proves it. */
  readonly credential: Caller | undefined;
}

/** A turn with everything that is decided before a model is called. */
export interface PlannedTurn {
  readonly turn: Turn;
  /** The name that the request has for its model; it outlives the bytes of the request. */
  readonly model: string;
  /** The id of the caller, `anonymous`, or `unverified`. */
  readonly caller: string;
  /** The first choice, then its fallbacks. */
  readonly targets: readonly [PlannedTarget, ...PlannedTarget[]];
  /** Instar answers by itself, and asks no model. */
  readonly ownReply: OwnReply | undefined;
  readonly shown: ShownLessons;
  /** Ids of all lessons that act on the turn. */
  readonly lessons: readonly string[];
  readonly limits: TurnLimits | undefined;
  /** The settings, with the retries that the limits allow. */
  readonly retry: RetryRule;
  /** Ids of the lessons that set the limits. */
  readonly limitedBy: readonly string[] | undefined;
  readonly marks: ReplyMarks;
  /** Called when the turn has ended: what its key may use is counted. */
  readonly ended: ((isAnswered: boolean) => void) | undefined;
  /** Records what was chosen for the turn, once the turn is recorded. Returns at once. */
  readonly recordChoices: ((turn: string) => void) | undefined;
}

export interface OwnReply {
  readonly policy: string;
  readonly events: readonly ChatEvent[];
}

/** A planned turn whose intent is in the record, or that has a record that does nothing. */
export interface RunningTurn {
  readonly plan: PlannedTurn;
  readonly turn: Turn;
  readonly record: TurnRecord;
  readonly marks: ReplyMarks;
}

/** The name of the model that a target answers with now: weights may change while a reply is being streamed. */
export const policyOf = (target: Target, { outline, session }: Turn): string =>
  target.label?.(session.session) ?? `${target.provider}/${target.model ?? outline?.model ?? ''}`;

export const isRecorded = ({ kind, identity }: Turn): boolean => kind === 'chat' && identity.record;

/** A model name is the caller's text: only characters that are valid in a header are echoed. */
export const headerSafe = (text: string): string => text.replace(/[^\x21-\x7e]/g, '').slice(0, 200);

export type TurnEnd = 'complete' | 'client-abort' | 'upstream-error' | 'truncated' | 'refused';

/** The outcome of one try at a provider. */
export type UpstreamAttempt =
  /** The client has the reply, or the part of it that arrived. */
  | {
      readonly kind: 'sent';
      readonly end: TurnEnd;
      readonly status: number;
      readonly failure?: Failure;
      /** Replies before it failed a check. */
      readonly reasked?: ReaskedReplies;
    }
  /** Nothing was sent to the client yet: another try or another model may follow. */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly reply?: ProviderErrorReply };

/** How the attempts at a turn ended. */
export interface TurnResult {
  readonly outcome: UpstreamAttempt;
  /** The target that answered, else the first choice; undefined when Instar answered by itself. */
  readonly target: Target | undefined;
  readonly policy: string;
  readonly marks: ReplyMarks;
  readonly tries: number;
  /** See `TurnReport`. */
  readonly modelMs: number;
  /** See `PlannedTarget`. */
  readonly credential: Caller | undefined;
}

/** A provider's error reply, kept so that the client gets it byte for byte. */
export interface ProviderErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** The summary of a finished turn, for metrics and log. */
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
  /** Of `totalMs`, the time from the first request to a model to the end of its reply, with all tries. The rest is Instar's own. */
  readonly modelMs: number;
  readonly failure?: Failure;
  /** Ids of the lessons that set limits for it. */
  readonly limitedBy?: readonly string[];
}

/** How a word to Instar was answered, for the metrics. `refused`: the caller may not use this model at all. */
export type ChatWordEnd = 'saved' | 'help' | 'told' | 'done' | 'nothing-to-rate' | 'not-saved' | 'refused';

/** Whether the client disconnected before its reply was complete. */
interface ClientDisconnect {
  readonly isGone: boolean;
  /** Created on first use: a request that is relayed as bytes never needs it. */
  readonly signal: AbortSignal;
  /** Replaces the callback for a later disconnect. */
  onGone(callback: (() => void) | undefined): void;
}

/** One listener per response; a class, since every request creates one. */
class ResponseLeaving implements ClientDisconnect {
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

export const watchDisconnect = (response: ServerResponse): ClientDisconnect => new ResponseLeaving(response);
