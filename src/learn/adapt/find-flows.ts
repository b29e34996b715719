import { hash } from 'node:crypto';
import type { FlowCall } from '../../base/flow-calls.ts';
import { createLruMap } from '../../base/lru-map.ts';
import type { Json } from '../../core/json.ts';
import type { FlowArgument, FlowOverlay } from '../../core/overlay.ts';
import { checkOverlay } from '../../lessons/check-overlay.ts';
import { whyRiskyFlow } from './draft-flow.ts';
import {
  argumentNames,
  type CallPlace,
  createKnownCalls,
  FEWEST_STEPS,
  type KnownCall,
  type KnownSession,
  type SessionRuns,
  toKnownSession,
} from './known-calls.ts';

/** A sequence of calls that sessions repeat. */
export interface FoundFlow {
  /** The same for the same sequence: `flow.` and a digest of its tools, constants and parameters. */
  readonly label: string;
  readonly flow: FlowOverlay;
  readonly support: { readonly sessions: number; readonly days: number };
}

interface FlowFinder {
  /** The flows of a session that has ended, the longest first. The session is remembered for later ones. */
  add(session: SessionRuns): readonly FoundFlow[];
}

const MOST_STEPS = 12;
const FEWEST_SESSIONS = 3;
const MOST_REPORTED = 500;

/**
 * Finds sequences of 3 to 12 calls that at least three sessions made in the same order, all of them with success. What
 * the calls were given is the same in all of them (a constant), or one value for each session (a parameter). A sequence is a flow
 * when it says what to do: at least half of its steps and the last one follow from constants and earlier parameters, and every step
 * has something in common with the others. The longest wins; what is part of a flow is none.
 *
 * Memory: the newest 2,000 sessions, at most 100,000 calls, as digests. Time: that of the new session's calls.
 */
export function createFlowFinder(): FlowFinder {
  const known = createKnownCalls();
  const reported = createReportedFlows();
  return {
    add: (session) => {
      const own = toKnownSession(session);
      const found = own.runs.flatMap((run, index) => {
        const calls = session.runs[index] ?? [];
        return calls.flatMap(
          (_, at) => findAt({ session: own, run: index, at }, calls, known.like(run, at)) ?? [],
        );
      });
      known.add(own);
      const kept: PlacedFlow[] = [];
      for (const one of found.toSorted(byLength))
        if (!kept.some((other) => overlaps(one, other))) kept.push(one);
      return kept.filter(reported.isWhole).map(({ label, flow, support }) => ({ label, flow, support }));
    },
  };
}

interface PlacedFlow extends FoundFlow {
  readonly run: number;
  readonly at: number;
  readonly shape: FlowShape;
}

/** By step: the shape of its call, and each argument as a digest, or `undefined` for a parameter. */
type FlowShape = readonly { readonly shape: string; readonly constants: readonly (string | undefined)[] }[];

const byLength = (a: PlacedFlow, b: PlacedFlow): number =>
  b.shape.length - a.shape.length || b.support.sessions - a.support.sessions || a.at - b.at;

const overlaps = (a: PlacedFlow, b: PlacedFlow): boolean =>
  a.run === b.run && a.at < b.at + b.shape.length && b.at < a.at + a.shape.length;

/** The longest flow that begins at a place. `calls`: the run of that place; `like`: where sessions made the same call. */
function findAt(
  { session: own, run: index, at }: CallPlace,
  calls: readonly FlowCall[],
  like: readonly CallPlace[],
): PlacedFlow | undefined {
  const run = own.runs[index] ?? [];
  const others = like
    .filter(({ session }) => session.id !== own.id)
    .flatMap((place) => alignWith(run, at, place) ?? []);
  const longest = Math.max(0, ...others.map(({ stable }) => stable.length));
  for (let length = longest; length >= FEWEST_STEPS; length--) {
    const bySession = new Map<string, Alignment>();
    for (const one of others)
      if (one.stable[length - 1] === true && !bySession.has(one.session.id))
        bySession.set(one.session.id, one);
    const supporters = [...bySession.values()];
    const sessions = supporters.length + 1;
    const days = new Set([own.day, ...supporters.map(({ session }) => session.day)]).size;
    if (sessions < FEWEST_SESSIONS) continue;
    const rows = [
      run.slice(at, at + length),
      ...supporters.map(({ calls: theirs }) => theirs.slice(0, length)),
    ];
    const made = generalize(calls.slice(at, at + length), rows);
    if (made !== undefined) return { ...made, support: { sessions, days }, run: index, at };
  }
  return undefined;
}

/** Another session's calls beside this one's. */
interface Alignment {
  readonly session: KnownSession;
  readonly calls: readonly KnownCall[];
  /** For each length: whether half of the steps follow from what was the same, or was the same before. */
  readonly stable: readonly boolean[];
}

function alignWith(run: readonly KnownCall[], at: number, place: CallPlace): Alignment | undefined {
  const theirs = place.session.runs[place.run] ?? [];
  const calls: KnownCall[] = [];
  const stable: boolean[] = [];
  const bound = new Set<string>();
  let determined = 0;
  for (let step = 0; step < MOST_STEPS; step++) {
    const [mine, other] = [run[at + step], theirs[place.at + step]];
    if (mine === undefined || mine.shape !== other?.shape) break;
    const pairs = mine.values.map((value, i) => ({
      value,
      key: `${value} ${other.values[i]}`,
      other: other.values[i],
    }));
    if (pairs.every(({ value, key, other: its }) => value === its || bound.has(key))) determined++;
    for (const { key } of pairs) bound.add(key);
    calls.push(other);
    stable.push(2 * determined >= step + 1);
  }
  return calls.length < FEWEST_STEPS ? undefined : { session: place.session, calls, stable };
}

type Made = Pick<PlacedFlow, 'label' | 'flow' | 'shape'>;

/** The flow that all rows are instances of, with the values of the first one as examples. Undefined where it is none. */
function generalize(calls: readonly FlowCall[], rows: readonly (readonly KnownCall[])[]): Made | undefined {
  /** By the digests that the sessions had: equal values in all of them are one parameter. */
  const parameters = new Map<string, Parameter>();
  let determined = 0;
  let isLastDetermined = false;
  const shape: { shape: string; constants: (string | undefined)[] }[] = [];
  const uses: string[][] = [];
  const steps = calls.map(({ tool, arguments: given }, step) => {
    const constants: (string | undefined)[] = [];
    const used: string[] = [];
    const before = new Set(parameters.keys());
    const members = argumentNames(given).map((name, i): [string, FlowArgument] => {
      const values = rows.map((row) => row[step]?.values[i] ?? '');
      const value = given[name] ?? null;
      const isConstant = values.every((one) => one === values[0]);
      constants.push(isConstant ? values[0] : undefined);
      if (isConstant) return [name, { value }];
      const key = values.join(' ');
      used.push(key);
      const parameter = parameters.get(key) ?? nameParameter(name, value, values, parameters);
      parameters.set(key, parameter);
      return [name, { parameter: parameter.name }];
    });
    isLastDetermined = used.every((key) => before.has(key));
    if (isLastDetermined) determined++;
    shape.push({ shape: rows[0]?.[step]?.shape ?? '', constants });
    uses.push(used);
    return { tool, arguments: Object.fromEntries(members) };
  });
  const isTied = shape.every(({ constants }, step) => {
    const used = uses[step] ?? [];
    if (used.length < constants.length || constants.length === 0) return true;
    return used.some((key) => uses.some((others, at) => at !== step && others.includes(key)));
  });
  if (!isLastDetermined || !isTied || 2 * determined < calls.length) return undefined;
  if ([...parameters.values()].some(({ type }) => type === undefined)) return undefined;
  const flow: FlowOverlay = {
    type: 'flow_offload',
    parameters: [...parameters.values()].flatMap(({ name, type, example }) =>
      type === undefined ? [] : [{ name, type, example }],
    ),
    steps,
  };
  if (checkOverlay({ payload: flow }) !== undefined || whyRiskyFlow(flow) !== undefined) return undefined;
  return { label: labelOf(shape, steps), flow, shape };
}

interface Parameter {
  readonly name: string;
  /** Undefined for values that can be no parameter, or are of several types. */
  readonly type: 'string' | 'number' | 'boolean' | undefined;
  readonly example: Json;
}

const TYPES: Readonly<Record<string, Parameter['type']>> = { s: 'string', n: 'number', b: 'boolean' };

function nameParameter(
  argument: string,
  example: Json,
  values: readonly string[],
  others: ReadonlyMap<string, Parameter>,
): Parameter {
  const taken = new Set([...others.values()].map(({ name }) => name));
  const base = argument
    .replace(/[^A-Za-z0-9_]/g, '_')
    .replace(/^(?=\d|$)/, '_')
    .slice(0, 40);
  let name = base;
  for (let nth = 2; taken.has(name); nth++) name = `${base}_${nth}`;
  const letters = new Set(values.map((value) => value[0] ?? ''));
  const [letter = ''] = letters;
  return { name, type: letters.size === 1 ? TYPES[letter] : undefined, example };
}

/** Parameters count by their places, not by their examples. */
const labelOf = (shape: FlowShape, steps: FlowOverlay['steps']): string => {
  const text = JSON.stringify(
    steps.map(({ arguments: given }, at) => [
      shape[at]?.shape,
      shape[at]?.constants.map((constant) => constant ?? ''),
      Object.values(given).flatMap((one) => ('parameter' in one ? [one.parameter] : [])),
    ]),
  );
  return `flow.${hash('sha256', text).slice(0, 16)}`;
};

/** The flows that were found before: a part of one of them is no flow of its own, also where a session left it early. */
function createReportedFlows(): { isWhole(flow: PlacedFlow): boolean } {
  const labels = createLruMap<string, true>(MOST_REPORTED);
  let shapes: FlowShape[] = [];
  return {
    isWhole: ({ label, shape }) => {
      if (shapes.some((other) => isPartOf(shape, other))) return false;
      if (labels.get(label) === undefined) {
        labels.set(label, true);
        shapes = [...shapes, shape].slice(-MOST_REPORTED);
      }
      return true;
    },
  };
}

const isPartOf = (part: FlowShape, whole: FlowShape): boolean =>
  part.length < whole.length &&
  whole.some(
    (_, from) =>
      from + part.length <= whole.length &&
      part.every(({ shape, constants }, at) => {
        const other = whole[from + at];
        return other?.shape === shape && constants.every((one, i) => isSameArgument(one, other.constants[i]));
      }),
  );

const isSameArgument = (a: string | undefined, b: string | undefined): boolean =>
  a === undefined || b === undefined || a === b;
