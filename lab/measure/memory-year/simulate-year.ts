import { createManualClock } from '../../../src/core/clock.ts';
import type { StoredFact } from '../../../src/core/fact.ts';
import { type Change, isInUse, type Lesson } from '../../../src/core/lesson.ts';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import type { Store } from '../../../src/core/store.ts';
import { writeLesson } from '../../../src/learn/distiller/write-lesson.ts';
import { applyConsolidation, planConsolidation } from '../../../src/learn/memory/consolidate.ts';
import { isArchived, wakeArchived } from '../../../src/learn/memory/wake-archived.ts';
import { openLessons } from '../../../src/lessons/open-lessons.ts';
import { toRecords } from '../../../src/record/records.ts';
import type { EngineCounts } from '../measured.ts';
import { createMulberry32 } from '../recall/synthetic.ts';
import { openProbes } from './open-probes.ts';
import { createSaidInYear } from './said-in-year.ts';
import { EVERGREEN, RULE_ASPECTS, ruleOfYear, YEAR_TOPICS, type YearRule } from './year-rules.ts';

interface YearOptions {
  readonly seed: number;
  readonly sessions: number;
  readonly isConsolidated: boolean;
  /** Lessons in use beyond which archiving needs less. */
  readonly mostInUse: number;
  readonly store: Store;
  readonly embed: EmbeddingModel;
  readonly isByLetters: boolean;
  /** Lessons with their bodies in a block; without lines where it is small. */
  readonly topK?: number;
  /** Told which engine answered each probe. */
  readonly engines?: EngineCounts;
}

/** One week of the year. */
interface YearWeek {
  readonly sessions: number;
  /** Lessons in use at its end, and all lessons ever. */
  readonly inUse: number;
  readonly archived: number;
  readonly ever: number;
  /** Processor time of a run, and of its longest change set, which the serving thread publishes. */
  readonly run: RunTime;
}

interface RunTime {
  readonly ms: number;
  readonly setMs: number;
}

const NO_RUN: RunTime = { ms: 0, setMs: 0 };

export interface SimulatedYear {
  readonly weeks: readonly YearWeek[];
  /**
   * Rules that hold, of topics that are still worked on, and of topics that were left half a year ago and are taken up again: at the
   * first request about the topic, and at later ones.
   */
  readonly probes: Readonly<Record<'current' | 'first' | 'later', ProbeCount>>;
  /** Contradictions: planted, found among them, reported in all, and reported ones that are true. */
  readonly contradictions: {
    readonly planted: number;
    readonly found: number;
    readonly reported: number;
    readonly right: number;
  };
  /** Of updates that the person stated: how many older lessons are out of use at the end. */
  readonly updates: { readonly all: number; readonly settled: number };
  readonly duplicates: { readonly planted: number; readonly merged: number };
  /** What the person typed, and rules of topics left half a year ago that they told: the newest quotation says what holds. */
  readonly said: {
    readonly messages: number;
    readonly bytes: number;
    readonly asked: number;
    readonly hit: number;
  };
  /** Pinned or proven lessons, and how many of them consolidation took out of use. */
  readonly kept: { readonly all: number; readonly lost: number };
  /** Probes that found no lesson with the rule that holds, and planted contradictions that were not reported, in words. */
  readonly misses: readonly string[];
}

export interface ProbeCount {
  readonly asked: number;
  /** A lesson with the rule that holds is shown, or listed. */
  readonly hit: number;
  /** A lesson with an outdated rule of the same matter is shown. */
  readonly outdated: number;
}

const DAY_MS = 86_400_000;
const WEEKS = 52;
const START = Date.UTC(2026, 0, 5, 9);
/** Of sessions: those that teach something; of these, the shares of repetitions, and of contradictions. */
const TEACHES = 0.12;
const REPEATS = 0.35;
const CONTRADICTS = 0.12;
const PINNED = 0.02;
const HELD_OUT = 0.1;

/** A year of use on a virtual clock, with the product's own library, effects, recall and consolidation. */
export async function simulateYear(options: YearOptions): Promise<SimulatedYear> {
  const random = createMulberry32(options.seed);
  const pick = <One>(list: readonly One[]): One => list[Math.floor(random() * list.length)] as One;
  const clock = createManualClock(START);
  const records = toRecords(options.store, clock.now);
  let ids = 0;
  const { library, effects, trials } = await openLessons({
    records,
    clock,
    newId: (prefix) => `${prefix}_${++ids}`,
    onFault: (error) => {
      throw error;
    },
  });
  const rules = new Map<string, YearRule>();
  /** What holds, by slot, and the lessons that say so or said otherwise. */
  const truth = new Map<string, YearRule>();
  const lessonsOf = new Map<string, string[]>();
  const planted: {
    readonly pair: string;
    readonly older: string;
    readonly isTold: boolean;
    readonly week: number;
  }[] = [];
  /** By pair of lessons: the last week in which it was reported. */
  const reported = new Map<string, number>();
  let week = 0;
  let repeated = 0;
  let merged = 0;
  const keptEver = new Set<string>();
  const lost = new Set<string>();

  const said = createSaidInYear(options.embed);
  /** By the words of a rule that the person told. */
  const toldRules = new Map<string, YearRule>();
  const teach = async (rule: YearRule, isTold: boolean): Promise<string> => {
    if (isTold) {
      await said.say(rule.text, clock.now());
      toldRules.set(rule.text, rule);
    }
    const id = `l_${String(++ids).padStart(6, '0')}`;
    const quoted = writeLesson({ speaker: 'user', count: 1, quotes: [rule.text], tasks: [] });
    const words = isTold
      ? { ...quoted, name: `${quoted.name.slice(0, 40)}-${ids}` }
      : { name: `learned-${ids}`, description: `When you work on the ${rule.topic}.`, content: rule.text };
    const change: Change = {
      op: 'add',
      id,
      kind: 'skill',
      state: 'live',
      text: {
        ...words,
        scope: {},
        taint: [],
        evidence: { turns: [`t_${ids}`], quotes: [], learner: isTold ? 'distiller' : 'evolver' },
        note: {
          keywords: [],
          tags: [],
          importance: 0.5,
          confidence: 0.7,
          source: isTold ? 'told' : 'experience',
          visibility: 'shared',
          halfLifeDays: isTold ? 60 : 30,
          links: [],
        },
      },
    };
    const by = { kind: 'learner', name: 'year' } as const;
    await library.publish({ id: `add_${id}`, by, reason: 'learned', changes: [change] });
    if (random() < PINNED)
      await library.publish({
        id: `pin_${id}`,
        by: { kind: 'person', name: 'person' },
        reason: 'pinned',
        changes: [{ op: 'mark', id, pinned: true }],
      });
    rules.set(id, rule);
    lessonsOf.set(rule.slot, [...(lessonsOf.get(rule.slot) ?? []), id]);
    return id;
  };
  const active = (id: string): Lesson | undefined => {
    const lesson = library.lesson(id);
    return lesson !== undefined && isInUse(lesson) ? lesson : undefined;
  };
  /** The topics that are worked on in a week: some all year, the others in turn. */
  const topicsIn = (week: number): readonly string[] => {
    const moving = YEAR_TOPICS.slice(EVERGREEN);
    const at = Math.floor((week / WEEKS) * moving.length);
    return [...YEAR_TOPICS.slice(0, EVERGREEN), ...moving.slice(Math.max(0, at - 4), at + 5)];
  };

  const learn = async (topic: string): Promise<void> => {
    const aspect = pick(RULE_ASPECTS);
    const slot = `${topic}/${aspect.name}`;
    const known = truth.get(slot);
    const isTold = random() < 0.5;
    const isContrary = known !== undefined && random() < CONTRADICTS;
    if (known === undefined || isContrary) {
      const value = pick(aspect.values.filter((one) => one !== known?.value));
      const rule = ruleOfYear(topic, aspect, value, Math.floor(random() * 3));
      const older = (lessonsOf.get(slot) ?? []).filter((id) => active(id) !== undefined);
      const contrary = older.filter((id) => rules.get(id)?.value !== value);
      const id = await teach(rule, isTold);
      truth.set(slot, rule);
      for (const other of contrary)
        planted.push({
          pair: pairOf(id, other),
          older: other,
          isTold: isTold && library.lesson(other)?.text.note.source === 'told',
          week,
        });
    } else if (random() < REPEATS) {
      repeated++;
      await teach(ruleOfYear(topic, aspect, known.value, Math.floor(random() * 3)), isTold);
    }
  };

  let seq = 10_000_000;
  /** A session on a topic: lessons that hold there help it, outdated ones do not; each is held out from one session in ten. */
  const use = async (topic: string, session: number): Promise<void> => {
    const aspect = pick(RULE_ASPECTS);
    const slot = `${topic}/${aspect.name}`;
    await said.say(aspect.question(topic), clock.now());
    const shown = (lessonsOf.get(slot) ?? []).filter((id) => active(id) !== undefined);
    if (shown.length === 0) return;
    const heldOut = random() < HELD_OUT ? [pick(shown)] : [];
    const lessons = shown.filter((id) => !heldOut.includes(id));
    const isHelped = lessons.some((id) => rules.get(id)?.value === truth.get(slot)?.value);
    const score = isHelped ? (random() < 0.9 ? 1 : 0.2) : random() < 0.25 ? 1 : 0.2;
    const fact = { type: 'session-scored', session: `s_${session}`, score, lessons, heldOut } as const;
    const stored: StoredFact = { seq: ++seq, at: clock.now(), fact };
    effects.add(stored);
  };

  const isKept = (lesson: Lesson): boolean =>
    lesson.pinned || (lesson.state === 'live' && effects.verdict(lesson.id) === 'helpful');
  const consolidate = async (): Promise<RunTime> => {
    const kept = library.lessons().filter((lesson) => isInUse(lesson) && isKept(lesson));
    for (const { id } of kept) keptEver.add(id);
    const begun = processorMs();
    let setMs = 0;
    const plan = await planConsolidation(
      { library, effects, trials },
      {
        now: clock.now(),
        embed: options.embed.embed,
        isByLetters: options.isByLetters,
        isAsked: false,
        mostInUse: options.mostInUse,
      },
    );
    await applyConsolidation(plan, {
      ...library,
      publish: async (set) => {
        const from = processorMs();
        const published = await library.publish(set);
        setMs = Math.max(setMs, processorMs() - from);
        return published;
      },
    });
    const ms = processorMs() - begun;
    for (const { a, b } of plan.open) reported.set(pairOf(a.id, b.id), week);
    for (const { change } of plan.changes) {
      if (change.op === 'retire' && change.supersededBy !== undefined)
        reported.set(pairOf(change.id, change.supersededBy), week);
      if (change.op === 'merge') merged += change.ids.length - 1;
    }
    for (const { id } of kept) if (active(id) === undefined) lost.add(id);
    return { ms, setMs };
  };

  const weeks: YearWeek[] = [];
  const perWeek = Math.ceil(options.sessions / WEEKS);
  for (let session = 0; week < WEEKS; week++) {
    const topics = topicsIn(week);
    for (let at = 0; at < perWeek; at++, session++) {
      const topic = pick(topics);
      if (random() < TEACHES) await learn(topic);
      else await use(topic, session);
      clock.advance(Math.floor((7 * DAY_MS) / perWeek));
    }
    if (options.isConsolidated) await embedAhead(library.lessons(), options.embed);
    const run = options.isConsolidated ? await consolidate() : NO_RUN;
    const all = library.lessons();
    weeks.push({
      sessions: session,
      inUse: all.filter(isInUse).length,
      archived: all.filter(isArchived).length,
      ever: all.length,
      run,
    });
  }

  const current = new Set(topicsIn(WEEKS - 1));
  const left = new Set(topicsIn(WEEKS / 2 - 6).filter((topic) => !current.has(topic)));
  let ask = await openProbes(library.shown(clock.now()), options, clock.now());
  const misses: string[] = [];
  const fateOf = (id: string): string => {
    const { state, reason, mergedInto, text } = library.lesson(id) as Lesson;
    const fate = mergedInto === undefined ? (reason ?? '') : `merged into: ${rules.get(mergedInto)?.text}`;
    return `  ${id} ${text.note.source} ${state} “${rules.get(id)?.text}” ${fate}`;
  };
  const count = (topics: ReadonlySet<string>): Promise<ProbeCount> =>
    probe([...truth.values()].filter(({ topic }) => topics.has(topic)));
  const probe = async (asked: readonly YearRule[]): Promise<ProbeCount> => {
    let [hit, outdated] = [0, 0];
    for (const rule of asked) {
      const { slot } = rule;
      const found = (await ask(rule.question)).flatMap((id) => rules.get(id) ?? []);
      const own = found.filter((one) => one.slot === slot);
      if (own.some(({ value }) => value === rule.value)) hit++;
      else misses.push([`lost: ${rule.text}`, ...(lessonsOf.get(slot) ?? []).map(fateOf)].join('\n'));
      if (own.some(({ value }) => value !== rule.value)) outdated++;
    }
    return { asked: asked.length, hit, outdated };
  };
  /** Each topic is taken up again: a first request about it, which brings archived lessons back, and then the others. */
  const countReturns = async (): Promise<Record<'first' | 'later', ProbeCount>> => {
    let [first, later] = [NO_PROBES, NO_PROBES];
    for (const topic of left) {
      const [one, ...others] = [...truth.values()].filter((rule) => rule.topic === topic);
      if (one === undefined) continue;
      first = addProbes(first, await probe([one]));
      clock.advance(1000);
      const request = { text: one.question, at: clock.now(), scope: {} };
      const changes = await wakeArchived([request], library, options.embed.embed);
      const by = { kind: 'instar', name: 'consolidation' } as const;
      await library.publish({ id: `wake_${topic}`, by, reason: 'a request', changes });
      ask = await openProbes(library.shown(clock.now()), options, clock.now());
      later = addProbes(later, await probe(others));
    }
    return { first, later };
  };
  const returning = [...truth.values()].filter(({ topic, text }) => left.has(topic) && toldRules.has(text));
  let quoted = 0;
  for (const rule of returning) {
    const newest = (await said.ask(rule.question)).flatMap((text) => toldRules.get(text) ?? []);
    if (newest.findLast(({ slot }) => slot === rule.slot)?.value === rule.value) quoted++;
  }
  const probes = { current: await count(current), ...(await countReturns()) };
  // A contradiction is found when a pair that says the same is reported: one of the two may have been merged into another lesson.
  const matters = new Map([...reported].map(([pair, at]) => [matterOf(pair, rules), at]));
  const isFound = ({ pair, week: since }: { readonly pair: string; readonly week: number }): boolean =>
    (matters.get(matterOf(pair, rules)) ?? -1) >= since;
  for (const one of planted)
    if (!isFound(one)) misses.push(['unseen:', ...one.pair.split(' ').map(fateOf)].join('\n'));
  const told = planted.filter(({ isTold }) => isTold);
  return {
    weeks,
    probes,
    misses,
    contradictions: {
      planted: planted.length,
      found: planted.filter(isFound).length,
      reported: reported.size,
      right: [...reported.keys()].filter((pair) => isTrue(pair, rules)).length,
    },
    updates: {
      all: told.length,
      settled: told.filter(({ older }) => active(older) === undefined).length,
    },
    said: { ...said.size(), asked: returning.length, hit: quoted },
    duplicates: { planted: repeated, merged },
    kept: { all: keptEver.size, lost: lost.size },
  };
}

const NO_PROBES: ProbeCount = { asked: 0, hit: 0, outdated: 0 };
const addProbes = (one: ProbeCount, other: ProbeCount): ProbeCount => ({
  asked: one.asked + other.asked,
  hit: one.hit + other.hit,
  outdated: one.outdated + other.outdated,
});

/** A busy machine does not change it. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const pairOf = (a: string, b: string): string => [a, b].sort().join(' ');

/** What two lessons contradict each other about. */
function matterOf(pair: string, rules: ReadonlyMap<string, YearRule>): string {
  const [a, b] = pair.split(' ').map((id) => rules.get(id));
  return JSON.stringify([a?.slot, [a?.value, b?.value].sort()]);
}

function isTrue(pair: string, rules: ReadonlyMap<string, YearRule>): boolean {
  const [a, b] = pair.split(' ').map((id) => rules.get(id));
  return a !== undefined && b !== undefined && a.slot === b.slot && a.value !== b.value;
}

/** The time of the model is its own matter: a daemon has these vectors already. */
async function embedAhead(lessons: readonly Lesson[], embed: EmbeddingModel): Promise<void> {
  await embed.embed(lessons.filter(isInUse).map(({ text }) => `${text.description}\n${text.content}`));
}
