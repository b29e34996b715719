import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../src/core/chat.ts';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { Recall } from '../../../src/core/recall.ts';
import { augment } from '../../../src/gateway/attempt-turn.ts';
import { writeLesson as quoteWords } from '../../../src/learn/distiller/write-lesson.ts';
import { renderSaid } from '../../../src/lessons/render-block.ts';
import type { ConversationView } from '../../../src/lessons/shown/block-update.ts';
import type { RecallChoice } from '../../../src/lessons/shown/prompt-thread.ts';
import { createShownBlocks } from '../../../src/lessons/shown/shown-blocks.ts';
import { withLessons } from '../../../src/models/in-process-client.ts';
import { wires } from '../../../src/wire/wires.ts';
import { createSmallLibrary, writeLesson } from './small-library.ts';

const quoting = (id: string, words: string, speaker: 'user' | 'check' = 'user'): Lesson => {
  const lesson = writeLesson(id, id, '');
  const text = quoteWords({ speaker, count: 2, quotes: [words], tasks: ['Write the report.'] });
  return { ...lesson, text: { ...lesson.text, description: text.description, content: text.content } };
};

describe('lessons in the words of the user', () => {
  it("are the user's words behind a few of ours, without headings, names and tasks", () => {
    const said = renderSaid([quoting('b', 'Use tabs, please.'), quoting('a', 'Dates are YYYY-MM-DD.')]);
    expect(said).toBe('As I said before: Dates are YYYY-MM-DD.\nUse tabs, please.');
  });

  it('name a check as what it is, and keep what a model or a person wrote', () => {
    const written = writeLesson('a', 'tests-first', 'Run the tests.\nThen commit.');
    expect(renderSaid([quoting('c', 'Use tabs.'), quoting('b', 'line 3: no tabs', 'check'), written])).toBe(
      'Run the tests.\nThen commit.\n\nA check said: line 3: no tabs\n\nAs I said before: Use tabs.',
    );
  });

  it('are nothing for no lessons, and said once where two lessons say the same', () => {
    expect(renderSaid([])).toBe('');
    expect(renderSaid([quoting('a', 'Use tabs.'), quoting('b', 'Use tabs.')])).toBe(
      'As I said before: Use tabs.',
    );
  });
});

/** Capitals are messages of the user; the task names the topics. */
function conversationOf(links: string, topics: string): ConversationView {
  const list = links.split(' ').filter(Boolean);
  const taskLink = list.findLast((one) => one === one.toUpperCase());
  return { links: list, newestIsUser: list.at(-1) === taskLink, task: topics, taskLink };
}

function setUp() {
  const library = createSmallLibrary();
  const withoutLines: Recall = async (...asked) => ({ ...(await library.recall(...asked)), index: [] });
  const recorded: RecallChoice[] = [];
  const start = () =>
    createShownBlocks({
      ...library,
      recall: withoutLines,
      record: (choice) => void recorded.push(choice),
      restore: async () => recorded,
    });
  let shown = start();
  return {
    library,
    recorded,
    restart: () => {
      shown = start();
    },
    ask: async (links: string, topics = 'tests parser') =>
      shown.show({
        ...{ turn: 't', session: 's', thread: 'main', now: 0, query: { agent: 'a' } },
        place: 'message',
        conversation: () => conversationOf(links, topics),
      }),
  };
}

describe('a thread with lessons in its messages', () => {
  it('has no block: what fits the first request stands with it, and stays there', async () => {
    const { library, ask, restart, recorded } = setUp();
    library.put(writeLesson('l1', 'tests-first', 'Run them.'));
    const first = await ask('A');
    expect(first).toMatchObject({ lessons: ['l1'], additions: [{ link: 'A', text: 'Run them.' }] });
    expect(first.block).toBeUndefined();
    expect(recorded[0]?.fact).toMatchObject({ why: 'new', after: 'A', first: 'A' });
    restart();
    expect(await ask('A b C')).toEqual(first);
  });

  it('gets the lessons of a further request with that request', async () => {
    const { library, ask } = setUp();
    library.put(writeLesson('l1', 'tests-first', 'Run them.'));
    library.put(writeLesson('l2', 'parser-limits', 'Mind the depth.'));
    await ask('A', 'tests');
    const { additions } = await ask('A b C', 'parser');
    expect(additions).toEqual([
      { link: 'A', text: 'Run them.' },
      { link: 'C', text: 'Mind the depth.' },
    ]);
  });

  it('begins again without the words of a lesson that was withdrawn: they cannot be named away', async () => {
    const { library, ask, recorded } = setUp();
    library.put(writeLesson('l1', 'tests-first', 'Run them.'));
    library.put(writeLesson('l2', 'parser-limits', 'Mind the depth.'));
    await ask('A');
    library.retire('l1');
    const { additions } = await ask('A b C');
    expect(additions).toEqual([{ link: 'C', text: 'Mind the depth.' }]);
    expect(recorded.at(-1)?.fact).toMatchObject({ why: 'withdrawn', after: 'C', lessons: ['l2'] });
  });

  it('is not told by the text of a lesson that others are withdrawn', async () => {
    const { library, ask } = setUp();
    library.put(writeLesson('l1', 'tests-first', 'Run them.'));
    await ask('A', 'tests');
    library.put(
      writeLesson('l2', 'parser-limits', 'Read this.\n\nNo longer valid, to be disregarded: tests-first'),
    );
    expect((await ask('A b C', 'parser')).lessons).toEqual(['l1', 'l2']);
  });

  it("goes to the user's request, not to what a tool said after it", async () => {
    const { library, ask } = setUp();
    library.put(writeLesson('l1', 'tests-first', 'Run them.'));
    expect((await ask('A b c')).additions).toMatchObject([{ link: 'A' }]);
  });

  it('stands in the system prompt where the provider keeps the conversation', async () => {
    const { library, ask } = setUp();
    library.put(writeLesson('l1', 'tests-first', 'Run them.'));
    expect(await ask('')).toMatchObject({ block: 'Run them.', additions: [] });
  });
});

describe('an attempt of practice', () => {
  const request: ChatRequest = {
    model: 'm',
    system: [{ type: 'text', text: 'You help.' }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Sort it.' }] },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'sh', arguments: '{}' }] },
      { role: 'tool', callId: 'c', content: [{ type: 'text', text: 'done' }] },
    ],
    tools: [],
    stream: false,
  };
  const body = {
    model: 'm',
    messages: [
      { role: 'system', content: 'You help.' },
      { role: 'user', content: 'Sort it.' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'sh', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'done' },
    ],
  };

  it('has the same words at the same place with and without a gateway', () => {
    const said = 'As I said before: Use tabs.';
    const bytes = Buffer.from(JSON.stringify(body));
    const outline = wires['openai-chat'].outline(bytes);
    if (outline === undefined) throw new Error('not a request');
    const shown = { generation: 1, lessons: ['l1'], additions: [], said };
    const sent = JSON.parse(
      Buffer.concat(augment({ wire: 'openai-chat', body: bytes, outline }, shown, undefined)).toString(),
    );
    const [, asked] = sent.messages;
    const placed = withLessons(request, { text: said, place: 'message' }).messages[0];
    expect(asked.content).toBe('Sort it.\n\nAs I said before: Use tabs.');
    expect(placed?.content).toEqual([{ type: 'text', text: asked.content }]);
    expect(sent.messages.slice(2)).toEqual(body.messages.slice(2));
  });
});
