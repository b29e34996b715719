import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, asString } from '../../src/core/json.ts';
import { chooseTier } from '../../src/overlays/router/choose-tier.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { chatBody, createStage, type InstarHere, replyWith } from '../config/settings/instar-here.ts';
import { type Answer, ask } from '../support/client.ts';
import { lessonText } from '../support/lesson-text.ts';
import type { Provider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };
const NOTHING = { cheap: { weight: 0, success: 0 }, strong: { weight: 0, success: 0 } };
const CHEAP = 'small/mini';
const STRONG = 'large/max';
const stage = createStage();
let small: Provider;
let large: Provider;
let isSmallBroken = false;

/** Sessions that the hash does not draw for the other tier. */
let names = 0;
function plainSession(): string {
  for (;;) {
    const session = `plain-${++names}`;
    const asked = { session, evidence: NOTHING, saving: 0.5, pressure: 0, bias: 0, mayExplore: true };
    if (chooseTier(asked).tier === 'strong') return session;
  }
}

const price = (input: number) => ({ input, output: 10 * input });
const daemon = (name: string, router: object): Promise<InstarHere> => {
  const entry = (url: string, input: number) => ({
    wire: 'openai-chat',
    baseUrl: `${url}/v1`,
    keyEnv: 'K',
    price: price(input),
  });
  return stage.open(
    name,
    {
      providers: { small: entry(small.url, 0.1), large: entry(large.url, 1) },
      models: { default: STRONG, evolver: 'off', judge: 'off' },
      router: { cheap: CHEAP, strong: STRONG, ...router },
    },
    { env: { K: 'k-0000000000000000' } },
  );
};
const answerOf = ({ text }: Answer): string =>
  asString(asObject(asObject(asArray(asObject(JSON.parse(text)).choices)[0]).message).content) ?? text;
const auto = (instar: InstarHere, session: string, text = 'Rename the variable total in cart.ts') =>
  instar.chat(text, { model: 'instar/auto', session });
const choicesOf = ({ dir }: InstarHere, session: string) => {
  const reader = openSqliteReader(`${dir}/instar.sqlite`);
  const facts = reader.recalls(session).map(({ fact }) => fact);
  reader.close();
  return facts.flatMap((fact) => (fact.type === 'overlays-applied' ? [fact] : []));
};
const scoresOf = ({ dir }: InstarHere, session: string) => {
  const reader = openSqliteReader(`${dir}/instar.sqlite`);
  const facts = reader.judgements(session, 'session-scored').map(({ fact }) => fact);
  reader.close();
  return facts;
};
const hint = (tier: 'cheap' | 'strong', bias: number, id: string) => ({
  changes: [
    {
      op: 'add',
      id,
      kind: 'route',
      state: 'live',
      text: lessonText({
        name: id,
        description: 'Which model to use.',
        content: `Use the ${tier} model.`,
        overlay: { payload: { type: 'routing_hint', tier, bias } },
      }),
    },
  ],
});

beforeAll(async () => {
  small = await stage.provider('small', (request, response) => {
    if (isSmallBroken) response.writeHead(500).end('{}');
    else replyWith(response, `small answers as ${chatBody(request).model}`);
  });
  large = await stage.provider('large', (request, response) =>
    replyWith(response, `large answers as ${chatBody(request).model}`),
  );
});
afterAll(() => stage.close());

describe('a router between two models', () => {
  it('answers instar/auto with the strong model while nothing is measured, and lists the name (cheap, strong)', async () => {
    const instar = await daemon('auto', {});
    const headers = { authorization: `Bearer ${instar.key}` };
    const models = await ask(instar.port, { method: 'GET', path: '/v1/models', headers });
    expect(models.text).toContain('"instar/auto"');
    const session = plainSession();
    const reply = await auto(instar, session);
    expect(answerOf(reply)).toBe('large answers as max');
    expect(reply.headers['x-instar-route']).toBe(`strong ${STRONG}`);
    await vi.waitFor(() => expect(choicesOf(instar, session)).toHaveLength(1), SOON);
    expect(choicesOf(instar, session)[0]).toMatchObject({
      tier: 'strong',
      target: STRONG,
      reason: expect.stringContaining('not measured'),
      lessons: [],
    });
    const why = await instar.owner('GET', `/api/turns/${String(reply.headers['x-instar-turn'])}/why`);
    expect(why.route).toMatchObject({ tier: 'strong', reason: expect.stringContaining('not measured') });
    const status = asObject((await instar.owner('GET', '/api/status')).router);
    expect(status.line).toBe(
      `cheap ${CHEAP}, strong ${STRONG}, for requests for instar/auto; 0 scored sessions`,
    );
  });

  it('leaves requests that name a model alone with for: auto, and routes them with for: all', async () => {
    const [some, all] = [await daemon('auto', {}), await daemon('all', { for: 'all' })];
    const ask1 = { model: CHEAP, session: plainSession() };
    const direct = await some.chat('Hello there', ask1);
    expect(answerOf(direct)).toBe('small answers as mini');
    expect(direct.headers['x-instar-route']).toBeUndefined();
    const routed = await all.chat('Hello there', ask1);
    expect(answerOf(routed)).toBe('large answers as max');
    const other = await all.chat('Hello there', { model: 'small/nano', session: plainSession() });
    expect(answerOf(other)).toBe('small answers as nano');
  });

  it('follows a live hint for new sessions, keeps the model of running ones, and is as before when it is withdrawn', async () => {
    const instar = await daemon('auto', {});
    const running = plainSession();
    expect(answerOf(await auto(instar, running))).toContain('large');
    await instar.owner('POST', '/api/lessons', hint('cheap', 0.2, 'use-cheap'));
    const hinted = plainSession();
    const reply = await auto(instar, hinted);
    expect(answerOf(reply)).toBe('small answers as mini');
    expect(reply.headers['x-instar-lessons']).toBe('use-cheap');
    expect(answerOf(await auto(instar, running))).toContain('large');
    await vi.waitFor(
      () =>
        expect(choicesOf(instar, hinted)).toMatchObject([
          {
            tier: 'cheap',
            target: CHEAP,
            lessons: ['use-cheap'],
            reason: expect.stringContaining('bias −0.20'),
          },
        ]),
      SOON,
    );
    const undo = { op: 'retire', id: 'use-cheap', reason: 'rolled back' };
    await instar.owner('POST', '/api/lessons', { changes: [undo] });
    expect(answerOf(await auto(instar, plainSession()))).toContain('large');
    expect(answerOf(await auto(instar, hinted))).toContain('small');
  });

  it('moves a session to the strong model after two failed turns, scores the tier it began with, and asks the other one when one is down', async () => {
    const instar = await daemon('all', { for: 'all' });
    await instar.owner('POST', '/api/lessons', hint('cheap', 0.2, 'use-cheap-here'));
    const session = plainSession();
    for (const nth of [1, 2]) {
      const reply = await auto(instar, session, `Rename the variable of part ${nth}`);
      expect(answerOf(reply)).toContain('small');
      const turn = String(reply.headers['x-instar-turn']);
      await vi.waitFor(
        async () => expect((await instar.owner('GET', `/api/turns/${turn}/why`)).turn).toBe(turn),
        SOON,
      );
      await instar.owner('POST', '/v1/feedback', { turn, score: -1, note: 'Wrong.' });
    }
    await vi.waitFor(async () => expect(answerOf(await auto(instar, session))).toContain('large'), SOON);
    await vi.waitFor(
      () => expect(choicesOf(instar, session).map(({ tier }) => tier)).toEqual(['cheap', 'strong']),
      SOON,
    );
    const done = { model: 'instar/auto', session, headers: { 'x-instar-session-done': '1' } };
    await instar.chat('Thank you', done);
    await vi.waitFor(
      () => expect(scoresOf(instar, session)).toMatchObject([{ route: { tier: 'cheap' } }]),
      SOON,
    );
    isSmallBroken = true;
    const reply = await auto(instar, plainSession());
    isSmallBroken = false;
    expect(answerOf(reply)).toBe('large answers as max');
    expect(reply.headers['x-instar-route']).toBe(`cheap ${CHEAP}`);
  });

  it('chooses the cheap model more often the nearer the day is to usdPerDay', async () => {
    const instar = await daemon('pressed', { usdPerDay: 0 });
    expect(answerOf(await auto(instar, plainSession()))).toBe('small answers as mini');
  });

  it('answers a caller without a key as without a router', async () => {
    const instar = await daemon('auto', {});
    const body = JSON.stringify({ model: 'instar/auto', messages: [{ role: 'user', content: 'Hi' }] });
    const reply = await ask(instar.port, { path: '/v1/chat/completions', body });
    expect(reply.status).toBe(401);
    expect(reply.headers['x-instar-route']).toBeUndefined();
  });
});
