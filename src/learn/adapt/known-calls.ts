import { hash } from 'node:crypto';
import type { FlowCall } from '../../base/flow-calls.ts';
import { isObject, type Json, type JsonObject, parseJson } from '../../core/json.ts';
import type { AppraisedTurn } from '../../evidence/evidence-reader.ts';
import { isSuccess } from '../../evidence/tools/tool-outcome.ts';
import { readTurn } from '../../evidence/turn-reading.ts';

/** A call as it is remembered: what it was given can be compared, and not read. */
export interface KnownCall {
  /** The tool and the names of its arguments. */
  readonly shape: string;
  /** A digest of each argument, in the order of their names, behind a letter for its type. */
  readonly values: readonly string[];
}

export interface KnownSession {
  readonly id: string;
  readonly day: number;
  readonly runs: readonly (readonly KnownCall[])[];
}

/** Where a call of a session stands. */
export interface CallPlace {
  readonly session: KnownSession;
  readonly run: number;
  readonly at: number;
}

const DAY_MS = 86_400_000;

export const toKnownSession = ({ session, at, runs }: SessionRuns): KnownSession => ({
  id: session,
  day: Math.floor(at / DAY_MS),
  runs: runs.map((run) => run.map(toKnownCall)),
});

const toKnownCall = ({ tool, arguments: given }: FlowCall): KnownCall => {
  const names = argumentNames(given);
  return {
    shape: JSON.stringify([tool, ...names]),
    values: names.map((name) => digestOf(given[name] ?? null)),
  };
};

export const argumentNames = (given: FlowCall['arguments']): readonly string[] =>
  Object.keys(given).toSorted();

/** The digests of one type begin with its letter: `s`, `n`, `b`, or `o` for what can be no parameter. */
const digestOf = (value: Json): string =>
  `${LETTERS[typeof value] ?? 'o'}${hash('sha256', sortedText(value), 'base64').slice(0, 12)}`;
const LETTERS: Readonly<Record<string, string>> = { string: 's', number: 'n', boolean: 'b' };

/** JSON with the members of objects in order. */
const sortedText = (value: Json | undefined): string =>
  Array.isArray(value)
    ? `[${value.map(sortedText).join(',')}]`
    : isObject(value)
      ? `{${Object.keys(value)
          .toSorted()
          .map((name) => `${JSON.stringify(name)}:${sortedText(value[name])}`)
          .join(',')}}`
      : JSON.stringify(value ?? null);

/** The fewest steps of a flow, and as many shapes make a key. */
export const FEWEST_STEPS = 3;

/** The key of the three shapes from here on; undefined where the run ends before. */
const gramKey = (run: readonly KnownCall[], at: number): string | undefined =>
  at + FEWEST_STEPS > run.length
    ? undefined
    : digestKey(
        '3',
        run.slice(at, at + FEWEST_STEPS).map(({ shape }) => shape),
      );

/** The key of one call with all that it was given. */
const exactKey = ({ shape, values }: KnownCall): string => digestKey('1', [shape, ...values]);

const digestKey = (kind: string, parts: readonly string[]): string =>
  kind + hash('sha256', JSON.stringify(parts), 'base64').slice(0, 12);

/** The newest sessions by the calls they have. */
interface KnownCalls {
  /** Replaces what was known of the session. */
  add(session: KnownSession): void;
  /** Where sequences stand that may be like the one at this place: by the shapes of three calls, or by one that is the same. Newest first. */
  like(run: readonly KnownCall[], at: number): readonly CallPlace[];
}

const MOST_SESSIONS = 2_000;
const MOST_KNOWN_CALLS = 100_000;
/** Of each key. Everyday calls are in every session: the newest of them suffice. */
const MOST_PLACES = 64;

export function createKnownCalls(): KnownCalls {
  const sessions = new Map<string, KnownSession>();
  const places = new Map<string, CallPlace[]>();
  let calls = 0;
  const remove = (session: KnownSession): void => {
    sessions.delete(session.id);
    for (const { key } of keysOf(session)) {
      const rest = places.get(key)?.filter((place) => place.session !== session) ?? [];
      if (rest.length === 0) places.delete(key);
      else places.set(key, rest);
    }
    calls -= countOf(session);
  };
  return {
    add: (session) => {
      const before = sessions.get(session.id);
      if (before !== undefined) remove(before);
      sessions.set(session.id, session);
      calls += countOf(session);
      for (const { key, place } of keysOf(session)) {
        const list = places.get(key) ?? [];
        list.push(place);
        if (list.length > 2 * MOST_PLACES) list.splice(0, list.length - MOST_PLACES);
        places.set(key, list);
      }
      for (const oldest of sessions.values()) {
        if (sessions.size <= MOST_SESSIONS && calls <= MOST_KNOWN_CALLS) break;
        remove(oldest);
      }
    },
    like: (run, at) => {
      const gram = gramKey(run, at);
      const found = gram === undefined ? [] : (places.get(gram) ?? []).slice(-MOST_PLACES);
      for (let step = 0; step < FEWEST_STEPS; step++) {
        const call = run[at + step];
        const same = call === undefined ? [] : (places.get(exactKey(call)) ?? []).slice(-MOST_PLACES);
        for (const { at: there, ...place } of same)
          if (there >= step) found.push({ ...place, at: there - step });
      }
      return found.toReversed();
    },
  };
}

const countOf = ({ runs }: KnownSession): number => runs.reduce((sum, run) => sum + run.length, 0);

function* keysOf(
  session: KnownSession,
): Generator<{ readonly key: string; readonly place: CallPlace }, undefined> {
  for (const [index, run] of session.runs.entries())
    for (const [at, call] of run.entries()) {
      const place = { session, run: index, at };
      const gram = gramKey(run, at);
      if (gram !== undefined) yield { key: gram, place };
      yield { key: exactKey(call), place };
    }
}

/** A session that has ended, as the calls that followed each other in it. */
export interface SessionRuns {
  readonly session: string;
  readonly at: number;
  /**
   * Each a sequence of calls that all succeeded, with nothing between them: no message of the user, no other call, and no turn that is
   * not learned from, such as one that a flow answered. What the calls returned is not in it.
   */
  readonly runs: readonly (readonly FlowCall[])[];
}

const MOST_CALLS = 200;

export function readRuns(turns: readonly Pick<AppraisedTurn, 'evidence'>[]): SessionRuns['runs'] {
  const runs: FlowCall[][] = [];
  let run: FlowCall[] = [];
  let total = 0;
  /** How many calls the next request has, if nothing else was called meanwhile. */
  let expected: number | undefined;
  let task: string | undefined;
  const cut = (): void => {
    if (run.length > 0) runs.push(run);
    run = [];
  };
  for (const { evidence } of turns) {
    if (expected !== evidence.earlier.length || task !== evidence.task) cut();
    const { calls } = readTurn(evidence);
    for (const { part, outcome } of calls) {
      const given = evidence.reply.includes(part) ? readArguments(part.arguments) : undefined;
      const isRead = given !== undefined && outcome !== undefined && isSuccess(outcome.kind);
      if (isRead && total++ < MOST_CALLS) run.push({ tool: part.name, arguments: given });
      else cut();
    }
    if (evidence.next?.user !== undefined) cut();
    expected = evidence.earlier.length + calls.length;
    task = evidence.task;
  }
  cut();
  return runs;
}

function readArguments(text: string): JsonObject | undefined {
  if (text.trim() === '') return {};
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}
