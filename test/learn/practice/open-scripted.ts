import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { Attempt, AttemptOrder } from '../../../src/core/practice.ts';
import type { DecodedTurn, Store, TurnView } from '../../../src/core/store.ts';
import type { VerifierRow } from '../../../src/core/verifier-row.ts';
import { createEvidenceReader, type EvidenceReader } from '../../../src/evidence/evidence-reader.ts';
import type { Calibration } from '../../../src/evidence/judge/calibration.ts';
import { createGate } from '../../../src/learn/gate/gate.ts';
import {
  openPractice,
  PRACTICE_LIMITS,
  type PracticeConfig,
  type PracticeLimits,
} from '../../../src/learn/practice/open-practice.ts';
import { isRerunnable } from '../../../src/learn/practice/sources/rerunnable.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { openLessons } from '../../../src/lessons/open-lessons.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { FREE } from '../ask/samples.ts';
import { attemptOf, type ScriptedModel, scriptedModel } from './scripted-practice.ts';

const CONFIG: PracticeConfig = {
  groupSize: 3,
  temperature: 0.7,
  tasks: [],
  budget: { usd: 5, tokens: 1_000_000 },
};
const LIMITS: PracticeLimits = {
  ...PRACTICE_LIMITS,
  session: { calls: 10_000, ms: 600_000_000 },
  trials: { pairs: 12, repeats: 1 },
};
export const TOPICS = [
  'bread',
  'diesel',
  'rent',
  'salaries',
  'power',
  'seeds',
  'ice',
  'apples',
  'oil',
  'tickets',
  'olives',
  'phones',
  'horses',
  'flowers',
  'museums',
  'tents',
];
const quietLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const NEVER = new AbortController().signal;

export function tasksFile(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'instar-tasks-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'tasks.jsonl');
  const line = (topic: string) =>
    JSON.stringify({
      prompt: `${topic} ${topic}: write the ${topic} report`,
      domain: 'reports',
      answer: topic,
    });
  writeFileSync(file, TOPICS.map(line).join('\n'));
  return file;
}

interface ScriptedParts {
  readonly store?: Store;
  readonly evidence?: EvidenceReader;
  readonly model?: ScriptedModel;
  readonly decodeTurn?: (view: TurnView) => Promise<DecodedTurn | undefined>;
  /** Of the judge; without it there is none. */
  readonly calibration?: Calibration;
  /** Nobody named the models: they see only sessions of this provider. */
  readonly onlyFor?: string;
  readonly now?: number;
  readonly verifiers?: readonly VerifierRow[];
  readonly limits?: Partial<PracticeLimits>;
  readonly attempt?: (order: AttemptOrder, signal: AbortSignal) => Promise<Attempt>;
}

let ids = 0;

/** Practice over a real library and gate; attempts and the model are scripted. */
export async function openScripted(
  config: Partial<PracticeConfig>,
  {
    store = createMemoryStore(),
    evidence,
    model = scriptedModel(),
    decodeTurn,
    calibration,
    onlyFor,
    attempt,
    limits = {},
    verifiers = [],
    now = 1_800_000_000_000,
  }: ScriptedParts = {},
) {
  const clock = { now: () => now, monotonic: () => performance.now() };
  const records = toRecords(store, clock.now);
  const newId = (prefix: string): string => `${prefix}_${++ids}`;
  const lessons = await openLessons({
    records,
    clock,
    newId,
    onFault: (error) => {
      throw error;
    },
  });
  const orders: AttemptOrder[] = [];
  const practice = await openPractice({
    config: { ...CONFIG, ...config },
    ports: {
      lessonsFor: async (_, force) => {
        const shown = lessons.library.shown(clock.now()).map(({ id }) => id);
        return {
          text: '',
          lessons: [...new Set([...shown, ...(force?.with ?? [])])].filter(
            (id) => force?.without?.includes(id) !== true,
          ),
          generation: lessons.library.generation,
        };
      },
      whyNotAttempted: async (task) => {
        const able = await isRerunnable(task);
        return able.ok ? undefined : able.why;
      },
      openAttempts: async ({ name }) => ({
        agent: name,
        make: async (order, signal) => {
          orders.push(order);
          return attempt?.(order, signal) ?? attemptOf(order);
        },
      }),
    },
    records,
    evidence: evidence ?? createEvidenceReader({ ...records, decoder: () => async () => undefined }),
    lessons,
    gate: createGate({
      autonomy: 'guarded',
      checkText: checkLessonText,
      hasSecret: () => false,
      findSimilar: async () => [],
      voteDay: String,
    }),
    verifiers,
    nearest: async () => [],
    embed: async () => {
      throw new Error('there is no sentence model here');
    },
    model: async () => ({
      name: 'test/m',
      title: 'test/m',
      price: FREE,
      chat: model.model,
      ...(onlyFor === undefined ? {} : { onlyFor }),
    }),
    decodeTurn: decodeTurn ?? (async () => undefined),
    calibration: () => calibration,
    isOn: () => true,
    limits: { ...LIMITS, ...limits },
    mayPromote: true,
    clock,
    newId,
    log: quietLog,
  });
  const command = (what: string, body: JsonObject = {}) => practice.command({ ...body, do: what }, NEVER);
  const finish = async (): Promise<JsonObject> => {
    for (;;) {
      const status = await command('status');
      if (status.running === undefined) return status;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  return {
    command,
    finish,
    orders,
    lessons,
    records,
    store,
    asked: model.asked,
  };
}
