import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AttemptAccess, AttemptTurns } from '../../core/attempt-model.ts';
import type { Spending } from '../../core/budget.ts';
import type { ChatMessage, Usage } from '../../core/chat.ts';
import type { Clock } from '../../core/clock.ts';
import { errorMessage, type Failure } from '../../core/failure.ts';
import type { AttemptOrder, PracticeTask } from '../../core/practice.ts';
import { TOOL_PATH } from '../sandbox/confiner.ts';
import type { ConfinedRunResult } from '../sandbox/run-confined.ts';
import type { Workspace } from '../sandbox/workspace.ts';
import { type AttemptFault, faultOf, type MadeAttempt } from './attempt-parts.ts';
import { spendingOfReplies } from './attempt-speaker.ts';
import type { PracticeAgent } from './attempts.ts';
import { type GatewayBridge, openGatewayBridge } from './gateway-bridge.ts';
import type { HeadlessProgram } from './headless-programs.ts';

/** Where the gateway is, and where the program's home is, as the program sees them. */
export const HEADLESS_URL = 'http://127.0.0.1:4600';
export const HEADLESS_HOME = '/tmp/home';

interface HeadlessAgentParts {
  readonly program: HeadlessProgram;
  /** Also from another thread than the gateway's. */
  readonly open: (order: AttemptOrder) => Promise<AttemptAccess>;
  /** The program's settings for the gateway at `HEADLESS_URL`, by path in `HEADLESS_HOME`. */
  readonly settings: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly costOf?: (usage: Usage) => Pick<Spending, 'usd' | 'unpriced'>;
}

/** One argument of a program may have 128 KiB. */
const LONGEST_PROMPT = 120_000;
const NO_TURNS: AttemptTurns = { messages: [], calls: 0, usage: [] };
const OUTPUT_BYTES = 8 * 1024 * 1024;

/**
 * A program that attempts tasks by itself, confined like every command. It has no network: its requests leave through a socket
 * to the gateway, which gives it the lessons of its attempt.
 */
export function createHeadlessAgent(parts: HeadlessAgentParts): PracticeAgent {
  return {
    kind: 'program',
    run: async (order, workspace, signal) => {
      const why = whyNotByProgram(order.task);
      if (why !== undefined) return notMade(parts.program.name, { why, isLasting: true });
      let stage: string | undefined;
      let bridge: GatewayBridge | undefined;
      let access: AttemptAccess | undefined;
      try {
        access = await parts.open(order);
        stage = await realpath(await mkdtemp(path.join(tmpdir(), 'instar-client-')));
        const shared = await fillStage(stage, parts, order.task.prompt);
        bridge = await openGatewayBridge(path.join(shared, 'gateway'), access, parts.clock.now);
        const ended = await runProgram(parts.program, workspace, {
          shared,
          timeoutMs: order.timeoutMs,
          signal,
        });
        const turns = bridge.requests() === 0 ? NO_TURNS : await access.turns();
        return toMade(parts, ended, turns, bridge);
      } catch (error) {
        return notMade(parts.program.name, { why: errorMessage(error) });
      } finally {
        access?.close();
        await bridge?.close();
        if (stage !== undefined) await rm(stage, { recursive: true, force: true });
      }
    },
  };
}

/** Why a program cannot be given a task. */
export function whyNotByProgram(task: PracticeTask): string | undefined {
  if (task.prompt.length > LONGEST_PROMPT) return 'the task is too long for the command line of a program';
  if ((task.followUps?.length ?? 0) > 0 || (task.history?.length ?? 0) > 0)
    return 'a task with more than one message of the user is not given to a program';
  return undefined;
}

const notMade = (by: string, fault: AttemptFault): MadeAttempt => ({
  by,
  output: '',
  messages: [],
  used: {},
  fault,
});

/** A folder that the program can read and not change, inside of one that no other user of the machine can enter. */
async function fillStage(
  stage: string,
  { program, settings }: HeadlessAgentParts,
  prompt: string,
): Promise<string> {
  const shared = path.join(stage, 'c');
  await mkdir(shared, { mode: 0o755 });
  const plan = {
    socket: path.join(shared, 'gateway'),
    port: Number(new URL(HEADLESS_URL).port),
    home: HEADLESS_HOME,
    settings,
    file: program.file,
    args: program.args(prompt),
  };
  await writeFile(path.join(shared, 'start.cjs'), START);
  await writeFile(path.join(shared, 'plan.json'), JSON.stringify(plan));
  for (const name of ['start.cjs', 'plan.json']) await chmod(path.join(shared, name), 0o644);
  return shared;
}

/** Runs in the sandbox: writes the settings, listens where the program looks for the gateway, and starts the program. */
const START = `'use strict';
const { readFileSync, mkdirSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const net = require('node:net');
const { spawn } = require('node:child_process');
const plan = JSON.parse(readFileSync(join(__dirname, 'plan.json'), 'utf8'));
mkdirSync(plan.home, { recursive: true });
for (const [name, text] of Object.entries(plan.settings)) {
  const file = join(plan.home, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
const server = net.createServer((inner) => {
  const outer = net.connect(plan.socket);
  inner.on('error', () => outer.destroy());
  outer.on('error', () => inner.destroy());
  inner.pipe(outer).pipe(inner);
});
server.on('error', (error) => {
  console.error('the gateway cannot be offered on loopback: ' + error.message);
  process.exit(125);
});
server.listen(plan.port, '127.0.0.1', () => {
  const child = spawn(plan.file, plan.args, { stdio: ['ignore', 'inherit', 'inherit'], env: process.env });
  child.on('error', (error) => {
    console.error('the program cannot be started: ' + error.message);
    process.exit(125);
  });
  child.on('exit', (code) => process.exit(code === null ? 128 : code));
});
`;
const NOT_STARTED = 125;

interface ProgramRun {
  /** The folder with what the program is started by. */
  readonly shared: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const runProgram = (
  program: HeadlessProgram,
  workspace: Workspace,
  { shared, timeoutMs, signal }: ProgramRun,
): Promise<ConfinedRunResult> =>
  workspace.run(
    ['node', path.join(shared, 'start.cjs')],
    {
      timeoutMs,
      outputBytes: OUTPUT_BYTES,
      env: {
        ...program.env,
        HOME: HEADLESS_HOME,
        PATH: [...program.path, TOOL_PATH].join(':'),
        NO_COLOR: '1',
      },
      readable: [...program.readable, shared],
    },
    signal,
  );

function toMade(
  { program, costOf }: HeadlessAgentParts,
  ended: ConfinedRunResult,
  turns: AttemptTurns,
  bridge: GatewayBridge,
): MadeAttempt {
  const made: MadeAttempt = {
    by: program.name,
    output:
      (ended.end === 'exit' ? program.answer(ended.stdout) : undefined) ?? lastTextOf(turns.messages) ?? '',
    messages: turns.messages,
    used: spendingOfReplies(
      costOf === undefined ? {} : { costOf },
      turns.calls,
      turns.usage.map((usage) => ({ usage })),
    ),
  };
  if (ended.end === 'refused') return { ...made, fault: { why: ended.why, isLasting: true } };
  const printed = `${ended.stdout}\n${ended.stderr}`.trim().slice(-400);
  if (ended.end === 'exit' && ended.code === NOT_STARTED && bridge.requests() === 0)
    return { ...made, fault: { why: printed, isLasting: true } };
  if (ended.end === 'exit' && ended.code === 0) return made;
  const failure = failureIn(turns, bridge);
  if (failure !== undefined) return { ...made, fault: faultOf(failure) };
  if (turns.calls === 0)
    return { ...made, fault: { why: `${program.name} asked no model: ${printed || ended.end}` } };
  if (ended.end === 'exit')
    return { ...made, remarks: [`${program.name} ended with exit code ${ended.code}`] };
  return ended.why === 'output' || ended.why === 'size'
    ? { ...made, remarks: [`${program.name} was stopped: ${ended.why}`] }
    : made;
}

/** What the gateway said last, if it refused; the wait that a provider asked for is not in the record. */
function failureIn({ failure }: AttemptTurns, bridge: GatewayBridge): Failure | undefined {
  const last = bridge.lastFailure();
  return failure === undefined || last === undefined ? (failure ?? last) : { ...failure, ...last };
}

function lastTextOf(messages: readonly ChatMessage[]): string | undefined {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const texts = (last?.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === 0 ? undefined : texts.join('\n');
}
