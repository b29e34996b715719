import { describe, expect, it } from 'vitest';
import { createSessionsApi } from '../../src/api/sessions-api.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { type Records, StoreError } from '../../src/core/store.ts';
import { chat, createRecord } from './recorded-home.ts';

/** The same records, and how often each read was made. */
function counting(records: Records): { readonly records: Records; readonly counts: Record<string, number> } {
  const counts: Record<string, number> = {};
  const counted = Object.fromEntries(
    Object.entries(records).map(([name, read]) => [
      name,
      (...args: readonly never[]) => {
        counts[name] = (counts[name] ?? 0) + 1;
        return (read as (...args: readonly never[]) => unknown)(...args);
      },
    ]),
  );
  return { records: counted as never, counts };
}

const turnsOf = (session: JsonObject | undefined): readonly JsonObject[] =>
  asArray(session?.turns).map(asObject);

const REMINDER =
  '<system-reminder>\nContents of a file that nobody typed, with many words in it.\n</system-reminder>';

describe('the preview of a session', () => {
  it.each([
    ['a reminder of the client', `${REMINDER}\nfix the export`],
    ['an environment block', '<environment_context>\n<cwd>/x</cwd>\n</environment_context>\nfix the export'],
    ['a channel’s mark', '[Telegram Ann id:42 +2m 2026-11-16 14:02 UTC] fix the export\n[message_id: 77]'],
    [
      'data about the sender',
      'Conversation info (untrusted metadata):\n```json\n{"sender": "Ann"}\n```\n\nfix the export',
    ],
    ['line breaks', 'fix\n\n   the export'],
  ])('is what the person typed, without %s', async (_what, message) => {
    const { records, add } = createRecord();
    add({ turn: 't1', session: 's1', body: chat(message) });
    const [session] = await createSessionsApi(records).sessions({ limit: 9, preview: true });
    expect(session).toMatchObject({ id: 's1', turns: 1, asked: 'fix the export', answered: 'Done.' });
  });

  it.each([
    [
      'openai-chat',
      {
        model: 'm',
        messages: [
          { role: 'system', content: 'x' },
          { role: 'user', content: 'hi you' },
        ],
      },
    ],
    ['openai-responses', { model: 'm', input: 'hi you' }],
    ['openai-responses', { model: 'm', input: [{ role: 'user', content: 'hi you' }] }],
  ] as const)('is read from a request of %s', async (wire, body) => {
    const { records, add } = createRecord();
    add({ turn: 't1', session: 's1', wire, body });
    expect(await createSessionsApi(records).sessions({ limit: 9, preview: true })).toMatchObject([
      { asked: 'hi you' },
    ]);
  });

  it('is the first question and the last answer of the main agent (not of an auxiliary call)', async () => {
    const { records, add, append } = createRecord();
    add({ turn: 't1', session: 's1', role: 'aux', body: chat('make a title') });
    add({ turn: 't2', session: 's1', body: chat('one') });
    add({
      turn: 't3',
      session: 's1',
      body: chat('one', 'Done.', 'two'),
      reply: [{ type: 'text', text: 'All.' }],
    });
    add({ turn: 't4', session: 's1', role: 'aux', body: chat('a summary') });
    append({ type: 'reward-given', turn: 't2', source: 'person', score: -0.5, note: 'late' });
    append({ type: 'reward-given', session: 's1', source: 'person', score: 1 });
    append({ type: 'session-scored', session: 's1', score: 0.2, lessons: [], heldOut: [] });
    expect(await createSessionsApi(records).sessions({ limit: 9, preview: true })).toMatchObject([
      {
        asked: 'one',
        answered: 'All.',
        score: 0.2,
        rewards: [
          { source: 'person', score: -0.5, note: 'late' },
          { source: 'person', score: 1 },
        ],
      },
    ]);
  });

  it('reads only the sessions of the page, and a few turns of each', async () => {
    const { records, add } = createRecord();
    for (let session = 0; session < 40; session++)
      for (let turn = 0; turn < 9; turn++)
        add({
          turn: `t${session}-${turn}`,
          session: `s${session}`,
          body: chat(...Array.from({ length: 2 * turn + 1 }, (_, n) => `message ${n}`)),
        });
    const { records: counted, counts } = counting(records);
    const page = await createSessionsApi(counted).sessions({ limit: 3, preview: true });
    expect(page.map(({ id }) => id)).toEqual(['s39', 's38', 's37']);
    expect(page[0]).toMatchObject({ asked: 'message 0', turns: 9 });
    // A manifest and a reply of each; the first request is short, so its parts are in its manifest.
    expect(counts).toEqual({ sessions: 1, turns: 6, block: 6, rewards: 6, judgements: 3 });
  });

  it('is missing where the content was erased, and no error', async () => {
    const { store, records, add } = createRecord();
    add({ turn: 't1', session: 's1', body: chat('secret plans') });
    store.erase('s1', 1, 'asked for');
    const api = createSessionsApi(records);
    const [session] = await api.sessions({ limit: 9, preview: true });
    expect(session).toMatchObject({ erased: true });
    expect(JSON.stringify([session, await api.session('s1', { full: true })])).not.toContain('secret plans');
  });
});

describe('a session', () => {
  it('shows a person’s mark at once, and the appraisal that knows it when there is one', async () => {
    const { records, add, append } = createRecord();
    add({ turn: 't1', session: 's1', body: chat('one') });
    const appraise = (verdict: 'success' | 'failure', reward: number, source: 'signal' | 'person') =>
      append({
        type: 'turn-appraised',
        turn: 't1',
        session: 's1',
        scope: { agent: 'a' },
        generation: 0,
        verdict,
        reward,
        source,
        signals: [],
        digests: [],
      });
    const shown = async () => turnsOf(await createSessionsApi(records).session('s1'))[0];
    appraise('success', 0.8, 'signal');
    expect(await shown()).toMatchObject({ verdict: 'success', reward: 0.8, judgedBy: 'signal' });
    expect(await shown()).not.toHaveProperty('mark');
    append({ type: 'reward-given', turn: 't1', source: 'person', score: -1, note: 'no' });
    expect(await shown()).toMatchObject({
      verdict: 'failure',
      judgedBy: 'person',
      mark: { source: 'person', score: -1, note: 'no' },
    });
    expect(await shown()).not.toHaveProperty('reward');
    appraise('failure', 0, 'person');
    expect(await shown()).toMatchObject({ verdict: 'failure', reward: 0, mark: { score: -1 } });
  });

  const worked = () => {
    const record = createRecord();
    const { add } = record;
    const call = { type: 'tool_use', id: 'c1', name: 'bash', input: { command: 'ls' } };
    const result = { type: 'tool_result', tool_use_id: 'c1', content: 'a.ts\nb.ts', is_error: true };
    const first = { role: 'user', content: `${REMINDER}\nlist the files` };
    add({
      turn: 't1',
      session: 's1',
      body: chat(first),
      reply: [
        { type: 'text', text: 'I look.' },
        { type: 'tool-call', id: 'c1', name: 'bash', arguments: '{"command":"ls"}' },
      ],
    });
    add({ turn: 't2', session: 's1', role: 'aux', body: chat('make a title') });
    const next = [first, { role: 'assistant', content: [call] }, { role: 'user', content: [result] }];
    add({ turn: 't3', session: 's1', body: chat(...next) });
    add({
      turn: 't4',
      session: 's1',
      body: chat(...next, { role: 'assistant', content: 'Done.' }, 'thank you'),
    });
    return record;
  };

  it('says of each turn what was asked and answered, which tools were called, and which work goes on', async () => {
    const session = await createSessionsApi(worked().records).session('s1');
    expect(session).toMatchObject({ id: 's1', turnCount: 4, rewards: [] });
    expect(session?.turns).toMatchObject([
      { id: 't1', n: 1, asked: 'list the files', answered: 'I look.', calls: ['bash'] },
      { id: 't2', n: 2, role: 'aux' },
      { id: 't3', n: 3, results: 1, answered: 'Done.' },
      { id: 't4', n: 4, asked: 'thank you' },
    ]);
    expect(turnsOf(session)[2]).not.toHaveProperty('asked');
  });

  it('has whole texts on request: new messages alone, tool calls and their results', async () => {
    const session = await createSessionsApi(worked().records).session('s1', { full: true });
    expect(session?.turns).toMatchObject([
      {
        messages: [{ role: 'user', text: `${REMINDER}\nlist the files` }],
        reply: [{ type: 'text' }, { type: 'tool-call', name: 'bash', arguments: '{"command":"ls"}' }],
      },
      {},
      { messages: [{ role: 'tool', callId: 'c1', text: 'a.ts\nb.ts', isError: true }] },
      { messages: [{ role: 'user', text: 'thank you' }] },
    ]);
  });

  it('is shown in pages with numbers that stay, without auxiliary calls, which are counted', async () => {
    const api = createSessionsApi(worked().records);
    const page = async (part: Parameters<typeof api.session>[1]) => {
      const { turns, earlier, later, hidden } = (await api.session('s1', part)) ?? {};
      return {
        numbers: asArray(turns)
          .map(asObject)
          .map(({ n }) => n),
        earlier,
        later,
        hidden,
      };
    };
    expect(await page({ limit: 2, hidesAux: true })).toEqual({ numbers: [3, 4], earlier: 1, hidden: 1 });
    expect(await page({ from: 1, limit: 1, hidesAux: true })).toEqual({ numbers: [1], later: 3, hidden: 1 });
    expect(await page({ from: 2, limit: 2 })).toEqual({ numbers: [2, 3], earlier: 1, later: 4 });
    expect(await page({ from: 9 })).toEqual({ numbers: [] });
  });

  it('of many turns is read from its end: a page costs the same after 300 turns', async () => {
    const { records, add } = createRecord();
    const messages: string[] = [];
    for (let turn = 0; turn < 300; turn++) {
      messages.push(`question ${turn} ${'x'.repeat(2000)}`);
      add({ turn: `t${turn}`, session: 's1', body: chat(...messages) });
      messages.push('Done.');
    }
    const { records: counted, counts } = counting(records);
    const session = await createSessionsApi(counted).session('s1', { limit: 3 });
    expect(turnsOf(session).map(({ asked }) => String(asked).slice(0, 12))).toEqual([
      'question 297',
      'question 298',
      'question 299',
    ]);
    expect(counts.block).toBeLessThan(40);
  });

  it('says what is damaged or was not kept, and shows the rest', async () => {
    const { records, add } = worked();
    add({
      turn: 't5',
      session: 's1',
      unreadable: { why: 'not-json', bytes: 9 },
      ended: { status: 'refused' },
    });
    const damaged: Records = {
      ...records,
      block: async (name) => {
        if (name === 'request:t1') throw new StoreError('corrupt', 'damaged');
        return records.block(name);
      },
    };
    const turns = turnsOf(await createSessionsApi(damaged).session('s1'));
    expect(turns[0]).toMatchObject({ missing: expect.stringContaining('damaged'), answered: 'I look.' });
    expect(turns[4]).toMatchObject({ status: 'refused', unreadable: { request: 'not-json' } });
    expect(turns[4]).not.toHaveProperty('missing');
  });
});

describe('the newest turn', () => {
  it('is the newest main one that has ended (not an auxiliary, side, training, running or erased one)', async () => {
    const { store, records, add } = createRecord();
    const api = createSessionsApi(records);
    expect(await api.newestTurn({})).toBeUndefined();
    add({ turn: 't1', session: 's1', body: chat('write the export') });
    add({ turn: 't2', session: 's1', role: 'aux', body: chat('make a title') });
    add({ turn: 't3', session: 's1', role: 'side', body: chat('search') });
    add({ turn: 't4', session: 's2', runKind: 'train', body: chat('a task') });
    add({ turn: 't5', session: 's3', role: 'aux', body: chat('another title') });
    add({ turn: 't6', session: 's4', body: chat('gone') });
    store.erase('s4', 1, 'asked for');
    add({ turn: 't7', session: 's5', body: chat('still running'), ended: false });
    expect(await api.newestTurn({})).toMatchObject({
      id: 't1',
      session: 's1',
      asked: 'write the export',
      answered: 'Done.',
      isLearnedFrom: true,
    });
  });

  it('is of the named agent, or of the first project that has one', async () => {
    const { records, add } = createRecord();
    const api = createSessionsApi(records);
    add({ turn: 't1', session: 's1', agent: 'a', project: { id: 'p1', label: 'one' } });
    add({ turn: 't2', session: 's2', agent: 'b', project: { id: 'p2', label: 'two' } });
    add({ turn: 't3', session: 's3', agent: 'b', caller: 'anonymous' });
    const newest = async (query: Parameters<typeof api.newestTurn>[0]) => (await api.newestTurn(query))?.id;
    expect(await newest({})).toBe('t3');
    expect(await newest({ agent: 'a' })).toBe('t1');
    expect(await newest({ projects: ['p9', 'p1', 'p2'] })).toBe('t1');
    expect(await newest({ agent: 'b', projects: ['p1'] })).toBeUndefined();
    expect(await api.turn('t3')).toMatchObject({ isLearnedFrom: false, caller: 'anonymous' });
  });

  it('that goes on after a tool’s result has the question it works on', async () => {
    const { records, add } = createRecord();
    const messages: (string | object)[] = ['rename all files'];
    for (let step = 0; step < 40; step++)
      messages.push(
        { role: 'assistant', content: [{ type: 'tool_use', id: `c${step}`, name: 'mv', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${step}`, content: 'ok' }] },
      );
    add({ turn: 't1', session: 's1', body: chat(...messages) });
    expect(await createSessionsApi(records).newestTurn({})).toMatchObject({ asked: 'rename all files' });
  });
});
