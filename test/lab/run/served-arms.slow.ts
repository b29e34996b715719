import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Condition } from '../../../lab/suites/arms.ts';
import { loadBenchJournal, openBenchJournal } from '../../../lab/suites/bench-journal.ts';
import { createOpenEnvironment } from '../../../lab/suites/open-environment.ts';
import { createSharedEmbed } from '../../../lab/suites/run-bench.ts';
import type { QuestionRecord, RunHead } from '../../../lab/suites/run-records.ts';
import { runSuite } from '../../../lab/suites/run-suite.ts';
import { createScriptedPolicy } from '../../../lab/suites/scripted-policy.ts';
import { loadSuite } from '../../../lab/suites/suites.ts';
import type { ChatModel, ChatRequest } from '../../../src/core/chat.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { createLog } from '../../../src/redact/create-log.ts';

const CONDITIONS: readonly Condition[] = ['baseline', 'notes', 'all-lessons', 'skills'];
const folder = mkdtempSync(path.join(tmpdir(), 'instar-served-arms-'));
/** What the policy was sent, by arm. */
const sent = new Map<string, ChatRequest[]>();
let rows: readonly QuestionRecord[] = [];

const textOf = ({ system, messages }: ChatRequest) => ({
  system: system.map(({ text }) => text).join('\n'),
  users: messages.flatMap(({ role, content }) =>
    role === 'user' ? content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [],
  ),
});
const requestsOf = (condition: Condition) => (sent.get(condition) ?? []).map(textOf);
const rowsOf = (condition: Condition) => rows.filter((row) => row.condition === condition);

beforeAll(async () => {
  const loaded = await loadSuite(
    { suite: 'workdays', split: 'report', rules: 'house', set: '', days: 2, only: 'files' },
    {},
  );
  const head: RunHead = {
    ...{ run: 'served', suite: 'workdays', options: {}, policy: 'scripted', conditions: CONDITIONS },
    ...{ seeds: [1], questions: 22, rules: [], arms: 2, startedAt: '', version: '0', notes: [] },
  };
  const file = path.join(folder, 'journal.jsonl');
  const journal = openBenchJournal(file, head);
  const embed = createSharedEmbed();
  let arm = '';
  const model: ChatModel = (request, options) => {
    sent.set(arm, [...(sent.get(arm) ?? []), request]);
    const habits = { obey: 0.9, unaided: 0.05, read: 0.6 };
    return createScriptedPolicy({ suite: loaded.of(1), habits, seed: 'arms' })(request, options);
  };
  const open = createOpenEnvironment({
    folder,
    policy: { kind: 'own', model: async () => model },
    failures: 3,
    embed,
    env: {},
    log: createLog({ format: 'json', level: 'silent' }),
  });
  await runSuite({
    head,
    suite: loaded.of,
    openEnvironment: (options) => {
      arm = options.condition;
      return open(options);
    },
    journal,
    done: undefined,
    settleEach: true,
    clock: systemClock,
    onProgress: () => undefined,
    signal: new AbortController().signal,
  });
  journal.close();
  await embed.close();
  rows = loadBenchJournal(file)?.rows ?? [];
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('what the policy is sent under each arm, through the real daemon', () => {
  it('has the feedback on earlier answers of the day in the conversation of the baseline, and no lesson', () => {
    const requests = requestsOf('baseline');
    const explained = rowsOf('baseline').filter(({ told = [] }) => told.length > 0);
    expect(explained.length).toBeGreaterThan(5);
    expect(
      requests.some(({ users }) => users.some((text) => text.includes('+08:00') && /t01\d\d/.test(text))),
    ).toBe(true);
    expect(requests.at(-1)?.users.length).toBeGreaterThan(10);
    for (const { system, users } of requests) {
      expect(system).not.toMatch(/## Notes|## Active Skills/);
      expect(users.join('\n')).not.toContain('## Active Skills');
    }
  });

  it('has the feedback of day 1 in the notes of day 2, and none of it on day 1', () => {
    const systems = requestsOf('notes').map(({ system }) => system);
    const withNotes = systems.filter((system) => system.includes('## Notes'));
    expect(systems[0]).not.toContain('## Notes');
    expect(withNotes.length).toBeGreaterThan(0);
    expect(withNotes.at(-1)).toMatch(/## Notes\n.*\n- .*\+08:00/s);
    expect(
      rowsOf('notes').filter(({ day, told = [] }) => day === 1 && told.length > 0).length,
    ).toBeGreaterThan(3);
  });

  it('has every lesson in each prompt where recall is off, and says so in the rows', () => {
    const last = requestsOf('all-lessons').at(-1);
    expect(last?.system).toContain('## Active Skills');
    const after = rowsOf('all-lessons').filter(({ day, known = [] }) => day === 1 && known.length > 0);
    expect(after.length).toBeGreaterThan(0);
    expect(after.every(({ taught, known }) => taught.length === known?.length)).toBe(true);
  });
});
