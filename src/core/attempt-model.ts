import type { Spending } from './budget.ts';
import type { ChatMessage, Usage } from './chat.ts';
import type { Failure } from './failure.ts';
import type { GatewayClient } from './gateway-client.ts';
import type { AttemptOrder, PracticeTask } from './practice.ts';
import type { SampledTurn } from './training.ts';

/** A model for one attempt. Whoever made it places the lessons of the order where the gateway places them. */
export interface AttemptModel {
  /** `provider/model`, or a policy's version. */
  readonly name: string;
  /** The name that its requests carry. */
  readonly model: string;
  readonly speak: GatewayClient;
  /** Instead of the order's: an engine that trains samples at 1, since a bent sampler trains nothing. */
  readonly temperature?: number;
  /** The longest reply in tokens. */
  readonly maxTokens?: number;
  /** What was sampled so far, where the engine tells. */
  sampled?(): readonly SampledTurn[];
  /** What the tokens cost; without it they have no known price. */
  costOf?(usage: Usage): Pick<Spending, 'usd' | 'unpriced'>;
  close(): Promise<void>;
}

/** Rejects when there is no such model now. */
export type OpenAttemptModel = (order: AttemptOrder, signal: AbortSignal) => Promise<AttemptModel>;

/**
 * A way through the gateway for one attempt. Whoever calls with its key is in the attempt's session, gets the attempt's lessons
 * and is neither learned from nor counted, whatever the headers of the request say.
 */
export interface AttemptAccess {
  /** Where the gateway listens, `http://127.0.0.1:4600`. */
  readonly url: string;
  /** Lives in memory; valid until `close`. */
  readonly key: string;
  /** What was said with the key so far. */
  turns(): Promise<AttemptTurns>;
  close(): void;
}

/** The recorded turns of an attempt. */
export interface AttemptTurns {
  /** The longest conversation with its last reply. */
  readonly messages: readonly ChatMessage[];
  readonly calls: number;
  readonly usage: readonly Usage[];
  /** Of the last turn, where it failed. */
  readonly failure?: Failure;
}

/** What the gateway has to know of an attempt. Plain data. */
export type AttemptPlace = Pick<AttemptOrder, 'id' | 'shown'> & {
  readonly task: Pick<PracticeTask, 'agent' | 'project' | 'domain'>;
};

/** Only the process of the owner opens them. */
export type OpenAttemptAccess = (order: AttemptPlace) => AttemptAccess;
