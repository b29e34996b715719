import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadBenchJournal } from '../../../lab/suites/bench-journal.ts';
import type { QuestionRecord } from '../../../lab/suites/run-records.ts';
import type { ChatEvent, ChatMessage, ChatRequest } from '../../../src/core/chat.ts';
import { asObject, parseJson } from '../../../src/core/json.ts';
import { wires } from '../../../src/wire/wires.ts';
import { type Provider, startProvider } from '../../support/provider.ts';
import { openBenchCli } from '../bench-cli.ts';
import { FIXTURE_QUESTIONS, writeMetaclawFixture } from './fixture.ts';
import { wall } from './place.ts';

const { home, bench } = openBenchCli();
const data = path.join(home, 'data');
let provider: Provider;

const textOf = ({ content }: ChatMessage): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');

/** A model behind HTTP that works with real commands, and follows a rule only where its system prompt has it. */
function* reply({ model, system, messages }: ChatRequest): Generator<ChatEvent> {
  const rules = [
    ...system.map(({ text }) => text),
    ...messages.filter(({ role }) => role === 'system').map(textOf),
  ].join('\n');
  const asked = textOf(messages.findLast(({ role }) => role === 'user') ?? { role: 'user', content: [] });
  const today = /2026-05-0\d/.exec(rules)?.[0] ?? '2026-05-04';
  // Lessons that the gateway appended may quote earlier tasks.
  const [typed = ''] = asked.split('## Active Skills');
  const question = typed.slice(typed.lastIndexOf('Please '));
  yield { type: 'reply-start', id: 'x', model };
  if (messages.at(-1)?.role === 'tool') yield { type: 'text-delta', text: 'It is done.' };
  else if (asked.includes('\\bbox{X')) yield { type: 'text-delta', text: 'I think \\bbox{A,C}.' };
  else {
    const [, file, field] = /in (\S+\.json), with its time in the field (\w+)/.exec(question) ?? [];
    const [, what = '', day] = /the (\w+ list) as JSON in (\w+)\//.exec(question) ?? [];
    const time = rules.includes('+08:00') ? `${today}T09:30:00+08:00` : '9:30';
    const name = /\d{8}_[a-z]/.test(rules) ? `20260505_${what.replace(' ', '_')}` : what.replace(' ', '-');
    const command =
      file === undefined
        ? `printf '{"items": []}' > ${day}/${name}.json && ls ${day}`
        : `printf '{"${field}": "${time}"}' > ${file} && cat ${file}`;
    yield { type: 'tool-start', id: 'call_1', name: 'run_command' };
    yield { type: 'tool-delta', id: 'call_1', json: JSON.stringify({ command }) };
  }
  yield { type: 'reply-end', stop: 'end', usage: { inputTokens: 200, outputTokens: 30 } };
}

beforeAll(async () => {
  mkdirSync(data, { recursive: true });
  writeMetaclawFixture(data);
  provider = await startProvider((request, response) => {
    const wire = request.url.includes('/messages') ? wires.anthropic : wires['openai-chat'];
    const events = [...reply(wire.decodeRequest(asObject(parseJson(request.body.toString()))))];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(wire.encodeReply(events)));
  });
  const config = {
    providers: {
      lab: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` },
      other: { wire: 'anthropic', baseUrl: `${provider.url}` },
    },
  };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 });
});
afterAll(() => provider.close());

const rowsOf = (run: string): readonly QuestionRecord[] =>
  loadBenchJournal(path.join(home, 'bench', run, 'journal.jsonl'))?.rows ?? [];
const RUN = ['run', 'metaclaw', '--data', data, '--seeds', '1', '--failures', '1'];
const passed = (run: string, condition: string, rule: string): string =>
  rowsOf(run)
    .filter((row) => row.condition === condition && row.rules.includes(rule))
    .map((row) => (row.passed ? '1' : '0'))
    .join('');

describe.skipIf(!wall.ok)(
  'instar lab bench run metaclaw with a configured model',
  { timeout: 240_000 },
  () => {
    it.each([
      ['lab/m', 'openai-chat'],
      ['other/m', 'anthropic'],
    ])('learns both rules of the fixture from feedback alone: %s (%s)', async (policy, run) => {
      const { code, stdout, stderr } = await bench([...RUN, '--policy', policy, '--run', run, '--json']);
      expect(code, stderr).toBe(0);
      const report = asObject(parseJson(stdout));
      expect(rowsOf(run)).toHaveLength(2 * FIXTURE_QUESTIONS);
      expect(rowsOf(run).every(({ score, official }) => score !== undefined && official !== undefined)).toBe(
        true,
      );
      expect(passed(run, 'baseline', 'P1')).toBe('0000');
      expect(passed(run, 'baseline', 'P2')).toBe('000');
      expect(passed(run, 'skills', 'P1')).toMatch(/^0[01]11$/);
      expect(passed(run, 'skills', 'P2')).toBe('011');
      expect(report).toMatchObject({
        conditions: { baseline: { completion: 0, exact: 1 } },
        official: [{ condition: 'baseline', completion: 0 }, { condition: 'skills' }],
      });
      // Commands ran for real: the agent saw what they printed.
      const bodies = provider.seen.map(({ body }) => body.toString());
      expect(
        bodies.some((body) =>
          /README\.md\\+n(?:delivery\.json\\+n|\w+\.json\\+n)*stock-list\.json/.test(body),
        ),
      ).toBe(true);
      const table = (await bench(['report', run, '--details'])).stdout;
      expect(table).toContain('By the definitions that the suite was published with');
      expect(table).toMatch(/on day +1 +2 +3$/m);
      expect(table).toMatch(/^baseline +0 +0 +0$/m);
    });

    it('continues after kill -9 with the interrupted day, and with the lessons of the days before', async () => {
      const killed = await bench([...RUN, '--policy', 'lab/m', '--run', 'killed'], (line) =>
        line.includes('skills · seed 1 · day 3 of 3'),
      );
      expect(killed.code).toBeNull();
      expect(rowsOf('killed')).toHaveLength(FIXTURE_QUESTIONS + 6);
      const again = await bench([...RUN, '--policy', 'lab/m', '--run', 'killed']);
      expect(again.code).toBe(0);
      expect(rowsOf('killed')).toHaveLength(2 * FIXTURE_QUESTIONS);
      expect(passed('killed', 'skills', 'P2')).toBe('011');
      expect(readFileSync(path.join(home, 'bench/killed/report.md'), 'utf8')).toContain('metaclaw');
    });

    it('runs part II days where they are given, and the shipped policy, which reads none of it', async () => {
      const second = await bench([
        ...RUN,
        '--set',
        'part2',
        '--policy',
        'lab/m',
        '--run',
        'second',
        '--json',
      ]);
      expect(second.code).toBe(0);
      expect(rowsOf('second')).toHaveLength(6);
      const nano = await bench([
        ...RUN,
        '--days',
        '1',
        '--policy',
        'nano',
        '--condition',
        'baseline',
        '--run',
        'nano',
        '--json',
      ]);
      expect(nano.code, nano.stderr).toBe(0);
      expect(rowsOf('nano')).toHaveLength(3);
    });

    it('runs full with what was served, and refuses to train on its own questions', async () => {
      const nano = [...RUN, '--policy', 'nano', '--days', '2', '--night-steps', '1'];
      const full = await bench([...nano, '--condition', 'full', '--run', 'full', '--json']);
      expect(full.code, full.stderr).toBe(0);
      expect(rowsOf('full')).toHaveLength(6);
      const oracle = await bench([...nano, '--condition', 'full-oracle']);
      expect(oracle.code).toBe(2);
      expect(oracle.stderr).toContain('trained on its own questions');
    });

    it('ends with exit code 2 and the fix for a wrong folder', async () => {
      const { code, stderr } = await bench(['run', 'metaclaw', '--data', path.join(home, 'nowhere')]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/nowhere does not exist[\s\S]*all_tests\.json/);
    });
  },
);
