import { describe, expect, it, vi } from 'vitest';
import type { AssistantPart, ChatMessage } from '../../src/core/chat.ts';
import type { NewFact, TurnView } from '../../src/core/store.ts';
import { createEvidenceReader } from '../../src/evidence/evidence-reader.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';

/** Seconds on an idle machine. */
vi.setConfig({ testTimeout: 300_000 });

const TURNS = 1000;
/** As long as a short result of a tool. */
const RESULT = 'line of a result '.repeat(50);

const call = (nth: number): AssistantPart => ({
  type: 'tool-call',
  id: `c${nth}`,
  name: 'Read',
  arguments: JSON.stringify({ file_path: `src/${nth}.ts` }),
});
const messages: readonly ChatMessage[] = [
  { role: 'user', content: [{ type: 'text', text: 'Look at every file, please.' }] },
  ...Array.from({ length: TURNS }, (_, nth): ChatMessage[] => [
    { role: 'assistant', content: [call(nth)] },
    { role: 'tool', callId: `c${nth}`, content: [{ type: 'text', text: `${nth} ${RESULT}` }] },
  ]).flat(),
];

const factsOf = (nth: number): readonly NewFact[] => [
  {
    at: 1,
    fact: {
      type: 'turn-start',
      turn: `t${nth}`,
      session: 's',
      agent: 'app',
      role: 'main',
      wire: 'openai-chat',
      model: 'm',
      generation: 3,
      policy: 'p/m',
      lessons: [],
    },
  },
  {
    at: 2,
    fact: { type: 'turn-end', turn: `t${nth}`, status: 'complete', httpStatus: 200, totalMs: 1 },
  },
];

describe('a session of a thousand turns', () => {
  it('is read turn by turn, and none of its requests again at its end', async () => {
    const store = createMemoryStore();
    const decoded: string[] = [];
    const decode = async (view: TurnView) => {
      decoded.push(view.id);
      const nth = Number(view.id.slice(1));
      const request = {
        model: 'm',
        system: [],
        messages: messages.slice(0, 1 + 2 * nth),
        tools: [],
        stream: false,
      };
      return { view, request, reply: [call(nth)], stop: 'tool-calls' as const };
    };
    const reader = createEvidenceReader({ ...toRecords(store, () => 5), decoder: () => decode });
    for (let nth = 0; nth < TURNS; nth++) {
      store.append({ facts: factsOf(nth) });
      if (nth % 10 === 9)
        await reader.affectedTurns(
          's',
          Array.from({ length: 10 }, (_, back) => `t${nth - back}`),
        );
    }
    expect(decoded.length).toBeLessThan(1.5 * TURNS);
    const before = decoded.length;
    const turns = await reader.turns('s');
    expect(turns).toHaveLength(TURNS);
    expect(turns.at(-1)?.evidence.earlier).toHaveLength(128);
    expect(decoded.length - before).toBeLessThan(5);
  });
});
