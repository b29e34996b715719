import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/core/chat.ts';
import type { NewFact, TurnView } from '../../src/core/store.ts';
import { createEvidenceReader } from '../../src/evidence/evidence-reader.ts';
import { readCases } from '../../src/evidence/failure-case.ts';
import { writeEvolverPrompt } from '../../src/learn/evolver/evolver-prompt.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';

const user = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const call = (id: string, command: string): Extract<ChatMessage, { role: 'assistant' }> => ({
  role: 'assistant',
  content: [{ type: 'tool-call', id, name: 'Bash', arguments: JSON.stringify({ command }) }],
});
const result = (callId: string, text: string, isError: boolean): ChatMessage => ({
  role: 'tool',
  callId,
  content: [{ type: 'text', text }],
  isError,
});
const says = (text: string): Extract<ChatMessage, { role: 'assistant' }> => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
});

/** The whole session; a turn is one of its replies. */
const talk: readonly ChatMessage[] = [
  user('add zod to the api package'),
  call('c1', 'npm install zod'),
  result('c1', 'npm error code EUNSUPPORTEDPROTOCOL', true),
  says('It is installed.'),
  user('no, we use pnpm here'),
  call('c2', 'pnpm --filter api add zod'),
  result('c2', 'Done in 2s', false),
  says('Now it is installed.'),
];
const REPLIES = [1, 3, 5, 7];

function open() {
  const store = createMemoryStore();
  const records = toRecords(store, () => 5);
  const facts = REPLIES.flatMap((_, nth): NewFact[] => [
    {
      at: nth,
      fact: {
        type: 'turn-start',
        turn: `t${nth}`,
        session: 's',
        agent: 'app',
        role: 'main',
        wire: 'openai-chat',
        model: 'm',
        generation: 1,
        policy: 'p/m',
        lessons: ['l1'],
      },
    },
    { at: nth, fact: { type: 'turn-end', turn: `t${nth}`, status: 'complete', httpStatus: 200, totalMs: 1 } },
  ]);
  const reward = (turn: string, score: number, note: string): NewFact => ({
    at: 9,
    fact: { type: 'reward-given', turn, source: 'person', score, note },
  });
  store.append({ facts: [...facts, reward('t1', -1, 'It is not installed.'), reward('t3', 1, 'Right.')] });
  const decode = async (view: TurnView) => {
    const at = REPLIES[Number(view.id.slice(1))] ?? 0;
    const reply = talk[at];
    const request = { model: 'm', system: [], messages: talk.slice(0, at), tools: [], stream: false };
    return { view, request, reply: reply?.role === 'assistant' ? reply.content : [], stop: 'end' as const };
  };
  return createEvidenceReader({ ...records, decoder: () => decode });
}

describe('a failure as the evolver sees it', () => {
  it('has the turns before it, what the person said, what worked later, and the lessons that it was shown', async () => {
    const failures = await readCases([{ turn: 't1', session: 's', at: 1, scope: { agent: 'app' } }], open());
    expect(failures).toMatchObject([
      {
        turn: 't1',
        shown: ['l1'],
        trajectory: [
          { origin: 'user', text: 'add zod to the api package' },
          { tool: 'Bash', arguments: '{"command":"npm install zod"}', isOk: false },
          { origin: 'assistant', text: 'It is installed.' },
        ],
        resolution: [
          { origin: 'user', text: 'no, we use pnpm here' },
          { arguments: '{"command":"pnpm --filter api add zod"}', isOk: true },
          { origin: 'assistant', text: 'Now it is installed.' },
        ],
      },
    ]);
    const { user: prompt } = writeEvolverPrompt({
      failures,
      skills: [],
      nearest: [],
      maxNewSkills: 1,
      mark: 'mark-1',
    });
    const order = [
      'npm install zod',
      'It is installed.',
      'what people said about it',
      'no, we use pnpm here',
      '[person] It is not installed.',
      'what worked later',
      'pnpm --filter api add zod',
    ];
    const places = order.map((part) => prompt.indexOf(part));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it('is left out when its turn cannot be read any more', async () => {
    expect(await readCases([{ turn: 'gone', session: 's', at: 1, scope: {} }], open())).toEqual([]);
  });

  it('keeps the words of people and the failed turn within the budget, however long the rest is', async () => {
    const [one] = await readCases([{ turn: 't1', session: 's', at: 1, scope: {} }], open());
    if (one === undefined) throw new Error('no case');
    const noise = Array.from({ length: 60 }, (_, n) => ({
      kind: 'message' as const,
      origin: 'assistant' as const,
      text: `noise ${n} ${'x'.repeat(900)}`,
    }));
    const [first, ...rest] = one.trajectory ?? [];
    if (first === undefined) throw new Error('no steps');
    const failures = Array.from({ length: 6 }, (_, n) => ({
      ...one,
      turn: `f${n}`,
      trajectory: [first, ...noise, ...rest],
    }));
    const { user: prompt } = writeEvolverPrompt({
      failures,
      skills: [],
      nearest: [],
      maxNewSkills: 1,
      mark: 'mark-1',
    });
    expect(prompt.length).toBeLessThan(34_000);
    expect(prompt.split('npm install zod').length - 1).toBe(6);
    expect(prompt.split('[person] It is not installed.').length - 1).toBeGreaterThanOrEqual(6);
    expect(prompt).toContain('earlier steps left out');
  });
});
