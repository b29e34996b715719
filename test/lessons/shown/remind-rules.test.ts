import { describe, expect, it } from 'vitest';
import type { RuleCheck } from '../../../src/core/check.ts';
import type { Lesson, LessonPlace } from '../../../src/core/lesson.ts';
import type { ConversationView, ShowRequest } from '../../../src/lessons/shown/block-update.ts';
import type { RecallChoice, ShownText } from '../../../src/lessons/shown/prompt-thread.ts';
import { createShownBlocks } from '../../../src/lessons/shown/shown-blocks.ts';
import { createSmallLibrary, writeLesson } from './small-library.ts';

const CHECK: RuleCheck = {
  looksAt: 'reply',
  appliesWhen: [],
  holdsWhen: [],
  standing: 'accepted',
  by: 'person',
  proof: 'a person confirmed it',
};

const rule = (id: string, quote: string): Lesson => {
  const lesson = writeLesson(id, `dates-${id}`, `The user said:\n> ${quote}`);
  return { ...lesson, check: CHECK, text: { ...lesson.text, description: `"${quote}"` } };
};

/** Messages in capitals are the user's. */
function setUp(place: LessonPlace = 'system') {
  const library = createSmallLibrary();
  library.put(rule('iso', 'Use ISO dates.'));
  library.put(rule('utc', 'Give times in UTC.'));
  const recorded: RecallChoice[] = [];
  const broken = new Map<string, string>();
  const checks = { applying: [] as readonly string[], isBehind: false, waits: 0 };
  const start = () =>
    createShownBlocks({
      ...library,
      rules: {
        brokenIn: () => broken,
        applying: () => checks.applying,
        isBehind: () => checks.isBehind,
        catchUp: async () => {
          checks.waits++;
          broken.set('iso', 't1');
        },
      },
      record: (choice) => void recorded.push(choice),
      restore: async () => recorded.slice(),
    });
  let shown = start();
  let turns = 0;
  const ask = (
    links: string,
    more: Partial<ShowRequest> & { readonly bytes?: number } = {},
  ): Promise<ShownText> => {
    const { bytes = 0, ...request } = more;
    const list = links.split(' ');
    const newest = list.at(-1) ?? '';
    const after = (link: string | undefined): readonly string[] =>
      link === undefined ? list : list.slice(list.indexOf(link) + 1);
    const conversation = (): ConversationView => ({
      links: list,
      newestIsUser: newest === newest.toUpperCase(),
      task: 'write the dates',
      taskLink: list.findLast((one) => one === one.toUpperCase()),
      newest: { link: newest, texts: ['x'] },
      answersAfter: (link) => after(link).filter((one) => one !== one.toUpperCase()).length,
      bytesAfter: () => bytes,
    });
    return shown.show({
      ...{ turn: `t${++turns}`, session: 's', thread: 'main', now: 0, query: { agent: 'a' }, size: turns },
      conversation,
      place,
      ...request,
    });
  };
  return { library, broken, checks, recorded, ask, restart: () => (shown = start()) };
}

const LONG = Array.from({ length: 20 }, (_, n) => `A${n} b${n}`).join(' ');

describe('a rule that was shown and broken', () => {
  it('is shown again behind the next message, once, and everything before keeps its bytes', async () => {
    const { ask, broken, recorded } = setUp();
    const first = await ask('A');
    broken.set('iso', 't1');
    const next = await ask('A b C');
    expect(next.block).toBe(first.block);
    expect(next.additions).toEqual([
      {
        link: 'C',
        text: '## Reminder\n\nYou were told: "Use ISO dates." — the last answer did not keep to it.',
      },
    ]);
    expect(recorded.at(-1)?.fact).toMatchObject({
      why: 'broken',
      after: 'C',
      lessons: ['iso'],
      considered: [{ id: 'iso', brokenIn: 't1' }],
    });
    expect(await ask('A b C')).toEqual(next);
    expect((await ask('A b C d E')).additions).toEqual(next.additions);
    expect(next.lessons.toSorted()).toEqual(first.lessons.toSorted());
  });

  it('is shown in the user’s words where lessons stand in messages', async () => {
    const { ask, broken } = setUp('message');
    await ask('A');
    broken.set('iso', 't0');
    expect((await ask('A b C')).additions.at(-1)?.text).toBe(
      'As I said before: Use ISO dates.\nOne of your answers did not keep to that.',
    );
  });

  it('is shown for each of three breaks and not for a fourth, also after restarts', async () => {
    const { ask, broken, recorded, restart } = setUp();
    await ask('A');
    let links = 'A';
    for (let n = 1; n <= 5; n++) {
      broken.set('iso', `broken-${n}`);
      links += ` b${n} C${n}`;
      await ask(links);
      restart();
      // The same message may have been sent before the restart.
      await ask(links);
    }
    expect(recorded.filter(({ fact }) => fact.why === 'broken')).toHaveLength(3);
  });

  it('does not change a message that was sent before a restart', async () => {
    const { ask, broken, restart } = setUp();
    await ask('A');
    const before = await ask('A b C');
    restart();
    broken.set('iso', 't2');
    expect((await ask('A b C')).additions).toEqual(before.additions);
    expect((await ask('A b C d E')).additions).toMatchObject([{ link: 'E' }]);
  });

  it('is counted with the text that it would be sent with, and stays owed', async () => {
    const { ask, broken } = setUp();
    await ask('A');
    broken.set('iso', 't1');
    const counted = await ask('A b C', { peek: true });
    expect(counted.additions).toHaveLength(1);
    expect((await ask('A b C')).additions).toEqual(counted.additions);
  });

  it('is not shown to sub-agents, nor once it is retired, nor where it has no check any more', async () => {
    const { ask, broken, library } = setUp();
    await ask('A');
    broken.set('iso', 't1');
    const { size: _, ...side } = { size: 1, thread: 'side' };
    expect((await ask('A b C', { ...side, peek: true })).additions).toEqual([]);
    library.retire('iso');
    const texts = (await ask('A b C')).additions.map(({ text }) => text);
    expect(texts.join()).not.toContain('did not keep');
  });

  it('waits a moment for the check of the answer that the message follows at once, and only then', async () => {
    const { ask, checks } = setUp();
    await ask('A');
    checks.isBehind = true;
    expect((await ask('A b C')).additions).toMatchObject([{ link: 'C' }]);
    await ask('A b C');
    expect(checks.waits).toBe(1);
    await ask('A b C d e');
    expect(checks.waits).toBe(1);
  });
});

describe('a long conversation', () => {
  it('is reminded once of a rule that is about the work and stands twenty answers back', async () => {
    const { ask, checks, recorded } = setUp();
    await ask('A');
    checks.applying = ['iso'];
    await ask('A b C');
    const next = await ask(`A ${LONG} Z`);
    expect(next.additions).toMatchObject([
      {
        link: 'Z',
        text: '## Reminder\n\nYou were told: "Use ISO dates." — it is about what you are doing now.',
      },
    ]);
    expect(recorded.at(-1)?.fact).toMatchObject({ why: 'reminder', lessons: ['iso'] });
    expect((await ask(`A ${LONG} Z ${LONG.toLowerCase()} D`)).additions).toEqual(next.additions);
  });

  it('counts tokens as well as answers, and is reminded of nothing that is not about the work', async () => {
    const { ask, checks } = setUp();
    await ask('A');
    expect((await ask('A b C', { bytes: 64_000 })).additions).toEqual([]);
    checks.applying = ['utc'];
    expect((await ask('A b C d E', { bytes: 63_999 })).additions).toEqual([]);
    expect((await ask('A b C d E f G', { bytes: 64_000 })).additions).toMatchObject([
      { text: expect.stringContaining('UTC') },
    ]);
  });
});
