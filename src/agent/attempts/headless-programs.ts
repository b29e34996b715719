import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { asArray, asObject, asString, parseJson } from '../../core/json.ts';
import { findProgram } from '../sandbox/find-confiner.ts';

/** A coding agent that works without a person: how it is started, and where its answer stands. */
export interface HeadlessProgram {
  /** Its name in `instar connect`. */
  readonly name: string;
  /** The file on this machine. */
  readonly file: string;
  /** Folders that it needs to run, besides those of the system. */
  readonly readable: readonly string[];
  readonly path: readonly string[];
  readonly args: (prompt: string) => readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The last answer in what it printed; undefined when it printed none. */
  readonly answer: (stdout: string) => string | undefined;
}

type Row = Pick<HeadlessProgram, 'args' | 'env' | 'answer'> & { readonly bin: string };

const asPrinted = (stdout: string): string | undefined => stdout.trim() || undefined;

/** All of them ask nobody: the workspace around them is what confines them. */
const ROWS: Readonly<Record<string, Row>> = {
  'claude-code': {
    bin: 'claude',
    args: (prompt) => ['-p', prompt, '--output-format', 'json', '--dangerously-skip-permissions'],
    env: {
      ANTHROPIC_AUTH_TOKEN: 'practice',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      IS_SANDBOX: '1',
    },
    answer: (stdout) => asString(asObject(parseJson(stdout.trim())).result) ?? asPrinted(stdout),
  },
  codex: {
    bin: 'codex',
    args: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    env: {},
    answer: asPrinted,
  },
  opencode: {
    bin: 'opencode',
    args: (prompt) => ['run', prompt],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
    answer: asPrinted,
  },
  pi: { bin: 'pi', args: (prompt) => ['-p', prompt], env: {}, answer: asPrinted },
  openclaw: {
    bin: 'openclaw',
    args: (prompt) => ['agent', '--local', '--agent', 'main', '--message', prompt, '--json'],
    env: {},
    answer: (stdout) => {
      const { payloads, result } = asObject(parseJson(stdout.slice(Math.max(0, stdout.indexOf('{')))));
      const given = asArray(payloads ?? asObject(result).payloads);
      const texts = given.flatMap((one) => asString(asObject(one).text) ?? []);
      return texts.length > 0 ? texts.join('\n') : asPrinted(stdout);
    },
  },
};

export const HEADLESS_PROGRAMS: readonly string[] = Object.keys(ROWS);

/** Folders that every confined command sees. */
const SYSTEM = /^\/(?:usr|bin|sbin|lib\w*)(?:\/|$)/;

/** The program as it is installed on this machine; undefined when it is not in `search`, or has another name. */
export async function findHeadlessProgram(
  name: string,
  search: string,
): Promise<HeadlessProgram | undefined> {
  const row = Object.hasOwn(ROWS, name) ? ROWS[name] : undefined;
  const place = row === undefined ? undefined : await findProgram(row.bin, search);
  if (row === undefined || place === undefined) return undefined;
  const file = await realpath(place);
  const node = await findProgram('node', search);
  const nodeDir = path.dirname(node === undefined ? process.execPath : await realpath(node));
  return {
    name,
    file,
    readable: [...new Set([rootOf(file), nodeDir])].filter((folder) => !SYSTEM.test(folder)),
    path: [nodeDir],
    args: row.args,
    env: row.env,
    answer: row.answer,
  };
}

/** The folder with all packages beside the program, or the program's own. */
function rootOf(file: string): string {
  const parts = file.split(path.sep);
  const at = parts.indexOf('node_modules');
  return at > 0 ? parts.slice(0, at + 1).join(path.sep) : path.dirname(file);
}
