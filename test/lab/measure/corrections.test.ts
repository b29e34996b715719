import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeClientRequest } from '../../../lab/measure/corrections/client-shapes.ts';
import { parseCorrectionSet } from '../../../lab/measure/corrections/correction-set.ts';
import { gainedText, hasPhrase } from '../../../lab/measure/corrections/gained-text.ts';
import type { PlayedRow } from '../../../lab/measure/corrections/play-corrections.ts';
import { readRecordedMessages } from '../../../lab/measure/corrections/recorded-messages.ts';
import { renderStory } from '../../../lab/measure/corrections/render-story.ts';
import { scoreRow, summarizeCorrections } from '../../../lab/measure/corrections/score-corrections.ts';
import { writeScriptedLessons } from '../../../lab/measure/corrections/scripted-evolver.ts';
import type { ChatMessage } from '../../../src/core/chat.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { identify } from '../../../src/gateway/identify.ts';
import { wires } from '../../../src/wire/wires.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const readOurs = (part: string) =>
  parseCorrectionSet(
    readFileSync(path.join(ROOT, `lab/measure/corrections/corrections-${part}.jsonl`), 'utf8'),
  );
const user = (content: unknown) => ({ role: 'user', content });
const line = (fields: object): string =>
  JSON.stringify({
    id: 'a',
    sessions: [{ messages: [user('hi')] }],
    must_show: null,
    must_not: [],
    ...fields,
  });

describe('a set of corrections', () => {
  it('is read without a client and with phrases as one string (not refused)', () => {
    const [row] = parseCorrectionSet(
      `\uFEFF${line({ must_show: { query: 'go on', phrases: 'pnpm' }, must_not: 'npm' })}\r\n\n`,
    );
    expect(row).toMatchObject({ client: 'openai', mustShow: { phrases: ['pnpm'] }, mustNot: ['npm'] });
  });

  it.each([
    ['not json', 'line 2: it is not a JSON object'],
    [line({ id: 'b', sessions: [] }), 'line 2: "sessions" is missing or empty'],
    [line({ id: 'b', sessions: [{ messages: [] }] }), 'line 2: no session has a message of the user'],
    [line({ id: 'b', must_show: { query: 'x' } }), 'line 2: "must_show" needs a "query" and "phrases"'],
    [line({}), 'line 2: line 1 has the id "a" too'],
  ])('is refused as a whole for the line %s (and the line is named)', (wrong, message) => {
    expect(() => parseCorrectionSet(`${line({})}\n${wrong}\n`)).toThrow(message);
  });

  it('ends the bench with exit code 2 when a line is malformed (not 0 with fewer rows)', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'instar-set-'));
    const file = path.join(folder, 'set.jsonl');
    writeFileSync(file, `${line({})}\nnot json\n`);
    const run = path.join(ROOT, 'build/lab/measure/corrections/run.js');
    const { status, stderr } = spawnSync(process.execPath, [run, '--set', file], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect(stderr).toContain('line 2');
    expect(status).toBe(2);
  });

  it('of ours has 60 and more rows in each half, a third of them to show nothing for, and no row in both', () => {
    const [dev, test] = [readOurs('dev'), readOurs('test')];
    for (const part of [dev, test]) {
      expect(part.length).toBeGreaterThanOrEqual(60);
      const nothing = part.filter(({ mustShow }) => mustShow === null).length;
      expect(nothing / part.length).toBeGreaterThanOrEqual(0.3);
      expect(new Set(part.map(({ client }) => client)).size).toBeGreaterThanOrEqual(7);
    }
    const known = new Set(dev.map(({ id }) => id));
    expect(test.filter(({ id }) => known.has(id))).toEqual([]);
  });
});

const STEPS = [
  { user: 'list it' },
  { run: 'ls', out: 'nope', exit: 2, say: 'I look.' },
  { agent: 'There is nothing.' },
  { user: 'wrong folder' },
] as const;

describe('recorded messages', () => {
  it.each(['claude-code', 'codex', 'opencode', 'pi', 'openclaw', 'cline', 'goose', 'openai'])(
    'of %s are three requests with a call, its result and an accepting last answer',
    (client) => {
      const { turns, firstTask } = readRecordedMessages(renderStory(client, STEPS));
      expect(firstTask).toBe('list it');
      expect(turns.map(({ isSpoken }) => isSpoken)).toEqual([true, false, true]);
      const [first, second, last] = turns;
      const call = first?.reply.find(({ type }) => type === 'tool-call');
      expect(call).toMatchObject({ type: 'tool-call', arguments: expect.stringContaining('ls') });
      expect(second?.added).toMatchObject([
        { role: 'tool', callId: call?.type === 'tool-call' ? call.id : '', content: [{ type: 'text' }] },
      ]);
      expect(JSON.stringify(second?.added)).toContain('2');
      expect(last?.reply).toEqual([{ type: 'text', text: 'Okay.' }]);
    },
  );

  it('in mixed forms keep a result with the call that has no id (not with none)', () => {
    const { turns, system } = readRecordedMessages([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'run it' }] },
      { role: 'assistant', content: 'ok', tool_calls: [{ name: 'bash', arguments: { command: 'ls' } }] },
      { role: 'tool', content: [{ type: 'text', text: 'a.txt' }] },
      { role: 'assistant', content: 'one' },
      { role: 'assistant', content: 'file' },
    ]);
    expect(system).toEqual(['Be brief.']);
    expect(turns[1]?.added).toEqual([
      { role: 'tool', callId: 'call_0', content: [{ type: 'text', text: 'a.txt' }] },
    ]);
    expect(turns[1]?.reply).toHaveLength(2);
  });
});

describe("a client's request", () => {
  const FOLDER = '/home/dev/3f/app';
  const messages: readonly ChatMessage[] = [
    { role: 'user', content: [{ type: 'text', text: 'first' }] },
    { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'x', arguments: '{}' }] },
    { role: 'tool', callId: 'c', content: [{ type: 'text', text: 'out' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
    { role: 'user', content: [{ type: 'text', text: 'second' }] },
  ];
  const seen = (client: string, session: string) => {
    const place = { folder: FOLDER, session, now: new Date(0) };
    const { wire, headers, body } = writeClientRequest(client, { messages, system: [], tools: ['x'] }, place);
    const bytes = Buffer.from(JSON.stringify(body));
    const outline = wires[wire].outline(bytes);
    return { body, identity: identify({ kind: 'chat', wire, headers, body: bytes, outline }) };
  };

  it.each([
    ['claude-code', 'claude-code'],
    ['codex', 'codex'],
    ['opencode', 'opencode'],
    ['pi', 'pi'],
    ['openclaw', 'openclaw'],
    ['cline', 'cline'],
    ['goose', undefined],
    ['aider', undefined],
    ['somebody', undefined],
  ])('of %s is recognised as a main turn of its folder', (client, known) => {
    const { identity, body } = seen(client, 's 1');
    expect(identity.client).toBe(known);
    expect(identity.role).toBe('main');
    expect(identity.project).toMatchObject({ label: 'app' });
    expect(JSON.stringify(body)).toContain('second');
  });

  it.each(['claude-code', 'codex', 'opencode', 'pi', 'openclaw', 'goose'])(
    'of %s names its session, another one for another conversation',
    (client) => {
      const [one, same, other] = ['s 1', 's 1', 's 2'].map((name) => seen(client, name).identity.sessionId);
      expect(one).toBeDefined();
      expect(same).toBe(one);
      expect(other).not.toBe(one);
    },
  );
});

describe('what a prompt gained', () => {
  const sent = { model: 'a', system: 'Be kind.', messages: [user('hello'), user('hello')] };

  it('is the text behind the system prompt and the new part, without the words of the client', () => {
    const received = {
      model: 'b',
      system: 'Be kind.\n\n## Skills\nUse pnpm.',
      messages: [
        user('hello'),
        { role: 'user', content: [{ type: 'text', text: 'hello' }] },
        user('New: bun.'),
      ],
    };
    expect(gainedText(sent, received)).toBe('## Skills\nUse pnpm.\n\nNew: bun.');
    expect(gainedText(sent, sent)).toBe('');
  });

  it('has a phrase whatever its case, quotes and line breaks', () => {
    expect(hasPhrase('You said: ‘Never\n  Edit it’', "'never edit it'")).toBe(true);
    expect(hasPhrase('pnpm', 'npm i')).toBe(false);
  });
});

describe('the score', () => {
  const played = (fields: Partial<PlayedRow> & { readonly line: object }): PlayedRow => {
    const [row] = parseCorrectionSet(line(fields.line));
    if (row === undefined) throw new Error('no row');
    return {
      row,
      gained: '',
      isLate: false,
      engine: 'minilm-l6-v2/384',
      why: new Map(),
      lessons: [],
      foreign: [],
      turns: [],
      bySession: [],
      ...fields,
    };
  };
  const wanted = { must_show: { query: 'q', phrases: ['pnpm', 'bun'] }, must_not: ['use npm'] };

  it('counts any phrase as shown, an unwanted one as a fault, and anything shown for nothing as wrong', () => {
    const rows = [
      played({ line: { id: '1', ...wanted }, gained: 'We use bun.' }),
      played({ line: { id: '2', ...wanted }, gained: 'Use npm, or pnpm.' }),
      played({ line: { id: '3', ...wanted } }),
      played({ line: { id: '4' }, gained: 'Something.' }),
      played({ line: { id: '5' } }),
    ].map(scoreRow);
    expect(rows.map(({ isRight }) => isRight)).toEqual([true, false, false, false, true]);
    expect(rows[2]?.cause).toBe('not detected');
    expect(summarizeCorrections(rows)).toMatchObject({
      ...{ rows: 5, wanted: 3, shown: 2, missed: 1, nothingWanted: 2, wronglyShown: 1, mustNotViolated: 1 },
      failing: { missed: ['3'], wronglyShown: ['4'], mustNotViolated: ['2'] },
    });
  });
});

describe('a trap', () => {
  const played = (fields: object, gained: string): PlayedRow => {
    const [row] = parseCorrectionSet(line(fields));
    if (row === undefined) throw new Error('no row');
    return {
      ...{ row, gained, isLate: false, engine: 'none', why: new Map(), lessons: [], foreign: [], turns: [] },
      bySession: [],
    };
  };

  it.each([
    [{ probe: 'Which port?' }, 'Which port?'],
    [{ probe: { query: 'Which port?' } }, 'Which port?'],
    [{ query: 'Which port?' }, 'Which port?'],
    [{}, 'And the next one of these: hi'],
  ])('asks its probe, not the first task again (%j)', (fields, query) => {
    expect(parseCorrectionSet(line(fields))[0]?.query).toBe(query);
  });

  it('is wrong where its prompt holds what must not be there (not where it gains anything, or rejects it)', () => {
    const trap = { probe: 'Which port?', must_not: ['port 1000'] };
    const scores = ['', 'The user likes tea.', 'You said: not port 1000.', 'Use port 1000.'].map((gained) =>
      scoreRow(played(trap, gained)),
    );
    expect(scores.map(({ isWronglyShown }) => isWronglyShown)).toEqual([false, false, false, true]);
    expect(scores.map(({ isRight }) => isRight)).toEqual([true, true, true, false]);
    expect(scores.map(({ isAnythingShown }) => isAnythingShown)).toEqual([false, true, true, true]);
  });

  it('is wrong for any gain where it names no phrase', () => {
    expect(scoreRow(played({}, 'Something.')).isRight).toBe(false);
  });
});

describe('the scripted learning model', () => {
  it("writes the user's last words of each recording into a fenced answer with a comma too many", () => {
    const question = [
      '<<<m1 failure 1 of 1, turn t_1',
      '[user] add zod',
      '[assistant] done with npm',
      '[user] we use pnpm here',
      'm1>>>',
      'Answer with a JSON list and nothing else.',
    ].join('\n');
    const content = [{ type: 'text', text: question }] as const;
    const answer = writeScriptedLessons({
      ...{ model: 'm', system: [], tools: [], stream: false },
      messages: [{ role: 'user', content }],
    });
    expect(answer).toContain('```json');
    expect(answer).toContain('1. we use pnpm here');
    expect(() => JSON.parse(answer.split('```')[1]?.slice(4) ?? '') as JsonObject).toThrow();
  });
});
