import type { Prices } from '../../../src/core/budget.ts';
import { createManualClock } from '../../../src/core/clock.ts';
import type { StoredFact } from '../../../src/core/fact.ts';
import type { Author, LessonText } from '../../../src/core/lesson.ts';
import type { Library } from '../../../src/core/library.ts';
import type { RoutedTask, Tier } from '../../../src/core/overlay.ts';
import { StoreError } from '../../../src/core/store.ts';
import { costOf } from '../../../src/cost/prices.ts';
import { createLessonEffects } from '../../../src/lessons/effect/lesson-effects.ts';
import { retireHarmful } from '../../../src/lessons/effect/retire-harmful.ts';
import { openLibrary } from '../../../src/lessons/library.ts';
import { sketchOf } from '../../../src/lessons/similar/task-sketch.ts';
import { createActiveOverlays, createApplyOverlays } from '../../../src/overlays/active-overlays.ts';
import { chooseTier, savingOf } from '../../../src/overlays/router/choose-tier.ts';
import { createRouteOutcomes } from '../../../src/overlays/router/route-outcomes.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { drawSessions, FAMILIES, type TaskFamily } from './task-families.ts';

const CHEAP = 'p/cheap';
const STRONG = 'p/strong';
/** US dollars for a million tokens: the cheap model costs a seventh. */
const prices: Prices = (name) => ({
  from: 'config',
  price: name === CHEAP ? { input: 0.25, output: 2 } : { input: 1.75, output: 14 },
  isLocal: false,
});
export const SAVING = savingOf(prices(CHEAP), prices(STRONG));
/** A session is scored when this many others have begun. */
const DELAY = 20;
/** How often lessons that do harm are looked for, in sessions. */
const LOOK_EVERY = 20;
const HINT = 'bad-hint';
const INSTAR: Author = { kind: 'instar', name: 'measured effect' };

/** A hint to the cheap tier for one kind of run. */
const badHint = ({ bias, family }: SimulatedHint): LessonText => ({
  name: HINT,
  description: 'Budget incidents: use the cheap model.',
  content: 'Use the cheap model.',
  scope: { runKind: family },
  evidence: { turns: [], quotes: [], learner: 'simulation' },
  taint: [],
  note: {
    keywords: [],
    tags: [],
    importance: 0.5,
    confidence: 0.5,
    source: 'experience',
    visibility: 'scoped',
    halfLifeDays: 60,
    links: [],
  },
  overlay: { payload: { type: 'routing_hint', tier: 'cheap', bias } },
});

export interface FamilyResult {
  readonly name: string;
  sessions: number;
  /** In each quarter of the run: sessions, and those that got the cheap model. */
  readonly quarters: { sessions: number; cheap: number }[];
  /** Well done sessions, and those that the strong model would have done well. */
  good: number;
  goodStrong: number;
}

export interface RouterRun {
  readonly sessions: number;
  /** US dollars, and what the strong model would have cost. */
  readonly usd: number;
  readonly usdStrong: number;
  readonly good: number;
  readonly goodStrong: number;
  readonly families: readonly FamilyResult[];
  /** The number of sessions after which the hint was retired; undefined when it was not, or there was none. */
  readonly retiredAfter?: number;
}

interface SimulatedHint {
  readonly bias: number;
  readonly family: string;
}

export interface SimulationOptions {
  readonly seed: string;
  readonly sessions: number;
  readonly families?: readonly TaskFamily[];
  /** A hint towards the cheap tier that is in force from the start. Then each family is a kind of run. */
  readonly hint?: SimulatedHint;
  readonly pressure?: number;
}

/**
 * The router, the overlays, the measured effects and the retirement of harmful lessons as a daemon runs them, on sessions whose outcome
 * with either model is known. A session has one turn: nothing is moved to the strong model after failures.
 */
export async function simulateRouter(options: SimulationOptions): Promise<RouterRun> {
  const { seed, sessions, families = FAMILIES, pressure = 0 } = options;
  const outcomes = createRouteOutcomes();
  const effects = createLessonEffects();
  const library = await openShelf();
  if (options.hint !== undefined)
    await library.publish({
      id: 'hint',
      by: { kind: 'person', name: 'person' },
      reason: 'simulation',
      changes: [{ op: 'add', id: HINT, kind: 'route', state: 'live', text: badHint(options.hint) }],
    });
  const active = createActiveOverlays({ library: () => library, now: () => 1, isOff: () => false });
  const apply = createApplyOverlays({
    active,
    holdout: () => 0.1,
    settings: () => ({ retries: 0, headersMs: 1, idleMs: 1 }),
    floors: () => undefined,
    append: () => undefined,
  });
  const results = new Map<string, FamilyResult>();
  const waiting: StoredFact[] = [];
  const sketches = new Map<string, readonly number[]>();
  const total = { usd: 0, usdStrong: 0, good: 0, goodStrong: 0 };
  let retiredAfter: number | undefined;
  let nth = 0;
  for (const { session, family, text, well, usage } of drawSessions(seed, sessions, families)) {
    const sketch = sketches.get(text) ?? sketchOf(text);
    sketches.set(text, sketch);
    const run = options.hint === undefined ? {} : { runKind: family.name };
    const task: RoutedTask = { agent: 'sim', ...run, sketch };
    const overlays = apply({ session, agent: 'sim', ...run });
    const { tier } = chooseTier({
      session,
      evidence: outcomes.evidenceFor(task, session),
      saving: SAVING,
      pressure,
      bias: overlays?.bias ?? 0,
      mayExplore: true,
    });
    const isHeldOut = overlays !== undefined && overlays.lessons.length === 0;
    const score = well[tier] ? 1 : 0;
    const lessons = overlays?.lessons ?? [];
    const heldOut = isHeldOut ? [HINT] : [];
    waiting.push({
      seq: nth + 1,
      at: nth,
      fact: { type: 'session-scored', session, score, lessons, heldOut, route: { tier, task } },
    });
    const usd = (of: Tier): number => costOf(usage, prices(of === 'cheap' ? CHEAP : STRONG)).usd;
    total.usd += usd(tier);
    total.usdStrong += usd('strong');
    total.good += score;
    total.goodStrong += well.strong ? 1 : 0;
    count(results, family.name, tier, Math.floor((4 * nth) / sessions), score, well.strong ? 1 : 0);
    nth++;
    const [scored] = waiting.length > DELAY ? waiting.splice(0, 1) : [];
    if (scored === undefined) continue;
    outcomes.add(scored);
    if (options.hint === undefined || retiredAfter !== undefined) continue;
    effects.add(scored);
    const harmful = nth % LOOK_EVERY === 0 ? retireHarmful({ effects, library, by: INSTAR }) : undefined;
    if (harmful === undefined) continue;
    await library.publish(harmful);
    retiredAfter = nth;
  }
  return {
    sessions,
    ...total,
    families: [...results.values()],
    ...(retiredAfter === undefined ? {} : { retiredAfter }),
  };
}

/** The share of the strong model's cost that the rule saves when it knows every quality exactly; `later`: in the second half. */
export function predictSaving(families: readonly TaskFamily[] = FAMILIES): number {
  const whole = families.reduce((sum, { share }) => sum + share, 0);
  const half = (isLate: boolean): number =>
    families.reduce((sum, family) => {
      const cheap = isLate ? (family.cheapLater ?? family.cheap) : family.cheap;
      const isCheap = cheap - family.strong + 0.1 * SAVING >= -0.02;
      return sum + (family.share / whole) * SAVING * (isCheap ? 0.98 : 0.02);
    }, 0);
  return (half(false) + half(true)) / 2;
}

function count(
  results: Map<string, FamilyResult>,
  name: string,
  tier: Tier,
  quarter: number,
  good: number,
  goodStrong: number,
): void {
  const empty = { name, sessions: 0, quarters: [], good: 0, goodStrong: 0 };
  const result = results.get(name) ?? empty;
  results.set(name, result);
  result.sessions++;
  result.good += good;
  result.goodStrong += goodStrong;
  result.quarters[quarter] ??= { sessions: 0, cheap: 0 };
  const part = result.quarters[quarter];
  if (part === undefined) return;
  part.sessions++;
  if (tier === 'cheap') part.cheap++;
}

async function openShelf(): Promise<Library> {
  const store = createMemoryStore();
  let ids = 0;
  const { library } = await openLibrary({
    load: async (after, limit) => store.factsOf('library-changed', after, limit),
    append: async (fact) => {
      const [appended] = store.append({ facts: [fact] });
      if (appended === undefined) throw new StoreError('io', 'no answer');
      return appended;
    },
    clock: createManualClock(1),
    newId: (prefix) => `${prefix}_${++ids}`,
    onFault: (error) => {
      throw error;
    },
  });
  return library;
}
