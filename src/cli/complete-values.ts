import { readdirSync } from 'node:fs';
import { readCallerKeys } from '../config/caller-keys.ts';
import { type DaemonRecord, isAlive, readDaemonFile } from '../config/daemon-file.ts';
import { type Home, homeAt } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { readOwnerKey } from '../config/owner-key.ts';
import { configJsonSchema } from '../config/schema.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, parseJson } from '../core/json.ts';
import { relativeTime } from '../text/phrases.ts';
import type { Candidate } from './complete.ts';

interface ValueSource {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

type FindValues = (home: Home, env: NodeJS.ProcessEnv) => Promise<readonly Candidate[]>;

/** A person waits for the Tab key. */
const PATIENCE_MS = 500;
const MOST = 50;

/** By the names of the command and of the argument. Only files and a running daemon are asked; nothing is opened or locked. */
const VALUES: readonly (readonly [place: RegExp, find: FindValues])[] = [
  [/^lessons .*\blesson$/, (home, env) => findLessons(home, env)],
  [/^(sessions .*|feedback .*)$/, (home, env) => findSessions(home, env)],
  [/^team keys revoke /, async (home) => findKeys(home)],
  [/^generations /, (home, env) => findGenerations(home, env)],
  [/^config (get|set) /, async () => settingNames(asObject(configJsonSchema()), '')],
];

/** The values for an argument, by the words of its command and its own name: `lessons show lesson`. */
export async function findDynamic(place: string, { home, env }: ValueSource): Promise<readonly Candidate[]> {
  const find = VALUES.find(([pattern]) => pattern.test(place))?.[1];
  return find === undefined ? [] : find(homeAt(home), env);
}

async function findLessons(home: Home, env: NodeJS.ProcessEnv): Promise<readonly Candidate[]> {
  const listed = await ask(home, '/api/lessons', readKey(home, env)?.key);
  // Without a daemon: the skills as files.
  if (listed === undefined) return foldersIn(home.skillsDir).map((value) => ({ value, about: 'skill' }));
  return listed.flatMap(({ name, id, kind, state }) => {
    const value = asString(name) ?? asString(id);
    return value === undefined ? [] : { value, about: [kind, state].filter(Boolean).join(', ') };
  });
}

async function findSessions(home: Home, env: NodeJS.ProcessEnv): Promise<readonly Candidate[]> {
  // A protected key would have to be asked for.
  const key = readOwnerKey(home, env)?.key;
  const listed = key === undefined ? undefined : await ask(home, `/api/sessions?limit=${MOST}`, key);
  return (listed ?? []).flatMap(({ id, agent, lastAt }) => {
    const value = asString(id);
    const at = typeof lastAt === 'number' ? lastAt : Date.parse(asString(lastAt) ?? '');
    return value === undefined
      ? []
      : { value, about: `${asString(agent) ?? 'unknown agent'}, ${relativeTime(at, Date.now())}` };
  });
}

async function findGenerations(home: Home, env: NodeJS.ProcessEnv): Promise<readonly Candidate[]> {
  const key = readOwnerKey(home, env)?.key;
  const listed = key === undefined ? undefined : await ask(home, '/api/generations', key);
  return (listed ?? []).slice(0, MOST).flatMap(({ generation, reason }) => {
    const value = asNumber(generation);
    return value === undefined ? [] : { value: String(value), about: asString(reason) ?? '' };
  });
}

const findKeys = (home: Home): readonly Candidate[] =>
  readCallerKeys(home)
    .filter(({ revokedAt }) => revokedAt === undefined)
    .map(({ name, id }) => ({ value: name.includes(' ') ? id : name, about: name }));

/** The list that a running daemon answers with; undefined when none answers in time. */
async function ask(
  home: Home,
  path: string,
  key: string | undefined,
): Promise<readonly JsonObject[] | undefined> {
  const daemon: DaemonRecord | undefined = readDaemonFile(home);
  if (daemon === undefined || !isAlive(daemon)) return undefined;
  try {
    const reply = await fetch(new URL(path, daemon.url), {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return reply.status === 200 ? asArray(parseJson(await reply.text())).map(asObject) : undefined;
  } catch {
    return undefined;
  }
}

function foldersIn(dir: string): readonly string[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

/** The dotted names of all settings: `gateway.port`. */
function settingNames(schema: JsonObject, prefix: string): readonly Candidate[] {
  return Object.entries(asObject(schema.properties)).flatMap(([name, value]) => {
    const inner = asObject(value);
    const path = `${prefix}${name}`;
    const below = settingNames(inner, `${path}.`);
    const about = asString(inner.description) ?? '';
    return name.startsWith('$') ? [] : below.length > 0 ? below : [{ value: path, about }];
  });
}
