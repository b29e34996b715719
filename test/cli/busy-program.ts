import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { ask } from '../support/client.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';
import type { CliResult, RunningCli } from './run-cli.ts';

/** Both cores of a small machine are taken, from the first test to the last. */
export function withLoad(): void {
  const load: ChildProcess[] = [];
  beforeAll(() => {
    for (const _ of [1, 2]) load.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  });
  afterAll(() => {
    for (const one of load) one.kill('SIGKILL');
  });
}

/** A model that never answers: its request is in progress until the program ends. */
const SILENT = 'p/silent';

export const startBusyProvider = (): Promise<Provider> =>
  startProvider(({ body }, response) => {
    if (body.includes('"silent"')) return;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });

export const configFor = ({ url }: Provider, more: object = {}): string =>
  JSON.stringify({
    providers: { p: { wire: 'openai-chat', baseUrl: `${url}/v1` } },
    models: { evolver: 'off', judge: 'off' },
    ...more,
  });

const CLIENTS = 4;
const TURNS_BEFORE = 24;
const user = (content: string) => ({ role: 'user', content });
const assistant = { role: 'assistant', content: 'Done.' };

/** Conversations with corrections, one after the other, until nobody answers. Resolves when the first of them are over. */
export function talk(url: string, home: string): Promise<void> {
  const port = Number(new URL(url).port);
  const key = readFileSync(join(home, 'key'), 'utf8').trim();
  let turns = 0;
  return new Promise((resolve) => {
    const client = async (name: number): Promise<void> => {
      for (let nth = 0; ; nth++) {
        const messages = [user(`Write part ${nth} of report ${name}`), assistant];
        for (const words of [
          `No, wrong. Always begin part ${nth} with the word ${name}-${nth}.`,
          'Thanks!',
        ]) {
          const sent = await ask(port, {
            path: '/v1/chat/completions',
            headers: { 'x-instar-key': key, 'x-instar-session': `${process.pid}-${name}-${nth}` },
            body: JSON.stringify({ model: 'p/m', messages: [...messages, user(words)] }),
          }).catch(() => undefined);
          if (sent?.whole !== true) return resolve();
          messages.push(user(words), assistant);
          if (++turns === TURNS_BEFORE) resolve();
        }
      }
    };
    for (let name = 0; name < CLIENTS; name++) void client(name);
  });
}

/** One request that is in progress when this resolves. */
export async function leaveWaiting(url: string, home: string, provider: Provider): Promise<void> {
  const before = provider.seen.length;
  const key = readFileSync(join(home, 'key'), 'utf8').trim();
  void ask(Number(new URL(url).port), {
    path: '/v1/chat/completions',
    headers: { 'x-instar-key': key },
    body: JSON.stringify({ model: SILENT, messages: [user('Wait.')] }),
  }).catch(() => undefined);
  while (!provider.seen.slice(before).some(({ body }) => body.includes('"silent"')))
    await new Promise((resolve) => setTimeout(resolve, 5));
}

export const urlOf = async (cli: RunningCli): Promise<string> => (await cli.firstLine()).split(' ')[2] ?? '';

export interface Exit extends CliResult {
  readonly expected: number;
}

/** What is wrong with an exit: an aborted process has no exit code, or that of the abort. */
export const faultOf = ({ code, stderr, expected }: Exit): string | undefined =>
  code === expected && !/Napi|FATAL ERROR|terminate called/.test(stderr)
    ? undefined
    : `exit ${code}, not ${expected}: ${stderr.slice(-600)}`;
