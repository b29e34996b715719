import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGatewayClient } from '../../../lab/suites/gateway-client.ts';
import { checkBackup, checkIso8601, parseFieldPath } from '../../../lab/suites/metaclaw/checkers.ts';
import { runAgent } from '../../../src/agent/agent.ts';
import type { Workspace } from '../../../src/agent/sandbox/workspace.ts';
import { createPlainAgentShell } from '../../../src/agent/shell.ts';
import type { ChatEvent, ChatMessage, ChatRequest } from '../../../src/core/chat.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { asArray, asObject, type JsonObject, parseJson } from '../../../src/core/json.ts';
import { createExchange } from '../../../src/models/exchange.ts';
import { wires } from '../../../src/wire/wires.ts';
import { ask } from '../../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../../support/daemon.ts';
import { type Provider, startProvider } from '../../support/provider.ts';
import { never, withFiles } from './place.ts';

/*
 * The two case studies of the MetaClaw paper (its Table 3), rebuilt from its text. The upstream model is a script that does what the
 * paper says its models did. It follows a rule only when it finds the rule in the system prompt, never from the task, so that each step
 * fails when a lesson is not learned, not recalled, not in the prompt, or not in words that can be followed.
 * In the paper, the second case needs trained weights: with the first lesson alone, the model still leaves a field out. A script has no
 * weights, so here a second lesson does it.
 */

const wire = wires['openai-chat'];
const SOON = { timeout: 100_000, interval: 100 };

const DAY_02 = 'Update milestones.json: set M-2 to in_progress.';
const DAY_19 = 'Update sprint8_board.json: set T-405 and T-406 to done, and add completed_at to both.';
const DAY_20 = 'Add the line "Rollback: see wiki" to release_notes.md.';
const DAY_18 =
  'Append a deployment record to deploy_log.json: timestamp (ISO 8601 with time zone), env, status and changes.';

const NO_BACKUP =
  'You changed the file without keeping a copy. Always create FILE.bak before modifying an existing file.';
const WRONG_TIME =
  'The record has the field date. Always write the time of a record into the field timestamp, such as 2026-04-08T14:00:00+08:00.';
const NO_CHANGES =
  'The record is incomplete. Always put the fields timestamp, env, status and changes into a deployment record.';

/** What the scripted evolver writes when it reads these words of a person; the first that fits, the newest matter first. */
const EVOLVED = [
  {
    when: 'The record is incomplete',
    skill: {
      name: 'complete-deployment-records',
      description: 'Write all four fields of a deployment record.',
      content:
        '# Complete deployment records\n1. Put the fields timestamp, env, status and changes into a deployment record.\n2. Write changes as a list.\nAnti-pattern: a record without changes.',
      triggers: ['append a deployment record', 'deploy log'],
    },
  },
  {
    when: 'The record has the field date',
    skill: {
      name: 'record-timestamps',
      description: 'Write the time of a record into timestamp, with its time zone.',
      content:
        '# Timestamps\n1. Write the time of a record into the field timestamp.\n2. Use ISO 8601 with the time zone: 2026-04-08T14:00:00+08:00.\nAnti-pattern: a field date without a time zone.',
      triggers: ['append a record', 'deployment record'],
    },
  },
  {
    when: 'without keeping a copy',
    skill: {
      name: 'backup-before-modify',
      description: 'Keep a .bak copy of every file that exists before it is modified.',
      content:
        '# Keep a copy first\n1. Copy FILE to FILE.bak before modifying an existing file.\n2. Look whether the copy is there.\n3. Change the original.\nAnti-pattern: overwriting a file of which no copy exists.',
      triggers: ['update a file', 'change a board', 'append to a file'],
    },
  },
] as const;

/** The commands of the scripted model: what it does by itself, changed by the rules that stand in its system prompt. */
function commandsOf(task: string, system: string): string {
  const copies = /\.bak\b/.test(system);
  const keep = (file: string): string => (copies ? `cp ${file} ${file}.bak\n` : '');
  if (task.includes('milestones.json'))
    return `${keep('milestones.json')}set milestones.json milestones[0].status in_progress`;
  if (task.includes('sprint8_board.json'))
    return `${keep('sprint8_board.json')}${[0, 1]
      .flatMap((nth) => [
        `set sprint8_board.json tasks[${nth}].status done`,
        `set sprint8_board.json tasks[${nth}].completed_at 2026-04-09T18:00:00+08:00`,
      ])
      .join('\n')}`;
  if (task.includes('release_notes.md'))
    return `${keep('release_notes.md')}append release_notes.md 'Rollback: see wiki'`;
  const knowsTime = /\btimestamp\b/.test(system) && system.includes('+08:00');
  const knowsFields = /timestamp, env, status and changes/.test(system);
  const record = {
    ...(knowsTime ? { timestamp: '2026-04-08T14:00:00+08:00' } : { date: '2026-04-08' }),
    env: 'production',
    status: 'success',
    ...(knowsFields ? { changes: ['T-405', 'T-406'] } : {}),
  };
  const log = JSON.stringify({ records: [record] });
  return `${keep('deploy_log.json')}write deploy_log.json '${log}'`;
}

const textOf = ({ content }: ChatMessage): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');

function* modelReply({ model, system, messages }: ChatRequest): Generator<ChatEvent> {
  yield { type: 'reply-start', id: 'scripted', model };
  const prompt = [
    ...system.map(({ text }) => text),
    ...messages.filter(({ role }) => role === 'system').map(textOf),
  ];
  if (messages.at(-1)?.role === 'tool') yield { type: 'text-delta', text: 'It is done.' };
  else {
    const task = textOf(messages.findLast(({ role }) => role === 'user') ?? { role: 'user', content: [] });
    const command = commandsOf(task, prompt.join('\n'));
    yield { type: 'tool-start', id: 'call-1', name: 'run_command' };
    yield { type: 'tool-delta', id: 'call-1', json: JSON.stringify({ command }) };
  }
  yield { type: 'reply-end', stop: 'end', usage: { inputTokens: 100, outputTokens: 20 } };
}

function* evolverReply({ model, messages }: ChatRequest): Generator<ChatEvent> {
  const read = messages.map(textOf).join('\n');
  const skills = EVOLVED.filter(({ when }) => read.includes(when)).slice(0, 1);
  yield { type: 'reply-start', id: 'evolver', model };
  yield { type: 'text-delta', text: JSON.stringify(skills.map(({ skill }) => skill)) };
  yield { type: 'reply-end', stop: 'end', usage: { inputTokens: 500, outputTokens: 100 } };
}

const FILES = {
  'milestones.json': '{"milestones": [{"id": "M-2", "status": "pending"}]}',
  'sprint8_board.json':
    '{"tasks": [{"id": "T-405", "status": "in_progress"}, {"id": "T-406", "status": "in_progress"}]}',
  'release_notes.md': '# Release notes\n',
  'deploy_log.json': '{"records": []}',
};

type Check = (workspace: Workspace) => Promise<string | undefined>;
const readJson = async (workspace: Workspace, file: string): Promise<JsonObject> =>
  asObject(parseJson(await workspace.read(file)));

const board: Check = async (workspace) => {
  const tasks = asArray((await readJson(workspace, 'sprint8_board.json')).tasks).map((one) => asObject(one));
  if (!tasks.every(({ status }) => status === 'done')) return 'not done';
  const field = parseFieldPath('tasks[].completed_at');
  return (
    (await checkIso8601(workspace, 'sprint8_board.json', field === undefined ? [] : [field])) ??
    checkBackup(workspace, 'sprint8_board.json')
  );
};
const deployment: Check = async (workspace) => {
  const [record] = asArray((await readJson(workspace, 'deploy_log.json')).records).map((one) =>
    asObject(one),
  );
  const fields = ['timestamp', 'env', 'status', 'changes'];
  const missing = fields.find((name) => record?.[name] === undefined);
  if (missing !== undefined) return `no ${missing}`;
  const path = parseFieldPath('records[].timestamp');
  return checkIso8601(workspace, 'deploy_log.json', path === undefined ? [] : [path]);
};

const wholeDay =
  (check: Check): Check =>
  async (workspace) =>
    (await check(workspace)) ?? checkBackup(workspace, 'deploy_log.json');

/** With the scripted evolver, or without a model to learn with. */
export const describeCaseStudies = (title: string, evolver?: 'own/teacher') =>
  describe(title, () => {
    let provider: Provider;
    let home: ReturnType<typeof makeHome>;
    let daemon: RunningDaemon;
    const pool = createExchange({
      timeouts: { connectMs: 5_000, headersMs: 30_000, firstByteMs: 30_000, idleMs: 30_000 },
    });
    const systems: string[] = [];
    let evolved = 0;

    beforeAll(async () => {
      provider = await startProvider((request, response) => {
        const body = asObject(parseJson(request.body.toString()));
        const chat = wire.decodeRequest(body);
        const isEvolver = chat.model === 'teacher';
        if (isEvolver) evolved++;
        else systems.push(chat.system.map(({ text }) => text).join('\n'));
        const events = [...(isEvolver ? evolverReply(chat) : modelReply(chat))];
        if (body.stream !== true) {
          response.writeHead(200, { 'content-type': 'application/json' });
          return void response.end(JSON.stringify(wire.encodeReply(events)));
        }
        const text = events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
        const chunk = (delta: object, stop: string | null): string =>
          `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'teacher', choices: [{ index: 0, delta, finish_reason: stop }] })}\n\n`;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(
          `${chunk({ role: 'assistant', content: text }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`,
        );
      });
      const provided = { wire: 'openai-chat', baseUrl: `${provider.url}/v1` };
      home = makeHome({
        providers: { lab: provided, own: { ...provided, keyEnv: 'TEACHER_KEY', models: ['teacher'] } },
        ...(evolver === undefined ? {} : { models: { evolver } }),
        learn: { failures: 1, budget: { usdPerDay: 10_000, tokensPerDay: 100_000_000 } },
      });
      daemon = await startDaemon(home.dir, [], { TEACHER_KEY: 'k-teacher-000000' });
    });
    afterAll(async () => {
      await pool.close();
      daemon.child.kill('SIGTERM');
      await daemon.exited;
      await provider.close();
      home.remove();
    });

    const owner = async (method: string, path: string, body?: object): Promise<JsonObject> => {
      const headers = { authorization: `Bearer ${daemon.ownerKey}` };
      const text = body === undefined ? {} : { body: JSON.stringify(body) };
      return asObject(parseJson((await ask(daemon.port, { method, path, headers, ...text })).text));
    };

    /** One session: the agent does a task in a fresh workspace and the check scores it. */
    const attempt = (session: string, prompt: string, check: Check) =>
      withFiles(FILES, async (workspace) => {
        const run = await runAgent({
          speak: createGatewayClient({
            exchange: pool.exchange,
            wire,
            gateway: { origin: `http://127.0.0.1:${daemon.port}`, basePath: '/v1' },
            credentials: () => ({ 'x-instar-key': daemon.key }),
            clock: systemClock,
          }),
          speaker: { session, agent: 'claw', runKind: 'agent' },
          model: 'lab/m',
          system: 'You work in a small team.',
          history: [],
          prompt,
          shell: createPlainAgentShell(workspace),
          signal: never,
        });
        expect(run.failure).toBeUndefined();
        const fault = await check(workspace);
        const [first] = run.turns;
        return {
          score: fault === undefined ? 1 : 0,
          fault,
          turn: first?.turn ?? '',
          lessons: first?.lessons ?? [],
        };
      });

    /** A person's words about a turn; resolves when what they teach stands in the library, in the words of `mark`. */
    const teach = async (turn: string, note: string, mark: RegExp): Promise<void> => {
      const before = evolved;
      await vi.waitFor(
        async () => expect((await owner('GET', `/api/turns/${turn}/why`)).turn).toBe(turn),
        SOON,
      );
      await owner('POST', '/v1/feedback', { turn, score: -1, note });
      await vi.waitFor(async () => {
        const list = parseJson(
          (
            await ask(daemon.port, {
              method: 'GET',
              path: '/api/library',
              headers: { authorization: `Bearer ${daemon.ownerKey}` },
            })
          ).text,
        );
        const texts = asArray(list)
          .map((one) => asObject(one))
          .filter(({ state }) => state === 'trial' || state === 'active')
          .map(({ text }) => String(asObject(text).content));
        expect(texts.some((text) => mark.test(text))).toBe(true);
      }, SOON);
      if (evolver !== undefined) expect(evolved).toBeGreaterThan(before);
    };

    it('case 1: one lesson of day 2 turns 0 into 1 on day 19, for another file, and on day 20 for another type', async () => {
      const baseline = await attempt('day19-before', DAY_19, board);
      expect(baseline).toMatchObject({ score: 0, lessons: [] });
      expect(baseline.fault).toContain('sprint8_board.json.bak is not there');

      const second = await attempt('day02', DAY_02, (workspace) => checkBackup(workspace, 'milestones.json'));
      expect(second.score).toBe(0);
      await teach(second.turn, NO_BACKUP, /\.bak\b/);

      const after = await attempt('day19-after', DAY_19, board);
      expect(systems.at(-1)).toMatch(/\.bak\b/);
      expect(after).toMatchObject({ score: 1, fault: undefined });
      expect(after.lessons.length).toBeGreaterThan(0);
      const other = await attempt('day20', DAY_20, (workspace) => checkBackup(workspace, 'release_notes.md'));
      expect(other.score).toBe(1);
    });

    it('case 2: the lesson on timestamps leaves the score at 0 (changes are left out), the second one makes it 1', async () => {
      const check = wholeDay(deployment);
      const first = await attempt('day18-first', DAY_18, check);
      expect(first).toMatchObject({ score: 0, fault: 'no timestamp' });
      await teach(first.turn, WRONG_TIME, /\btimestamp\b/);

      const skilled = await attempt('day18-skilled', DAY_18, check);
      expect(skilled).toMatchObject({ score: 0, fault: 'no changes' });
      await teach(skilled.turn, NO_CHANGES, /into a deployment record/);

      const whole = await attempt('day18-whole', DAY_18, check);
      expect(whole).toMatchObject({ score: 1, fault: undefined });
      expect(whole.lessons.length).toBeGreaterThanOrEqual(2);
    });
  });
