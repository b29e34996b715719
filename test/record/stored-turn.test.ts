import { describe, expect, it } from 'vitest';
import { formatTurnBodyKey } from '../../src/core/store.ts';
import { toRecords } from '../../src/record/records.ts';
import { createRequestEncoder } from '../../src/record/request-manifest.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { readStoredTurn } from '../../src/record/stored-turn.ts';
import { end, start } from './store/facts.ts';

/** A recorded turn with this request. */
async function recordTurn(body: object, policy: string) {
  const records = toRecords(createMemoryStore(), () => 0);
  const request = formatTurnBodyKey({ turn: 't', part: 'request' });
  const kept = createRequestEncoder((value) => JSON.stringify(value)).keep(
    request,
    's',
    'chat',
    Buffer.from(JSON.stringify(body)),
  );
  if (kept === undefined) throw new Error('nothing was kept');
  await records.append(
    [start('t', 's', { wire: 'openai-chat', request, policy }), end('t')].map((fact) => ({ at: 0, fact })),
    kept,
  );
  const view = await records.turn('t');
  return view && readStoredTurn(view, records, new Map());
}

describe('a recorded turn', () => {
  const messages = [{ role: 'user', content: 'Write a note.' }];

  it('is read with the model that the client named', async () => {
    expect((await recordTurn({ model: 'm1', messages }, 'box/m1'))?.request.model).toBe('m1');
  });

  it('is read without one, too: the config named the model, and the turn can be learned from', async () => {
    const turn = await recordTurn({ messages }, 'box/qwen2.5-coder:1.5b');
    expect(turn?.request).toMatchObject({ model: 'qwen2.5-coder:1.5b', messages: [{ role: 'user' }] });
    expect((await recordTurn({ model: '', messages }, ''))?.request.model).toBe('-');
  });

  it('is not read when it is no request', async () => {
    expect(await recordTurn({ messages: 7 }, 'box/m')).toBeUndefined();
  });
});
