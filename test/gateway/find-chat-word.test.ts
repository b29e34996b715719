import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WireName } from '../../src/core/wire.ts';
import { type FoundChatWord, findChatWord } from '../../src/gateway/find-chat-word.ts';
import { identify } from '../../src/gateway/identify.ts';
import { wires } from '../../src/wire/wires.ts';
import { runsOf } from '../support/counts.ts';

interface Recorded {
  readonly what: string;
  readonly wire: WireName;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

const folder = join(import.meta.dirname, 'client-requests');
const recorded = readdirSync(folder).flatMap((file) => {
  const { client, requests } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
    client: string;
    requests: Recorded[];
  };
  return requests.map((request) => [`${client}: ${request.what}`, request] as const);
});

function find(
  wire: WireName,
  body: object,
  headers: Readonly<Record<string, string>> = {},
  kind: 'chat' | 'count' = 'chat',
): FoundChatWord | undefined {
  const bytes = Buffer.from(JSON.stringify(body));
  const outline = wires[wire].outline(bytes);
  const identity = identify({ kind, wire, headers, body: bytes, outline });
  return findChatWord({ kind, wire: { name: wire }, body: bytes, outline, identity });
}

const roleOf = ({ wire, headers, body }: Recorded): string => {
  const bytes = Buffer.from(JSON.stringify(body));
  return identify({ kind: 'chat', wire, headers, body: bytes, outline: wires[wire].outline(bytes) }).role;
};

/** What was typed in the recorded sessions. */
const TYPED =
  /say hi|please explain the package file|and again|\[\[tool .*?\]\]|List the files please|Change hello to goodbye in hello\.py|No, that is wrong\. Always write good bye as two words\.|Run the command you were told about and tell me what it said\./g;
/** The newest message is what a program wrote: the result of the tests, or of a tool. */
const NOBODY_TYPED: readonly string[] = ['aider: a turn after a failed test', 'continue: a tool result'];
const WORD = 'instar: bad, use ISO dates';

/** The request with another last text of the person: everything that the client put around it stays. */
function withLastTyped({ body }: Recorded, said: string): object {
  const changed = structuredClone(body) as Record<string, unknown>;
  const list = (changed.messages ?? changed.input) as { role?: string; content: unknown }[];
  for (const message of [...list].reverse()) {
    if (message.role !== 'user') continue;
    if (typeof message.content === 'string' && message.content.search(TYPED) >= 0) {
      message.content = message.content.replace(TYPED, said);
      return changed;
    }
    if (!Array.isArray(message.content)) continue;
    for (const part of [...message.content].reverse()) {
      if (typeof part.text !== 'string' || part.text.search(TYPED) < 0) continue;
      part.text = part.text.replace(TYPED, said);
      return changed;
    }
  }
  throw new Error('nobody typed anything');
}

const isTurnOfPerson = (request: Recorded): boolean => roleOf(request) === 'main';

describe('a word to Instar in the requests of real clients', () => {
  const mains = recorded.filter(([, request]) => isTurnOfPerson(request));
  const others = recorded.filter(([, request]) => !isTurnOfPerson(request));

  it('has recordings of all clients to look at', () => {
    expect(new Set(mains.map(([name]) => name.split(':')[0])).size).toBe(9);
    expect(others.length).toBeGreaterThan(8);
  });

  it.each(mains.filter(([name]) => !NOBODY_TYPED.includes(name)))(
    'is understood when it is what the person typed: %s',
    (_, request) => {
      const found = find(request.wire, withLastTyped(request, WORD), request.headers);
      expect(found?.word).toStrictEqual({ kind: 'rating', score: -1, note: 'use ISO dates' });
    },
  );

  it.each(recorded)('is never found in a request without one: %s', (_, request) => {
    expect(find(request.wire, request.body, request.headers)).toBeUndefined();
  });

  it.each(others.filter(([, { body }]) => JSON.stringify(body).search(TYPED) >= 0))(
    'is not understood in a title, a summary or a sub-agent that shows it: %s',
    (_, request) => {
      expect(find(request.wire, withLastTyped(request, WORD), request.headers)).toBeUndefined();
    },
  );
});

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });

describe('a word to Instar', () => {
  it('is found as a plain input, a list and a part, with the question before it', () => {
    expect(find('openai-responses', { model: 'm', input: 'instar: good' })?.word).toMatchObject({ score: 1 });
    const messages = [
      user('write the export'),
      assistant('done'),
      user('instar: good'),
      assistant('Saved: good.'),
      user([{ type: 'text', text: WORD }]),
    ];
    expect(find('openai-chat', { model: 'm', messages })).toStrictEqual({
      word: { kind: 'rating', score: -1, note: 'use ISO dates' },
      about: 'write the export',
    });
  });

  it('is understood after a tool that the person stopped, and not as the tool’s own result', () => {
    const call = { type: 'tool_use', id: 'c', name: 'Bash', input: {} };
    const result = (content: string) => ({ type: 'tool_result', tool_use_id: 'c', content });
    const ask = (content: unknown) =>
      find('anthropic', { model: 'm', messages: [user('go'), assistant([call]), user(content)] });
    expect(ask([result('stopped'), { type: 'text', text: WORD }])?.word).toMatchObject({ score: -1 });
    expect(ask([result(WORD)])).toBeUndefined();
    expect(
      ask([result(WORD), { type: 'text', text: '<system-reminder>x</system-reminder>' }]),
    ).toBeUndefined();
    const tool = { role: 'tool', tool_call_id: 'c', content: WORD };
    expect(find('openai-chat', { model: 'm', messages: [user('go'), tool] })).toBeUndefined();
    const output = { type: 'function_call_output', call_id: 'c', output: WORD };
    expect(find('openai-responses', { model: 'm', input: [user('go'), output] })).toBeUndefined();
  });

  it('is not the agent’s own text, an earlier message, a picture with a caption or a part of a message', () => {
    const ask = (...messages: readonly object[]) => find('openai-chat', { model: 'm', messages });
    expect(ask(user('go'), assistant(WORD))).toBeUndefined();
    expect(ask(user(WORD), assistant('Saved.'), user('go on'))).toBeUndefined();
    expect(
      ask(
        user([
          { type: 'image_url', image_url: { url: 'x' } },
          { type: 'text', text: WORD },
        ]),
      ),
    ).toBeUndefined();
    expect(
      ask(
        user([
          { type: 'text', text: 'look:' },
          { type: 'text', text: WORD },
        ]),
      ),
    ).toBeUndefined();
    expect(ask(user(`I typed\n${WORD}`))).toBeUndefined();
    expect(ask(user(`"${WORD}"`))).toBeUndefined();
  });

  it('is not looked for when tokens are counted, or by a sub-agent', () => {
    const body = { model: 'm', messages: [user(WORD)] };
    expect(find('anthropic', body)).toBeDefined();
    expect(find('anthropic', body, {}, 'count')).toBeUndefined();
    expect(find('anthropic', body, { 'x-instar-turn': 'side' })).toBeUndefined();
    expect(find('anthropic', body, { 'x-claude-code-request-class': 'auxiliary' })).toBeUndefined();
  });

  it('is never found in an ordinary conversation, and never throws', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('instar', 'the instar: daemon', 'run instar up', 'nstar:', 'INSTAR', '"instar: good"'),
    );
    const content = fc.oneof(
      text,
      fc.array(fc.record({ type: fc.constant('text'), text }), { maxLength: 3 }),
    );
    const message = fc.record({
      role: fc.constantFrom('user', 'assistant', 'system', 'tool'),
      content: fc.oneof(content, fc.jsonValue()),
    });
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.constantFrom(...Object.values(wires)),
        (list, { name }) => {
          const body = name === 'openai-responses' ? { input: list } : { messages: list };
          expect(find(name, { model: 'm', ...body })).toBeUndefined();
        },
      ),
      runsOf(330, 1000),
    );
  });
});
