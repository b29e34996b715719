import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PAGE_ROUTES } from '../../src/api/router/page-routes.ts';
import type { RouteShape } from '../../src/api/router/route-shape.ts';
import { ROUTES } from '../../src/api/router/routes.ts';
import { createRandom } from '../../src/base/random.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import type { Role } from '../../src/core/member.ts';
import { type Answer, ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';

const SOON = { timeout: 25_000, interval: 100 };

/** Someone whose words nobody else may see. `id` empty: the home's own person. */
interface Person {
  readonly id: string;
  readonly role: Role;
  readonly personKey: string;
  readonly clientKey: string;
  /** Everything that would tell another member of this one: words, and ids of sessions, turns and lessons. */
  readonly secrets: string[];
  readonly ids: { readonly sessions: string[]; readonly turns: string[]; readonly lessons: string[] };
}

let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
const people: Person[] = [];
const team: string[] = [];

const call = (key: string, method: string, path: string, body?: object): Promise<Answer> =>
  ask(daemon.port, {
    method,
    path,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const read = async (key: string, method: string, path: string, body?: object): Promise<JsonObject> =>
  asObject(JSON.parse((await call(key, method, path, body)).text));
const members = (what: string, body: object, key = daemon.ownerKey): Promise<JsonObject> =>
  read(key, 'POST', `/api/members/${what}`, body);

/** A conversation; returns the id of its turn. */
const say = async (key: string, session: string, content: string): Promise<Answer> =>
  ask(daemon.port, {
    path: '/v1/chat/completions',
    headers: { 'x-instar-key': key, 'x-instar-session': session, 'x-instar-agent': 'helper' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
  });

const random = createRandom('team visibility');
const word = (): string => `zq${Math.floor(random.next() * 1e12).toString(36)}x`;

const addLesson = async (member: string | undefined, secret: string): Promise<string> => {
  const id = `l-${word()}`;
  const text = lessonText({
    name: `rule-${word()}`,
    description: `When you report the invoices: ${secret}.`,
    content: `Write the report of the invoices with ${secret}.`,
    scope: member === undefined || member === '' ? {} : { member },
    note: { isAlways: true },
  });
  await read(daemon.ownerKey, 'POST', '/api/lessons', {
    changes: [{ op: 'add', id, kind: 'skill', state: 'live', text }],
  });
  return id;
};

async function join(role: Role | undefined): Promise<Person> {
  const ids = { sessions: [] as string[], turns: [] as string[], lessons: [] as string[] };
  if (role === undefined)
    return { id: '', role: 'owner', personKey: daemon.ownerKey, clientKey: daemon.key, secrets: [], ids };
  const added = await members('add', { name: `person ${word()}`, role });
  const made = await members('key', { name: added.name, client: 'laptop' });
  return {
    id: String(added.id),
    role,
    personKey: String(added.key),
    clientKey: String(made.key),
    secrets: [],
    ids,
  };
}

beforeAll(async () => {
  home = makeHome({});
  daemon = await startDaemon(home.dir);
  const roles: readonly (Role | undefined)[] = [
    undefined,
    'member',
    random.next() < 0.5 ? 'member' : 'reviewer',
    'reviewer',
  ];
  for (const role of roles) people.push(await join(role));
  for (const person of people) {
    for (let n = 0; n < 2 + Math.floor(random.next() * 2); n++) {
      // The same name of a conversation in all of them: it says nothing about whose it is.
      const secret = word();
      const name = n === 0 ? 'main' : word();
      const reply = await say(person.clientKey, name, `Report the invoices ${secret} please. Always do it.`);
      const turn = String(reply.headers['x-instar-turn']);
      const session = person.id === '' ? name : `${person.id}:${name}`;
      person.ids.sessions.push(session);
      person.ids.turns.push(turn);
      person.secrets.push(secret, turn, ...(session === 'main' ? [] : [session]));
      await call(person.personKey, 'POST', '/v1/feedback', { turn, score: -1, note: `wrong ${secret}` });
      const hint = word();
      const lesson = await addLesson(person.id, hint);
      person.ids.lessons.push(lesson);
      person.secrets.push(hint, lesson);
    }
  }
  const hint = word();
  team.push(hint, await addLesson('*', hint));
  await vi.waitFor(async () => {
    const all = asArray(JSON.parse((await call(daemon.ownerKey, 'GET', '/api/sessions')).text));
    expect(all.length).toBe(people.flatMap(({ ids }) => ids.sessions).length);
  }, SOON);
});
afterAll(async () => {
  daemon?.child.kill('SIGTERM');
  await daemon?.exited;
  home?.remove();
});

const othersOf = (one: Person): readonly Person[] => people.filter((other) => other !== one);
const foreign = (one: Person): readonly string[] => othersOf(one).flatMap(({ secrets }) => secrets);
const shownIn = (text: string, secrets: readonly string[]): readonly string[] =>
  secrets.filter((secret) => text.includes(secret));

/** Every route of the API and of the page that is not the owner's alone: a new one is asked here without being named. */
const ROUTES_OF_OTHERS: readonly (readonly [string, RouteShape])[] = Object.entries({
  ...(ROUTES as Readonly<Record<string, RouteShape>>),
  ...(PAGE_ROUTES as Readonly<Record<string, RouteShape>>),
});

/** Bodies that make a route answer with as much as it can. */
const bodiesFor = (name: string, one: Person): readonly object[] => {
  const theirs = othersOf(one);
  const lessons = theirs.flatMap(({ ids }) => ids.lessons);
  const turns = theirs.flatMap(({ ids }) => ids.turns);
  const sessions = theirs.flatMap(({ ids }) => ids.sessions);
  const base: readonly object[] = [{}, { name: theirs[1]?.id }, { asker: undefined, name: theirs[0]?.id }];
  if (name === 'recall')
    return [
      ...base,
      { task: 'Report the invoices', agent: 'helper' },
      ...lessons.map((lesson) => ({ name: lesson, agent: 'helper' })),
      ...theirs.map(({ id }) => ({ task: 'Report the invoices', agent: 'helper', member: id })),
    ];
  if (name === 'feedback')
    return [
      ...turns.map((turn) => ({ turn, score: 1, note: 'from another' })),
      ...sessions.map((session) => ({ session, score: 1 })),
    ];
  if (name === 'events')
    return sessions.map((session) => ({ kind: 'agent_error', session, agent: 'helper' }));
  if (name === 'changeLessons')
    return lessons.map((id) => ({ changes: [{ op: 'retire', id, reason: 'not mine' }] }));
  return base;
};

const WORDS: readonly string[] = [
  'limit=1000',
  'preview=1',
  'full=1',
  'agent=helper',
  'limit=1000&preview=1&q=invoices',
];

describe('what members see of each other', () => {
  it('no route shows a member a session, a turn or a lesson of another one, or a word of them', async () => {
    const wrong: string[] = [];
    let asked = 0;
    let answered = 0;
    for (const one of people.filter(({ id }) => id !== '')) {
      const secrets = foreign(one);
      const ids = [
        ...othersOf(one).flatMap(({ ids: all }) => [
          ...all.sessions.slice(-1),
          ...all.turns.slice(-1),
          ...all.lessons.slice(-1),
        ]),
        ...people.map(({ id }) => id).filter((id) => id !== ''),
        ...['0', '1', '5', 'list', 'shared', 'move', 'status', 'tasks', 'report'],
      ];
      for (const [name, route] of ROUTES_OF_OTHERS) {
        if (name === 'feed') continue;
        const all = route.path.includes(':id')
          ? ids.map((id) => route.path.replace(':id', encodeURIComponent(id)))
          : [route.path, ...WORDS.map((query) => `${route.path}?${query}`)];
        // The owner's alone are refused before anything is read.
        const paths = route.access === 'owner' ? all.slice(0, 1) : all;
        for (const key of [one.personKey, one.clientKey])
          for (const path of route.method === 'GET' ? paths : paths.slice(0, 6))
            for (const body of route.method === 'POST' ? bodiesFor(name, one) : [undefined]) {
              asked++;
              const reply = await call(key, route.method, path, body);
              if (reply.status === 200) answered++;
              // What was asked for may be repeated: a refusal names the id.
              const repeated = decodeURIComponent(path) + JSON.stringify(body ?? '');
              const found = shownIn(
                reply.text,
                secrets.filter((secret) => !repeated.includes(secret)),
              );
              if (found.length > 0) wrong.push(`${one.role} ${route.method} ${path}: ${found.join(' ')}`);
              if (reply.status >= 500) wrong.push(`${route.method} ${path}: ${reply.status} ${reply.text}`);
            }
      }
    }
    expect(wrong.slice(0, 10)).toEqual([]);
    // It asked, and the routes answered: silence would pass as well.
    expect(asked).toBeGreaterThan(500);
    expect(answered).toBeGreaterThan(100);
  }, 240_000);

  it('the same questions of the owner show these words: the search for them finds them', async () => {
    const secrets = people.flatMap((person) => person.secrets);
    for (const path of ['/api/sessions?limit=1000&preview=1', '/api/lessons', '/api/library', '/api/today'])
      expect(shownIn((await call(daemon.ownerKey, 'GET', path)).text, secrets).length).toBeGreaterThan(3);
  });

  it('nothing of another member was erased, rated or retired by asking', async () => {
    for (const { ids } of people) {
      for (const session of ids.sessions) {
        const shown = await read(daemon.ownerKey, 'GET', `/api/sessions/${encodeURIComponent(session)}`);
        expect(shown.erased).toBeUndefined();
        expect(JSON.stringify(shown)).not.toContain('from another');
      }
      for (const lesson of ids.lessons)
        expect(await read(daemon.ownerKey, 'GET', `/api/lessons/${lesson}`)).toMatchObject({ state: 'live' });
    }
  });

  it('a member sees the own sessions and lessons and the team’s, and the owner sees all', async () => {
    for (const one of people.filter(({ id }) => id !== '')) {
      const sessions = asArray(
        JSON.parse((await call(one.personKey, 'GET', '/api/sessions?preview=1')).text),
      );
      expect(sessions.map((session) => String(asObject(session).id)).sort()).toEqual(
        [...one.ids.sessions].sort(),
      );
      const lessons = (await call(one.personKey, 'GET', '/api/lessons')).text;
      expect(shownIn(lessons, [...one.ids.lessons, ...team])).toEqual([...one.ids.lessons, ...team]);
      for (const turn of one.ids.turns)
        expect((await call(one.personKey, 'GET', `/api/turns/${turn}/why`)).status).toBe(200);
    }
    const all = (await call(daemon.ownerKey, 'GET', '/api/lessons')).text;
    const lessons = people.flatMap(({ ids }) => ids.lessons);
    expect(shownIn(all, lessons)).toEqual(lessons);
  });

  it('a prompt has the lessons of the member who asks and of the team, and no other', async () => {
    for (const one of people) {
      const reply = await say(one.clientKey, `new ${word()}`, 'Report the invoices of this month please.');
      const shown = String(reply.headers['x-instar-lessons'] ?? '').split(/[ ,]+/);
      const allowed = new Set([...one.ids.lessons, ...team]);
      expect(shown.filter((id) => !allowed.has(id) && foreign(one).includes(id))).toEqual([]);
      // Of lessons that nearly repeat each other one is shown.
      expect(shown.some((id) => allowed.has(id))).toBe(true);
    }
  });

  it('two members with the same name of a conversation have two sessions', async () => {
    const mains = people.map(({ ids }) => ids.sessions[0]);
    expect(new Set(mains).size).toBe(people.length);
  });

  it('the key of a person asks no model, and a client’s key reads no session', async () => {
    const one = people[1] as Person;
    expect((await say(one.personKey, 'x', 'hello')).status).toBe(403);
    expect((await call(one.clientKey, 'GET', '/api/sessions')).status).toBe(403);
  });

  it('a member who is removed is refused at once', async () => {
    const one = await join('member');
    expect((await call(one.personKey, 'GET', '/api/sessions')).status).toBe(200);
    await members('remove', { name: one.id });
    expect((await call(one.personKey, 'GET', '/api/sessions')).status).toBe(401);
    expect((await say(one.clientKey, 'x', 'hello')).status).toBe(401);
  });
});
