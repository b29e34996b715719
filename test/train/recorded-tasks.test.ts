import { describe, expect, it } from 'vitest';
import { blockHash } from '../../src/base/block-hash.ts';
import { formatTurnBodyKey } from '../../src/core/store.ts';
import { toRecords } from '../../src/record/records.ts';
import { createRequestEncoder } from '../../src/record/request-manifest.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { readStoredTurn } from '../../src/record/stored-turn.ts';
import { createRecordedTasks } from '../../train/recorded-tasks.ts';
import { end, start } from '../record/store/facts.ts';

const { signal } = new AbortController();
const DAY = 24 * 3_600_000;
const NOW = 100 * DAY;
const TOOLS = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];

interface Recorded {
  readonly session: string;
  readonly says?: string;
  readonly at?: number;
  readonly domain?: string;
  readonly reply?: object;
  readonly before?: readonly object[];
  readonly role?: 'main' | 'aux';
}

const answer = (text: string) => ({ content: [{ type: 'text', text }], stop: 'end' });
const call = { content: [{ type: 'tool-call', id: 'c', name: 'look', arguments: '{}' }], stop: 'tool-calls' };

async function record(sessions: readonly Recorded[]) {
  const records = toRecords(createMemoryStore(), () => NOW);
  for (const { session, says = `sum ${session}`, at = NOW, domain = 'math', ...more } of sessions) {
    const { reply = answer('it is 4'), before = [], role = 'main' } = more;
    const body = {
      model: 'gpt',
      temperature: 0.2,
      max_tokens: 50,
      tools: TOOLS,
      messages: [{ role: 'system', content: 'Be brief.' }, ...before, { role: 'user', content: says }],
    };
    const turn = `t-${session}`;
    const request = formatTurnBodyKey({ turn, part: 'request' });
    const keeper = createRequestEncoder((value) => JSON.stringify(value));
    const kept = keeper.keep(request, session, 'chat', Buffer.from(JSON.stringify(body)));
    if (kept === undefined) throw new Error('nothing was kept');
    const said = JSON.stringify(reply);
    await records.append(
      [
        start(turn, session, { wire: 'openai-chat', agent: 'ada', role, request }),
        {
          type: 'lessons-recalled',
          session,
          turn,
          thread: '',
          generation: 1,
          why: 'new',
          lessons: [],
          heldOut: [],
          domain: { name: domain, reason: 'header' },
          considered: [],
          engine: 'words',
        } as const,
        end(turn, { reply: blockHash(said) }),
      ].map((fact) => ({ at, fact })),
      [...kept, { hash: blockHash(said), text: said, session }],
    );
  }
  return records;
}

const ROWS = [
  { domain: 'math', kind: 'regex', pattern: '[0-9]' },
  { domain: 'exact', kind: 'exact' },
  { domain: 'costly', kind: 'rubric', criteria: [{ text: 'it is right' }] },
];

const open = async (sessions: readonly Recorded[], rows: readonly object[] = ROWS) => {
  const records = await record(sessions);
  const tasks = createRecordedTasks({
    rows: rows as never,
    records,
    decodeTurn: (turn) => readStoredTurn(turn, records, new Map()),
    now: () => NOW,
  });
  return { records, ids: async () => (await tasks.gather(signal)).map(({ id }) => id), ...tasks };
};

describe('recorded tasks', () => {
  it("are the first request of a session, with the policy's sampling parameters", async () => {
    const { gather } = await open([{ session: 's', says: 'two and two' }]);
    expect(await gather(signal)).toEqual([
      {
        kind: 'recorded',
        id: 'recorded/s',
        request: {
          model: 'policy',
          system: [{ type: 'text', text: 'Be brief.' }],
          messages: [{ role: 'user', content: [{ type: 'text', text: 'two and two' }] }],
          tools: [expect.objectContaining({ name: 'look' })],
          maxTokens: 50,
          stream: false,
        },
        firstAt: expect.any(Number),
        text: 'two and two',
        domain: 'math',
        agent: 'ada',
      },
    ]);
  });

  it('need a verifier that grades without a reference and without a model', async () => {
    const sessions = ['math', 'exact', 'costly', 'other'].map((domain) => ({ session: domain, domain }));
    expect(await (await open(sessions, [])).ids()).toEqual([]);
    expect(await (await open(sessions)).ids()).toEqual(['recorded/math']);
  });

  it('exclude sessions that began with a call, midway, as auxiliary or long ago; equal texts are one task', async () => {
    const { ids } = await open([
      { session: 'old', at: NOW - 31 * DAY },
      { session: 'first', at: NOW - 3, says: 'the same' },
      { session: 'calls', reply: call },
      {
        session: 'later',
        before: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
        ],
      },
      { session: 'title', role: 'aux' },
      { session: 'again', at: NOW + 1, says: 'the same' },
    ]);
    expect(await ids()).toEqual(['recorded/again']);
  });

  it('exclude erased sessions', async () => {
    const { ids, records } = await open([{ session: 'a' }, { session: 'b' }]);
    expect((await ids()).toSorted()).toEqual(['recorded/a', 'recorded/b']);
    await records.erase('a', 'asked for');
    expect(await ids()).toEqual(['recorded/b']);
  });

  it('are graded only by the verifier of their domain', async () => {
    const { grade } = await open([]);
    expect(await grade({ task: 'sum', domain: 'math', answer: 'it is 4' }, signal)).toBe(1);
    expect(await grade({ task: 'sum', domain: 'math', answer: '' }, signal)).toBe(0);
    for (const domain of ['exact', 'costly', 'other'])
      expect(await grade({ task: 'sum', domain, answer: '4' }, signal)).toBeUndefined();
  });
});
