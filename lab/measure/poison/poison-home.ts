import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { lintSkill } from '../../../src/api/lint-skill.ts';
import { createRemoteApi } from '../../../src/api/remote-api.ts';
import {
  asArray,
  asObject,
  asString,
  type Json,
  type JsonObject,
  parseJson,
} from '../../../src/core/json.ts';
import { importSkillFiles } from '../../../src/lessons/skill-files/import-export.ts';
import { type InstarProcess, startInstar } from '../gateway/start-instar.ts';
import { AGENT_MODEL, EVOLVER_MODEL } from './model-server.ts';

/** Not a limit on a verdict: what is not over by then is not judged. */
const LONGEST_WORK_MS = 1_800_000;
const MAIN = path.resolve('dist/src/cli/main.js');

/** A lesson as the library's API shows it. */
export interface LibraryLesson {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly agent?: string;
  /** Everything of it that a prompt may contain. */
  readonly words: string;
}

/** What the gate decided about the proposals of one run of a learner. */
export interface GateRuling {
  readonly sessions: readonly string[];
  readonly outcomes: readonly string[];
  /** Why it held something back. */
  readonly why: readonly string[];
}

export interface ChatTurn {
  readonly turn: string;
  /** The ids of `x-instar-lessons`. */
  readonly lessons: readonly string[];
  readonly message: JsonObject;
}

/** A new home with the daemon of `instar up` on it. Everything goes through its public surfaces. */
export interface PoisonHome {
  readonly dir: string;
  /** Resolves when no work is left: true; false when there is still some after a long time. */
  untilLearned(): Promise<boolean>;
  engines: InstarProcess['engines'];
  /** One request with the caller key. */
  chat(who: Readonly<Record<string, string>>, messages: readonly JsonObject[]): Promise<ChatTurn>;
  /** A request with the owner key. */
  owner(method: 'GET' | 'POST', where: string, body?: object): Promise<Json | undefined>;
  lessons(): Promise<readonly LibraryLesson[]>;
  /** Of every run of a learner so far. */
  rulings(): readonly GateRuling[];
  /** What `instar data import` does once the person at the terminal has agreed. */
  importSkills(folder: string): Promise<void>;
  close(): Promise<void>;
}

const TOOLS = [
  ['bash', 'Runs a shell command.', 'command'],
  ['web_fetch', 'Fetches a page.', 'url'],
  ['calendar_list_events', "Lists the events of a day of the user's calendar.", 'day'],
  ['read_file', 'Reads a file.', 'path'],
].map(([name = '', description = '', argument = '']) => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: { type: 'object', properties: { [argument]: { type: 'string' } }, required: [argument] },
  },
}));

export async function openPoisonHome(modelUrl: string): Promise<PoisonHome> {
  const root = mkdtempSync(path.join(tmpdir(), 'instar-poison-'));
  const dir = path.join(root, 'home');
  mkdirSync(dir, { mode: 0o700 });
  writeFileSync(path.join(dir, 'model-key'), 'bench-model-key', { mode: 0o600 });
  const provider = {
    wire: 'openai-chat',
    baseUrl: modelUrl,
    keyFile: 'model-key',
    models: [AGENT_MODEL, EVOLVER_MODEL],
  };
  const config = {
    providers: { bench: provider },
    models: { default: `bench/${AGENT_MODEL}`, evolver: `bench/${EVOLVER_MODEL}` },
    learn: { budget: { usdPerDay: 100_000, tokensPerDay: 1_000_000_000 } },
  };
  writeFileSync(path.join(dir, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const instar = await startInstar({ main: MAIN, upstreamPort: 0, home: dir });
  const base = `http://127.0.0.1:${instar.port}`;
  const key = (name: string): string => readFileSync(path.join(dir, name), 'utf8').trim();
  const ownerKey = existsSync(path.join(dir, 'owner-key')) ? key('owner-key') : key('key');

  const send = async (where: string, init: RequestInit): Promise<Response> => {
    const reply = await fetch(base + where, init);
    if (reply.ok) return reply;
    throw new Error(
      `${init.method} ${where} answered ${reply.status}: ${(await reply.text()).slice(0, 500)}`,
    );
  };
  const headers = (secret: string): Record<string, string> => ({
    'content-type': 'application/json',
    authorization: `Bearer ${secret}`,
  });
  const owner: PoisonHome['owner'] = async (method, where, body) => {
    const init = { method, headers: headers(ownerKey) };
    const reply = await send(where, body === undefined ? init : { ...init, body: JSON.stringify(body) });
    return parseJson(await reply.text());
  };
  // Of the owner's own client. By itself a key speaks for eight agents, and the scopes of the others would be one.
  const made = asObject(await owner('POST', '/api/keys', { name: 'bench', isOwn: true, agents: ['*'] }));
  const callerKey = asString(made.key) ?? '';
  const record = { url: base, port: instar.port, pid: instar.pid, startedAt: '', version: '' };
  const { lessonsApi } = createRemoteApi(record, ownerKey);
  return {
    dir,
    untilLearned: () => instar.untilIdle(LONGEST_WORK_MS),
    engines: instar.engines,
    owner,
    chat: async (who, messages) => {
      const body = JSON.stringify({ model: `bench/${AGENT_MODEL}`, tools: TOOLS, messages });
      const reply = await send('/v1/chat/completions', {
        method: 'POST',
        headers: { ...headers(callerKey), ...who },
        body,
      });
      const { choices } = asObject(parseJson(await reply.text()));
      return {
        turn: reply.headers.get('x-instar-turn') ?? '',
        lessons: (reply.headers.get('x-instar-lessons') ?? '').split(/[\s,]+/).filter(Boolean),
        message: asObject(asObject(asArray(choices)[0]).message),
      };
    },
    lessons: async () => asArray(await owner('GET', '/api/library')).map(readLesson),
    rulings: () => readRulings(path.join(dir, 'instar.sqlite')),
    importSkills: async (folder) =>
      void (await importSkillFiles(lessonsApi, folder, { state: 'live', lint: lintSkill })),
    close: async () => {
      await instar.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function readLesson(value: Json): LibraryLesson {
  const { id, state, text } = asObject(value);
  const { name, description, content, scope } = asObject(text);
  const agent = asString(asObject(scope).agent);
  return {
    id: asString(id) ?? '',
    name: asString(name) ?? '',
    state: asString(state) ?? '',
    words: [name, description, content].map((part) => asString(part) ?? '').join('\n'),
    ...(agent === undefined ? {} : { agent }),
  };
}

/** From the record: no operation of the API lists what was refused. */
function readRulings(file: string): readonly GateRuling[] {
  const store = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = store.prepare("select body from facts where type = 'cycle-end'").all();
    return rows.map((row) => {
      const { sessions, judgements } = asObject(parseJson(String(asObject(row as JsonObject).body)));
      return {
        sessions: asArray(sessions).flatMap((session) => asString(session) ?? []),
        outcomes: asArray(judgements).flatMap((one) => asString(asObject(one).outcome) ?? []),
        why: asArray(judgements).flatMap((one) =>
          asArray(asObject(one).why).flatMap((why) => asString(why) ?? []),
        ),
      };
    });
  } finally {
    store.close();
  }
}
