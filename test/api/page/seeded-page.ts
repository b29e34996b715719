import { vi } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { ask } from '../../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../../support/daemon.ts';
import { startProvider } from '../../support/provider.ts';

/** Generous: a wait ends as soon as its condition holds. */
export const SOON = { timeout: 100_000, interval: 50 };

export interface SeededPage {
  readonly daemon: RunningDaemon;
  readonly home: string;
  /** The ids of its turns, oldest first; three were rated by a person, and taught a lesson. */
  readonly turns: readonly string[];
  readonly lesson: string;
  turn(session: string, task: string): Promise<string>;
  owner(method: string, path: string, body?: object): Promise<JsonObject>;
  close(): Promise<void>;
}

const REPLY = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'I wrote the report.',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"cmd":"ls"}' } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: {
    prompt_tokens: 100,
    completion_tokens: 50,
    total_tokens: 150,
    prompt_tokens_details: { cached_tokens: 40 },
  },
});

/** A running daemon whose record has sessions, ratings, an event and a lesson. */
export async function startSeededPage(): Promise<SeededPage> {
  const provider = await startProvider((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(REPLY);
  });
  const home = makeHome({
    providers: { caller: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    learn: { failures: 3 },
  });
  const daemon = await startDaemon(home.dir);
  const owner = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${daemon.ownerKey}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return JSON.parse((await ask(daemon.port, { method, path, headers, ...sent })).text);
  };
  const turn = async (session: string, task: string): Promise<string> => {
    const { headers } = await ask(daemon.port, {
      path: '/v1/chat/completions',
      headers: {
        'x-instar-key': daemon.key,
        'x-instar-session': session,
        'x-instar-agent': 'alice',
        'x-instar-project': 'shop',
      },
      body: JSON.stringify({ model: 'caller/m', messages: [{ role: 'user', content: task }] }),
    });
    return String(headers['x-instar-turn']);
  };
  const turns: string[] = [];
  for (const n of [0, 1, 2]) turns.push(await turn(`alice-${n}`, 'Write the invoice amounts into report.md'));
  for (const id of turns)
    await owner('POST', '/v1/feedback', {
      turn: id,
      score: -1,
      note: 'Put the unit behind every amount, such as 12.50 EUR.',
    });
  await owner('POST', '/v1/events', { kind: 'budget_incident', agent: 'alice', score: 90 });
  const lesson = await vi.waitFor(async () => {
    const [first] = (await owner('GET', '/api/lessons')) as readonly JsonObject[] & JsonObject;
    if (first === undefined) throw new Error('no lesson yet');
    return String(first.id);
  }, SOON);
  turns.push(await turn('alice-9', 'Write the zebra amounts of May into report.md'));
  return {
    daemon,
    home: home.dir,
    turns,
    lesson,
    turn,
    owner,
    close: async () => {
      daemon.child.kill('SIGTERM');
      await daemon.exited;
      await provider.close();
      home.remove();
    },
  };
}
