import { asArray, asNumber, asObject, asString, compact, type JsonObject } from '../core/json.ts';
import { plural, relativeTime } from '../text/phrases.ts';
import { describeSpool, readSpoolState } from './describe-spool.ts';

/**
 * A status with all that waits, and why: `waiting: [{ code, count, what, why, nextAt?, fix? }]`. `what` and `why` together are
 * a sentence. From the state of the learning thread, of the library, of the clock and of the record.
 */
export function withWaiting(status: JsonObject): JsonObject {
  const { recording, time, library, learning, schedule } = status;
  const waiting = [
    ...storeWaits(asObject(recording)),
    ...timeWaits(asObject(time)),
    ...learningWaits(asObject(learning)),
    ...libraryWaits(asObject(library)),
    ...asArray(asObject(schedule).waits).map(asObject),
  ];
  return { ...status, waiting };
}

/** The answer of `GET /api/learning`. */
export function learningOf({ learning, waiting }: JsonObject): JsonObject {
  const { on, threshold, appraised, models, cost, problem } = asObject(learning);
  return compact({
    on: on !== false,
    running: true,
    threshold,
    appraised,
    models,
    cost,
    problem,
    waiting,
  });
}

/** A line for people. */
export function sayWaiting(waiting: JsonObject, now: number): string {
  const next = Date.parse(asString(waiting.nextAt) ?? '');
  const event = TIMED.get(asString(waiting.code) ?? '') ?? 'next try';
  const when = Number.isFinite(next)
    ? `; ${event} ${next - now < 1000 ? 'now' : relativeTime(next, now)}`
    : '';
  return `${asString(waiting.what) ?? ''} ${asString(waiting.why) ?? ''}${when}`;
}

/** What happens at `nextAt`, where it is not another try. */
const TIMED: ReadonlyMap<string, string> = new Map([
  ['session-open', 'the first one ends'],
  ['budget-spent', 'a new budget'],
]);

function storeWaits({ degraded, missing, lost, spool }: JsonObject): readonly JsonObject[] {
  const [fault, gone] = [asString(degraded), asString(missing)];
  const known = {
    code: 'store-degraded',
    count: asNumber(lost) ?? 0,
    what: 'recording',
    fix: 'instar doctor',
  };
  const waits = readSpoolState(spool);
  if (waits !== undefined && fault === undefined)
    return [
      {
        code: 'database-away',
        count: waits.turns,
        what: 'learning',
        why: `waits: ${describeSpool(waits)}`,
        fix: 'instar doctor',
      },
    ];
  if (fault !== undefined)
    return [{ ...known, why: `waits for the store: ${fault}; what is not recorded is not learned from` }];
  return gone === undefined ? [] : [{ ...known, why: `began anew: ${gone}` }];
}

function timeWaits({ problem, fix }: JsonObject): readonly JsonObject[] {
  const text = asString(problem);
  if (text === undefined) return [];
  return [
    compact({
      code: 'clock-not-believed',
      count: 1,
      what: 'everything that expires',
      why: `waits: ${text}`,
      fix: asString(fix),
    }),
  ];
}

function learningWaits({ waits, problem, judge, models }: JsonObject): readonly JsonObject[] {
  const text = asString(problem);
  return [
    ...(text === undefined || text === 'starting'
      ? []
      : [
          {
            code: 'learning-stopped',
            count: 1,
            what: 'learning',
            why: `has stopped and is tried again: ${text}`,
            fix: 'instar doctor',
          },
        ]),
    ...asArray(waits).map(asObject),
    ...judgeWaits(asObject(judge), asString(asObject(models).judge)),
  ];
}

function judgeWaits(
  { waiting, fault, weight, testedModel }: JsonObject,
  model: string | undefined,
): readonly JsonObject[] {
  const unclear = asNumber(waiting) ?? 0;
  if (unclear === 0 || model === undefined) return [];
  const known = { code: 'judge', count: unclear, what: plural(unclear, 'unclear turn') };
  const [waits, them] = unclear === 1 ? ['waits', 'it'] : ['wait', 'them'];
  if (weight === 0 && testedModel === model)
    return [
      {
        ...known,
        why: `${waits} for another judge: ${model} is switched off`,
        fix: 'instar config set models.judge PROVIDER/MODEL',
      },
    ];
  const why = asString(fault) === undefined ? '' : `: ${asString(fault)}`;
  return [{ ...known, why: `${waits} for ${model} to judge ${them}${why}` }];
}

/** Lessons that no person has decided about. */
function libraryWaits(library: JsonObject): readonly JsonObject[] {
  const { proposed, proposedCount } = library;
  const named = asArray(proposed).map(asObject);
  const rest = (asNumber(proposedCount) ?? named.length) - named.length;
  return [
    ...named.map(({ id, name, title, reason }) => ({
      code: 'needs-approval',
      count: 1,
      lesson: asString(id) ?? '',
      what: `“${asString(title) ?? asString(name) ?? ''}”`,
      why: `needs your decision${asString(reason) === undefined ? '' : `: ${asString(reason)}`}`,
      fix: `instar lessons keep ${asString(name) ?? ''}, or drop it`,
    })),
    ...(rest <= 0
      ? []
      : [
          {
            code: 'needs-approval',
            count: rest,
            what: plural(rest, 'more lesson'),
            why: `${rest === 1 ? 'needs' : 'need'} your decision`,
            fix: 'instar lessons review',
          },
        ]),
    ...undecidedWaits(library),
  ];
}

/** Lessons on trial that could not be tested, or whose test decided nothing: they stay on trial until the owner decides. */
function undecidedWaits({ undecided, undecidedCount }: JsonObject): readonly JsonObject[] {
  const named = asArray(undecided).map(asObject);
  const rest = (asNumber(undecidedCount) ?? named.length) - named.length;
  const waits = named.map(({ id, name, title, reason }) => ({
    code: 'not-tested',
    count: 1,
    lesson: asString(id) ?? '',
    what: `“${asString(title) ?? asString(name) ?? ''}”`,
    why: `is on trial: ${asString(reason) ?? ''}`,
    fix: `instar lessons keep ${asString(name) ?? ''} --live, or drop it`,
  }));
  if (rest <= 0) return waits;
  const more = {
    code: 'not-tested',
    count: rest,
    what: plural(rest, 'more lesson'),
    why: `${rest === 1 ? 'is' : 'are'} on trial without a verdict`,
    fix: 'instar lessons review',
  };
  return [...waits, more];
}
