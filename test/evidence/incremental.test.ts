import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import type { AssistantPart, ChatMessage } from '../../src/core/chat.ts';
import type { DecodedTurn, NewFact, TurnView } from '../../src/core/store.ts';
import { createEvidenceReader } from '../../src/evidence/evidence-reader.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { countOf } from '../support/counts.ts';

const RUNS = countOf(5, 12);
const STEPS = 50;

/** A few sessions at once: their turns begin, end, fail, are corrected, rated and erased in an order that the seed draws. */
function openDay(seed: number) {
  const random = createRandom(`day ${seed}`).next;
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const store = createMemoryStore();
  const records = toRecords(store, () => 5);
  const said = new Map<string, Omit<DecodedTurn, 'view'>>();
  const history = new Map<string, ChatMessage[]>();
  const running: string[] = [];
  const ended: string[] = [];
  let count = 0;
  const append = (fact: NewFact['fact']): void => void store.append({ facts: [{ at: count, fact }] });

  const begin = (session: string): void => {
    const turn = `t${++count}`;
    const messages = history.get(session) ?? [];
    const last = messages.at(-1);
    const call =
      last?.role === 'assistant' ? last.content.find(({ type }) => type === 'tool-call') : undefined;
    const next: ChatMessage =
      call?.type === 'tool-call'
        ? {
            role: 'tool',
            callId: call.id,
            content: [
              {
                type: 'text',
                text: pick(['Error: old_string not found in file', 'ok', 'Exit code 1\nboom']) ?? '',
              },
            ],
          }
        : {
            role: 'user',
            content: [
              {
                type: 'text',
                text: pick(['Fix it.', 'No. We never use floats here.', 'Thanks!', 'That is wrong.']) ?? '',
              },
            ],
          };
    const request = { model: 'm', system: [], messages: [...messages, next], tools: [], stream: false };
    const reply: readonly AssistantPart[] =
      random() < 0.5
        ? [{ type: 'text', text: `answer ${count}` }]
        : [
            {
              type: 'tool-call',
              id: `c${count}`,
              name: 'edit_file',
              arguments: JSON.stringify({ path: pick(['a.ts', 'b.ts']), old_string: 'x', new_string: 'y' }),
            },
          ];
    history.set(session, [...request.messages, { role: 'assistant', content: [...reply] }]);
    said.set(turn, { request, reply, stop: 'end' });
    append({
      ...{ type: 'turn-start', turn, session, agent: 'app', role: 'main', wire: 'openai-chat', model: 'm' },
      ...{ generation: 0, policy: 'p/m', lessons: [], request: `request:${turn}` },
    });
    running.push(turn);
  };
  const steps: readonly (() => void)[] = [
    () => begin(pick(['s1', 's2', 's3']) ?? 's1'),
    () => begin('s1'),
    () => {
      // Not always in the order in which they began.
      const [turn] = running.splice(Math.floor(random() * running.length), 1);
      if (turn === undefined) return;
      append({
        type: 'turn-end',
        turn,
        status: random() < 0.9 ? 'complete' : 'upstream-error',
        httpStatus: 200,
        totalMs: 1,
      });
      ended.push(turn);
    },
    () => {
      const turn = pick(ended);
      if (turn !== undefined)
        append({ type: 'reward-given', turn, source: 'person', score: random() < 0.5 ? 1 : -1 });
    },
    () => append({ type: 'reward-given', session: 's2', source: 'person', score: -1 }),
    () => {
      if (random() > 0.1) return;
      store.erase('s3', count, 'by its owner');
      history.delete('s3');
    },
  ];
  const decode = async (view: TurnView): Promise<DecodedTurn | undefined> => {
    const turn = view.request === undefined ? undefined : said.get(view.id);
    return turn && { ...turn, view };
  };
  return {
    random,
    step: () => pick([...steps, ...steps.slice(0, 3), ...steps.slice(1, 3)])?.(),
    reader: (mostCharacters?: number) =>
      createEvidenceReader(
        { ...records, decoder: () => decode },
        mostCharacters === undefined ? {} : { mostCharacters },
      ),
  };
}

describe('evidence that is read as it arrives', () => {
  it('is the same as evidence that is read from the beginning, whatever was read before and whatever was dropped', async () => {
    let compared = 0;
    for (let seed = 1; seed <= RUNS; seed++) {
      const day = openDay(seed);
      // The second one keeps almost nothing.
      const readers = [day.reader(), day.reader(2000)];
      for (let at = 0; at < STEPS; at++) {
        day.step();
        if (day.random() < 0.7) continue;
        for (const session of ['s1', 's2', 's3']) {
          const fresh = await day.reader().turns(session);
          compared += fresh.length;
          for (const reader of readers) expect(await reader.turns(session)).toEqual(fresh);
        }
      }
    }
    expect(compared).toBeGreaterThan(42 * RUNS);
  });
});
