import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

export interface Program {
  /** Its name in `instar connect`. */
  readonly client: string;
  readonly packages: readonly string[];
  readonly bin: string;
  readonly args: (prompt: string) => readonly string[];
  /** Needs a newer Node than Instar. */
  readonly node?: string;
  readonly model?: string;
  /** What it must not print. */
  readonly unwanted?: string;
}

const root = path.resolve(import.meta.dirname, '../../.cache/clients');

export const PROGRAMS: readonly Program[] = [
  {
    client: 'claude-code',
    packages: ['@anthropic-ai/claude-code@2.1.325'],
    bin: 'claude',
    args: (prompt) => ['-p', prompt, '--output-format', 'json', '--dangerously-skip-permissions'],
  },
  {
    client: 'codex',
    packages: ['@openai/codex@0.166.0'],
    bin: 'codex',
    args: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    model: 'default',
    unwanted: 'Model metadata for',
  },
  {
    client: 'opencode',
    packages: ['opencode-ai@1.18.33'],
    bin: 'opencode',
    args: (prompt) => ['run', prompt],
    model: 'fake/fake-model',
  },
  {
    client: 'pi',
    packages: ['@mariozechner/pi-coding-agent@0.73.1'],
    bin: 'pi',
    args: (prompt) => ['-p', prompt],
    model: 'fake/fake-model',
  },
  {
    client: 'openclaw',
    packages: ['openclaw@2026.9.6'],
    bin: 'openclaw',
    args: (prompt) => ['agent', '--local', '--agent', 'main', '--message', prompt, '--json'],
    node: '24',
    model: 'fake/fake-model',
  },
];

/** Installs what is missing; returns the command, and the folder of a newer Node if it needs one. */
export function install({ client, packages, bin, node }: Program): {
  readonly bin: string;
  readonly nodeDir: string | undefined;
} {
  const nodeDir =
    node === undefined ? undefined : path.join(root, `node${node}`, 'node_modules', 'node', 'bin');
  if (nodeDir !== undefined && !existsSync(path.join(nodeDir, 'node')))
    npmInstall(path.join(root, `node${node}`), [`node@${node}`]);
  const dir = path.join(root, client);
  const command = path.join(dir, 'node_modules', '.bin', bin);
  if (!existsSync(command)) npmInstall(dir, packages, nodeDir);
  return { bin: command, nodeDir };
}

function npmInstall(dir: string, packages: readonly string[], nodeDir = ''): void {
  mkdirSync(dir, { recursive: true });
  const env = { ...process.env, PATH: `${nodeDir}${path.delimiter}${process.env.PATH}` };
  execFileSync('npm', ['install', '--prefix', dir, '--no-audit', '--no-fund', ...packages], {
    env,
    stdio: 'ignore',
  });
}
