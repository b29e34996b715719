import { describe, expect, it } from 'vitest';
import type { AssistantPart, ChatMessage } from '../../src/core/chat.ts';
import type { LabelledSpan } from '../../src/core/reading.ts';
import type { NewFact, TurnView } from '../../src/core/store.ts';
import { createEvidenceReader } from '../../src/evidence/evidence-reader.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';

const start = (turn: string, session: string, caller?: string): NewFact => ({
  at: 1,
  fact: {
    type: 'turn-start',
    turn,
    session,
    agent: 'app',
    role: 'main',
    wire: 'openai-chat',
    model: 'm',
    generation: 3,
    policy: 'p/m',
    lessons: [],
    ...(caller === undefined ? {} : { caller }),
  },
});
const end = (turn: string): NewFact => ({
  at: 2,
  fact: { type: 'turn-end', turn, status: 'complete', httpStatus: 200, totalMs: 1 },
});
const wrong = (turn: string): NewFact => ({
  at: 3,
  fact: { type: 'reward-given', turn, source: 'person', score: -1 },
});

/** A reader over a session of these turns; each request continues the one before. */
function open(turns: readonly string[], mostCharacters?: number, caller?: string, question = 'question') {
  const store = createMemoryStore();
  const records = toRecords(store, () => 5);
  store.append({ facts: turns.flatMap((turn) => [start(turn, 's', caller), end(turn)]) });
  const decoded: string[] = [];
  const decode = async (view: TurnView) => {
    decoded.push(view.id);
    const nth = Number(view.id.slice(1));
    const messages = Array.from({ length: nth }, (_, at): ChatMessage[] => [
      { role: 'user', content: [{ type: 'text', text: `${question} ${at + 1}` }] },
      { role: 'assistant', content: [{ type: 'text', text: 'answer' }] },
    ]).flat();
    const request = { model: 'm', system: [], messages: messages.slice(0, -1), tools: [], stream: false };
    return { view, request, reply: [{ type: 'text' as const, text: 'answer' }], stop: 'end' as const };
  };
  const reader = createEvidenceReader(
    { ...records, decoder: () => decode },
    mostCharacters === undefined ? {} : { mostCharacters },
  );
  return { reader, store, decoded };
}

/** A session whose first turn fails to edit `a.ts`; the second reads it, the third edits it again with this result. */
function openEdits(again: string) {
  const store = createMemoryStore();
  const records = toRecords(store, () => 5);
  const call = (id: string, name: string): AssistantPart => ({
    type: 'tool-call',
    id,
    name,
    arguments: JSON.stringify({ file_path: 'a.ts', old_string: id, new_string: 'x' }),
  });
  const replies: readonly AssistantPart[] = [
    call('1', 'Edit'),
    call('2', 'Read'),
    call('3', 'Edit'),
    call('4', 'Read'),
  ];
  const results = ['String to replace not found in file.', 'const a = 1;', again, ''];
  const decode = async (view: TurnView) => {
    const nth = Number(view.id.slice(1));
    const said = replies.slice(0, nth - 1).flatMap((part, at): ChatMessage[] => [
      { role: 'assistant', content: [part] },
      { role: 'tool', callId: String(at + 1), content: [{ type: 'text', text: results[at] ?? '' }] },
    ]);
    const messages: ChatMessage[] = [
      { role: 'user', content: [{ type: 'text', text: 'Rename it' }] },
      ...said,
    ];
    const reply = replies.slice(nth - 1, nth);
    return {
      view,
      request: { model: 'm', system: [], messages, tools: [], stream: false },
      reply,
      stop: 'tool-calls' as const,
    };
  };
  const reader = createEvidenceReader({ ...records, decoder: () => decode });
  const add = (turn: string) => store.append({ facts: [start(turn, 's'), end(turn)] });
  return { reader, add };
}

describe('a failed edit', () => {
  it.each([
    ['is no failure once one of the next turns made it', 'The file a.ts has been updated.', 'ambiguous'],
    ['stays a failure when it fails again', 'String to replace not found in file.', 'failure'],
  ])('%s', async (_, again, verdict) => {
    const { reader, add } = openEdits(again);
    let first: string | undefined;
    for (const turn of ['t1', 't2', 't3', 't4']) {
      add(turn);
      const looked = await reader.affectedTurns('s', [turn]);
      first = looked.find(({ evidence }) => evidence.turn === 't1')?.appraisal.verdict ?? first;
      if (turn === 't2') expect(first).toBe('failure');
    }
    expect(first).toBe(verdict);
  });
});

describe('the evidence reader', () => {
  it('decodes and appraises each turn once for appraisal, session end, learners and judge', async () => {
    const { reader, decoded } = open(['t1', 't2', 't3']);
    const looked = await reader.affectedTurns('s', ['t1', 't2', 't3']);
    expect(looked.map(({ evidence }) => [evidence.turn, evidence.task, evidence.next?.user])).toEqual([
      ['t1', 'question 1', 'question 2'],
      ['t2', 'question 2', 'question 3'],
      ['t3', 'question 3', undefined],
    ]);
    expect(looked.map(({ generation }) => generation)).toEqual([3, 3, 3]);
    const all = await reader.turns('s');
    const [judged] = await reader.turns('s', ['t2']);
    for (const [nth, turn] of all.entries()) expect(turn).toBe(looked[nth]);
    expect(judged).toBe(looked[1]);
    expect(decoded).toEqual(['t1', 't2', 't3']);
  });

  it('appraises a turn again when a reward or the next request arrives, and decodes only what is new', async () => {
    const { reader, store, decoded } = open(['t1', 't2']);
    const [first, second] = await reader.turns('s');
    store.append({ facts: [start('t3', 's'), end('t3')] });
    const affected = await reader.affectedTurns('s', ['t3']);
    expect(affected.map(({ evidence }) => evidence.turn)).toEqual(['t2', 't3']);
    expect(affected[0]?.evidence.next?.user).toBe('question 3');
    expect(affected[0]).not.toBe(second);
    expect(decoded).toEqual(['t1', 't2', 't3']);
    store.append({ facts: [wrong('t1')] });
    const [again] = await reader.turns('s', ['t1']);
    expect([first?.appraisal.verdict, again?.appraisal.verdict]).toEqual(['ambiguous', 'failure']);
  });

  it('appraises a turn again when a model has read the message after it, and decodes nothing for that', async () => {
    const { reader, store, decoded } = open(['t1', 't2']);
    const read = (spans: readonly LabelledSpan[]): NewFact => ({
      at: 3,
      fact: { type: 'message-read', session: 's', turn: 't2', model: 'p/m', spans },
    });
    store.append({ facts: [read([])] });
    const [first] = await reader.turns('s');
    expect(first?.evidence.next).toMatchObject({ user: 'question 2', spans: [] });
    const spans: readonly LabelledSpan[] = [{ quote: 'question 2', kind: 'correction' }];
    store.append({ facts: [read(spans)] });
    const [again, next] = await reader.affectedTurns('s', ['t2']);
    expect([first?.appraisal.verdict, again?.appraisal.verdict]).toEqual(['ambiguous', 'failure']);
    expect([again?.evidence.spans, next?.evidence.spans]).toEqual([undefined, spans]);
    expect((await reader.turns('s'))[0]).toBe(again);
    expect(decoded).toEqual(['t1', 't2']);
  });

  it.each(['anonymous', 'unverified'])(
    'reads no correction from a caller that is %s (whoever has no key taught by talking)',
    async (caller) => {
      const said = 'that is wrong, we use ISO dates in this repo';
      expect(await open(['t1', 't2'], undefined, caller, said).reader.turns('s')).toEqual([]);
      const [known] = await open(['t1', 't2'], undefined, 'k_1', said).reader.turns('s');
      expect(known?.appraisal.correction).toEqual({ quotes: [`${said} 2`], isStanding: true });
    },
  );

  it('keeps nothing of an erased session', async () => {
    const { reader, store } = open(['t1']);
    expect(await reader.turns('s')).toHaveLength(1);
    const before = store.turns('s');
    store.erase('s', 5, 'asked for');
    reader.forget('s');
    expect(before).toHaveLength(1);
    expect((await reader.turns('s')).every(({ evidence }) => evidence.session === 's')).toBe(true);
  });

  it('does not keep a session that is longer than its limit', async () => {
    const { reader, decoded } = open(['t1', 't2'], 5);
    await reader.turns('s');
    await reader.turns('s');
    expect(decoded).toEqual(['t1', 't2', 't1', 't2']);
  });
});
