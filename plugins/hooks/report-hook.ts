import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isRecord, isRouted, readConnection, textOf } from '../shared/connection.ts';
import { createInstarClient, type InstarClient } from '../shared/instar-client.ts';
import { readLearned, tellLearned } from '../shared/learned.ts';
import { describeAction, exitCodeOf, type NativeOutcome, readResultText } from '../shared/native-outcome.ts';
import { type AgentRun, createRunReports, type RunReports } from '../shared/run-reports.ts';
import { readCodexCommands } from './codex-transcript.ts';

type HookInput = Readonly<Record<string, unknown>>;

/** The client waits for its hooks. */
const REQUEST_MS = 800;
const TOTAL_MS = 2_500;
const AWAY_MS = 15_000;
const MOST_INPUT_BYTES = 8 * 1024 * 1024;
const MOST_REMEMBERED = 300;

/**
 * The command that Claude Code and Codex run at a prompt, after a tool and at the end: reports it to Instar. At a prompt and at the
 * end it answers with a line for the person about what was learned since; the model never sees that line. Nothing else is said, and
 * whatever happens it neither changes nor stops the client's work.
 */
export async function reportHook(connectionFile: string, input: HookInput): Promise<string | undefined> {
  const connection = readConnection(connectionFile);
  const session = textOf(input.session_id);
  const id = textOf(input.prompt_id) ?? textOf(input.turn_id);
  if (connection === undefined || session === undefined || id === undefined) return undefined;
  const awayFile = `${connectionFile}.away`;
  if (isFresh(awayFile)) return undefined;
  const client = createInstarClient(connection, { timeoutMs: REQUEST_MS });
  const folder = textOf(input.cwd);
  const run: AgentRun = {
    session,
    run: id,
    agent: connection.client,
    isRouted: isRouted(connectionFile, connection),
    ...(folder === undefined ? {} : { folder }),
  };
  act(input, run, createRunReports(client), join(dirname(connectionFile), 'runs'));
  await client.flush(TOTAL_MS);
  // The client says nobody was there without asking again.
  const { status } = await client.ask('GET', '/healthz');
  if (status === 0) note(awayFile, '');
  const isHeard = input.hook_event_name === 'UserPromptSubmit' || input.hook_event_name === 'Stop';
  if (status === 0 || !isHeard) return undefined;
  const line = await readNews(connectionFile, client);
  return line === undefined ? undefined : JSON.stringify({ systemMessage: line });
}

/** What was learned since this was asked last; it stands in the status line from now on. */
async function readNews(connectionFile: string, client: InstarClient): Promise<string | undefined> {
  const seenFile = `${connectionFile}.seen`;
  const { line, seen } = tellLearned(await readLearned(client), readText(seenFile));
  note(seenFile, seen);
  if (line !== undefined) note(`${connectionFile}${LINE}`, line);
  return line;
}

const LINE = '.line';
const STATUS_MS = 300;
/** A status line tells what was learned for so long; then how much is in use. */
const NEWS_MS = 10 * 60_000;

/** What stands in the status line of Claude Code. A correction becomes a rule after the last hook of its answer: it is asked for here. */
export async function statusLine(connectionFile: string): Promise<string> {
  const connection = readConnection(connectionFile);
  const isKnown = readText(`${connectionFile}.seen`) !== undefined && !isFresh(`${connectionFile}.away`);
  if (connection !== undefined && isKnown)
    await readNews(connectionFile, createInstarClient(connection, { timeoutMs: STATUS_MS }));
  const lineFile = `${connectionFile}${LINE}`;
  const written = statSync(lineFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const news = Date.now() - written < NEWS_MS ? readText(lineFile) : undefined;
  if (news !== undefined) return news;
  const count = (readText(`${connectionFile}.seen`) ?? '')
    .split('\n')
    .filter((one) => one.includes('@')).length;
  return count === 0 ? 'Instar' : `Instar: ${count} ${count === 1 ? 'lesson' : 'lessons'} in use`;
}

function act(input: HookInput, run: AgentRun, reports: RunReports, runs: string): void {
  const lastFile = join(runs, createHash('sha256').update(run.session).digest('hex').slice(0, 32));
  switch (input.hook_event_name) {
    case 'UserPromptSubmit': {
      const prompt = textOf(input.prompt) ?? '';
      const before = readText(lastFile);
      if (before !== undefined && before !== run.run) reports.reply({ ...run, run: before }, prompt);
      reports.begin(run, prompt);
      return;
    }
    case 'PostToolUse':
      // Codex tells its hooks no exit codes: its commands are read from its transcript at the end.
      if (input.turn_id !== undefined && input.tool_name === 'Bash') return;
      reports.tool(run, outcomeOf(input, false));
      return;
    case 'PostToolUseFailure':
      if (input.is_interrupt !== true) reports.tool(run, outcomeOf(input, true));
      return;
    case 'Stop': {
      const transcript = textOf(input.transcript_path);
      if (input.turn_id !== undefined && transcript !== undefined)
        for (const outcome of readCodexCommands(transcript, run.run)) reports.tool(run, outcome);
      const answer = textOf(input.last_assistant_message);
      reports.end(run, { isAborted: false, stop: 'stop', ...(answer === undefined ? {} : { answer }) });
      note(lastFile, run.run);
      forgetOldRuns(runs);
      return;
    }
    default:
      return;
  }
}

function outcomeOf(input: HookInput, hasFailed: boolean): NativeOutcome {
  const tool = textOf(input.tool_name) ?? 'tool';
  const response = input.tool_response;
  const result = textOf(input.error) ?? readResultText(response);
  // A command that ended well says no code; one that failed says it in its error.
  const isCommand = tool === 'Bash' && isRecord(response) && response.interrupted !== true;
  const exitCode = hasFailed ? exitCodeOf(undefined, result) : isCommand ? 0 : undefined;
  return {
    tool,
    action: describeAction(tool, input.tool_input),
    result,
    ok: !hasFailed,
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}

function isFresh(file: string): boolean {
  const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Date.now() - written < AWAY_MS;
}

function note(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600 });
  } catch {
    // A full disk costs a reaction, not the work.
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function forgetOldRuns(folder: string): void {
  try {
    const files = readdirSync(folder).map((name) => join(folder, name));
    if (files.length <= MOST_REMEMBERED) return;
    const byAge = files.sort((one, other) => statSync(one).mtimeMs - statSync(other).mtimeMs);
    for (const file of byAge.slice(0, files.length - MOST_REMEMBERED)) rmSync(file, { force: true });
  } catch {
    // Another hook has removed them.
  }
}

/** The whole of standard input; undefined when it is too long or no JSON object. */
export async function readHookInput(stream: AsyncIterable<Buffer>): Promise<HookInput | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > MOST_INPUT_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    const input: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return isRecord(input) ? input : undefined;
  } catch {
    return undefined;
  }
}
