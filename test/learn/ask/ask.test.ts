import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Budget, ModelPrice, Spending, SpendingLimits } from '../../../src/core/budget.ts';
import type { ChatModel } from '../../../src/core/chat.ts';
import { createManualClock } from '../../../src/core/clock.ts';
import { createDayBudget } from '../../../src/cost/day-budget.ts';
import { createScriptedModel } from '../../../src/models/scripted-model.ts';
import { asker, failing, idle, question, silent, speaker, text } from './samples.ts';

describe('a question to a learning model', () => {
  it('answers the decoded value, with the model and the hash of the prompt', async () => {
    const { ask } = asker(createScriptedModel(() => 'It is this:\n```json\n{"is": 7}\n```'));
    expect(await ask(question(), idle())).toMatchObject({
      ok: true,
      value: { is: 7 },
      model: 'test/tiny',
      prompt: createHash('sha256').update('You answer.\0What is it?').digest('hex'),
      cost: { calls: 1 },
    });
  });

  it('offers no tools and sends the question', async () => {
    const { model, requests } = speaker(text('{}'));
    await asker(model).ask({ ...question(), temperature: 0.6 }, idle());
    expect(requests).toMatchObject([
      {
        model: 'test/tiny',
        tools: [],
        maxTokens: 100,
        temperature: 0.6,
        system: [{ text: 'You answer.' }],
        messages: [{ role: 'user', content: [{ text: 'What is it?' }] }],
      },
    ]);
    await asker(model).ask(question(), idle());
    expect(requests[1]).not.toHaveProperty('temperature');
  });

  it('asks once more and quotes the fault, and counts both calls', async () => {
    const { model, requests } = speaker(text('{"is": 1}'), text('{"is": 2}'));
    const { ask } = asker(model);
    const answer = await ask(
      question((value) =>
        JSON.stringify(value) === '{"is":2}' ? { ok: true, value } : { ok: false, why: '"is" must be 2' },
      ),
      idle(),
    );
    expect(answer).toMatchObject({ ok: true, value: { is: 2 }, cost: { calls: 2 } });
    expect(requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(requests[1]?.messages[1])).toContain('is');
    expect(JSON.stringify(requests[1]?.messages[2])).toContain('must be 2');
  });

  it('gives up after the second reply (not after a third)', async () => {
    const { model, requests } = speaker(text('nothing'));
    const answer = await asker(model).ask(question(), idle());
    expect(answer).toMatchObject({ ok: false, isRetryable: false, cost: { calls: 2 } });
    expect(answer).toHaveProperty('why', expect.stringContaining('it holds no JSON'));
    expect(requests).toHaveLength(2);
  });

  it('quotes no empty text when the first reply was empty', async () => {
    const { model, requests } = speaker(text(''), text('[]'));
    expect(await asker(model).ask(question(), idle())).toMatchObject({ ok: true, value: [] });
    expect(requests[1]?.messages[1]).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: '(nothing)' }],
    });
  });

  it('reports a reply that was cut off, whatever is left of it', async () => {
    const cut = text('{"is": {"x": 1}}').map((event) =>
      event.type === 'reply-end' ? { ...event, stop: 'length' as const } : event,
    );
    const { model, requests } = speaker(cut, text('{"is": 2}'));
    await asker(model).ask(
      question(() => ({ ok: false, why: 'no' })),
      idle(),
    );
    expect(JSON.stringify(requests[1]?.messages[2])).toContain('cut off after 100 tokens');
  });

  it.each([
    ['rate-limited', true],
    ['overloaded', true],
    ['unreachable', true],
    ['unauthorized', true],
    ['truncated', true],
    ['bad-request', false],
    ['too-large', false],
  ] as const)('maps %s to isRetryable %s', async (kind, isRetryable) => {
    const answer = await asker(speaker(failing(kind)).model).ask(question(), idle());
    expect(answer).toMatchObject({ ok: false, isRetryable, why: `${kind}: it was ${kind}` });
    expect(answer.cost).toMatchObject({ calls: 1, usd: 0 });
  });

  it('makes no call when the signal is already aborted', async () => {
    const { model, requests } = speaker(text('{}'));
    expect(await asker(model).ask(question(), AbortSignal.abort())).toMatchObject({
      ok: false,
      isRetryable: true,
    });
    expect(requests).toHaveLength(0);
  });

  it('ends in the middle of a reply when the signal aborts, even if the model ignores it', async () => {
    const leaving = new AbortController();
    const deaf: ChatModel = async function* () {
      yield { type: 'reply-start', id: 'r', model: 'm' };
      yield { type: 'text-delta', text: 'x'.repeat(400) };
      leaving.abort();
      await new Promise(() => undefined);
    };
    const answer = await asker(deaf).ask(question(), leaving.signal);
    expect(answer).toMatchObject({ ok: false, isRetryable: true, why: 'aborted: learning was stopped' });
    expect(answer.cost).toMatchObject({ calls: 1, outputTokens: 100 });
  });

  it('stops waiting for a model that never answers after the timeout', async () => {
    const { ask } = asker(silent, { timeoutMs: 5 });
    expect(await ask(question(), idle())).toMatchObject({
      ok: false,
      isRetryable: true,
      why: expect.stringMatching(/^timeout: /),
    });
  });

  it('aborts the model when it stops reading', async () => {
    let isTold = false;
    const listening: ChatModel = async function* (_, { signal }) {
      signal.addEventListener('abort', () => {
        isTold = true;
      });
      yield* text('[]');
    };
    await asker(listening).ask(question(), idle());
    expect(isTold).toBe(true);
  });

  it('turns a model that throws into an answer (not a rejection)', async () => {
    const broken: ChatModel = () => {
      throw new Error('no such model');
    };
    expect(await asker(broken).ask(question(), idle())).toMatchObject({
      ok: false,
      isRetryable: false,
      why: 'internal: no such model',
    });
  });

  it('turns a reader that throws into a fault (not a rejection)', async () => {
    const answer = await asker(speaker(text('{}')).model).ask(
      question(() => {
        throw new Error('oops');
      }),
      idle(),
    );
    expect(answer).toMatchObject({ ok: false, isRetryable: false, why: expect.stringContaining('oops') });
  });

  it('stops reading after 1 MB', async () => {
    let sent = 0;
    const flood: ChatModel = async function* () {
      yield { type: 'reply-start', id: 'r', model: 'm' };
      for (; sent < 100; sent++) yield { type: 'text-delta', text: 'x'.repeat(100_000) };
      yield { type: 'reply-end', stop: 'end' };
    };
    const answer = await asker(flood).ask(question(), idle());
    expect(answer).toMatchObject({ ok: false, why: expect.stringContaining('longer than 1 MB') });
    expect(sent).toBeLessThan(30);
  });

  it('sends no lone surrogates', async () => {
    const { model, requests } = speaker(text('[]'));
    await asker(model).ask({ ...question(), user: 'a\ud800b' }, idle());
    expect(requests[0]?.messages[0]?.content).toEqual([{ type: 'text', text: 'a\ufffdb' }]);
  });

  it('writes each call and its fault to the journal', async () => {
    const notes: string[] = [];
    const { model } = speaker(text('nothing'), text('[]'));
    await asker(model, { journal: (note) => notes.push(note) }).ask(question(), idle());
    expect(notes).toHaveLength(2);
    expect(notes[0]).toMatch(/^test: test\/tiny, call 1.*it holds no JSON$/);
  });
});

const LISTED: ModelPrice = { from: 'list', price: { input: 0.75, output: 4.5 }, isLocal: false };
const UNKNOWN: ModelPrice = { from: 'unknown', isLocal: false };

describe('the cost of a question', () => {
  it('is computed from the provider’s token counts', async () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 100_000 };
    const { ask } = asker(speaker(text('[]', usage)).model, { price: LISTED });
    expect((await ask(question(), idle())).cost).toEqual({ calls: 1, ...usage, usd: 0.75 + 0.45 });
  });

  it('is no money but tokens when the price is unknown (not the highest price)', async () => {
    const usage = { inputTokens: 12_000, outputTokens: 300 };
    const notes: string[] = [];
    const { ask } = asker(speaker(text('[]', usage)).model, {
      price: UNKNOWN,
      journal: (note) => notes.push(note),
    });
    const { cost } = await ask(question(), idle());
    expect(cost).toEqual({ calls: 1, ...usage, usd: 0, unpricedTokens: 12_300 });
    expect(notes[0]).toContain('12300 tokens, price unknown');
  });

  it('is estimated at four characters a token when the counts are missing or invalid', async () => {
    for (const usage of [undefined, { inputTokens: Number.NaN, outputTokens: -1 }]) {
      const { ask } = asker(speaker(text('[1234567]', usage)).model);
      expect((await ask(question(), idle())).cost).toMatchObject({ inputTokens: 6, outputTokens: 3 });
    }
  });

  it('is reserved before the call and settled after it; the second call is not made when it would overrun', async () => {
    const budget = budgetOf({ tokens: 200 });
    const during: number[] = [];
    const usage = { inputTokens: 50, outputTokens: 90 };
    const talker = speaker(text('nothing', usage));
    const model: ChatModel = async function* (request, options) {
      during.push(budget.spent().tokens);
      yield* talker.model(request, options);
    };
    const answer = await asker(model, { budget }).ask(question(), idle());
    expect(answer).toMatchObject({ ok: false, isRetryable: true, cost: { calls: 1 } });
    expect(answer).toHaveProperty('why', expect.stringContaining('learn.budget.tokensPerDay'));
    expect(talker.requests).toHaveLength(1);
    // The longest reply has 100 tokens, and the question some.
    expect(during[0]).toBeGreaterThan(100);
    expect(budget.spent()).toMatchObject({ calls: 1, tokens: 140 });
  });

  it('never passes the limit, however many questions are asked at once', async () => {
    const budget = budgetOf({ usd: 0.001 });
    const { model, requests } = speaker(text('[]', { inputTokens: 20, outputTokens: 100 }));
    const { ask } = asker(model, { budget, price: LISTED });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(question(), idle())));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(requests.length);
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.length).toBeLessThan(20);
    expect(budget.spent().usd).toBeLessThanOrEqual(0.001);
  });

  it('prevents the first call when nothing is left, and the model is not asked', async () => {
    const { model, requests } = speaker(text('[]'));
    const budget = budgetOf({ usd: 1 }, { usd: 1 });
    expect(await asker(model, { budget, price: LISTED }).ask(question(), idle())).toMatchObject({
      ok: false,
      isRetryable: true,
    });
    expect(requests).toHaveLength(0);
  });

  it('asks a model that costs nothing when no money may be spent, but none whose price is unknown', async () => {
    const { model } = speaker(text('[]'));
    const budget = budgetOf({ usd: 0, tokens: 1000 });
    expect((await asker(model, { budget }).ask(question(), idle())).ok).toBe(true);
    const refused = await asker(model, { budget, price: UNKNOWN, name: 'acme/foo' }).ask(question(), idle());
    expect(refused).toMatchObject({ ok: false, why: expect.stringContaining('acme/foo is unknown') });
  });
});

const budgetOf = (limits: SpendingLimits, spent: Partial<Spending> = {}): Budget =>
  createDayBudget({ limits, spent, setting: 'learn.budget', clock: createManualClock() });
