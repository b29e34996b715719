import { beforeAll, describe, expect, it } from 'vitest';
import type { Fact } from '../../../src/core/fact.ts';
import { asArray, asObject, type JsonObject } from '../../../src/core/json.ts';
import type { Change, LessonText } from '../../../src/core/lesson.ts';
import type { ConsideredLesson, RecallOutcome } from '../../../src/core/recall.ts';
import { type OpenLessons, openLessons } from '../../../src/lessons/open-lessons.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { lessonText } from '../../support/lesson-text.ts';

const records = toRecords(createMemoryStore(), () => 0);
let now = 1_000;
let ids = 0;
const clock = { now: () => now, monotonic: () => now };
let open: OpenLessons;
const PERSON = { kind: 'person', name: 'person' } as const;

const publish = (...changes: readonly Change[]) =>
  open.library.publish({ id: `set-${++ids}`, by: PERSON, reason: 'requested by a person', changes });
const add = (
  name: string,
  more: Partial<LessonText> & {
    readonly isAlways?: true;
    readonly visibility?: 'private' | 'shared';
  } = {},
  state: 'proposed' | 'trial' | 'live' = 'live',
): Change => {
  const { isAlways, visibility, ...text } = more;
  return {
    op: 'add',
    id: `l-${name}`,
    kind: 'skill',
    state,
    text: lessonText({
      name,
      description: `When ${name}.`,
      content: `Do ${name}.`,
      note: { visibility: visibility ?? 'scoped', ...(isAlways && { isAlways }) },
      ...text,
    }),
  };
};
const considered = (
  name: string,
  verdict: RecallOutcome,
  relevance: number,
  of?: string,
): ConsideredLesson => ({
  id: `l-${name}`,
  revision: 1,
  name,
  relevance,
  activation: 0.4,
  verdict,
  ...(of === undefined ? {} : { of: `l-${of}` }),
});

interface TurnParts {
  readonly session?: string;
  readonly agent?: string;
  readonly role?: 'main' | 'side' | 'aux';
  readonly lessons?: readonly string[];
  readonly generation?: number;
  readonly caller?: string;
}
const turn = async (id: string, parts: TurnParts = {}): Promise<void> => {
  const { session = id, agent = 'coder', role = 'main', lessons = [], generation, caller = 'key-1' } = parts;
  const start: Fact = {
    type: 'turn-start',
    turn: id,
    session,
    agent,
    role,
    project: { id: 'p-shop', label: 'shop-api' },
    wire: 'openai-chat',
    model: 'm',
    generation: generation ?? open.library.generation,
    policy: 'x/m',
    lessons: lessons.map((name) => `l-${name}`),
    caller,
  };
  const end: Fact = { type: 'turn-end', turn: id, status: 'complete', httpStatus: 200, totalMs: 1 };
  await records.append([
    { at: now, fact: start },
    { at: now + 1, fact: end },
  ]);
  now += 10;
};
const withVerdict = (list: readonly ConsideredLesson[], wanted: RecallOutcome): readonly string[] =>
  list.filter(({ verdict }) => verdict === wanted).map(({ id }) => id);
const recalled = (
  id: string,
  list: readonly ConsideredLesson[],
  more: Partial<Fact & { readonly type: 'lessons-recalled' }> = {},
) =>
  records.append([
    {
      at: now,
      fact: {
        type: 'lessons-recalled',
        session: id,
        turn: id,
        thread: 'main m',
        generation: open.library.generation,
        why: 'new',
        lessons: [...withVerdict(list, 'shown'), ...withVerdict(list, 'listed')],
        lines: withVerdict(list, 'listed'),
        heldOut: withVerdict(list, 'held-out'),
        domain: { name: 'general', reason: 'default' },
        considered: list,
        engine: 'test',
        ...more,
      },
    },
  ]);
const why = async (id: string): Promise<Readonly<Record<string, readonly [unknown, unknown]>>> => {
  const explained = await open.api.why(id);
  const rows = asArray(explained?.lessons).map(asObject);
  return Object.fromEntries(rows.map(({ name, verdict, because }: JsonObject) => [name, [verdict, because]]));
};

beforeAll(async () => {
  const newId = (prefix: string) => `${prefix}-${++ids}`;
  open = await openLessons({ records, clock, newId, onFault: () => undefined });
  await publish(
    add('fits'),
    add('always', { isAlways: true, scope: { agent: 'coder' } }),
    add('line'),
    add('control'),
    add('far'),
    add('weak'),
    add('seventh'),
    add('long'),
    add('twin'),
    add('old'),
    add('unseen'),
    add('mine', { scope: { agent: 'codex' }, visibility: 'private' }),
    add('for-all', { scope: { agent: 'codex' }, visibility: 'shared' }),
    add('other-agent', { scope: { agent: 'codex' } }),
    add('other-project', { scope: { project: 'p-web' } }),
    add('waits', {}, 'proposed'),
    add('gone'),
    add('harmful'),
  );
  now += 10;
  await publish({ op: 'retire', id: 'l-gone', reason: 'retired by a person' });
  await open.library.publish({
    id: 'harm',
    by: { kind: 'instar', name: 'measurement' },
    reason: 'worse',
    changes: [{ op: 'retire', id: 'l-harmful', reason: 'harmful: 40 sessions with it scored 0.200' }],
  });
  now += 10;
  await recalled('t1', [
    considered('fits', 'shown', 0.62),
    considered('always', 'shown', 0.01),
    considered('line', 'listed', 0.2),
    considered('control', 'held-out', 0.7),
    considered('far', 'not-relevant', 0.12),
    considered('weak', 'not-relevant', 0.55),
    considered('seventh', 'over-limit', 0.6),
    considered('long', 'over-budget', 0.6),
    considered('twin', 'near-duplicate', 0.61, 'fits'),
    considered('old', 'hidden-by-age', 0.51),
  ]);
  await turn('t1', { lessons: ['fits', 'always', 'line'] });
  now += 100;
  await publish(add('later'));
  now += 10;
});

describe('why a turn was shown a lesson, or not', () => {
  it('gives every lesson of the library one reason, the shown ones first', async () => {
    const explained = await open.api.why('t1');
    const names = asArray(explained?.lessons).map((one) => asObject(one).name);
    expect(names).toHaveLength(open.library.lessons().length);
    expect(names.slice(0, 4)).toEqual(['fits', 'always', 'line', 'control']);
    expect(explained).toMatchObject({ agent: 'coder', project: 'shop-api', generation: 3 });
  });

  it('tells what fits from what is for every task, from a line, and from the control group', async () => {
    const reasons = await why('t1');
    expect(reasons.fits).toEqual(['shown', 'it is relevant (0.62; threshold 0.50)']);
    expect(reasons.always).toEqual(['shown', 'it holds for every task']);
    expect(reasons.line).toEqual([
      'listed',
      'its line is shown: it may be relevant (0.20; its whole text from 0.50 on)',
    ]);
    expect(reasons.control).toEqual(['held-out', expect.stringContaining('control group')]);
  });

  it('says where the words of a lesson are that was in force without ours', async () => {
    const list = [considered('fits', 'shown', 0.62), considered('always', 'shown', 0.01)];
    await recalled('t-silent', list, { inPrompt: ['l-fits'], remembered: ['l-always'] });
    await turn('t-silent', { lessons: ['fits', 'always'] });
    const reasons = await why('t-silent');
    expect(reasons.fits?.[1]).toMatch(/; the client’s own prompt has its words$/);
    expect(reasons.always?.[1]).toMatch(
      /; the weights that answer keep it, so that its words are not in the prompt$/,
    );
  });

  it('says why a candidate was not taken, with figures and limits', async () => {
    const reasons = await why('t1');
    expect(reasons.far).toEqual(['not-relevant', 'it does not fit the task (0.12, 0.50 is needed)']);
    expect(reasons.weak).toEqual(['not-relevant', 'it fits (0.55), but far less than the best one (0.70)']);
    expect(reasons.seventh).toEqual(['over-limit', expect.stringContaining('library.topK')]);
    expect(reasons.long).toEqual(['over-budget', expect.stringContaining('library.tokenBudget')]);
    expect(reasons.twin).toEqual([
      'near-duplicate',
      expect.stringMatching(/^it says nearly the same as “.+”, which was taken instead$/),
    ]);
    expect(reasons.old).toEqual(['hidden-by-age', expect.stringContaining('activation 0.40')]);
    expect(reasons.unseen?.[0]).toBe('not-relevant');
  });

  it('derives from the history what the library had then, not what it has now', async () => {
    const reasons = await why('t1');
    expect(reasons['other-agent']).toEqual([
      'other-agent',
      'it is for the agent codex; this turn is of coder',
    ]);
    expect(reasons['other-project']).toEqual(['other-project', expect.stringContaining('in shop-api')]);
    expect(reasons.mine?.[0]).toBe('private');
    // Shared: not its scope, but the task decides.
    expect(reasons['for-all']?.[0]).toBe('not-relevant');
    expect(reasons.waits).toEqual(['not-approved', 'it was waiting for your approval']);
    expect(reasons.gone).toEqual(['retired', 'it was retired by you']);
    expect(reasons.harmful).toEqual(['retired', expect.stringContaining('because it did harm: 40 sessions')]);
    expect(reasons.later).toEqual([
      'written-later',
      'it was written after this turn (generation 4; this turn ran under 3)',
    ]);
  });

  it('names the block that was frozen before a lesson existed, in the same session', async () => {
    await turn('t2', { session: 't1', lessons: ['fits', 'always'] });
    const reasons = await why('t2');
    expect(reasons.later).toEqual(['block-frozen', expect.stringContaining('generation 4, chosen under 3')]);
    expect(reasons.fits?.[1]).toContain('chosen at turn t1, and shown for the rest of this session');
  });

  it.each([
    ['an auxiliary call', 'aux', { role: 'aux' }, 'aux-call'],
    ['a caller without a key', 'anon', { caller: 'anonymous' }, 'no-key'],
    ['a turn without a recorded decision', 'lost', {}, 'not-recorded'],
  ] as const)('explains %s for the whole library', async (_, id, parts, verdict) => {
    await turn(id, parts);
    expect((await why(id)).fits?.[0]).toBe(verdict);
  });

  it('says of small talk that there was nothing to look up', async () => {
    await recalled('talk', []);
    await turn('talk');
    expect((await why('talk')).fits?.[0]).toBe('no-task');
  });

  it('says after a rollback to 0 what retired each lesson, and how to bring it back', async () => {
    const before = open.library.generation;
    await open.api.rollback(0);
    now += 10;
    await turn('t9');
    expect((await why('t9')).fits).toEqual(['retired', 'it was retired by the rollback to generation 0']);
    expect((await why('t1')).fits?.[0]).toBe('shown');
    expect(await open.api.show('l-fits')).toMatchObject({
      state: 'retired',
      closed: { by: 'rollback', undo: `instar generations rollback ${before}` },
      why: { because: 'retired by the rollback to generation 0', closedBy: 'rollback' },
    });
    expect((await open.api.show('l-gone'))?.closed).toMatchObject({ by: 'person', words: 'retired by you' });
  });
});
