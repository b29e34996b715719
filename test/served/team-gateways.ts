import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { asObject, type JsonObject } from '../../src/core/json.ts';
import { ask } from '../support/client.ts';
import { makeHome } from '../support/daemon.ts';
import { lessonText, type ToldText } from '../support/lesson-text.ts';
import type { Provider } from '../support/provider.ts';

const RUNNER = path.resolve(import.meta.dirname, 'unhurried-daemon.mjs');

/** A daemon of a team, as a process. */
export interface TeamGateway {
  readonly port: number;
  readonly key: string;
  readonly ownerKey: string;
  readonly dir: string;
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
}

/** A daemon from dist with a home of its own; `given`: a home that was there before. */
export async function startTeamGateway(
  url: string,
  provider: Provider,
  given?: string,
): Promise<TeamGateway> {
  const home = makeHome({
    providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'local/m', evolver: 'off', judge: 'off' },
    store: { url },
  });
  const dir = given ?? home.dir;
  const child = spawn(process.execPath, [RUNNER, dir], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise((resolve) => child.on('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exited;
    home.remove();
  });
  const port = await new Promise<number>((resolve, reject) => {
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-4000);
    });
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /ready (\d+)/.exec(chunk.toString())?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    child.on('exit', (code) => reject(new Error(`exit ${code}: ${errors}`)));
  });
  const keyIn = (name: string) => readFileSync(path.join(dir, name), 'utf8').trim();
  return { port, key: keyIn('key'), ownerKey: keyIn('owner-key'), dir, child, exited };
}

/** Asks as the home's owner. */
export const askOwner = async (
  gateway: TeamGateway,
  method: string,
  where: string,
  body?: object,
): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${gateway.ownerKey}`, 'content-type': 'application/json' };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return asObject(JSON.parse((await ask(gateway.port, { method, path: where, headers, ...text })).text));
};
export const addSkill = (told: ToldText) => ({
  ...{ op: 'add', id: told.name, kind: 'skill', state: 'live' },
  text: lessonText(told),
});
export const publishAt = (gateway: TeamGateway, ...changes: object[]) =>
  askOwner(gateway, 'POST', '/api/lessons', { changes, reason: 'a test' });
export const generationAt = async (gateway: TeamGateway): Promise<unknown> =>
  asObject((await askOwner(gateway, 'GET', '/api/status')).library).generation;

/** One turn through a gateway; the bytes that the provider got. */
export async function sendTurn(
  gateway: TeamGateway,
  provider: Provider,
  messages: readonly object[],
  session?: string,
): Promise<string> {
  const before = provider.seen.length;
  const { status } = await ask(gateway.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'default', messages }),
    headers: {
      'x-instar-key': gateway.key,
      'x-instar-agent': 'ada',
      ...(session === undefined ? {} : { 'x-instar-session': session }),
    },
  });
  expect(status).toBe(200);
  return provider.seen[before]?.body.toString() ?? '';
}
