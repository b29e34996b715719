import type { Fact } from '../../src/core/fact.ts';
import type { Json } from '../../src/core/json.ts';
import { formatTurnBodyKey, type Records, type Store } from '../../src/core/store.ts';
import type { WireName } from '../../src/core/wire.ts';
import { toRecords } from '../../src/record/records.ts';
import { createRequestEncoder } from '../../src/record/request-manifest.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { end, start } from '../record/store/facts.ts';

type StartFact = Extract<Fact, { type: 'turn-start' }>;
type EndFact = Extract<Fact, { type: 'turn-end' }>;

interface RecordedTurn extends Partial<StartFact> {
  readonly turn: string;
  readonly session: string;
  readonly body?: object;
  readonly reply?: readonly object[];
  /** Undefined: the turn ends. */
  readonly ended?: false | Partial<EndFact>;
}

/** A record in memory, written as the recorder writes it. One turn per second. */
export function createRecord(): {
  readonly store: Store;
  readonly records: Records;
  add(turn: RecordedTurn): void;
  append(fact: Fact): void;
} {
  const store = createMemoryStore();
  const encoder = createRequestEncoder((value: Json) => JSON.stringify(value));
  let now = Date.UTC(2026, 10, 16);
  const tick = (): number => {
    now += 1000;
    return now;
  };
  const append = (fact: Fact): void => void store.append({ facts: [{ at: tick(), fact }] });
  return {
    store,
    records: toRecords(store, () => now),
    append,
    add: ({ turn, session, body, reply, ended, ...more }) => {
      const wire: WireName = more.wire ?? 'anthropic';
      const request = formatTurnBodyKey({ turn, part: 'request' });
      const name = formatTurnBodyKey({ turn, part: 'reply' });
      const blocks = body && encoder.keep(request, session, wire, Buffer.from(JSON.stringify(body)));
      const text = JSON.stringify({ content: reply ?? [{ type: 'text', text: 'Done.' }], stop: 'end' });
      store.append({
        facts: [{ at: tick(), fact: start(turn, session, { ...more, wire, ...(body && { request }) }) }],
        blocks: blocks ?? [],
      });
      if (ended !== false)
        store.append({
          facts: [{ at: now + 500, fact: end(turn, { reply: name, ...ended }) }],
          blocks: [{ hash: name, text, session }],
        });
    },
  };
}

/** A request of the Messages API: a person's messages and the replies between them. */
export const chat = (...messages: readonly (string | object)[]): object => ({
  model: 'fast',
  max_tokens: 9,
  messages: messages.map((message, index) =>
    typeof message === 'string'
      ? { role: index % 2 === 0 ? 'user' : 'assistant', content: message }
      : message,
  ),
});
