import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { RuleCheck } from '../../../src/core/check.ts';
import type { Recall } from '../../../src/core/recall.ts';
import type { ConversationView, ShowRequest } from '../../../src/lessons/shown/block-update.ts';
import type { RecallChoice, ShownText } from '../../../src/lessons/shown/prompt-thread.ts';
import {
  createShownBlocks,
  type ErasedTexts,
  type ShownBlocksOptions,
} from '../../../src/lessons/shown/shown-blocks.ts';
import { createSmallLibrary, writeLesson } from './small-library.ts';

const HOUR = 3_600_000;

/** Links stand for messages; capitals are user messages. The task is the newest user message and some topics. */
function conversationOf(links: string, topics = 'tests parser'): ConversationView {
  const list = links.split(' ');
  const newest = list.at(-1) ?? '';
  const taskLink = list.findLast((one) => one === one.toUpperCase());
  return { links: list, newestIsUser: taskLink === newest, task: `${topics} ${newest}`, taskLink };
}

function setUp(
  more: Partial<ShownBlocksOptions> = {},
  isHeldOut: (session: string, id: string) => boolean = () => false,
) {
  const library = createSmallLibrary(isHeldOut);
  const recorded: RecallChoice[] = [];
  let restores = 0;
  const start = () =>
    createShownBlocks({
      ...library,
      record: (choice) => void recorded.push(choice),
      restore: async (session) => {
        restores++;
        return recorded.filter(({ fact }) => fact.session === session);
      },
      ...more,
    });
  let shown = start();
  const ask = (links: string, request: Partial<ShowRequest> = {}): Promise<ShownText> =>
    shown.show({
      ...{ turn: 't', session: 's', thread: 'main', now: 0, query: { agent: 'a' } },
      conversation: () => conversationOf(links),
      ...request,
    });
  return {
    library,
    recorded,
    ask,
    restart: () => {
      shown = start();
    },
    forget: (erased?: ErasedTexts) => shown.forget(erased),
    restores: () => restores,
  };
}

const CHECK: RuleCheck = {
  looksAt: 'reply',
  appliesWhen: [],
  holdsWhen: [{ is: 'pattern', pattern: 'done' }],
  standing: 'accepted',
  by: 'person',
  proof: 'a test confirmed it',
};
const tests = writeLesson('l1', 'tests-first', 'Run them.');
const parser = writeLesson('l2', 'parser-limits', 'Mind the depth.');
const colour = writeLesson('l3', 'colour-names', 'Use words.');
const unread = (): ConversationView => {
  throw new Error('the conversation was read');
};

describe('a thread', () => {
  it('is frozen at its first turn; later turns get the same text without reading the messages', async () => {
    const { library, ask, recorded } = setUp();
    library.put(tests);
    const text = await ask('A');
    expect(text).toMatchObject({ generation: 1, lessons: ['l1'], additions: [] });
    expect(text.block).toContain('### tests-first');
    expect(text.hash).toBe(
      createHash('sha256')
        .update(text.block ?? '')
        .digest('hex')
        .slice(0, 32),
    );
    expect(await ask('A b C', { conversation: unread })).toBe(text);
    expect(recorded.map(({ fact }) => fact)).toEqual([
      expect.objectContaining({ why: 'new', first: 'A', block: text.hash, lessons: ['l1'], generation: 1 }),
    ]);
  });

  it('gets nothing from an empty library, and later lessons as an addition (not as a block)', async () => {
    const { library, ask, restart } = setUp();
    expect(await ask('A')).toEqual({ generation: 0, lessons: [], additions: [] });
    library.put(tests);
    restart();
    const text = await ask('A b C');
    expect(text.block).toBeUndefined();
    expect(text.additions).toMatchObject([{ link: 'C' }]);
  });

  it('is frozen once for requests that come at the same time', async () => {
    const { library, ask, recorded } = setUp();
    library.put(tests);
    const [one, two] = await Promise.all([ask('A'), ask('A')]);
    expect(one).toBe(two);
    expect(library.asked()).toBe(1);
    expect(recorded).toHaveLength(1);
  });

  it('gets the revised text of a shown lesson, also when the newest message is about something else', async () => {
    const { library, ask, restart, recorded } = setUp();
    library.put(tests);
    library.put(colour);
    await ask('A');
    library.put(writeLesson('l1', 'tests-first', 'Run them twice.', 2));
    const aside = { conversation: () => conversationOf('A b C', 'lunch') };
    const text = await ask('A b C', aside);
    expect(text.additions).toMatchObject([{ link: 'C', text: expect.stringContaining('Run them twice.') }]);
    expect(recorded.at(-1)?.fact).toMatchObject({ why: 'changed', lessons: ['l1'] });
    restart();
    expect(await ask('A b C', aside)).toEqual(text);
  });

  it('has no more lessons than a limit allows, over all its tasks, and gets the revised text of those it has', async () => {
    const { library, ask, recorded } = setUp();
    for (const lesson of [tests, parser, colour]) library.put(lesson);
    const query = { agent: 'a', most: 2 };
    const about = (links: string, topics: string) => ({
      query,
      conversation: () => conversationOf(links, topics),
    });
    expect((await ask('A', about('A', 'tests'))).lessons).toEqual(['l1']);
    // Room for one more.
    expect((await ask('A b C', about('A b C', 'parser colour'))).lessons).toEqual(['l1', 'l2']);
    expect((await ask('A b C d E', about('A b C d E', 'colour'))).lessons).toEqual(['l1', 'l2']);
    library.put(writeLesson('l1', 'tests-first', 'Run them twice.', 2));
    const { additions } = await ask('A b C d E f G', about('A b C d E f G', 'colour'));
    expect(additions.at(-1)?.text).toContain('Run them twice.');
    expect(additions.at(-1)?.text).not.toContain('Use words.');
    expect(recorded).toHaveLength(3);
  });

  it('gets no lessons, and is not asked about any, under a limit of 0', async () => {
    const { library, ask } = setUp();
    library.put(tests);
    const query = { agent: 'a', most: 0 };
    expect((await ask('A', { query })).lessons).toEqual([]);
    const asked = library.asked();
    expect((await ask('A b C', { query })).lessons).toEqual([]);
    expect(library.asked()).toBe(asked);
  });

  it('is one of several in a session, each with a block for its own task', async () => {
    const { library, ask } = setUp();
    library.put(tests);
    library.put(colour);
    const main = await ask('A');
    const side = await ask('A', { thread: 'side', conversation: () => conversationOf('A', 'colour') });
    expect(main.lessons).toEqual(['l1']);
    expect(side.lessons).toEqual(['l3']);
  });

  it('gets nothing, also later, when recall rejects', async () => {
    const recall: Recall = () => Promise.reject(new Error('no model'));
    const { library, ask } = setUp({ recall });
    library.put(tests);
    expect(await ask('A')).toEqual({ generation: 1, lessons: [], additions: [] });
    expect(await ask('A b C')).toEqual({ generation: 1, lessons: [], additions: [] });
  });
});

describe('a further task of the same conversation', () => {
  const about = (links: string, task: string): Partial<ShowRequest> => ({
    conversation: () => ({ ...conversationOf(links), task }),
  });

  it('gets its lessons appended to its own message, once and permanently', async () => {
    const { library, ask, recorded } = setUp();
    library.put(tests);
    library.put(parser);
    const { block, lessons } = await ask('A', about('A', 'write tests'));
    expect(lessons).toEqual(['l1']);
    const second = await ask('A b C', about('A b C', 'limit the parser'));
    expect(second).toMatchObject({ block, lessons: ['l1', 'l2'], additions: [{ link: 'C' }] });
    expect(recorded.at(-1)?.fact).toMatchObject({ why: 'task', after: 'C', lessons: ['l2'] });
    expect(await ask('A b C', about('A b C', 'limit the parser'))).toEqual(second);
    expect(await ask('A b C d E', about('A b C d E', 'limit the parser of the tests'))).toEqual(second);
    expect(recorded).toHaveLength(2);
  });

  it('stays unchanged when it may have been sent before a restart', async () => {
    const { library, ask, restart } = setUp();
    library.put(tests);
    library.put(parser);
    await ask('A', about('A', 'write tests'));
    const before = await ask('A b C', about('A b C', 'something else'));
    restart();
    expect(await ask('A b C', about('A b C', 'limit the parser'))).toEqual(before);
    const later = await ask('A b C d E', about('A b C d E', 'limit the parser'));
    expect(later.additions).toMatchObject([{ link: 'E' }]);
  });
});

describe('a lesson that is published during a conversation', () => {
  it('is added to the newest user message and stays there', async () => {
    const { library, ask, recorded } = setUp();
    library.put(tests);
    const { block } = await ask('A');
    library.put(parser);
    const text = await ask('A b C');
    expect(text).toMatchObject({ generation: 2, block, lessons: ['l1', 'l2'] });
    expect(text.additions).toMatchObject([{ link: 'C' }]);
    expect(text.additions[0]?.text).toContain('### parser-limits');
    expect(recorded.at(-1)?.fact).toMatchObject({ why: 'changed', after: 'C', lessons: ['l2'] });
    const all = createHash('sha256').update(`${block}${text.additions[0]?.text}`).digest('hex');
    expect(text.hash).toBe(all.slice(0, 32));

    expect(await ask('A b C d E')).toBe(text);
    library.put(colour);
    const more = conversationOf('A b C d E f G', 'colour');
    const later = await ask('', { conversation: () => more });
    expect(later.additions).toMatchObject([text.additions[0] ?? {}, { link: 'G' }]);
    expect(await ask('', { conversation: () => more })).toBe(later);
  });

  it('waits while the newest message is a tool result; the turn is stamped with the generation in force', async () => {
    const { library, ask, recorded } = setUp();
    library.put(tests);
    const { block } = await ask('A');
    library.put(parser);
    expect(await ask('A b c')).toMatchObject({ generation: 2, block, additions: [] });
    expect(recorded).toHaveLength(1);
    expect((await ask('A b c d E')).additions).toMatchObject([{ link: 'E' }]);
  });

  it('is recalled for the present task, and once per message if it does not match', async () => {
    const { library, ask, recorded } = setUp();
    library.put(tests);
    await ask('A');
    library.put(colour);
    const text = await ask('A b C');
    expect(text).toMatchObject({ generation: 2, lessons: ['l1'], additions: [] });
    expect(await ask('A b C')).toEqual(text);
    expect(library.asked()).toBe(2);
    expect(await ask('A b C d')).toEqual(text);
    expect(library.asked()).toBe(2);
    expect(await ask('A b C d E')).toEqual(text);
    expect(library.asked()).toBe(3);
    expect(recorded).toHaveLength(1);
  });

  it('replaces the revised text, and withdrawn or renamed lessons are named', async () => {
    const { library, ask, restart } = setUp();
    library.put(tests);
    library.put(parser);
    await ask('A');
    library.retire('l2');
    const withdrawn = await ask('A b C');
    expect(withdrawn.additions[0]?.text).toContain('No longer valid, to be disregarded: parser-limits');
    expect(withdrawn.lessons).toEqual(['l1']);
    library.put(writeLesson('l1', 'tests-always', 'Run all.', 2));
    const renamed = await ask('A b C d E');
    expect(renamed.additions[1]?.text).toContain('disregarded: tests-first');
    expect(renamed.additions[1]?.text).toContain('### tests-always');
    library.put(parser);
    restart();
    const back = await ask('A b C d E f G');
    expect(back.lessons).toEqual(['l1', 'l2']);
    expect(back.additions[2]?.text).toContain('### parser-limits');
  });

  it('is left out when it is shown already or held out from the session', async () => {
    const { library, ask, recorded } = setUp({}, (_, id) => id === 'l2' && library.generation() < 4);
    library.put(tests);
    library.put(parser);
    const { lessons } = await ask('A');
    expect(lessons).toEqual(['l1']);
    expect(recorded[0]?.fact.heldOut).toEqual(['l2']);
    library.put({ ...tests });
    library.put(writeLesson('l2', 'parser-limits', 'Mind the width.', 2));
    expect(await ask('A b C')).toMatchObject({ generation: 4, lessons: ['l1'], additions: [] });
    const side = await ask('A', { thread: 'side' });
    expect(side.lessons).toEqual(['l1']);
    expect(recorded.at(-1)?.fact.heldOut).toEqual(['l2']);
  });

  it('does not grow a message twice', async () => {
    const { library, ask } = setUp();
    library.put(tests);
    await ask('A');
    library.put(parser);
    const { additions } = await ask('A b C');
    library.put(writeLesson('l4', 'tests-last', 'Run them again.'));
    expect(await ask('A b C')).toMatchObject({ generation: 3, additions });
    expect((await ask('A b C d E')).additions).toHaveLength(2);
  });

  it('is not added to a request whose history the provider stores', async () => {
    const { library, ask } = setUp();
    library.put(tests);
    const { block } = await ask('A');
    library.put(parser);
    const conversation = () => ({ links: [], newestIsUser: false, task: 'parser', taskLink: undefined });
    expect(await ask('', { conversation })).toMatchObject({ generation: 2, block, additions: [] });
    expect(await ask('', { conversation: () => undefined })).toMatchObject({ block, additions: [] });
  });
});

describe('a new block', () => {
  it('is made when a message with an addition is missing', async () => {
    const { library, ask, recorded } = setUp();
    library.put(tests);
    await ask('A');
    library.put(parser);
    await ask('A b C');
    const text = await ask('A b E');
    expect(text).toMatchObject({ lessons: ['l1', 'l2'], additions: [] });
    expect(text.block).toContain('### parser-limits');
    expect(recorded.at(-1)?.fact).toMatchObject({ why: 'compacted', first: 'A' });
  });

  it('is made when the thread was idle for an hour (not for less)', async () => {
    const { library, ask, recorded } = setUp();
    library.put(tests);
    const first = await ask('A');
    expect(await ask('A b C', { now: HOUR })).toBe(first);
    const text = await ask('A b C d E', { now: 2 * HOUR + 1 });
    expect(text.block).toBe(first.block);
    expect(recorded.map(({ fact }) => fact.why)).toEqual(['new', 'expired']);
  });

  it('is made at a compaction when the library has changed, but not long after it', async () => {
    const { library, ask, recorded } = setUp();
    library.put(tests);
    const first = await ask('A');
    expect(await ask('X', { conversation: unread })).toBe(first);
    library.put(parser);
    expect((await ask('X y Z u V')).additions).toHaveLength(1);
    expect(recorded.map(({ fact }) => fact.why)).toEqual(['new', 'changed']);

    const other = setUp();
    other.library.put(tests);
    await other.ask('A');
    other.library.put(parser);
    expect(await other.ask('X y Z')).toMatchObject({ lessons: ['l1', 'l2'], additions: [] });
    expect(other.recorded.map(({ fact }) => fact.why)).toEqual(['new', 'compacted']);
  });
});

describe('a restart', () => {
  it('restores every thread byte for byte, with one read per session', async () => {
    const { library, ask, restart, restores, recorded } = setUp();
    library.put(tests);
    await ask('A');
    library.put(parser);
    const main = await ask('A b C');
    const side = await ask('A', { thread: 'side' });
    const known = recorded.length;
    restart();
    const before = restores();
    const again = await Promise.all([ask('A b C d E'), ask('A b C'), ask('A b', { thread: 'side' })]);
    expect(again).toEqual([main, main, side]);
    expect(restores() - before).toBe(1);
    expect(recorded).toHaveLength(known);
  });

  it('before the first generation loses no thread of a session that was not read yet', async () => {
    const { library, ask, restart } = setUp();
    await ask('A', { thread: 'side' });
    restart();
    await ask('A');
    library.put(tests);
    const side = await ask('A b C', { thread: 'side' });
    expect(side.block).toBeUndefined();
    expect(side.additions).toMatchObject([{ link: 'C' }]);
  });

  it('starts a new thread when the record is lost, unreadable or too slow', async () => {
    const lost: RecallChoice[] = [];
    const pasts: readonly (() => Promise<readonly RecallChoice[]>)[] = [
      async () => lost.map(({ fact }) => ({ fact, text: undefined })),
      () => Promise.reject(new Error('the disk is gone')),
      () => new Promise(() => undefined),
    ];
    for (const restore of pasts) {
      const { library, ask, restart, recorded } = setUp({ restore, patienceMs: 5 });
      library.put(tests);
      await ask('A');
      lost.push(...recorded);
      restart();
      expect((await ask('A b C')).lessons).toEqual(['l1']);
      expect(recorded.map(({ fact }) => fact.why)).toEqual(['new', 'new']);
    }
  });

  it('is like the eviction of a session that had no request for a long time', async () => {
    const { library, ask, restores, recorded } = setUp({ mostSessions: 4 });
    library.put(tests);
    const text = await ask('A');
    for (let n = 0; n < 10; n++) await ask('A', { session: `other ${n}` });
    const before = restores();
    expect(await ask('A b C')).toEqual(text);
    expect(restores()).toBe(before + 1);
    expect(recorded.filter(({ fact }) => fact.session === 's')).toHaveLength(1);
  });
});

describe('an erasure', () => {
  const away = async (): Promise<never> => {
    throw new Error('the record is away');
  };
  const shownTo = async (erased?: ErasedTexts) => {
    let restore: ShownBlocksOptions['restore'] = async () => [];
    const { library, ask, forget, recorded } = setUp({ restore: (session) => restore(session) });
    library.put(tests);
    const before = await ask('A');
    // What would be recalled now is another block.
    library.put(parser);
    restore = away;
    forget(erased);
    return { before, after: await ask('A b C'), decisions: recorded.map(({ fact }) => fact.why) };
  };

  it('of another session leaves a block as it is, also while the record is away', async () => {
    const { before, after, decisions } = await shownTo({ session: 'other', isErased: () => false });
    expect(after.block).toBe(before.block);
    expect(decisions).toEqual(['new', 'changed']);
  });

  it('of a text that is in a block gives a new one, as does that of the session itself', async () => {
    const erasures: ErasedTexts[] = [
      { session: 'other', isErased: ({ lesson, revision }) => lesson === 'l1' && revision === 1 },
      { session: 's', isErased: () => false },
    ];
    for (const erased of [...erasures, undefined]) {
      const { before, after, decisions } = await shownTo(erased);
      expect(after.block).not.toBe(before.block);
      expect(decisions).toEqual(['new', 'new']);
    }
  });

  it('reaches a block whose lesson was withdrawn since, and one that was restored', async () => {
    const { library, ask, forget, recorded, restart } = setUp();
    library.put(tests);
    library.put(parser);
    await ask('A');
    library.retire('l1');
    expect((await ask('A b C')).additions).toHaveLength(1);
    restart();
    await ask('A b C');
    forget({ session: 'other', isErased: ({ lesson }) => lesson === 'l1' });
    recorded.length = 0;
    const text = await ask('A b C d E');
    expect(text.block).not.toContain('tests-first');
  });
});

describe('a peek', () => {
  it('gets the text that the request will be sent with, and stores no decision', async () => {
    const { library, ask, recorded } = setUp();
    library.put(tests);
    const counted = await ask('A', { peek: true, turn: 'count' });
    expect(recorded).toEqual([]);
    expect(await ask('A', { turn: 't1' })).toEqual(counted);
    expect(recorded.map(({ fact }) => fact.turn)).toEqual(['t1']);
    library.put(parser);
    const more = await ask('A b C', { peek: true });
    expect(await ask('A b C')).toEqual(more);
    expect(library.asked()).toBe(2);
    expect(recorded).toHaveLength(2);
  });

  it('of another conversation stores nothing', async () => {
    const { library, ask, recorded } = setUp();
    library.put(tests);
    library.put(colour);
    await ask('FOO', { peek: true, conversation: () => conversationOf('FOO', 'colour') });
    expect((await ask('A')).lessons).toEqual(['l1']);
    library.put(parser);
    const { additions } = await ask('A b C');
    await ask('FOO', { peek: true });
    expect(await ask('A b C d E')).toMatchObject({ additions });
    expect(recorded).toHaveLength(2);
  });
});

describe('a lesson that is listed by its line', () => {
  const view = (links: string, topics: string) => ({ conversation: () => conversationOf(links, topics) });

  it('counts as shown; the fact says that it was a line, and a restart gives the same bytes', async () => {
    const { library, ask, recorded, restart } = setUp();
    library.put(tests);
    library.put(parser);
    const text = await ask('A', view('A', 'tests ~par'));
    expect(text.lessons).toEqual(['l1', 'l2']);
    expect(text.block).toContain('- parser-limits: ');
    expect(text.block).not.toContain('### parser-limits');
    expect(recorded[0]?.fact).toMatchObject({ lessons: ['l1', 'l2'], lines: ['l2'] });
    restart();
    expect(await ask('A b C', view('A b C', 'tests ~par'))).toEqual({ ...text });
  });

  it('gets its body for a later task that it clearly fits, and no second line', async () => {
    const { library, ask, recorded } = setUp();
    library.put(tests);
    library.put(parser);
    await ask('A', view('A', '~par ~tes'));
    expect(recorded[0]?.fact).toMatchObject({ lessons: ['l1', 'l2'], lines: ['l1', 'l2'] });
    const again = await ask('A b C', view('A b C', '~par ~tes'));
    expect(again.additions).toEqual([]);
    const later = await ask('A b C d E', view('A b C d E', 'parser'));
    expect(later.additions).toEqual([{ link: 'E', text: expect.stringContaining('### parser-limits') }]);
    expect(recorded.at(-1)?.fact).toMatchObject({ lessons: ['l2'] });
    expect(recorded.at(-1)?.fact.lines).toBeUndefined();
  });

  it('says what these lessons are in a first addition, when the session began without a block', async () => {
    const { library, ask } = setUp();
    library.put(tests);
    expect((await ask('A', view('A', 'hello'))).block).toBeUndefined();
    const later = await ask('A b C', view('A b C', '~tes'));
    expect(later.additions[0]?.text).toContain('Lessons from earlier work with this user.');
  });

  it('is held out like any other, and takes its new line when it is revised', async () => {
    const { library, ask, recorded } = setUp({}, (_, id) => id === 'l1');
    library.put(tests);
    library.put(parser);
    await ask('A', view('A', '~tes ~par'));
    expect(recorded[0]?.fact).toMatchObject({ lessons: ['l2'], lines: ['l2'] });
    library.put({ ...writeLesson('l2', 'parser-limits', 'Mind the width.', 2) });
    const text = await ask('A b C', view('A b C', 'nothing'));
    expect(text.additions).toEqual([{ link: 'C', text: expect.stringContaining('- parser-limits: ') }]);
    expect(recorded.at(-1)?.fact).toMatchObject({ lessons: ['l2'], lines: ['l2'] });
  });
});

describe('what a person told', () => {
  const told = { ...tests, text: { ...tests.text, note: { ...tests.text.note, source: 'told' as const } } };

  it('reaches a session from which an earlier version held it out, with its next message', async () => {
    let isOld = true;
    const { library, ask, restart, recorded } = setUp({}, (_, id) => isOld && id === 'l1');
    library.put(told);
    expect((await ask('A')).block).toBeUndefined();
    expect(recorded[0]?.fact.heldOut).toEqual(['l1']);
    isOld = false;
    restart();
    await ask('A b C');
    expect((await ask('A b C d E')).additions).toMatchObject([{ link: 'E' }]);
  });

  it('is left out where the client’s own prompt has it, and counts as shown, also after a restart', async () => {
    const { library, ask, restart, recorded } = setUp();
    const rule = 'Run all tests before you say that it works.';
    library.put({ ...told, text: { ...told.text, content: rule } });
    const memory = `# CLAUDE.md ${rule} Be kind.`;
    const conversation = () => ({
      ...conversationOf('A'),
      instructs: (text: string) => memory.includes(text),
    });
    const first = await ask('A', { conversation });
    expect(first).toMatchObject({ lessons: ['l1'], additions: [] });
    expect(first.block).toBeUndefined();
    expect(recorded[0]?.fact).toMatchObject({ lessons: ['l1'], inPrompt: ['l1'] });
    restart();
    library.put(parser);
    expect((await ask('A', { conversation })).block).toBeUndefined();
  });
});

describe('a rule that the weights keep', () => {
  it('counts as shown without its words, also after a restart, and is shown again in a conversation that broke it', async () => {
    let broken: ReadonlyMap<string, string> = new Map();
    const { library, ask, restart, recorded } = setUp({
      rules: {
        brokenIn: () => broken,
        applying: () => [],
        isBehind: () => false,
        catchUp: async () => undefined,
      },
    });
    library.put({ ...writeLesson('l1', 'tests-first', 'Run them.'), check: CHECK });
    library.put(parser);
    const said = (links: string) => ({
      size: 100,
      remembered: new Set(['l1']),
      conversation: () => ({ ...conversationOf(links), newest: { link: links.at(-1) ?? '', texts: [] } }),
    });
    const first = await ask('A', said('A'));
    expect(first).toMatchObject({ lessons: ['l1', 'l2'] });
    expect(first.block).not.toContain('tests-first');
    expect(recorded[0]?.fact).toMatchObject({ lessons: ['l1', 'l2'], remembered: ['l1'] });
    restart();
    expect((await ask('A b C', said('A b C'))).additions).toEqual([]);
    broken = new Map([['l1', 't']]);
    const again = await ask('A b C d E', said('A b C d E'));
    expect(again.additions).toMatchObject([{ link: 'E', text: expect.stringContaining('Run them.') }]);
  });

  it('is said once when weights that do not keep it answer in the middle of a conversation, also to one that broke it', async () => {
    let broken: ReadonlyMap<string, string> = new Map();
    const { library, ask, restart } = setUp({
      rules: {
        brokenIn: () => broken,
        applying: () => [],
        isBehind: () => false,
        catchUp: async () => undefined,
      },
    });
    library.put({ ...writeLesson('l1', 'tests-first', 'Run them.'), check: CHECK });
    library.put(parser);
    const said = (links: string, remembered: readonly string[], session: string) => ({
      ...{ size: 100, remembered: new Set(remembered), session },
      conversation: () => ({ ...conversationOf(links), newest: { link: links.at(-1) ?? '', texts: [] } }),
    });
    const times = (shown: { readonly additions: readonly { readonly text: string }[] }): number =>
      shown.additions.filter(({ text }) => text.includes('Run them.')).length;
    for (const session of ['rolled-back', 'broken']) {
      expect((await ask('A', said('A', ['l1'], session))).block).not.toContain('Run them.');
      if (session === 'broken') broken = new Map([['l1', 't']]);
      const after = await ask('A b C', said('A b C', [], session));
      expect(after.additions).toMatchObject([{ link: 'C', text: expect.stringContaining('Run them.') }]);
      const later = await ask('A b C d E', said('A b C d E', [], session));
      expect(times(later)).toBe(1);
      restart();
      expect(times(await ask('A b C d E f G', said('A b C d E f G', [], session)))).toBe(1);
    }
  });
});

describe('a skill in the client’s own list', () => {
  const listed = writeLesson('l1', 'tests-first', 'Run them.');
  const description = 'Use when code was changed and before it is called done.';
  const imported = (revision: number) => ({
    ...listed,
    revision,
    text: { ...listed.text, description, evidence: { turns: [], quotes: [], learner: 'import' } },
  });
  const conversation = () => ({
    ...conversationOf('A'),
    instructs: (text: string) => `- tests-first: ${description}`.includes(text),
  });

  it('is left out, and not where it was imported and changed since: the client’s file has the older text', async () => {
    const { library, ask } = setUp();
    library.put(imported(1));
    expect((await ask('A', { conversation })).block).toBeUndefined();
    library.put(imported(2));
    expect((await ask('B', { conversation, session: 'later' })).block).toContain('Run them.');
  });
});

describe('the place of a thread', () => {
  it('is the one that it began with, also when another is asked for, and a new one where it begins again', async () => {
    const { library, ask, restart } = setUp();
    library.put(tests);
    const first = await ask('A', { place: 'message' });
    expect(first.additions).toEqual([{ link: 'A', text: 'Run them.' }]);
    library.put(parser);
    restart();
    const next = await ask('A b C', { place: 'system' });
    expect(next.additions).toEqual([
      { link: 'A', text: 'Run them.' },
      { link: 'C', text: 'Mind the depth.' },
    ]);
    const later = await ask('A b C', { place: 'system', now: 3 * HOUR });
    expect(later.block).toContain('### tests-first');
  });
});
