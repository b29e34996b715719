import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RuleCheck } from '../../../src/core/check.ts';
import { LESSON_PLACES, type Lesson, type LessonPlace } from '../../../src/core/lesson.ts';
import type { Recall } from '../../../src/core/recall.ts';
import { WIRE_NAMES, type WireName } from '../../../src/core/wire.ts';
import { augment } from '../../../src/gateway/attempt-turn.ts';
import type { RecallChoice, ShownText } from '../../../src/lessons/shown/prompt-thread.ts';
import { createFixes } from '../../../src/lessons/shown/show-fixes.ts';
import { createShownBlocks } from '../../../src/lessons/shown/shown-blocks.ts';
import { readConversation } from '../../../src/wire/conversation.ts';
import { wires } from '../../../src/wire/wires.ts';
import { runsOf } from '../../support/counts.ts';
import { createRandom, pick } from '../../wire/random.ts';
import { createRandomClient, TOPICS } from './random-client.ts';
import { commonLength, marksIn, type RenderedRequest, renderRequest } from './rendered-request.ts';
import { createSmallLibrary, type SmallLibrary, writeLesson } from './small-library.ts';

/*
 * The common prefix of two requests of a thread stays common with our text in them: a provider's prompt cache is never
 * invalidated, except by a new block with a reason.
 */

const RUNS = runsOf(50, 240);
const SESSIONS = RUNS.numRuns;
const IDLE_MS = 3_600_000;

/** How often each situation occurred. */
interface Tally {
  requests: number;
  compared: number;
  deltas: number;
  replays: number;
  waits: number;
  restarts: number;
  retries: number;
  peeks: number;
  grown: number;
  errors: number;
  late: number;
  said: number;
  reminders: number;
  readonly frozen: Record<RecallChoice['fact']['why'], number>;
}

const newTally = (): Tally => ({
  ...{ requests: 0, compared: 0, deltas: 0, replays: 0, waits: 0 },
  ...{ restarts: 0, retries: 0, peeks: 0, grown: 0, errors: 0, late: 0, said: 0, reminders: 0 },
  frozen: {
    new: 0,
    compacted: 0,
    expired: 0,
    withdrawn: 0,
    changed: 0,
    task: 0,
    error: 0,
    shortened: 0,
    broken: 0,
    reminder: 0,
    past: 0,
  },
});

/** Repairs of nine errors, of which one is held out. */
const FIXES: readonly Lesson[] = Array.from({ length: 9 }, (_, n) => {
  const lesson = writeLesson(`fix-${n}`, `fix-${n}`, `Fault ${n} came up.`);
  const payload = { type: 'fix_template' as const, error: `Fault${n} @ a.ts:1`, repair: [`repair ${n}`] };
  return { ...lesson, kind: 'fix', text: { ...lesson.text, overlay: { payload } } };
});

const NO_FIXES: readonly Lesson[] = [];

/** Cheaper than `expect`, for hundreds of thousands of calls. */
function must(isSo: boolean, claim: string): void {
  if (!isSo) throw new Error(`broken: ${claim}`);
}

/** A request that was sent. */
interface Sent {
  readonly client: RenderedRequest;
  readonly sent: RenderedRequest;
  readonly out: Buffer;
  readonly text: ShownText;
  readonly links: readonly string[];
  readonly at: number;
}

const isBeginning = ({ why }: RecallChoice['fact']): boolean =>
  why !== 'changed' && why !== 'task' && !isApart(why);

/** Decided beside the choice of lessons. */
const isApart = (why: string): boolean => why === 'error' || why === 'shortened' || isReminder(why);
const isReminder = (why: string): boolean => why === 'broken' || why === 'reminder';

const CHECK: RuleCheck = {
  looksAt: 'reply',
  appliesWhen: [],
  holdsWhen: [],
  standing: 'accepted',
  by: 'person',
  proof: '',
};

/** What the user had said before a client shortens its history. */
const SAID = 'We never deploy on a Friday.';

async function runSession(wire: WireName, place: LessonPlace, seed: number, tally: Tally): Promise<void> {
  const random = createRandom(seed);
  const chance = (p: number) => random() < p;
  const library = createSmallLibrary((session, id) => (session.length + id.charCodeAt(1)) % 7 === 0);
  if (chance(0.8)) for (let n = 0; n < 3; n++) changeLibrary(library, random);
  const recorded: RecallChoice[] = [];
  const lateRandom = createRandom(seed + 2_000_000);
  /** What the checks of answers said since the last message. */
  const checkRandom = createRandom(seed + 3_000_000);
  const broken = new Map<string, string>();
  let applying: readonly string[] = [];
  const checkAnswer = (): void => {
    const ids = library.lessons().map(({ id }) => id);
    applying = checkRandom() < 0.3 ? ids : [];
    for (const id of ids) if (checkRandom() < 0.1) broken.set(id, `broken-${checkRandom()}`);
  };
  const start = () =>
    createShownBlocks({
      ...library,
      recall: sometimesLate(
        place === 'message' ? withoutLines(library.recall) : library.recall,
        lateRandom,
        tally,
      ),
      fixes: createFixes({
        library: { shown: () => (library.generation() > 0 ? FIXES : NO_FIXES) },
        digestsOf: (text) =>
          [...text.matchAll(/of call-(\d+)/g)].map(([, n]) => `Fault${Number(n) % 9} @ a.ts:${n}`),
        lotOf: (_, id) => (id === 'fix-1' ? 'held-out' : 'shown'),
        onFault: (error) => {
          throw error;
        },
      }),
      statements: async () => [SAID],
      lesson: (id) => {
        const lesson = library.lesson(id);
        return lesson && { ...lesson, check: CHECK };
      },
      rules: {
        brokenIn: () => broken,
        applying: () => applying,
        isBehind: () => checkRandom() < 0.1,
        catchUp: async () => undefined,
      },
      idleMs: IDLE_MS,
      record: (choice) => void recorded.push(choice),
      restore: async () => recorded.slice(),
    });
  let shown = start();
  let startedAt = 0;
  let now = 0;
  let model = 'a';
  /** A limit of lessons comes and goes while the session runs. */
  const limitRandom = createRandom(seed + 1_000_000);
  let most: number | undefined;
  const last = new Map<string, Sent>();
  const client = createRandomClient(wire, random);

  const ask = async (body: Buffer, peek: boolean) => {
    const conversation = readConversation(wire, body);
    const outline = wires[wire].outline(body);
    if (conversation === undefined || outline === undefined) throw new Error('not a request');
    const text = await shown.show({
      ...{ turn: 't', session: `s${seed % 10}`, thread: model, now, peek },
      query: { agent: 'agent', ...(most === undefined ? {} : { most }) },
      place,
      conversation: () => conversation,
      size: body.length,
    });
    for (const { link, text: added } of text.additions)
      must(conversation.placeAt(link, added) !== undefined, 'an addition has its place');
    return {
      text,
      out: Buffer.concat(augment({ wire, body, outline }, text, undefined)),
      links: conversation.links,
    };
  };

  /** Sends one request and checks all its invariants. */
  async function send(body: Buffer): Promise<void> {
    const before = last.get(model);
    const known = recorded.length;
    const peeked = chance(0.15) ? await ask(body, true) : undefined;
    must(recorded.length === known, 'a peek settles nothing');
    const [first, second] = await Promise.all([ask(body, false), ask(body, false)]);
    const { text, out, links } = first;
    const fresh: Sent = {
      ...first,
      client: renderRequest(wire, body),
      sent: renderRequest(wire, out),
      at: now,
    };
    last.set(model, fresh);
    must(second.out.equals(out), 'requests at once get the same');
    must(peeked?.out.equals(out) ?? true, 'what was counted is what is sent');
    must(marksIn(out) === marksIn(body), 'no mark is added or lost');
    must(text.generation === library.generation(), 'a turn is stamped with the generation in force');
    const made = recorded.slice(known).map(({ fact: one }) => one.why);
    must(made.filter((why) => !isApart(why)).length <= 1, 'one request makes one choice at most');
    must(out.toString().split(SAID).length <= 2, 'what was said is shown once');
    const reminders = made.filter(isReminder);
    must(reminders.length <= 1, 'and one for rules that were broken or stand far back');
    tally.reminders += reminders.length;
    const others = made.filter((why) => !isReminder(why));
    must(others.indexOf('error') < 0 || others.indexOf('error') === others.length - 1, 'and one for errors');
    for (const { fact: one } of recorded.slice(known))
      if (one.why === 'shortened') tally.said++;
      else if (isReminder(one.why)) must(one.after === links.at(-1), 'a reminder goes to the newest message');
      else if (one.why === 'error') {
        tally.errors++;
        must(one.after === links.at(-1), 'a fix goes to the newest message');
      }
    tally.requests++;
    if (peeked) tally.peeks++;

    const fact = recorded
      .slice(known)
      .find(({ fact: { why } }) => why !== 'shortened' && !isReminder(why))?.fact;
    if (fact) tally.frozen[fact.why]++;
    if (fact !== undefined && isBeginning(fact)) {
      must(
        (fact.after === undefined) === (place === 'system' || fact.block === undefined),
        'it has its place',
      );
      const frozen = recorded
        .slice(0, known)
        .findLast((one) => one.fact.thread === model && isBeginning(one.fact));
      checkCause(fact.why, fresh, before, frozen?.fact);
      must(fact.lessons.length - (fact.lines?.length ?? 0) <= (most ?? 99), 'a block has no more lessons');
      return;
    }
    if (fact?.after !== undefined) {
      tally.deltas++;
      must(fact.after === links.at(-1), 'what is new goes to the newest message');
    } else if (library.changedSince(before?.text.generation ?? 0).ids.size > 0) tally.waits++;
    tally.replays += text.additions.length - made.length;
    if (before === undefined) throw new Error('broken: what is unknown is frozen');
    must(!isPlaceGone(before, fresh), 'a place that is gone makes a new block');
    must(now - Math.max(before.at, startedAt) <= IDLE_MS, 'an idle thread gets a new block');
    tally.compared++;
    checkLaw(before, fresh, client.isSteady);
  }

  function checkCause(
    why: RecallChoice['fact']['why'],
    { links, at }: Sent,
    before: Sent | undefined,
    frozen: RecallChoice['fact'] | undefined,
  ): void {
    if (why === 'new') must(before === undefined, 'only what is unknown is new');
    else if (why === 'withdrawn') must(place === 'message', 'only words cannot be taken back');
    else if (why === 'expired') must(before !== undefined && at - before.at > IDLE_MS, 'it was idle');
    else if (before === undefined || !isPlaceGone(before, { links })) {
      must(links[0] !== frozen?.first && links.length <= 4, 'the history begins with something else');
      must(library.generation() > (frozen?.generation ?? 0), 'the library has changed');
    }
  }

  const turns = 4 + Math.floor(random() * 8);
  for (let n = 0; n < turns; n++) {
    now += Math.floor(random() * 600_000) + (chance(0.04) ? IDLE_MS : 0);
    if (n > 0 && chance(0.06)) client.compact();
    if (n > 0 && chance(0.04)) client.rewind();
    else client.goOn();
    if (chance(0.06)) model = pick(random, ['a', 'b']);
    if (chance(0.35)) changeLibrary(library, random);
    if (limitRandom() < 0.2) most = pick(limitRandom, [undefined, 0, 1, 2]);
    if (chance(0.12)) {
      shown = start();
      startedAt = now;
      tally.restarts++;
    }
    await send(client.body(model));
    const sent = last.get(model);
    if (chance(0.2)) {
      const again = await ask(client.body(model), false);
      must(sent?.out.equals(again.out) ?? false, 'a retry has the same bytes');
      tally.retries++;
    }
    if (chance(0.1)) {
      changeLibrary(library, random);
      await send(client.body(model));
      if (!last.get(model)?.out.equals(sent?.out ?? Buffer.alloc(0))) tally.grown++;
    }
    client.hear();
    checkAnswer();
  }
}

const isPlaceGone = (before: Sent, { links }: Pick<Sent, 'links'>): boolean =>
  before.text.additions.some(({ link }) => !links.includes(link));

function checkLaw(before: Sent, now: Sent, isSteady: boolean): void {
  const common = commonLength(before.client.messages, now.client.messages);
  const extra = now.sent.messages.length - now.client.messages.length;
  const alike = commonLength(
    before.sent.messages.slice(0, common + extra),
    now.sent.messages.slice(0, common + extra),
  );
  must(now.sent.head === before.sent.head, 'tools and system text stay unchanged');
  const isSame = common === before.client.messages.length && common === now.client.messages.length;
  if (isSame) {
    // The same request after the library has changed: its newest message may grow, at its end.
    const isGrown = now.text.additions.length > before.text.additions.length;
    must(isGrown || before.out.equals(now.out), 'a retry has the same bytes');
    const differing = now.sent.messages.filter((message, n) => message !== before.sent.messages[n]);
    must(differing.length <= 1, 'only the newest message grows');
  } else {
    must(alike === common + extra, 'sent messages stay unchanged');
    const isExtended = common === before.client.messages.length;
    if (isSteady && isExtended)
      must(now.sent.rawList.startsWith(before.sent.rawList), 'their bytes stay unchanged');
  }
}

const withoutLines =
  (recall: Recall): Recall =>
  async (...asked) => ({ ...(await recall(...asked)), index: [] });

/** The sentence model answers too late for every fifth recall, which then finds nothing. */
const sometimesLate =
  (recall: Recall, random: () => number, tally: Tally): Recall =>
  async (...asked) => {
    const found = await recall(...asked);
    if (random() > 0.2) return found;
    tally.late++;
    return { ...found, lessons: [], index: [], heldOut: [], considered: [], isLate: true };
  };

/** Adds, revises, renames or retires. */
function changeLibrary(library: SmallLibrary, random: () => number): void {
  const known = library.lessons();
  const topic = pick(random, TOPICS);
  const one = known[Math.floor(random() * known.length)];
  const kind = known.length < 2 ? 'add' : pick(random, ['add', 'revise', 'rename', 'retire']);
  const id = `l${Math.floor(random() * 1e6)}`;
  if (one === undefined || kind === 'add') {
    library.put(writeLesson(id, `${topic}-${id}`, `Mind ${random()}.`));
  } else if (kind === 'retire') library.retire(one.id);
  else {
    const name = kind === 'rename' ? `${topic}-${id}` : one.text.name;
    library.put(writeLesson(one.id, name, `Rather mind ${random()}.`, one.revision + 1));
  }
}

describe('the prompt-cache law', () => {
  it('an idle thread begins again also before there is a lesson', async () => {
    await runSession('openai-chat', 'message', 1_982_135_695, newTally());
  });

  const claim = '%s, lessons in the %s: the common prefix of two requests stays common with our text in it';
  const cases = WIRE_NAMES.flatMap((wire) => LESSON_PLACES.map((place) => [wire, place] as const));
  it.each(cases)(claim, { timeout: 240_000 }, async (wire, place) => {
    const tally = newTally();
    await fc.assert(
      fc.asyncProperty(fc.nat(), (seed) => runSession(wire, place, seed, tally)),
      { ...RUNS, endOnFailure: true },
    );
    if (process.env.TALLY) process.stdout.write(`${wire} ${JSON.stringify(tally)}\n`);
    expect(tally.requests).toBeGreaterThan(5 * SESSIONS);
    expect(tally.compared).toBeGreaterThan(3 * SESSIONS);
    expect(Math.min(tally.deltas, tally.replays)).toBeGreaterThan(0.4 * SESSIONS);
    expect(Math.min(tally.waits, tally.restarts, tally.retries, tally.peeks)).toBeGreaterThan(0.2 * SESSIONS);
    expect(Math.min(tally.frozen.compacted, tally.frozen.expired)).toBeGreaterThan(SESSIONS / 30);
    expect(tally.grown).toBeGreaterThan(0);
    expect(tally.reminders).toBeGreaterThan(0.2 * SESSIONS);
    expect(tally.errors).toBeGreaterThan(0.5 * SESSIONS);
    expect(tally.late).toBeGreaterThan(0.3 * SESSIONS);
    expect(tally.said).toBeGreaterThan(SESSIONS / 30);
  });
});
