import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '../base/sleep.ts';
import { asObject, asString, parseJson } from '../core/json.ts';

/** A skill for OpenClaw's Skill Workshop, where its user decides. */
interface WorkshopProposal {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  /** What was measured, for the reviewer. */
  readonly evidence: string;
}

interface ProposeOptions {
  /** OpenClaw's command. */
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  /** In all, with the attempts while OpenClaw is busy. */
  readonly timeoutMs?: number;
  readonly retryMs?: number;
  readonly tries?: number;
}

type Proposed =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly why: string; readonly fix: string };

/** The Workshop takes no more. */
const MOST_DESCRIPTION_BYTES = 160;
const MOST_EVIDENCE = 2_000;
const TIMEOUT_MS = 120_000;
const RETRY_MS = 2_000;
const TRIES = 30;
/** OpenClaw's words while its gateway, or another of its commands, starts or stops. */
const BUSY = 'another OpenClaw process owns';
const MOST_OUTPUT_BYTES = 4 * 1024 * 1024;

/** Creates a pending proposal with OpenClaw's own command; waits while OpenClaw starts or stops. Never rejects. */
export async function proposeToWorkshop(
  { name, description, content, evidence }: WorkshopProposal,
  { program, env, timeoutMs = TIMEOUT_MS, retryMs = RETRY_MS, tries = TRIES }: ProposeOptions,
): Promise<Proposed> {
  const folder = mkdtempSync(join(tmpdir(), 'instar-proposal-'));
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const file = join(folder, 'PROPOSAL.md');
    writeFileSync(file, `${content.trimEnd()}\n`, { mode: 0o600 });
    const args = ['skills', 'workshop', 'propose-create', '--json', '--name', name];
    args.push('--description', firstBytes(description, MOST_DESCRIPTION_BYTES));
    args.push('--evidence', evidence.slice(0, MOST_EVIDENCE), '--goal', 'Reuse what was learned');
    args.push('--proposal', file);
    let busy: Proposed | undefined;
    for (let left = tries - 1; ; left -= 1) {
      const proposed = readReply(await run(program, args, env, deadline), program);
      if (proposed.ok) return proposed;
      if (proposed.why.includes(BUSY)) busy = proposed;
      else if (!deadline.aborted) return proposed;
      if (left > 0) await sleep(retryMs, deadline);
      if (left <= 0 || deadline.aborted) return busy ?? proposed;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReply({ error, stdout, stderr }: Ran, program: string): Proposed {
  const start = stdout.indexOf('{');
  const reply = asObject(parseJson(start < 0 ? '' : stdout.slice(start)));
  const id = asString(asObject(reply.record).id);
  if (error === undefined && id !== undefined) return { ok: true, id };
  if (error?.code === 'ENOENT')
    return { ok: false, why: `${program} was not found`, fix: 'name its command with --program PATH' };
  if (error?.code === 'ABORT_ERR')
    return {
      ok: false,
      why: 'it gave no answer in time',
      fix: 'try it alone: openclaw skills workshop list',
    };
  const why = asString(asObject(reply.error).message) ?? lastLine(`${stderr}\n${stdout}`);
  const fix = why.includes(BUSY)
    ? 'OpenClaw is starting or stopping: try again when it has'
    : 'ask OpenClaw what is wrong with: openclaw doctor';
  return { ok: false, why, fix };
}

const LONGEST_WHY = 300;

const lastLine = (output: string): string =>
  (output.split('\n').findLast((line) => line.trim() !== '') ?? 'it said nothing')
    .trim()
    .slice(0, LONGEST_WHY);

interface Ran {
  readonly error: { readonly code?: string | number | null | undefined } | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

const run = (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(program, args, { env, signal, maxBuffer: MOST_OUTPUT_BYTES }, (error, stdout, stderr) =>
      resolve({ error: error === null ? undefined : { code: error.code }, stdout, stderr }),
    );
  });

/** The beginning of a text within so many bytes, cut between characters. */
function firstBytes(text: string, most: number): string {
  let size = 0;
  let end = 0;
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > most) break;
    end += character.length;
  }
  return text.slice(0, end);
}
