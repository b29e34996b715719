import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WIRE_NAMES, type WireName } from '../../src/core/wire.ts';
import type { ReceivedRequest } from '../../src/gateway/client-clues.ts';
import { createIdentify, type Identity, identify } from '../../src/gateway/identify.ts';
import { toProject } from '../../src/gateway/session-clues.ts';
import { wires } from '../../src/wire/wires.ts';
import { runsOf } from '../support/counts.ts';

interface Recorded {
  readonly what: string;
  readonly wire: WireName;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Recorded requests of real clients, shortened; each file names the version. */
const folder = join(import.meta.dirname, 'client-requests');
const recorded = new Map<string, Recorded>(
  readdirSync(folder).flatMap((file) => {
    const { client, requests } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      client: string;
      requests: Recorded[];
    };
    return requests.map((request) => [`${client}: ${request.what}`, request] as const);
  }),
);

/** A request as the gateway has it after receiving the body. */
const arriving = (given: Omit<ReceivedRequest, 'outline'>): ReceivedRequest => ({
  ...given,
  outline: given.body && wires[given.wire].outline(given.body),
});

const of = ({ wire, headers, body }: Recorded, more: IncomingHttpHeaders = {}): Identity =>
  identify(
    arriving({
      kind: 'chat',
      wire,
      headers: { ...headers, ...more },
      body: Buffer.from(JSON.stringify(body)),
    }),
  );

const ask = (headers: IncomingHttpHeaders, body: unknown = {}, wire: WireName = 'openai-chat'): Identity =>
  identify(arriving({ kind: 'chat', wire, headers, body: Buffer.from(JSON.stringify(body)) }));

const get = (name: string): Recorded => {
  const found = recorded.get(name);
  if (!found) throw new Error(`no recording of ${name}`);
  return found;
};

const idOf = (path: string): string => createHash('sha256').update(path).digest('hex').slice(0, 12);
const SHOP = { id: idOf('/home/dev/shop'), label: 'shop' };
const CLAW = { id: idOf('/home/dev/.openclaw/workspace'), label: 'workspace' };

const session = (id: string) => ({ sessionId: id });
const OPENCODE = 'ses_e22c33653ffedxcOnEYBV0n6nK';
const OPENCLAW = '676245bb-c8f7-4d3d-860c-744ed5574e83';

const EXPECTED: Readonly<Record<string, Partial<Identity>>> = {
  'claude-code: a main turn': {
    ...session('79789390-a1e5-4e96-b5ef-866af62f4a91'),
    role: 'main',
    project: SHOP,
  },
  'claude-code: a sub-agent': {
    ...session('1331674b-755a-4a21-b3ba-eeb86b175d2a:a015eb5a4070281e9'),
    parentSession: '1331674b-755a-4a21-b3ba-eeb86b175d2a',
    role: 'side',
    project: SHOP,
  },
  'claude-code: a compaction': {
    ...session('1331674b-755a-4a21-b3ba-eeb86b175d2a'),
    role: 'aux',
    project: SHOP,
  },
  'claude-code: a session title': { ...session('1cc9ba3d-1ba0-4f24-83a7-ae4e0a536d89'), role: 'aux' },
  'claude-code: a main turn, with hints': { role: 'main', project: SHOP },
  'claude-code: a sub-agent, with hints': { role: 'side', agent: 'Explore', project: SHOP },
  'claude-code: a compaction, with hints': { role: 'aux', project: SHOP },
  'claude-code: a session title, with hints': { role: 'aux' },
  'codex: a main turn': {
    ...session('01a1dd3a-b249-74a0-b928-1e45a65e1079'),
    role: 'main',
    project: SHOP,
  },
  'codex: a sub-agent': {
    ...session('01a1dd3a-b2fb-7ab1-802f-8633e6e96886'),
    parentSession: '01a1dd3a-b249-74a0-b928-1e45a65e1079',
    role: 'side',
    agent: 'thread_spawn',
    project: SHOP,
  },
  'codex: a compaction': {
    ...session('01a1dd3a-b47b-7ee0-9490-59da5ddece0f'),
    role: 'aux',
    project: SHOP,
  },
  'codex: a resumed turn': {
    ...session('01a1dd3a-b47b-7ee0-9490-59da5ddece0f'),
    role: 'main',
    project: SHOP,
  },
  'codex: a review': { role: 'side', agent: 'review', project: SHOP },
  'opencode: a title, chat': { ...session(OPENCODE), role: 'aux' },
  'opencode: a main turn, chat': { ...session(OPENCODE), role: 'main', project: SHOP },
  'opencode: a sub-agent, chat': {
    ...session('ses_e22c32f2fffeRBGsJtSrwgaG3d'),
    parentSession: OPENCODE,
    role: 'side',
    project: SHOP,
  },
  'opencode: a compaction, chat': { ...session(OPENCODE), role: 'aux' },
  'opencode: a title, messages': { role: 'aux' },
  'opencode: a main turn, messages': { role: 'main', project: SHOP },
  'opencode: a title, responses': { role: 'aux' },
  'opencode: a main turn, responses': {
    ...session('ses_e22c3781affeZxFOLdf9L2fG17'),
    role: 'main',
    project: SHOP,
  },
  'hermes: a main turn, chat, connected': { role: 'main', project: SHOP },
  'pi: a main turn, chat, as it comes': { role: 'main', project: SHOP },
  'pi: a main turn, chat, connected': {
    ...session('01a1dd3d-8965-76c9-a20e-00dcd794e9c0'),
    role: 'main',
    project: SHOP,
  },
  'pi: a main turn, responses': {
    ...session('01a1dd3d-8fec-7398-9d15-e5047b7f5594'),
    role: 'main',
    project: SHOP,
  },
  'pi: a main turn, messages': { role: 'main', project: SHOP },
  'pi: a compaction, chat': { role: 'aux' },
  'continue: a main turn': { role: 'main', project: SHOP },
  'continue: a tool result': { role: 'main', project: SHOP },
  'aider: a main turn': { role: 'main' },
  'aider: a commit message': { role: 'aux' },
  'aider: a turn after a failed test': { role: 'main' },
  'aider: a correction': { role: 'main' },
  'cline: a main turn': { role: 'main', project: SHOP },
  // Its sub-agents send no clue about themselves.
  'cline: a sub-agent': { role: 'main' },
  'openclaw: a main turn, as it comes': {
    ...session(OPENCLAW),
    role: 'main',
    agent: 'main',
    project: CLAW,
  },
  'openclaw: a main turn, connected': { ...session(OPENCLAW), role: 'main', agent: 'main', project: CLAW },
  'openclaw: a sub-agent, connected': {
    ...session('95e50590-4b81-4c02-bb48-3c0ebea632f2'),
    role: 'side',
    agent: 'main',
    project: CLAW,
  },
  'openclaw: a compaction, connected': { ...session(OPENCLAW), role: 'aux' },
};

describe('identify, with recorded requests', () => {
  it('has an expectation for every recording', () => {
    expect(Object.keys(EXPECTED).sort()).toEqual([...recorded.keys()].sort());
  });

  it.each(Object.entries(EXPECTED))('%s', (name, expected) => {
    const { client = name.split(':')[0] } = expected;
    const own = name === 'cline: a sub-agent' ? {} : { client };
    const needless = { record: true, sessionDone: false };
    const full = { ...needless, ...own, ...expected };
    const told = of(get(name));
    expect(told).toMatchObject(full);
    // Nothing else may be reported, except session ids, which differ from run to run.
    const { sessionId: _id, parentSession: _parent, folder, ...rest } = told;
    const { sessionId: _expectedId, parentSession: _expectedParent, ...expectedRest } = full;
    expect(rest).toEqual(expectedRest);
    // The project is that of the folder, which is told inside the gateway only.
    expect(folder === undefined ? undefined : toProject(folder)).toEqual(rest.project);
  });

  it('finds the session of Claude Code in the body when a proxy removed its headers', () => {
    const request = get('claude-code: a main turn');
    const { 'x-claude-code-session-id': id, ...headers } = request.headers;
    expect(of({ ...request, headers }).sessionId).toBe(id);
  });

  it('finds the session of a connected OpenClaw in the cache key, without the window number', () => {
    const request = get('openclaw: a main turn, connected');
    const body = { ...request.body, messages: [] };
    expect(of({ ...request, headers: {}, body }).sessionId).toBe(OPENCLAW);
  });

  it('keeps the role main for a turn that read a file with a summary prompt', () => {
    const request = get('claude-code: a main turn');
    const content = [
      {
        type: 'tool_result',
        tool_use_id: 't',
        content: 'CRITICAL: Respond with TEXT ONLY. create a detailed summary of the conversation',
      },
      { type: 'text', text: 'why does "create a detailed summary of the conversation" not work?' },
    ];
    const messages = [...(request.body.messages as object[]), { role: 'user', content }];
    expect(of({ ...request, body: { ...request.body, messages } }).role).toBe('main');
  });
});

describe('identify, headers', () => {
  it('prefers Instar’s headers to MetaClaw’s, and those to a client’s own', () => {
    const request = get('codex: a main turn');
    const theirs = { 'x-session-id': 'm1', 'x-turn-type': 'side', 'x-session-done': 'true' };
    expect(of(request, theirs)).toMatchObject({ sessionId: 'm1', role: 'side', sessionDone: true });
    const ours = {
      'x-instar-session': 'i1',
      'x-instar-turn': 'main',
      'x-instar-session-done': 'false',
      'x-instar-agent': 'shop-keeper',
      'x-instar-run-kind': 'nightly',
      'x-instar-domain': 'sales',
      'x-instar-project': '/srv/other',
      'x-instar-record': 'off',
    };
    expect(of(request, { ...theirs, ...ours })).toEqual({
      client: 'codex',
      sessionId: 'i1',
      agent: 'shop-keeper',
      role: 'main',
      project: { id: idOf('/srv/other'), label: 'other' },
      folder: '/srv/other',
      runKind: 'nightly',
      domain: 'sales',
      record: false,
      sessionDone: false,
    });
  });

  it('recognises a title request without a header, and gives a token count the role aux', () => {
    expect(ask({}, { messages: [{ role: 'system', content: 'You are a title generator.' }] }).role).toBe(
      'aux',
    );
    expect(ask({}, { max_tokens: 1, messages: [{ role: 'user', content: 'quota' }] }).role).toBe('aux');
    const count = {
      kind: 'count',
      wire: 'anthropic',
      headers: { 'x-instar-turn': 'main' },
      body: undefined,
      outline: undefined,
    } as const;
    expect(identify(count).role).toBe('aux');
  });

  it('gives a plain chat without tools the role main (not aux)', () => {
    const body = {
      max_tokens: 200,
      messages: [{ role: 'user', content: 'What is a good title for a book?' }],
    };
    expect(ask({}, body)).toEqual({ role: 'main', record: true, sessionDone: false });
  });

  it("takes Goose's session header (not a new session with every request, whose history differs)", () => {
    expect(ask({ 'agent-session-id': '20261116_7' }).sessionId).toBe('20261116_7');
  });

  it('does not merge requests with a static cache key into one session', () => {
    expect(ask({}, { prompt_cache_key: 'my-app-v1' }).sessionId).toBeUndefined();
  });

  it.each([
    ['a\u0000b', /^sha256-[0-9a-f]{32}$/],
    ['x'.repeat(129), /^sha256-[0-9a-f]{32}$/],
    ['Zür\u202Eich', /^sha256-[0-9a-f]{32}$/],
    ['  team 7  ', /^team 7$/],
    ['attempt:run/1', /^sha256-[0-9a-f]{32}$/],
  ])(
    'keeps the session id %j only if it is printable, and no id of an attempt of practice',
    (given, shown) => {
      expect(ask({ 'x-instar-session': given }).sessionId).toMatch(shown);
    },
  );

  it('distinguishes OpenClaw’s scheduled runs and web hooks from conversations', () => {
    const messages = (key: string) => [
      { role: 'system', content: 'You are a personal assistant running inside OpenClaw.' },
      { role: 'user', content: `go\n\nRuntime: agent=ops | session=${key} | sessionId=s-1 | host=x` },
    ];
    const run = (key: string) => ask({}, { tools: [{ name: 'exec' }], messages: messages(key) });
    expect(run('agent:ops:cron:nightly:run:8821')).toMatchObject({
      runKind: 'cron',
      agent: 'ops',
      role: 'main',
    });
    expect(run('agent:ops:hook:mail')).toMatchObject({ runKind: 'hook', sessionId: 's-1' });
    expect(run('agent:ops:main').runKind).toBeUndefined();
  });
});

describe('identify, projects', () => {
  const inside = (text: string) => ask({}, { messages: [{ role: 'system', content: text }] }).project;

  it.each([
    [
      '<env>\nWorking directory: /home/dev/shop\nIs directory a git repo: Yes\n</env>',
      '/home/dev/shop',
      'shop',
    ],
    ['Current working directory: C:\\Users\\dev\\shop', 'C:\\Users\\dev\\shop', 'shop'],
    ['Primary working directory: \\\\nas\\team\\shop\n', '\\\\nas\\team\\shop', 'shop'],
    ['<cwd>/home/dev/shop/</cwd>', '/home/dev/shop', 'shop'],
    ['# Current Working Directory (/srv/my shop) Files', '/srv/my shop', 'my shop'],
    ['4. Working Directory: /home/dev/Zürich "neu"\n', '/home/dev/Zürich "neu"', 'Zürich "neu"'],
    ['the working directory: yours.\nWorking directory: /srv/a\n', '/srv/a', 'a'],
    ['Working directory: /', '/', '/'],
    // A home folder is named after a person.
    ['Working directory: /home/alice\n', '/home/alice', 'home'],
    ['Working directory: C:\\Users\\alice\n', 'C:\\Users\\alice', 'home'],
  ])('reads %j', (text, path, label) => {
    expect(inside(text)).toEqual({ id: idOf(path), label });
  });

  it('finds none in words without a path, nor in a path without an end', () => {
    expect(inside('Working directory: the one you like')).toBeUndefined();
    expect(inside(`Working directory: /${'a'.repeat(10_000)}`)).toBeUndefined();
  });

  it('searches only the first 256 KB of a conversation', () => {
    const far = [
      { role: 'user', content: 'x'.repeat(300_000) },
      { role: 'user', content: '<cwd>/far</cwd>' },
    ];
    expect(ask({ 'user-agent': 'codex_exec/1' }, { input: far }, 'openai-responses').project).toBeUndefined();
  });
});

describe('identify, with arbitrary input', () => {
  const names = [
    ...['x-instar-session', 'x-instar-agent', 'x-instar-run-kind', 'x-instar-turn', 'x-instar-session-done'],
    ...['x-instar-project', 'x-instar-domain', 'x-instar-record', 'x-session-id', 'x-turn-type'],
    ...['x-session-done', 'x-parent-session-id', 'x-claude-code-session-id', 'x-claude-code-agent-id'],
    ...['x-claude-code-parent-agent-id', 'x-claude-code-request-class', 'x-claude-code-agent-type'],
    ...['session-id', 'session_id', 'thread-id', 'x-codex-turn-metadata', 'x-codex-parent-thread-id'],
    ...['x-openai-subagent', 'x-session-affinity', 'agent-session-id', 'user-agent', 'originator'],
  ];
  const words = fc.constantFrom(
    'main',
    'side',
    'claude-cli/9',
    'codex_exec/1',
    'opencode/1',
    '{"thread_source":"subagent","request_kind":7,"workspaces":{"/a\\u0000b":1}}',
    'x'.repeat(500),
    'a:0',
  );
  const value = fc.oneof(fc.string({ unit: 'binary' }), words);
  const headers = fc.dictionary(fc.constantFrom(...names), fc.oneof(value, fc.array(value)));
  const phrases = [...recorded.values()].map(({ body }) => JSON.stringify(body));
  const body = fc.oneof(
    fc.json().map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
    // Real requests, cut and with bytes changed.
    fc
      .tuple(fc.constantFrom(...phrases), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(), fc.integer())
      .map(([text, share, at, byte]) => {
        const bytes = Buffer.from(text.slice(0, Math.ceil(text.length * share)));
        if (bytes.length > 0) bytes[at % bytes.length] = byte & 0xff;
        return bytes;
      }),
    fc.constant(undefined),
  );

  it('never throws, and returns only printable texts of at most 128 characters', () => {
    fc.assert(
      fc.property(
        headers,
        body,
        fc.constantFrom(...WIRE_NAMES),
        fc.constantFrom('chat', 'count', 'other'),
        (given, bytes, wire, kind) => {
          const told = identify(arriving({ kind, wire, headers: given, body: bytes }));
          for (const name of [
            'sessionId',
            'parentSession',
            'agent',
            'runKind',
            'domain',
            'client',
          ] as const) {
            expect(told[name] ?? 'none').toMatch(/^[\x20-\x7e]{1,128}$/);
          }
          expect(['main', 'side', 'aux']).toContain(told.role);
          if (kind !== 'chat') expect(told.role).toBe('aux');
          if (told.project) {
            expect(told.project.id).toMatch(/^[0-9a-f]{12}$/);
            expect(told.project.label).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u);
          }
        },
      ),
      runsOf(170, 500),
    );
  });
});

describe('a remembered conversation', () => {
  const headers = { 'x-session-id': 'ses_1', 'user-agent': 'opencode/1.18.33' };
  const turn = (system: string) =>
    arriving({
      kind: 'chat',
      wire: 'openai-chat',
      headers,
      body: Buffer.from(
        JSON.stringify({ messages: [{ role: 'system', content: system }], tools: [{ type: 'function' }] }),
      ),
    });

  it('gets its project from the first turn that names one, even after a title request', () => {
    const remembering = createIdentify();
    expect(remembering(turn('You are a title generator')).project).toBeUndefined();
    expect(remembering(turn('Working directory: /home/dev/shop\n')).project?.label).toBe('shop');
    expect(remembering(turn('nothing about folders')).project?.label).toBe('shop');
  });

  it('without a project in three main turns is not searched again', () => {
    const remembering = createIdentify();
    for (let nth = 0; nth < 3; nth++)
      expect(remembering(turn('nothing about folders')).project).toBeUndefined();
    expect(remembering(turn('Working directory: /home/dev/shop\n'))).toMatchObject({ client: 'opencode' });
    expect(remembering(turn('Working directory: /home/dev/shop\n')).project).toBeUndefined();
    const other = {
      ...turn('Working directory: /home/dev/shop\n'),
      headers: { ...headers, 'x-session-id': 'ses_2' },
    };
    expect(remembering(other).project?.label).toBe('shop');
  });
});

describe('the end user of a request', () => {
  const USER = /^u_[0-9a-f]{16}$/;

  it.each([...recorded])(
    'is nobody in what a known client sends (%s): its fields name its own sessions',
    (_, request) => {
      expect(of(request).person).toBeUndefined();
    },
  );

  it('is named by user and safety_identifier of OpenAI, metadata.user_id of Anthropic, or x-instar-user', () => {
    const named = [
      ask({}, { user: 'ines' }),
      ask({}, { safety_identifier: 'ines' }, 'openai-responses'),
      ask({}, { metadata: { user_id: 'ines' } }, 'anthropic'),
      ask({ 'x-instar-user': 'ines' }),
    ].map(({ person }) => person);
    expect(named[0]).toMatch(USER);
    expect(new Set(named).size).toBe(1);
    expect(ask({}, { user: 'otto' }).person).not.toBe(named[0]);
    expect(JSON.stringify(named)).not.toContain('ines');
  });

  it.each([{}, { user: '' }, { user: 7 }, { metadata: { user_id: 'ines' } }])(
    'is nobody in %j on another wire',
    (body) => {
      expect(ask({}, body).person).toBeUndefined();
    },
  );

  it('counts in a recognised client by the header alone', () => {
    const [first] = recorded.values();
    if (first === undefined) throw new Error('no recording');
    expect(of(first, { 'x-instar-user': 'ines' }).person).toMatch(USER);
  });
});

describe('names that callers send', () => {
  it.each(['*', 'build*', 'a?b'])('have no characters of patterns: %s is a hash', (name) => {
    expect(ask({ 'x-instar-agent': name }).agent).toMatch(/^sha256-/);
    expect(ask({ 'x-instar-run-kind': name }).runKind).toMatch(/^sha256-/);
    expect(ask({ 'x-instar-domain': name }).domain).toMatch(/^sha256-/);
  });
});
