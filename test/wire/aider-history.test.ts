import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createSessionMatcher } from '../../src/gateway/session-matcher.ts';
import { aiderHistory } from '../../src/wire/aider-history.ts';
import { readConversation } from '../../src/wire/conversation.ts';

interface Recorded {
  readonly what: string;
  readonly body: { readonly messages: readonly { readonly role: string; readonly content: string }[] };
}

const file = join(import.meta.dirname, '../gateway/client-requests/aider.json');
const { requests } = JSON.parse(readFileSync(file, 'utf8')) as { requests: readonly Recorded[] };
const bodyOf = (what: string): Buffer =>
  Buffer.from(JSON.stringify(requests.find((request) => request.what === what)?.body));
const TURNS = ['a main turn', 'a turn after a failed test', 'a correction'].map(bodyOf);

it('leaves what was said: no example, no files, no answers of the client, no rules', () => {
  const { messages } = JSON.parse(aiderHistory(TURNS[2] ?? Buffer.alloc(0)).toString()) as Recorded['body'];
  expect(messages.map(({ role, content }) => `${role}: ${content.split('\n')[0]}`)).toEqual([
    'user: Change hello to goodbye in hello.py',
    'assistant: Ok.',
    'user: I committed the changes with git hash 1a5d599 & commit msg: feat: change the greeting',
    'user: I ran this command:',
    'assistant: I see.',
    'user: I committed the changes with git hash 53e8dab & commit msg: feat: change the greeting',
    'user: No, that is wrong. Always write good bye as two words.',
  ]);
  expect(messages.at(-1)?.content).toBe('No, that is wrong. Always write good bye as two words.');
});

it('makes one session of a conversation whose frame changes with every request', async () => {
  let ids = 0;
  const clock = { now: () => 0, monotonic: () => 0 } as Parameters<typeof createSessionMatcher>[0];
  const matcher = createSessionMatcher(clock, (prefix) => `${prefix}${++ids}`);
  const sessions = await Promise.all(TURNS.map((body) => matcher.byChain(aiderHistory(body), 'aider')));
  expect(sessions.map(({ session }) => session)).toEqual(['s1', 's1', 's1']);
});

it('keeps a body that is no conversation of aider', () => {
  for (const text of ['{"messages":[]}', 'no JSON', '{"messages":"text"}']) {
    const body = Buffer.from(text);
    expect(aiderHistory(body)).toBe(body);
  }
});

it('the task for recall is what the person typed, without the client’s rules', () => {
  expect(readConversation('openai-chat', TURNS[0] ?? Buffer.alloc(0))?.task).toBe(
    'Change hello to goodbye in hello.py',
  );
});
