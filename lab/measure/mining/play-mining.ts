import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createWorkspace } from '../../../src/agent/sandbox/workspace.ts';
import { homeAt } from '../../../src/config/home.ts';
import type { ChatMessage } from '../../../src/core/chat.ts';
import { asArray, asObject, type Json, parseJson } from '../../../src/core/json.ts';
import { openSqliteReader } from '../../../src/record/store/sqlite-store.ts';
import { writeClientRequest } from '../corrections/client-shapes.ts';
import { readRecordedMessages } from '../corrections/recorded-messages.ts';
import {
  type RecordedProvider,
  startRecordedProvider,
  TURN_HEADER,
} from '../corrections/recorded-provider.ts';
import { renderStory, type StoryStep } from '../corrections/render-story.ts';
import { type InstarProcess, startInstar } from '../gateway/start-instar.ts';
import {
  cloneMiningProject,
  createMiningProject,
  type MiningProject,
  type ProjectBug,
  runGit,
} from './mining-projects.ts';
import { type MiningScenario, type RunTests, SCENARIOS, writeMiningStory } from './mining-stories.ts';

const CLIENTS = ['claude-code', 'codex', 'opencode', 'openclaw', 'pi', 'cline', 'goose'] as const;
const GENERATED = [...(['node', 'node', 'python', 'node', 'python', 'python'] as const)] as const;

const AT_ONCE = 4;

/** A session that was recorded, with what is known about it. */
export interface PlayedSession {
  readonly session: string;
  readonly client: string;
  readonly scenario: MiningScenario;
  readonly project: MiningProject;
  readonly bug: ProjectBug;
  /** How the project was when the request came in. */
  readonly start: 'committed' | 'changed' | 'with a new file';
}

export interface MiningRecord {
  readonly root: string;
  readonly storeFile: string;
  readonly played: readonly PlayedSession[];
  readonly projects: readonly MiningProject[];
  close(): void;
}

interface PlayMiningOptions {
  readonly sessions: number;
  /** Git folders of public repositories. */
  readonly repos: readonly string[];
  readonly onProgress: (what: string) => void;
}

/** Plays sessions of the clients' shapes over real git projects through the daemon, with snapshots on. */
export async function playMining({ sessions, repos, onProgress }: PlayMiningOptions): Promise<MiningRecord> {
  const root = mkdtempSync(path.join(tmpdir(), 'instar-mining-'));
  const place = path.join(root, 'projects');
  mkdirSync(place);
  const projects = [
    ...GENERATED.map((kind, nth) => createMiningProject(place, `${kind}-tools-${nth + 1}`, kind, nth)),
    ...repos.flatMap((source) => cloneMiningProject(place, source) ?? []),
  ];
  const provider = await startRecordedProvider(() => '[]');
  const home = path.join(root, 'home');
  const instar = await startInstar({
    main: path.resolve('dist/src/cli/main.js'),
    upstreamPort: provider.port,
    home: writeHome(home, provider.port),
  });
  const storeFile = homeAt(home).storeFile;
  const runTests = createTestRunner();
  const played: PlayedSession[] = [];
  try {
    // A project's sessions come one after the other; projects are worked on at the same time.
    const waiting = projects.map((project, place) => ({ project, place }));
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { project, place: first } = next;
        for (let nth = first; nth < sessions; nth += projects.length) {
          const bug = project.bugs[Math.floor(nth / projects.length) % project.bugs.length];
          if (bug === undefined) continue;
          const scenario = scenarioOf(nth);
          const client = CLIENTS[nth % CLIENTS.length] ?? 'pi';
          const start = STARTS[nth % STARTS.length] ?? 'changed';
          const stage: Stage = { instar, provider, storeFile, root, runTests };
          const session = await playOne(stage, { nth, project, bug, scenario, client, start });
          played.push({ session, client, scenario, project, bug, start });
          if (played.length % 20 === 0) onProgress(`${played.length} of ${sessions} sessions`);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    await instar.close();
    await provider.close();
  }
  return { root, storeFile, played, projects, close: () => rmSync(root, { recursive: true, force: true }) };
}

const STARTS = ['changed', 'committed', 'with a new file'] as const;

/** The shares of the scenarios, spread evenly: the same for the same number. */
function scenarioOf(nth: number): MiningScenario {
  const total = SCENARIOS.reduce((sum, { share }) => sum + share, 0);
  // A step that shares no factor with the total visits every place once.
  let place = (nth * 37) % total;
  for (const scenario of SCENARIOS) {
    if (place < scenario.share) return scenario;
    place -= scenario.share;
  }
  return SCENARIOS[0];
}

function writeHome(home: string, port: number): string {
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(path.join(home, 'model-key'), 'bench-model-key', { mode: 0o600 });
  const provider = {
    wire: ['openai-chat', 'openai-responses', 'anthropic'],
    baseUrl: `http://127.0.0.1:${port}/v1`,
    keyFile: 'model-key',
  };
  const config = {
    providers: { bench: provider },
    models: { default: 'bench/fake-model', evolver: 'off', judge: 'off' },
    practice: { snapshots: true },
  };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  return home;
}

interface Stage {
  readonly instar: InstarProcess;
  readonly provider: RecordedProvider;
  readonly storeFile: string;
  readonly root: string;
  readonly runTests: (project: MiningProject, folder: string, state: string) => RunTests;
}

type SessionPlan = Omit<PlayedSession, 'session'> & { readonly nth: number };

/** Tests run confined, in a copy of the folder; the same command on the same state is run once. */
function createTestRunner(): Stage['runTests'] {
  const known = new Map<string, Promise<{ readonly out: string; readonly exit: number }>>();
  const run = async (
    folder: string,
    command: string,
  ): Promise<{ readonly out: string; readonly exit: number }> => {
    const workspace = await createWorkspace({
      from: folder,
      limits: { bytes: 256 * 1024 * 1024, entries: 50_000 },
    });
    try {
      const result = await workspace.run(command, { timeoutMs: 120_000 }, new AbortController().signal);
      if (result.end === 'refused') throw new Error(`the tests could not be run: ${result.why}`);
      const out = `${result.stdout}${result.stderr}`.trimEnd().slice(-6000);
      return { out, exit: result.end === 'exit' ? result.code : 124 };
    } finally {
      await workspace.dispose();
    }
  };
  return (project, folder, state) => (command) => {
    const content = project.kind === 'real' ? project.name : project.kind;
    const key = JSON.stringify([content, state, command]);
    const result = known.get(key) ?? run(folder, command);
    known.set(key, result);
    return result;
  };
}

const TOKEN = ['ghp', 'abcdefABCDEF0123456789abcdefABCDEF01'].join('_');

async function playOne(stage: Stage, plan: SessionPlan): Promise<string> {
  const { nth, project, bug, scenario, start } = plan;
  const isPlain = scenario.name === 'no git folder';
  const folder = isPlain ? path.join(stage.root, `plain-${nth}`) : project.folder;
  if (isPlain)
    cpSync(project.folder, folder, { recursive: true, filter: (from) => path.basename(from) !== '.git' });
  const file = path.join(folder, bug.file);
  const whole = readFileSync(file, 'utf8');
  const broken = whole.replace(bug.right, bug.wrong);
  writeFileSync(file, broken);
  if (start === 'committed' && !isPlain) runGit(folder, 'commit', '-qam', 'work in progress');
  if (start === 'with a new file') writeFileSync(path.join(folder, 'notes.txt'), `look at ${bug.topic}\n`);
  if (scenario.name === 'secret in the work tree')
    writeFileSync(path.join(folder, 'local.txt'), `token=${TOKEN}\n`);
  const states: string[] = [];
  let now = broken;
  const steps = await writeMiningStory({
    ...{ scenario, project: { ...project, folder }, bug, nth },
    put: (from, to) => {
      now = now.replace(from, to);
      writeFileSync(file, now);
      states.push(now);
    },
    run: (command) =>
      stage.runTests(
        project,
        folder,
        `${bug.topic}\n${now === whole ? 'right' : now === broken ? 'wrong' : 'other'}`,
      )(command),
  });
  writeFileSync(file, broken);
  try {
    return await sendSession(stage, plan, folder, steps, (edits) =>
      writeFileSync(file, states[edits - 1] ?? broken),
    );
  } finally {
    if (isPlain) rmSync(folder, { recursive: true, force: true });
    else {
      if (start === 'committed') runGit(folder, 'reset', '-q', '--hard', 'HEAD~1');
      runGit(folder, 'checkout', '-q', '.');
      runGit(folder, 'clean', '-fdq');
    }
  }
}

/** Turn by turn; when the user speaks, the folder is as it was then, until the daemon has looked at it. */
async function sendSession(
  { instar, provider, storeFile }: Stage,
  { nth, client, scenario }: SessionPlan,
  folder: string,
  steps: readonly StoryStep[],
  setState: (edits: number) => void,
): Promise<string> {
  const editsBefore = steps.flatMap((step, at) =>
    'user' in step ? [steps.slice(0, at).filter((one) => 'edit' in one).length] : [],
  );
  const rendered = renderStory(client, steps);
  const { turns, system } = readRecordedMessages(
    client === 'cline' ? withClineResults(rendered, steps) : rendered,
  );
  const messages: ChatMessage[] = [];
  let session = '';
  let spoken = 0;
  for (const [at, { added, reply, isSpoken }] of turns.entries()) {
    messages.push(...added);
    if (isSpoken) setState(editsBefore[spoken++] ?? 0);
    const name = encodeURIComponent(`${nth}/${at}`);
    const place = { folder, session: `mining ${nth}`, now: new Date() };
    const request = writeClientRequest(client, { messages, system, tools: [] }, place);
    provider.expect(name, reply);
    const served = await post(instar, request, name, scenario);
    provider.received(name);
    session = served ?? session;
    if (isSpoken && served !== undefined) await untilSeen(storeFile, session, spoken, scenario);
    messages.push({ role: 'assistant', content: reply });
  }
  return session;
}

/** Cline answers a command with a list of queries and results. */
function withClineResults(messages: readonly Json[], steps: readonly StoryStep[]): readonly Json[] {
  const commands = steps.flatMap((step) => ('run' in step ? [step] : []));
  return messages.map((message) => {
    const { role, content } = asObject(message);
    const [first] = role === 'tool' && typeof content === 'string' ? asArray(parseJson(content)) : [];
    if (asObject(first).exitCode === undefined) return message;
    const step = commands.shift();
    if (step === undefined) return message;
    const isOk = (step.exit ?? 0) === 0;
    const error = isOk ? {} : { error: `Command failed with exit code ${step.exit}` };
    const result = [{ query: step.run, result: step.out, success: isOk, ...error }];
    return { ...asObject(message), content: JSON.stringify(result) };
  });
}

async function post(
  instar: InstarProcess,
  { path: where, headers, body }: ReturnType<typeof writeClientRequest>,
  name: string,
  scenario: MiningScenario,
): Promise<string | undefined> {
  const isKnown = scenario.name !== 'anonymous caller';
  const reply = await fetch(`http://127.0.0.1:${instar.port}${where}`, {
    method: 'POST',
    headers: {
      ...headers,
      [TURN_HEADER]: name,
      ...(isKnown ? instar.headers : {}),
      ...(scenario.name === 'practice run' ? { 'x-instar-run-kind': 'practice' } : {}),
    },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  if (!reply.ok && isKnown) throw new Error(`POST ${where} answered ${reply.status}: ${text.slice(0, 400)}`);
  return reply.ok ? (reply.headers.get('x-instar-session') ?? undefined) : undefined;
}

const LONGEST_MS = 4_000;
const SILENT_MS = 250;

/** Resolves when the first snapshot is stored, or when there has been time for a further one. */
async function untilSeen(
  file: string,
  session: string,
  spoken: number,
  scenario: MiningScenario,
): Promise<void> {
  const isKept = !['practice run', 'no git folder', 'anonymous caller'].includes(scenario.name);
  if (!isKept || spoken > 1) return void (await sleep(SILENT_MS));
  const until = performance.now() + LONGEST_MS;
  while (performance.now() < until) {
    const reader = openSqliteReader(file);
    try {
      if (reader.events(session).some(({ fact }) => fact.type === 'workspace-snapshotted')) return;
    } finally {
      reader.close();
    }
    await sleep(50);
  }
}
