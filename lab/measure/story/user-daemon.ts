import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { PACKAGE_ROOT } from '../../../src/base/package.ts';
import { asArray, asObject, asString, type JsonObject, parseJson } from '../../../src/core/json.ts';

const MAIN = path.join(fileURLToPath(PACKAGE_ROOT), 'dist/src/cli/main.js');
const CHECK = path.join(fileURLToPath(PACKAGE_ROOT), 'dist/lab/measure/story/studio-check.js');
const exec = promisify(execFile);

/** A user's home and their own check, in one folder. Instar runs on it as installed: by command, as a process of its own. */
export interface UserHome {
  readonly dir: string;
  /** Every file that a thread or process of Instar has loaded so far. */
  loaded(): readonly string[];
  /** `instar …` on this home; its standard output. */
  instar(...words: readonly string[]): Promise<string>;
  up(): Promise<UserDaemon>;
  /** The same home in another folder: what is asked of the copy is unknown here. */
  copy(name: string): UserHome;
}

/** A message of a conversation, as the chat API has it. */
export interface UserMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface UserDaemon {
  /** The reply to a conversation. Without a model, the one that the config names. */
  ask(session: string, messages: readonly UserMessage[], options?: JsonObject): Promise<string>;
  /** The embedded policy's reply. */
  chat(session: string, system: string, text: string): Promise<string>;
  post(route: string, body: JsonObject): Promise<JsonObject>;
  get(route: string): Promise<JsonObject>;
  down(): Promise<void>;
}

/** Writes the address of every module that is loaded, one a line. It runs in each thread and process that Instar starts. */
const WATCH = `import { appendFileSync } from 'node:fs';
export async function load(url, context, next) {
  appendFileSync(process.env.STORY_LOADED, url + '\\n');
  return next(url, context);
}`;

export function makeUserHome(root: string, config: (check: string) => JsonObject): UserHome {
  const dir = path.join(root, 'home');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const check = path.join(root, 'studio-check.mjs');
  cpSync(CHECK, check);
  writeFileSync(path.join(dir, 'config.json'), JSON.stringify(config(check), undefined, 2), { mode: 0o600 });
  return openUserHome(root);
}

/** A home in this folder, as it is. */
export function openUserHome(root: string): UserHome {
  const dir = path.join(root, 'home');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const seen = path.join(root, 'loaded.txt');
  const watch = path.join(root, 'watch.mjs');
  writeFileSync(watch, WATCH);
  const register = `import{register}from"node:module";register(${JSON.stringify(pathToFileURL(watch).href)})`;
  const env = {
    PATH: process.env.PATH,
    HOME: root,
    STORY_LOADED: seen,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(register)}`,
  };
  return {
    dir,
    loaded: () => (existsSync(seen) ? [...new Set(readFileSync(seen, 'utf8').trim().split('\n'))] : []),
    instar: async (...words) => {
      const most = { env, maxBuffer: 64 * 2 ** 20 };
      return (await exec(process.execPath, [MAIN, '--home', dir, ...words], most)).stdout;
    },
    up: () => startUserDaemon(dir, env),
    copy: (name) => {
      const other = path.join(path.dirname(root), name);
      rmSync(other, { recursive: true, force: true });
      cpSync(root, other, { recursive: true });
      return openUserHome(other);
    },
  };
}

async function startUserDaemon(home: string, env: NodeJS.ProcessEnv): Promise<UserDaemon> {
  const child = spawn(process.execPath, [MAIN, 'up', '--port', '0', '--home', home], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise((resolve) => child.on('exit', resolve));
  const port = await portOf(child);
  const keyIn = (name: string): string => readFileSync(path.join(home, name), 'utf8').trim();
  const [key, owner] = [keyIn('key'), keyIn('owner-key')];
  const call = async (route: string, headers: Record<string, string>, body?: JsonObject) => {
    const reply = await fetch(`http://127.0.0.1:${port}${route}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${route} answered ${reply.status}: ${text.slice(0, 300)}`);
    return asObject(parseJson(text));
  };
  const asOwner = { authorization: `Bearer ${owner}` };
  const ask: UserDaemon['ask'] = async (session, messages, options = {}) => {
    const { choices } = await call(
      '/v1/chat/completions',
      { 'x-instar-key': key, 'x-instar-session': session },
      { ...options, messages: messages.map((message) => ({ ...message })) },
    );
    return asString(asObject(asObject(asArray(choices)[0]).message).content) ?? '';
  };
  return {
    ask,
    chat: (session, system, text) =>
      ask(
        session,
        [
          { role: 'system', content: system },
          { role: 'user', content: text },
        ],
        { model: 'instar/nano' },
      ),
    post: (route, body) => call(route, asOwner, body),
    get: (route) => call(route, asOwner),
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
