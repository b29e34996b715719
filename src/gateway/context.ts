import type { IncomingMessage } from 'node:http';
import type { Repository } from '../base/repository.ts';
import type { Caller } from '../core/caller.ts';
import type { ChatCommandAnswer, ChatCommandRequest } from '../core/chat-command.ts';
import type { Clock } from '../core/clock.ts';
import type { OwnerApis } from '../core/daemon-api.ts';
import type { Project } from '../core/fact.ts';
import type { JsonObject } from '../core/json.ts';
import type { LimitAnswer, LimitedKey, LimitedRequest } from '../core/key-limit.ts';
import type { FlowAnswer, TurnOverlays } from '../core/overlay.ts';
import type { TurnRecorder } from '../core/recorder.ts';
import type { RetryRule } from '../core/retry.ts';
import type { RoutedTurn } from '../core/routed-turn.ts';
import type { Records } from '../core/store.ts';
import type { Catalogue, Exchange, Target } from '../core/upstream.ts';
import type { Authorizer } from './access-control.ts';
import type { CheckedReply } from './check-reply.ts';
import type { ReceivedRequest } from './client-clues.ts';
import type { AgentsOfKeys, Identity } from './identify.ts';
import type { SessionMatcher } from './session-matcher.ts';
import type { ChatWordEnd, ShownLessons, Turn, TurnReport } from './turn.ts';

/** A name that no model has: resolves to the provider of a wire when the body names no model. */
export const ANY_MODEL = '*';

/** Chooses the model of a request. */
interface TurnRouting {
  /** Whether this request is for the router; `targets`: what its model name resolves to. No effect. */
  isAsked(turn: Turn, targets: readonly Target[]): boolean;
  /** Undefined: the targets stay as they are. */
  route(turn: Turn, overlays: TurnOverlays | undefined): Promise<RoutedTurn | undefined>;
}

/** What the plan of a turn says about its lessons. */
export interface LessonsByPlan {
  /** The most lessons with their bodies; absent: as many as the settings say. */
  readonly most?: number;
  /** The model that answers, as its provider calls it. */
  readonly model?: string;
  /** Lessons that the model keeps without being shown them. */
  readonly remembered?: ReadonlySet<string>;
}

/** The dependencies of the hot path; none of them may block. */
export interface GatewayContext {
  readonly catalogue: Catalogue;
  readonly exchange: Exchange;
  readonly authorize: Authorizer;
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryRule;
  readonly maxBodyBytes: number;
  /** The most messages that one request may have. */
  readonly maxMessages: number;
  readonly newId: (prefix: string) => string;
  /** Waits; returns early when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The lessons for this turn. At once when the conversation is known; a first turn may take a moment. */
  readonly lessons: (turn: Turn, by?: LessonsByPlan) => Promise<ShownLessons>;
  /** What overlays change for this turn; undefined without any. Synchronous. */
  readonly overlays?: (turn: Turn) => TurnOverlays | undefined;
  /** The next call of a flow that the turn's conversation is in; undefined: the model answers. Synchronous. */
  readonly flows?: (turn: Turn, flows: TurnOverlays['flows']) => FlowAnswer | undefined;
  readonly router?: TurnRouting;
  /** Whether a key with limits may send this request. Absent: none has limits. */
  readonly limits?: (key: LimitedKey, request: LimitedRequest) => Promise<LimitAnswer>;
  readonly recorder: TurnRecorder;
  readonly records: Records;
  /** What this caller may ask and see. Every change is audited with the id of its key. */
  readonly apisFor: (caller: Caller) => OwnerApis;
  readonly identify: (arrival: ReceivedRequest, caller?: Pick<Caller, 'tag'>) => Identity;
  /** The end user that a request names in its headers. */
  readonly personOf: (request: IncomingMessage) => string | undefined;
  /** The project of a folder, whose worktrees and clones are one. Absent: each folder is a project. */
  readonly projectOf?: (folder: string, stated: Project, remote?: Repository) => Promise<Project>;
  /** The id of the project that a plugin tells of: of its folder alone, and what it says of the repository. */
  readonly projectReported?: (stated: string, repository: JsonObject) => string;
  /** The agents that keys speak for. */
  readonly agents: AgentsOfKeys;
  readonly sessions: SessionMatcher;
  /** Called when the client marks a turn as its session's last. */
  readonly sessionEnded: (session: string) => void;
  readonly report: (report: TurnReport) => void;
  /** A reply was checked because an overlay says so. */
  readonly checked?: (reply: CheckedReply) => void;
  /** Answers a command of the chat, such as `instar: undo`. */
  readonly chatCommand: (request: ChatCommandRequest) => Promise<ChatCommandAnswer>;
  /** A word to Instar was answered: neither a turn nor a refused request. */
  readonly chatWord: (end: ChatWordEnd) => void;
  /** For `GET /api/status`. */
  readonly status: () => JsonObject;
  /** For `GET /metrics`. */
  readonly metrics: () => Promise<string>;
}
