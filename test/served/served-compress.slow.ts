import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };

const RULES = Array.from(
  { length: 260 },
  (_, nth) => `It is good to know that part ${nth} of the building has windows, doors and quiet rooms.`,
);
const LONG = `You are the house's clerk. Use the tool look_up for names.\n${RULES.join('\n')}\nNever delete a file.`;
const SHORT = "You are the house's clerk. Use the tool look_up for names. Never delete a file.";
const TOOLS = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let asked = 0;
let written = JSON.stringify({ prompt: SHORT });
/** The system text that the model was sent last. */
let seen = '';

beforeAll(async () => {
  provider = await startProvider((request, response) => {
    const body = JSON.parse(request.body.toString());
    const isWriter = body.model === 'writer';
    if (isWriter) asked++;
    else seen = body.messages[0].content;
    response.writeHead(200, { 'content-type': body.stream ? 'text/event-stream' : 'application/json' });
    const content = isWriter ? written : 'Done.';
    const head = { id: 'x', created: 1, model: 'm' };
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const whole = { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] };
    const part = { choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] };
    response.end(
      body.stream
        ? `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...part, usage })}\n\ndata: [DONE]\n\n`
        : JSON.stringify({ ...head, object: 'chat.completion', ...whole, usage }),
    );
  });
  home = makeHome({
    providers: {
      caller: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` },
      own: { wire: 'openai-chat', baseUrl: `${provider.url}/v1`, keyEnv: 'OWN_KEY', models: ['writer'] },
    },
    models: { evolver: 'own/writer' },
    learn: { compress: true, budget: { usdPerDay: 1000 } },
  });
  daemon = await startDaemon(home.dir, [], { OWN_KEY: 'k-000000' });
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const turn = async (session: string, system = LONG, agent = 'clerk'): Promise<string | undefined> => {
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: 'Who lives here?' },
  ];
  const body = JSON.stringify({ model: 'caller/m', messages, tools: TOOLS });
  const headers = { 'x-instar-key': daemon.key, 'x-instar-session': session, 'x-instar-agent': agent };
  const reply = await ask(daemon.port, { path: '/v1/chat/completions', body, headers });
  expect(reply.status).toBe(200);
  return reply.headers['x-instar-prompt']?.toString();
};

describe('a long system prompt with learn.compress', () => {
  it('is sent in full in its first session, and shortened in later sessions', async () => {
    expect(await turn('first')).toBeUndefined();
    expect(seen).toBe(LONG);
    await vi.waitFor(() => expect(asked).toBe(1), SOON);
    await vi.waitFor(async () => {
      expect(await turn(`later-${Date.now()}`)).toMatch(/^shortened [0-9a-f]{32}$/);
    }, SOON);
    expect(seen).toBe(SHORT);
    await turn('first');
    expect(seen).toBe(LONG);
    expect(asked).toBe(1);
  });

  it('is the same for a session before and after a restart', async () => {
    await turn('across');
    expect(seen).toBe(SHORT);
    daemon.child.kill('SIGTERM');
    await daemon.exited;
    daemon = await startDaemon(home.dir, [], { OWN_KEY: 'k-000000' });
    await turn('across');
    expect(seen).toBe(SHORT);
    await turn('first');
    expect(seen).toBe(LONG);
    expect(asked).toBe(1);
  });

  it('is never shortened when the reply of the model omits a rule', async () => {
    written = JSON.stringify({ prompt: 'You are a clerk.' });
    const other = `${LONG} Never open the safe.`;
    await turn('other-1', other, 'second-clerk');
    // One question, and one more to correct the reply.
    await vi.waitFor(() => expect(asked).toBe(3), SOON);
    for (const session of ['other-2', 'other-3']) {
      expect(await turn(session, other, 'second-clerk')).toBeUndefined();
      expect(seen).toBe(other);
    }
    expect(asked).toBe(3);
  });

  it('is not shortened below the limit', async () => {
    expect(await turn('small', 'You are kind.')).toBeUndefined();
    expect(seen).toBe('You are kind.');
  });
});
