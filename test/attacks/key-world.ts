import { expect, vi } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { readOrCreateOwnerKey } from '../../src/config/owner-key.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { chatBody, createStage, type InstarHere, replyWith } from '../config/settings/instar-here.ts';
import { type Answer, ask } from '../support/client.ts';

/** Somebody who talks to a model through Instar. */
export interface Speaker {
  readonly key: string;
  readonly agent?: string;
  /** The end user, as OpenAI's field `user`. */
  readonly user?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A real daemon with several keys, and a provider that remembers what it was sent. */
export interface KeyWorld {
  readonly here: InstarHere;
  readonly ownerKey: string;
  makeKey(name: string, more?: object): Promise<string>;
  send(speaker: Speaker, session: string, messages: readonly object[]): Promise<Answer>;
  /** A task, a correction in the user's own words, and thanks; resolves when they were learned from. */
  teach(speaker: Speaker, session: string, rule: string): Promise<Answer>;
  /** Resolves when everything up to this turn has been learned from. */
  learned(answer: Answer): Promise<void>;
  /** A call with this key, as JSON text. */
  call(key: string, method: string, path: string, body?: object): Promise<Answer>;
  /** The prompt of a new conversation about the same task, or with these words, as the provider sees it. */
  promptOf(speaker: Speaker, words?: string): Promise<string>;
  close(): Promise<void>;
}

export const TASK = 'Compile the shop and write the report about its build.';

export async function openKeyWorld(config: JsonObject = {}): Promise<KeyWorld> {
  const stage = createStage();
  const provider = await stage.provider('p', (request, response) =>
    replyWith(response, 'Done.', chatBody(request).stream === true),
  );
  const here = await stage.open(
    'keys',
    {
      providers: { p: { wire: 'openai-chat', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' } },
      models: { evolver: 'off' },
      ...config,
    },
    { env: { P_KEY: 'k-000000000000' } },
  );
  const send: KeyWorld['send'] = ({ key, agent, user, headers }, session, messages) =>
    ask(here.port, {
      path: '/v1/chat/completions',
      headers: {
        authorization: `Bearer ${key}`,
        'x-instar-session': session,
        ...(agent === undefined ? {} : { 'x-instar-agent': agent }),
        ...headers,
      },
      body: JSON.stringify({ model: 'p/m', messages, ...(user === undefined ? {} : { user }) }),
    });
  const learned: KeyWorld['learned'] = async ({ headers }) => {
    const turn = String(headers['x-instar-turn']);
    await vi.waitFor(
      async () => expect((await here.owner('GET', `/api/turns/${turn}`)).status).toBe('complete'),
      { timeout: 100_000, interval: 20 },
    );
    await here.daemon.settle();
  };
  let looks = 0;
  return {
    here,
    ownerKey: readOrCreateOwnerKey(homeAt(here.dir), {}).key ?? '',
    send,
    learned,
    makeKey: async (name, more = {}) =>
      String((await here.owner('POST', '/api/keys', { name, ...more })).key),
    teach: async (speaker, session, rule) => {
      const messages: object[] = [{ role: 'user', content: TASK }];
      let last = await send(speaker, session, messages);
      for (const words of [`No, that is wrong. ${rule}`, 'Perfect, thank you!']) {
        messages.push({ role: 'assistant', content: 'Done.' }, { role: 'user', content: words });
        last = await send(speaker, session, messages);
        expect(last.status, last.text).toBe(200);
      }
      await learned(last);
      return last;
    },
    call: (key, method, path, body) =>
      ask(here.port, {
        method,
        path,
        headers: { authorization: `Bearer ${key}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    promptOf: async (speaker, words = TASK) => {
      const from = provider.seen.length;
      const answer = await send(speaker, `look-${++looks}`, [{ role: 'user', content: words }]);
      expect(answer.status, answer.text).toBe(200);
      return provider.seen
        .slice(from)
        .map(({ body }) => body.toString())
        .join('\n');
    },
    close: () => stage.close(),
  };
}
