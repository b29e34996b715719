import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PACKAGE_ROOT } from '../../src/base/package.ts';
import { asArray, asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';

const MAIN = path.join(fileURLToPath(PACKAGE_ROOT), 'dist/src/cli/main.js');
const exec = promisify(execFile);

/** A user's home. Instar runs on it as installed: by command, as a process of its own. */
interface UserHome {
  /** `instar …` on this home; its standard output. */
  instar(...words: readonly string[]): Promise<string>;
  up(): Promise<UserDaemon>;
}

/** A message of a conversation, as the chat API has it. */
export interface UserMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface UserDaemon {
  /** The reply to a conversation. Without a model, the one that the config names. */
  ask(session: string, messages: readonly UserMessage[], options?: JsonObject): Promise<string>;
  down(): Promise<void>;
}

/** A home in this folder, as it is. */
export function openUserHome(root: string): UserHome {
  const dir = path.join(root, 'home');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const env = { PATH: process.env.PATH, HOME: root };
  return {
    instar: async (...words) => {
      const most = { env, maxBuffer: 64 * 2 ** 20 };
      return (await exec(process.execPath, [MAIN, '--home', dir, ...words], most)).stdout;
    },
    up: () => startUserDaemon(dir, env),
  };
}

async function startUserDaemon(home: string, env: NodeJS.ProcessEnv): Promise<UserDaemon> {
  const child = spawn(process.execPath, [MAIN, 'up', '--port', '0', '--home', home], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise((resolve) => child.on('exit', resolve));
  const port = await portOf(child);
  const key = readFileSync(path.join(home, 'key'), 'utf8').trim();
  const ask: UserDaemon['ask'] = async (session, messages, options = {}) => {
    const reply = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-instar-key': key, 'x-instar-session': session },
      body: JSON.stringify({ ...options, messages }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`the gateway answered ${reply.status}: ${text.slice(0, 300)}`);
    const { choices } = asObject(parseJson(text));
    return asString(asObject(asObject(asArray(choices)[0]).message).content) ?? '';
  };
  return {
    ask,
    down: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-4000);
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const port = /instar ready http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.on('exit', (code) => reject(new Error(`instar up ended with ${code}: ${errors}`)));
  });
}
