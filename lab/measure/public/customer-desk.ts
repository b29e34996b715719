import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createCallerKey } from '../../../src/config/caller-keys.ts';
import { checkConfig } from '../../../src/config/check-config.ts';
import { openHome } from '../../../src/config/home.ts';
import { readOrCreateOwnerKey } from '../../../src/config/owner-key.ts';
import { asArray, asObject } from '../../../src/core/json.ts';
import { startDaemon } from '../../../src/daemon/daemon.ts';
import { createLog } from '../../../src/redact/create-log.ts';

type Message = { readonly role: string; readonly content: string };

/** A support agent behind a real daemon in a new home, with one key for all its customers. No model learns. */
interface CustomerDesk {
  /** A whole conversation, message by message, as it was recorded. */
  converse(session: string, messages: readonly Message[], user: string | undefined): Promise<void>;
  settle(): Promise<void>;
  /** What a first question is sent to the model with, besides itself. */
  addedTo(session: string, question: string, user: string | undefined): Promise<string>;
  /** The number of lessons. */
  lessons(): Promise<number>;
  close(): Promise<void>;
}

export async function openCustomerDesk(): Promise<CustomerDesk> {
  const root = mkdtempSync(path.join(tmpdir(), 'instar-customers-'));
  let answer = 'How can I help you?';
  let newest = '';
  const model = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      newest = Buffer.concat(chunks).toString();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          id: 'x',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  const home = openHome(path.join(root, 'home'));
  writeFileSync(path.join(home.dir, 'model-key'), 'bench-model-key', { mode: 0o600 });
  const { key } = createCallerKey(home, { name: 'support', mayRate: false, at: Date.now() });
  const baseUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`;
  const config = {
    gateway: { port: 0 },
    providers: { bench: { wire: 'openai-chat', baseUrl, keyFile: 'model-key' } },
    models: { default: 'bench/m', evolver: 'off' },
    train: { engine: 'off' },
  };
  const daemon = await startDaemon({
    home,
    config: checkConfig(config, { env: {} }).config,
    env: {},
    log: createLog({ format: 'json', level: 'silent', stream: { write: () => true } }),
    isUnhurried: true,
  });
  const ownerKey = readOrCreateOwnerKey(home, {}).key ?? '';
  const send = async (
    session: string,
    messages: readonly Message[],
    user: string | undefined,
    isLast: boolean,
  ): Promise<void> => {
    const reply = await fetch(`http://127.0.0.1:${daemon.port}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-instar-session': session,
        ...(isLast ? { 'x-instar-session-done': 'true' } : {}),
      },
      body: JSON.stringify({ model: 'default', messages, ...(user === undefined ? {} : { user }) }),
    });
    if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`);
    await reply.text();
  };
  return {
    converse: async (session, messages, user) => {
      const asked = messages.flatMap(({ role }, nth) => (role === 'user' ? [nth] : []));
      for (const nth of asked) {
        answer = messages.slice(nth + 1).find(({ role }) => role === 'assistant')?.content ?? 'Thank you.';
        await send(session, messages.slice(0, nth + 1), user, nth === asked.at(-1));
      }
    },
    settle: async () => {
      // A turn is in the record within a moment of its last byte.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await daemon.settle();
    },
    addedTo: async (session, question, user) => {
      await send(session, [{ role: 'user', content: question }], user, false);
      return newest.replace(JSON.stringify(question), '');
    },
    lessons: async () => {
      const headers = { authorization: `Bearer ${ownerKey}` };
      const reply = await fetch(`http://127.0.0.1:${daemon.port}/api/lessons`, { headers });
      return asArray(JSON.parse(await reply.text())).map(asObject).length;
    },
    close: async () => {
      await daemon.close();
      model.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
