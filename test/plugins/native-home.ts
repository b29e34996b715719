import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { JsonObject } from '../../src/core/json.ts';
import { runCli } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText, type ToldText } from '../support/lesson-text.ts';

/** A running Instar, and a person with a folder of their own in which clients keep their settings. */
export interface NativeHome {
  readonly daemon: RunningDaemon;
  readonly home: string;
  readonly person: string;
  /** A project of that person. */
  readonly work: string;
  readonly env: NodeJS.ProcessEnv;
  instar(
    ...args: string[]
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  owner(method: string, where: string, body?: object): Promise<JsonObject>;
  /** Publishes a live skill. */
  teach(id: string, told: ToldText): Promise<JsonObject>;
  /** What clients have reported, oldest first. */
  events(): Promise<readonly JsonObject[]>;
  close(): Promise<void>;
}

export async function openNativeHome(config: object = {}): Promise<NativeHome> {
  const person = mkdtempSync(path.join(tmpdir(), 'person-'));
  const work = path.join(person, 'shop');
  mkdirSync(work);
  const made = makeHome({ ...config });
  const env = { HOME: person, FAKE_KEY: 'provider-key-0123456789', IS_SANDBOX: '1' };
  const daemon = await startDaemon(made.dir, [], env);
  const owner: NativeHome['owner'] = async (method, where, body) => {
    const headers = { authorization: `Bearer ${daemon.ownerKey}`, 'content-type': 'application/json' };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return JSON.parse((await ask(daemon.port, { method, path: where, headers, ...text })).text);
  };
  const instar: NativeHome['instar'] = (...args) => runCli([...args, '--home', made.dir], env);
  return {
    daemon,
    home: made.dir,
    person,
    work,
    env,
    instar,
    owner,
    teach: (id, told) =>
      owner('POST', '/api/lessons', {
        reason: 'a test',
        changes: [{ op: 'add', id, kind: 'skill', state: 'live', text: lessonText(told) }],
      }),
    events: async () =>
      (JSON.parse((await instar('adapt', 'events', '--json')).stdout) as JsonObject[]).reverse(),
    close: async () => {
      daemon.child.kill('SIGTERM');
      await daemon.exited;
      made.remove();
      rmSync(person, { recursive: true, force: true });
    },
  };
}
