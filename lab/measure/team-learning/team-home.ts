import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { asArray, asNumber, asObject, asString, type JsonObject, parseJson } from '../../../src/core/json.ts';
import type { Lesson } from '../../../src/core/lesson.ts';
import { decodeLessons } from '../../../src/lessons/codec.ts';
import { startInstar } from '../gateway/start-instar.ts';
import { MEMBERS } from './member-work.ts';
import { GOODBYE, MEMBER_TURN } from './obeying-provider.ts';

/** One of the team, with the key of the person and of a program. */
interface TeamPerson {
  readonly id: string;
  readonly personKey: string;
  readonly clientKey: string;
}

export interface MemberReply {
  readonly turn: string;
  readonly text: string;
  /** Ids of the lessons in the prompt. */
  readonly lessons: readonly string[];
}

/** A new home with the daemon of `instar up` on it, and members. Everything goes through its public surfaces. */
export interface TeamHome {
  readonly people: readonly TeamPerson[];
  /** A task in a session of its own, with the key of a member's program. */
  ask(member: number, session: string, system: string, text: string): Promise<MemberReply>;
  /** The last words of that session: it is over, and counts for what it was shown. */
  finish(member: number, session: string, system: string, text: string, answer: string): Promise<void>;
  /** The member's own feedback. */
  rate(member: number, turn: string, score: number, note?: string): Promise<void>;
  lessons(): Promise<readonly Lesson[]>;
  /** Scored sessions that a lesson was shown in and withheld from, by its measured effect. */
  scored(lesson: string): Promise<{ readonly shown: number; readonly withheld: number }>;
  /** As `instar lessons share NAME --team`: whether it was done, or why not. */
  share(lesson: string): Promise<string | undefined>;
  close(): Promise<void>;
}

interface TeamHomeOptions {
  readonly providerPort: number;
  readonly holdout: number;
  /** Whether the members share, or have all opted out. */
  readonly shares: boolean;
}

export async function openTeamHome({ providerPort, holdout, shares }: TeamHomeOptions): Promise<TeamHome> {
  const root = mkdtempSync(path.join(tmpdir(), 'instar-team-learning-'));
  const dir = path.join(root, 'home');
  mkdirSync(dir, { mode: 0o700 });
  const config = {
    providers: {
      bench: { wire: ['openai-chat'], baseUrl: `http://127.0.0.1:${providerPort}/v1`, models: ['bench'] },
    },
    models: { default: 'bench/bench', evolver: 'off', judge: 'off' },
    library: { holdout },
    // Every correction is learned from, not every third.
    learn: { failures: 1 },
  };
  writeFileSync(path.join(dir, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const instar = await startInstar({
    main: path.resolve('dist/src/cli/main.js'),
    upstreamPort: providerPort,
    home: dir,
  });
  const owner = readFileSync(path.join(dir, 'owner-key'), 'utf8').trim();
  const send = (
    where: string,
    headers: Readonly<Record<string, string>>,
    body: JsonObject,
  ): Promise<Response> =>
    fetch(`http://127.0.0.1:${instar.port}${where}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const post = async (where: string, key: string, body: JsonObject): Promise<JsonObject> => {
    const reply = await send(where, { authorization: `Bearer ${key}` }, body);
    const text = await reply.text();
    if (!reply.ok) throw new Error(`POST ${where} answered ${reply.status}: ${text.slice(0, 300)}`);
    return asObject(parseJson(text));
  };
  const join = async (name: string): Promise<TeamPerson> => {
    const { id, key } = await post('/api/members/add', owner, { name });
    const personKey = asString(key) ?? '';
    if (!shares) await post('/api/members/share', personKey, { shares: false });
    const client = await post('/api/members/key', owner, { name, client: 'laptop' });
    return { id: asString(id) ?? '', personKey, clientKey: asString(client.key) ?? '' };
  };
  const people: TeamPerson[] = [];
  for (const name of MEMBERS) people.push(await join(name));

  const chat = async (
    member: number,
    session: string,
    messages: JsonObject[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<MemberReply> => {
    const headers = {
      'x-instar-key': people[member]?.clientKey ?? '',
      'x-instar-session': session,
      'x-instar-agent': 'clerk',
      [MEMBER_TURN]: session,
      ...more,
    };
    const reply = await send('/v1/chat/completions', headers, { model: 'bench', messages });
    const said = await reply.text();
    if (!reply.ok) throw new Error(`a task was answered ${reply.status}: ${said.slice(0, 300)}`);
    const { choices } = asObject(parseJson(said));
    return {
      turn: reply.headers.get('x-instar-turn') ?? '',
      text: asString(asObject(asObject(asArray(choices)[0]).message).content) ?? '',
      lessons: (reply.headers.get('x-instar-lessons') ?? '').split(/[\s,]+/).filter(Boolean),
    };
  };

  return {
    people,
    ask: (member, session, system, text) =>
      chat(member, session, [
        { role: 'system', content: system },
        { role: 'user', content: text },
      ]),
    finish: async (member, session, system, text, answer) => {
      const messages = [
        { role: 'system', content: system },
        { role: 'user', content: text },
        { role: 'assistant', content: answer },
        { role: 'user', content: GOODBYE },
      ];
      await chat(member, session, messages, { 'x-instar-session-done': 'true' });
    },
    rate: async (member, turn, score, note) => {
      const key = people[member]?.personKey ?? '';
      await post('/v1/feedback', key, { turn, score, ...(note === undefined ? {} : { note }) });
    },
    lessons: async () => decodeLessons(await instar.ask('/api/library')),
    scored: async (lesson) => {
      const { effect } = asObject((await instar.ask(`/api/lessons/${lesson}`)) as JsonObject);
      const { with: shown, without } = asObject(effect);
      return { shown: asNumber(asObject(shown).n) ?? 0, withheld: asNumber(asObject(without).n) ?? 0 };
    },
    share: async (lesson) => {
      const { results } = await post('/api/members/move', owner, { lesson });
      const { status, why } = asObject(asArray(results)[0]);
      return status === 'applied' ? undefined : (asString(why) ?? String(status));
    },
    close: async () => {
      await instar.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
