import { createHash } from 'node:crypto';
import { addSpending, NOTHING_SPENT, type Spending } from '../../core/budget.ts';
import type { Clock } from '../../core/clock.ts';
import type { Fact } from '../../core/fact.ts';
import { asNumber, asObject, asString, isObject, type Json, toJson } from '../../core/json.ts';
import { type Answer, type Ask, type Cost, NO_COST, type Question } from '../../core/learn.ts';
import type { PracticeJournal, UnitOrigin } from '../../core/practice.ts';
import { cacheSubject, practiceSubject } from '../../core/practice-fact.ts';
import type { NewFact, Records } from '../../core/store.ts';
import { spendingOf } from '../model-cost.ts';

/** The work of one run, unit by unit: each is done once, whatever happens to the process. */
export interface PracticeUnits {
  /**
   * The stored value of a unit, or else what `work` makes, stored before it is returned. Always the value as it was stored, so that
   * a run that continues after a crash sees the same. Undefined when its session was erased. `keep` says which values are stored.
   */
  value<T extends object>(unit: string, work: UnitWork<T>): Promise<UnitValue<T> | undefined>;
  /** Whether it was done before. */
  has(unit: string): Promise<boolean>;
  /** Asks a learning model; the same question is paid for once. */
  askAbout(sessions: readonly string[]): Ask | undefined;
  /** By all units of the run. */
  spent(): Spending;
}

interface UnitWork<T> extends UnitOrigin {
  readonly is: (value: unknown) => value is T;
  readonly make: () => Promise<T>;
  /** A value that is not kept is made again when the run continues. Default: every value is kept. */
  readonly keep?: (value: T) => boolean;
  /** The value of another run, as a value of this one. It cost this run nothing. */
  readonly adopt?: (value: T) => T;
}

interface UnitValue<T> {
  readonly value: T;
  /** It was in the journal or in the cache. */
  readonly isKnown: boolean;
}

interface UnitsOptions {
  readonly journal: PracticeJournal;
  readonly ask: Ask | undefined;
  /** The name of the learner's model. */
  readonly learner: string;
  /** Of all questions; absent: each question has its own. */
  readonly temperature?: number;
  readonly clock: Clock;
}

export function createPracticeUnits(options: UnitsOptions): PracticeUnits {
  const { journal, ask } = options;
  const spent = new Map<string, Spending>();
  const running = new Map<string, Promise<Answer<unknown>>>();
  const count = (unit: string, value: unknown): void => {
    spent.set(unit, addSpending(NOTHING_SPENT, usedBy(value)));
  };
  for (const [unit, value] of journal.units?.() ?? []) count(unit, value);
  const store = async <T extends object>(
    unit: string,
    value: T,
    { is, sessions, key }: UnitWork<T>,
  ): Promise<T | undefined> => {
    await journal.write(unit, toJson(value), {
      ...(sessions === undefined || sessions.length === 0 ? {} : { sessions }),
      ...(key === undefined ? {} : { key }),
    });
    const stored = await journal.read(unit);
    count(unit, stored);
    return is(stored) ? stored : undefined;
  };

  const value: PracticeUnits['value'] = async (unit, work) => {
    const before = await journal.read(unit);
    if (before !== undefined) {
      count(unit, before);
      return work.is(before) ? { value: before, isKnown: true } : undefined;
    }
    const cached = work.key === undefined ? undefined : await journal.cached?.(work.key);
    const { key: _, ...unkeyed } = work;
    if (work.is(cached)) {
      const adopted = await store(unit, work.adopt?.(cached) ?? cached, unkeyed);
      return adopted && { value: adopted, isKnown: true };
    }
    const made = await work.make();
    if (work.keep?.(made) === false) return { value: made, isKnown: false };
    const stored = await store(unit, made, work);
    return stored && { value: stored, isKnown: false };
  };

  return {
    value,
    has: async (unit) => (await journal.read(unit)) !== undefined,
    askAbout: (sessions) => ask && createJournaledAsk({ ...options, ask, value, running }, sessions),
    spent: () => [...spent.values()].reduce<Spending>(addSpending, NOTHING_SPENT),
  };
}

interface JournaledAskOptions extends Omit<UnitsOptions, 'journal'> {
  readonly ask: Ask;
  readonly value: PracticeUnits['value'];
  /** Questions that are being asked, by unit. */
  readonly running: Map<string, Promise<Answer<unknown>>>;
}

/** Each reply is a unit with the sessions that it is about. */
function createJournaledAsk(options: JournaledAskOptions, sessions: readonly string[]): Ask {
  const { learner, running } = options;
  return async <T>(given: Question<T>, signal: AbortSignal): Promise<Answer<T>> => {
    const question =
      options.temperature === undefined ? given : { ...given, temperature: options.temperature };
    const { name, system, user, maxTokens, temperature, repetition = 0 } = question;
    const asked = ['ask', learner, name, system, user, maxTokens, temperature ?? null];
    const key = contentKey(...asked, ...(repetition === 0 ? [] : [repetition]));
    const unit = `ask/${name}/${key.slice(0, 32)}`;
    // Two groups may ask the same at the same time.
    await running.get(unit);
    const asking = askOnce(question, { unit, sessions, key }, options, signal);
    running.set(unit, asking);
    try {
      return await asking;
    } finally {
      running.delete(unit);
    }
  };
}

async function askOnce<T>(
  question: Question<T>,
  { unit, ...origin }: UnitOrigin & { readonly unit: string },
  { ask, learner, clock, value }: JournaledAskOptions,
  signal: AbortSignal,
): Promise<Answer<T>> {
  let failed: (Answer<T> & { readonly ok: false }) | undefined;
  const answered = await value<StoredReply>(unit, {
    ...origin,
    is: isStoredReply,
    keep: () => failed === undefined || failed.cause === 'reply',
    adopt: (reply) => ({ ...reply, used: NOTHING_SPENT }),
    make: async () => {
      const began = clock.monotonic();
      let reply: Json = null;
      const answer = await ask<T>(
        {
          ...question,
          read: (raw) => {
            reply = raw;
            return question.read(raw);
          },
        },
        signal,
      );
      const used = addSpending(NOTHING_SPENT, {
        ...spendingOf(answer.cost),
        ms: Math.round(clock.monotonic() - began),
      });
      if (answer.ok) return { reply, model: answer.model, prompt: answer.prompt, used };
      failed = answer;
      return { fault: answer.why, model: answer.model ?? learner, prompt: '', used };
    },
  });
  if (failed !== undefined) return failed;
  return answered === undefined
    ? refusal('what it was about was erased')
    : toAnswer(question, answered.value);
}

/** A hash of everything that a result depends on. */
export const contentKey = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** What the units of a run have spent: a budget begins with it when the run continues. */
export const spentByUnits = (units: ReadonlyMap<string, Json>): Spending =>
  [...units.values()].map(usedBy).reduce<Spending>(addSpending, NOTHING_SPENT);

function usedBy(value: unknown): Partial<Spending> {
  const { calls, tokens, usd, unpriced, ms } = asObject(asObject(value).used);
  const amounts = { calls, tokens, usd, unpriced, ms };
  return Object.fromEntries(
    Object.entries(amounts).flatMap(([name, amount]) =>
      asNumber(amount) === undefined ? [] : [[name, amount]],
    ),
  );
}

interface StoredReply {
  /** The JSON of the reply; absent when it could not be used. */
  readonly reply?: Json;
  readonly fault?: string;
  readonly model: string;
  readonly prompt: string;
  readonly used: Spending;
}

const isStoredReply = (value: unknown): value is StoredReply =>
  isObject(value) &&
  (value.reply !== undefined || asString(value.fault) !== undefined) &&
  isObject(value.used);

const refusal = (why: string): Answer<never> => ({
  ok: false,
  why,
  isRetryable: false,
  cost: NO_COST,
  cause: 'reply',
});

/** Reading the same reply again gives the same answer: `read` depends on nothing but the question. */
function toAnswer<T>(question: Question<T>, { reply, fault, model, prompt, used }: StoredReply): Answer<T> {
  if (reply === undefined) return refusal(fault ?? 'it could not be used');
  const read = question.read(reply);
  if (!read.ok) return refusal(read.why);
  const cost: Cost = { ...NO_COST, calls: used.calls, inputTokens: used.tokens, usd: used.usd };
  return { ok: true, value: read.value, cost, model, prompt };
}

/** The journal of one run in the store. */
export interface RunUnits extends PracticeJournal {
  units(): ReadonlyMap<string, Json>;
  /** Appends a fact once, however often it is called with the same key. Durable when it resolves. */
  record(fact: Fact, key: string): Promise<void>;
}

interface PracticeJournalOptions {
  readonly run: string;
  readonly records: Pick<Records, 'append' | 'events' | 'facts'>;
  readonly clock: Clock;
}

/** Reads what the run has done before. Rejects with `StoreError`, also later. */
export async function openPracticeJournal({
  run,
  records,
  clock,
}: PracticeJournalOptions): Promise<RunUnits> {
  const ownUnits = await readUnits(records, run);
  /** Units of other runs, for the cache. */
  const others = new Map<string, ReadonlyMap<string, Json>>();
  const linked = new Set<string>();
  const now = (): number => Math.round(clock.now());
  return {
    read: async (unit) => ownUnits.get(unit),
    write: async (unit, value, { sessions = [], key } = {}) => {
      if (ownUnits.has(unit)) return;
      const [at, of] = [now(), sessions.length === 0 ? {} : { sessions }];
      // The link is there before the value: an erasure in between finds both or scrubs the value on arrival.
      const links = sessions.filter((session) => !linked.has(session));
      const facts: readonly NewFact[] = [
        { at, fact: { type: 'practice-unit', run, unit, value, ...of }, key: `practice/${run}/unit/${unit}` },
        ...links.map(
          (session): NewFact => ({
            at,
            fact: { type: 'practice-used', session, run },
            key: `practice/${run}/used/${session}`,
          }),
        ),
        ...(key === undefined
          ? []
          : [
              {
                at,
                fact: { type: 'practice-cached', key, run, unit } as const,
                key: `practice-cache/${key}`,
              },
            ]),
      ];
      const [unitFact] = await records.append(facts);
      for (const session of links) linked.add(session);
      // What was stored counts: secrets are taken out on the way, and another process may have been first.
      const [stored] = unitFact === undefined ? [] : await records.facts(unitFact.seq - 1, 1);
      ownUnits.set(unit, stored?.fact.type === 'practice-unit' ? stored.fact.value : null);
    },
    cached: async (key) => {
      for (const { fact } of await records.events(cacheSubject(key))) {
        if (fact.type !== 'practice-cached') continue;
        const units =
          fact.run === run ? ownUnits : (others.get(fact.run) ?? (await readUnits(records, fact.run)));
        if (fact.run !== run) others.set(fact.run, units);
        const value = units.get(fact.unit);
        if (value !== undefined && value !== null) return value;
      }
      return undefined;
    },
    units: () => ownUnits,
    record: async (fact, key) => {
      await records.append([{ at: now(), fact, key }]);
    },
  };
}

async function readUnits(records: Pick<Records, 'events'>, run: string): Promise<Map<string, Json>> {
  const units = new Map<string, Json>();
  for (const { fact } of await records.events(practiceSubject(run)))
    if (fact.type === 'practice-unit' && !units.has(fact.unit)) units.set(fact.unit, fact.value);
  return units;
}
