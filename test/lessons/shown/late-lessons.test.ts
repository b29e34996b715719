import { describe, expect, it } from 'vitest';
import type { Recall } from '../../../src/core/recall.ts';
import type { ConversationView, ShowRequest } from '../../../src/lessons/shown/block-update.ts';
import type { RecallChoice, ShownText } from '../../../src/lessons/shown/prompt-thread.ts';
import { createShownBlocks } from '../../../src/lessons/shown/shown-blocks.ts';
import { createSmallLibrary, writeLesson } from './small-library.ts';

/** A library whose recall finds nothing while the sentence model is slow. */
function setUp() {
  const library = createSmallLibrary();
  library.put(writeLesson('l1', 'tests-first', 'Run them.'));
  library.put(writeLesson('l2', 'parser-limits', 'Mind the depth.'));
  const model = { isSlow: true };
  const asked: string[] = [];
  const recorded: RecallChoice[] = [];
  const recall: Recall = async (query, now) => {
    asked.push(query.text);
    const found = await library.recall(query, now);
    return model.isSlow ? { ...found, lessons: [], index: [], considered: [], isLate: true } : found;
  };
  const shown = createShownBlocks({
    ...library,
    recall,
    record: (choice) => void recorded.push(choice),
    restore: async () => [],
  });
  /** Messages that are not in capitals are those of the model and of tools. */
  const ask = (links: string, task: string, more: Partial<ShowRequest> = {}): Promise<ShownText> => {
    const list = links.split(' ');
    const newest = list.at(-1) ?? '';
    const taskLink = list.findLast((one) => one === one.toUpperCase());
    const conversation = (): ConversationView => ({
      links: list,
      newestIsUser: newest === newest.toUpperCase(),
      task,
      taskLink,
      newest: { link: newest, texts: [] },
    });
    return Promise.resolve(
      shown.show({
        ...{ turn: 't', session: 's', thread: 'main', now: 0, query: { agent: 'a' } },
        conversation,
        ...more,
      }),
    );
  };
  return { model, asked, recorded, ask };
}

describe('a task whose embedding came too late', () => {
  it('gets its lessons behind the next message, also a tool’s, and the prompt up to there keeps its bytes', async () => {
    const { model, ask, recorded } = setUp();
    const first = await ask('A', 'run the tests');
    expect(first).toMatchObject({ lessons: [], additions: [] });
    model.isSlow = false;
    const next = await ask('A b tool', 'run the tests');
    expect(next.block).toBe(first.block);
    expect(next.additions).toMatchObject([{ link: 'tool', text: expect.stringContaining('Run them.') }]);
    expect(recorded.at(-1)?.fact).toMatchObject({ why: 'task', after: 'tool', lessons: ['l1'] });
    expect((await ask('A b tool c D', 'yes')).additions).toEqual(next.additions);
  });

  it('stays as it was sent when the same request is repeated', async () => {
    const { model, ask, asked } = setUp();
    const first = await ask('A', 'run the tests');
    model.isSlow = false;
    expect(await ask('A', 'run the tests')).toEqual(first);
    expect(asked).toEqual(['run the tests']);
  });

  it('is not forgotten when the next message is about something else, or only “yes”', async () => {
    const { model, ask } = setUp();
    await ask('A', 'run the tests');
    model.isSlow = false;
    const next = await ask('A b C', 'the parser');
    expect(next.lessons.toSorted()).toEqual(['l1', 'l2']);
    const other = setUp();
    await other.ask('A', 'run the tests');
    other.model.isSlow = false;
    expect((await other.ask('A b C', 'yes')).lessons).toEqual(['l1']);
  });

  it('is looked for again a few times and then no more: without a model every task is late', async () => {
    const { ask, asked } = setUp();
    const tools = ['a', 'b', 'c', 'd', 'e', 'f'];
    await ask('A', 'run the tests');
    for (const [at] of tools.entries()) await ask(`A ${tools.slice(0, at + 1).join(' ')}`, 'run the tests');
    expect(asked).toHaveLength(4);
  });

  it('is counted with the text that it would be sent with, and stays owed', async () => {
    const { model, ask, recorded } = setUp();
    await ask('A', 'run the tests');
    model.isSlow = false;
    const counted = await ask('A b tool', 'run the tests', { peek: true });
    expect(counted.additions).toHaveLength(1);
    expect(recorded).toHaveLength(1);
    expect((await ask('A b tool', 'run the tests')).additions).toEqual(counted.additions);
  });

  it('adds no more bodies than a limit leaves room for', async () => {
    const { model, ask } = setUp();
    const query = { agent: 'a', most: 1 };
    await ask('A', 'run the tests', { query });
    model.isSlow = false;
    const next = await ask('A b C', 'the parser', { query });
    expect(next.additions[0]?.text).toContain('Mind the depth.');
    expect(next.additions[0]?.text).not.toContain('Run them.');
  });
});
