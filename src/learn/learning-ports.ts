import type { Log } from '../base/log.ts';
import type { OpenBudget } from '../core/budget.ts';
import type { ChatEvent, ChatRequest } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import { type JsonObject, toJson } from '../core/json.ts';
import type { ChangeSet, PublishResult } from '../core/lesson.ts';
import type { EmbeddingModel } from '../core/recall.ts';
import type { Records } from '../core/store.ts';
import type { VerifierRow } from '../core/verifier-row.ts';
import type { PriceRules } from '../cost/prices.ts';
import type { EvidenceRecords } from '../evidence/evidence-reader.ts';
import type { OpenSandbox } from './checks/slow-tests.ts';
import type { WritePrompt } from './compress/compressor.ts';
import type { Autonomy } from './gate/autonomy-rule.ts';
import type { LearningRecords } from './learning.ts';
import type { LearningLimits } from './learning-budget.ts';
import type { LearningModel, LearningRole } from './learning-model.ts';
import type { FactFold } from './learning-state.ts';
import type { LearningStatus } from './learning-status.ts';
import type { PracticeConfig, PracticePorts } from './practice/open-practice.ts';
import type { Practice } from './practice/serve-practice.ts';

/** Plain data: it is passed to the thread. */
export interface LearningSettings {
  readonly autonomy: Autonomy;
  /** The number of failures in one scope that starts the evolver. */
  readonly failures: number;
  readonly maxNewSkills: number;
  readonly budget: LearningLimits;
  /** What decides the prices of the models that are served. */
  readonly prices: PriceRules;
  /** When the daemon started: what is served from then on is counted. */
  readonly since: number;
  /** The rows of the configured verifiers. */
  readonly verifiers: readonly VerifierRow[];
  /** How long new failures wait for the evolver's answer, in milliseconds. */
  readonly patienceMs?: number;
  readonly practice?: PracticeConfig;
  /** While this file exists, nothing is learned. */
  readonly killFile?: string;
}

/** All that learning needs from outside its thread. */
export interface LearningPorts {
  readonly records: LearningRecords & Pick<Records, 'sessions' | 'append'>;
  readonly decoder: EvidenceRecords['decoder'];
  /** Publishes in the thread that owns the library. Idempotent by the set's id. */
  readonly publish: (set: ChangeSet) => Promise<PublishResult>;
  /** A role's model; undefined when there is none. Looked up for each run: one may become available later. */
  readonly model: (role: LearningRole) => Promise<LearningModel | undefined>;
  readonly chat: (
    role: LearningRole,
    request: ChatRequest,
    signal: AbortSignal,
  ) => Promise<readonly ChatEvent[]>;
  readonly embed: EmbeddingModel['embed'];
  /** The model behind it; absent: what people said is found again by its words alone. */
  readonly sentenceModel?: Pick<EmbeddingModel, 'id' | 'dimensions'>;
  /** The same for whole lessons, whose vectors are kept between two starts; absent: they are not. */
  readonly embedKept?: EmbeddingModel['embed'];
  readonly hasSecret: (text: string) => boolean;
  /** The training samples, folded from the same facts. */
  readonly buffer: FactFold;
  readonly onStatus: (status: LearningStatus) => void;
  /** Told the rules whose check applies to what the agent of a session did last. */
  readonly onWork?: (session: string, rules: readonly string[]) => void;
  /** For the commands of checks; absent: none is run. */
  readonly openSandbox?: OpenSandbox;
  /** Several processes write the record. */
  readonly isShared?: boolean;
  /** Where budgets are kept; in this process unless several share them. */
  readonly openBudget?: OpenBudget | undefined;
  /** Absent: nothing is practised. */
  readonly practice?: PracticePorts;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
}

export interface LearningWorker {
  /** New facts were recorded: the ends of `turns` turns, or without a number facts that are learned from at once. */
  wake(turns?: number): void;
  /** Resolves when everything recorded so far has been read, and the status was reported. */
  look(): Promise<void>;
  /** Resolves when there is nothing left to learn for now. */
  settle(): Promise<void>;
  /** What the user of a running session has stated and not taken back, letter by letter; nothing while learning is off. */
  statements(session: string): Promise<readonly string[]>;
  /** Practice, where there is any, and consolidation. */
  readonly practice: Practice;
  /** Writes a shorter system prompt, within the daily budget. Never rejects. */
  readonly shorten: WritePrompt;
  /** Aborts what is under way. */
  close(): Promise<void>;
}

/** Questions that everybody answers alike while another process learns. */
const NOTHING_DUE = new Set(['due']);

/**
 * Learning while another process of the same store learns: nothing is followed, and what a person asks of it is refused with the reason.
 * It takes over from the record when this process becomes the leader.
 */
export function createStandby(whoLeads: () => string | undefined): LearningWorker {
  const why = (): string => {
    const leader = whoLeads();
    const where = leader === undefined ? 'another process' : leader;
    return `Learning runs in ${where}, which shares this store: ask there, or stop it and this one takes over within seconds.`;
  };
  return {
    wake: () => undefined,
    look: async () => undefined,
    settle: async () => undefined,
    statements: async () => [],
    shorten: async () => ({ ok: false, why: why(), isRetryable: true }),
    practice: {
      command: async ({ do: what }): Promise<JsonObject> =>
        toJson(NOTHING_DUE.has(String(what)) ? { whyNot: why() } : { refused: why() }),
      close: async () => undefined,
    },
    close: async () => undefined,
  };
}
