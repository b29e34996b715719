import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DecodedTurn, TurnView } from '../../src/core/store.ts';
import { createTurnEvidence } from '../../src/evidence/turn-evidence.ts';
import { toSpokenTurn } from '../../src/evidence/turn-reading.ts';
import { separateTypedText } from '../../src/text/typed-text.ts';
import { wires } from '../../src/wire/wires.ts';

const file = join(import.meta.dirname, '../gateway/client-requests/aider.json');
const { requests } = JSON.parse(readFileSync(file, 'utf8')) as {
  requests: readonly {
    readonly what: string;
    readonly body: Parameters<(typeof wires)['openai-chat']['decodeRequest']>[0];
  }[];
};
const view: TurnView = {
  id: 't',
  session: 's',
  agent: 'aider',
  role: 'main',
  wire: 'openai-chat',
  model: 'm',
  generation: 0,
  policy: 'p/m',
  lessons: [],
  startedAt: 1,
  status: 'complete',
};

/** A recorded request of aider as a turn, as it came. */
function turnOf(what: string): DecodedTurn {
  const body = requests.find((request) => request.what === what)?.body ?? {};
  const request = wires['openai-chat'].decodeRequest(body);
  return { view, request, reply: [{ type: 'text', text: 'Here it is.' }], stop: 'end' };
}

const [first, failed, corrected] = ['a main turn', 'a turn after a failed test', 'a correction'].map((what) =>
  toSpokenTurn(turnOf(what)),
) as [DecodedTurn, DecodedTurn, DecodedTurn];

describe('a turn of aider', () => {
  it('has the task that was typed, and begins a conversation (not: the example that aider shows)', () => {
    const { task, isFollowUp } = createTurnEvidence({
      session: 's',
      turn: first,
      after: undefined,
      given: [],
    });
    expect(task).toBe('Change hello to goodbye in hello.py');
    expect(isFollowUp).toBeUndefined();
  });

  it('is followed by the edit and the failed test as results, and by no words of a person', () => {
    const { next } = createTurnEvidence({ session: 's', turn: first, after: failed, given: [] });
    expect(next?.tools.map(({ text }) => text.split('\n')[0])).toEqual([
      'Edit applied successfully.',
      'FAILED hello.py: expected good bye',
    ]);
    expect(next?.user).toBeUndefined();
  });

  it('is followed by the correction in the person’s words, without the client’s rules', () => {
    const { next } = createTurnEvidence({ session: 's', turn: failed, after: corrected, given: [] });
    expect(next?.user).toBe('No, that is wrong. Always write good bye as two words.');
  });

  it('is as it came for any other client', () => {
    const turn = { ...turnOf('a main turn'), request: { ...first.request } };
    expect(toSpokenTurn(turn)).toBe(turn);
  });
});

it.each([
  '# *SEARCH/REPLACE block* Rules:\n\nEvery block must match.',
  '# File editing rules:\n\nAlways mark new lines.',
  'To suggest changes to a file you MUST return the entire content of the updated file.\n*NEVER* skip a line.',
])('rules that aider writes behind the user’s words are not the user’s: %s', (rules) => {
  expect(separateTypedText(`Rename the table.\n\n${rules}`).typed).toBe('Rename the table.');
});

it.each([
  'I committed the changes with git hash 1a5d599 & commit msg: feat: rename',
  'I updated the files.',
  "I switched to a new code base. Please don't consider the above files or try to edit them any longer.",
  '# Fix any errors below, if possible.\n\nnotes.py:1: E999',
])('what aider says in the user’s name was not typed: %s', (message) => {
  expect(separateTypedText(message).typed).toBe('');
});
