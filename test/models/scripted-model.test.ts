import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/chat.ts';
import { createScriptedModel, createWelcomeModel } from '../../src/models/scripted-model.ts';
import { runsOf } from '../support/counts.ts';
import { collect, createSignal, END, REPLY, REQUEST, START, say } from './provider.ts';

const options = () => ({ signal: createSignal() });
const textOf = (events: readonly ChatEvent[]) =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');

describe('a scripted model', () => {
  it('streams its text word by word, with estimated token counts', async () => {
    const model = createScriptedModel(() => 'one two  three\n');
    expect(await collect(model(REQUEST, options()))).toEqual([
      { type: 'reply-start', id: 'scripted-1', model: 'asked-for' },
      say('one'),
      say(' two'),
      say('  three'),
      say('\n'),
      { type: 'reply-end', stop: 'end', usage: { inputTokens: 3, outputTokens: 4 } },
    ]);
  });

  it('loses no character of any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        expect(textOf(await collect(createScriptedModel(() => text)(REQUEST, options())))).toBe(text);
      }),
      runsOf(30, 100),
    );
  });

  it('numbers its replies from one, per model', async () => {
    const idsOf = async () => {
      const model = createScriptedModel(() => 'x');
      const replies = [await collect(model(REQUEST, options())), await collect(model(REQUEST, options()))];
      return replies.map(([start]) => start?.type === 'reply-start' && start.id);
    };
    expect(await idsOf()).toEqual(['scripted-1', 'scripted-2']);
    expect(await idsOf()).toEqual(['scripted-1', 'scripted-2']);
  });

  it('yields scripted events unchanged, up to the first terminal one', async () => {
    expect(await collect(createScriptedModel(() => [...REPLY, say('x'), END])(REQUEST, options()))).toEqual(
      REPLY,
    );
    const open = await collect(createScriptedModel(() => [START])(REQUEST, options()));
    expect(open).toMatchObject([START, { type: 'failure', failure: { kind: 'truncated' } }]);
  });

  it('lets other work run between two events', async () => {
    let turns = 0;
    let isOver = false;
    const tick = () => {
      turns++;
      if (!isOver) setImmediate(tick);
    };
    tick();
    await collect(createScriptedModel(() => 'a b c d e')(REQUEST, options()));
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it('stops when the signal aborts', async () => {
    const leaving = new AbortController();
    const events: ChatEvent[] = [];
    for await (const event of createScriptedModel(() => REPLY)(REQUEST, { signal: leaving.signal })) {
      events.push(event);
      if (event.type === 'text-delta') leaving.abort();
    }
    expect(events).toMatchObject([START, say('hello '), { type: 'failure', failure: { kind: 'aborted' } }]);
  });

  it('turns a script that throws into a failure', async () => {
    const model = createScriptedModel(() => {
      throw new Error('torn page');
    });
    expect(await collect(model(REQUEST, options()))).toMatchObject([
      { type: 'failure', failure: { kind: 'internal', message: 'torn page' } },
    ]);
  });
});

describe('the welcome model', () => {
  it('explains how to add a provider, and calls no tool whatever it is offered', async () => {
    const tools = [{ name: 'bash', parameters: {} }];
    const events = await collect(
      createWelcomeModel()({ ...REQUEST, tools, toolChoice: 'required' }, options()),
    );
    expect(events[0]).toMatchObject({ type: 'reply-start', model: 'instar/welcome' });
    expect(events.at(-1)).toMatchObject({ type: 'reply-end', stop: 'end' });
    expect(events.some(({ type }) => type.startsWith('tool'))).toBe(false);
    for (const word of [
      'Instar',
      'scripted',
      'instar init',
      'OPENAI_API_KEY',
      'ANTHROPIC_API_KEY',
      'Ollama',
    ]) {
      expect(textOf(events)).toContain(word);
    }
  });
});
