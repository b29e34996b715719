import { execFileSync, spawn } from 'node:child_process';
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
  /** Its own settings for a provider, without Instar: files below the person's folder. */
  readonly direct: (url: string) => Readonly<Record<string, string>>;
  /** More arguments where its hooks are to run without a person who trusts them. */
  readonly trustHooks?: readonly string[];
  /** Continues the last conversation of its folder. */
  readonly again?: (prompt: string) => readonly string[];
  /** Ends what it leaves running in the background. */
  readonly stop?: readonly string[];
}

const root = path.resolve(import.meta.dirname, '../../.cache/clients');

export const PROGRAMS: readonly Program[] = [
  {
    client: 'claude-code',
    packages: ['@anthropic-ai/claude-code@2.1.326'],
    bin: 'claude',
    args: (prompt) => ['-p', prompt, '--output-format', 'json', '--dangerously-skip-permissions'],
    again: (prompt) => ['-c', '-p', prompt, '--output-format', 'json', '--dangerously-skip-permissions'],
    node: '22',
    direct: (url) => ({
      '.claude/settings.json': JSON.stringify({
        env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-own-key', ANTHROPIC_MODEL: 'fake-model' },
      }),
    }),
  },
  {
    client: 'codex',
    packages: ['@openai/codex@0.169.0'],
    bin: 'codex',
    args: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    again: (prompt) => [
      ...['exec', 'resume', '--last', '--skip-git-repo-check'],
      ...['--dangerously-bypass-approvals-and-sandbox', prompt],
    ],
    model: 'default',
    unwanted: 'Model metadata for',
    trustHooks: ['--dangerously-bypass-hook-trust'],
    direct: (url) => ({
      '.codex/config.toml': [
        'model = "fake-model"',
        'model_provider = "fake"',
        '[model_providers.fake]',
        'name = "Fake"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'experimental_bearer_token = "sk-own-key"',
        '',
      ].join('\n'),
    }),
  },
  {
    client: 'opencode',
    packages: ['opencode-ai@1.18.33'],
    bin: 'opencode',
    args: (prompt) => ['run', prompt],
    model: 'fake/fake-model',
    direct: (url) => ({
      '.config/opencode/opencode.json': JSON.stringify({
        // OpenCode adds it itself.
        $schema: 'https://opencode.ai/config.json',
        provider: {
          fake: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'sk-own-key' },
            models: { 'fake-model': {} },
          },
        },
        model: 'fake/fake-model',
      }),
    }),
  },
  {
    client: 'pi',
    packages: ['@mariozechner/pi-coding-agent@0.73.1'],
    bin: 'pi',
    args: (prompt) => ['-p', prompt],
    model: 'fake/fake-model',
    direct: (url) => ({
      '.pi/agent/models.json': JSON.stringify({
        providers: {
          fake: {
            baseUrl: `${url}/v1`,
            apiKey: 'sk-own-key',
            api: 'openai-completions',
            models: [{ id: 'fake-model' }],
          },
        },
      }),
      '.pi/agent/settings.json': JSON.stringify({ defaultProvider: 'fake', defaultModel: 'fake-model' }),
    }),
  },
  {
    client: 'openclaw',
    packages: ['openclaw@2026.9.6'],
    bin: 'openclaw',
    args: (prompt) => ['agent', '--local', '--agent', 'main', '--message', prompt, '--json'],
    node: '24',
    model: 'fake/fake-model',
    direct: (url) => ({
      '.openclaw/openclaw.json': JSON.stringify({
        agents: { defaults: { model: { primary: 'fake/fake-model' } } },
        models: {
          mode: 'merge',
          providers: {
            fake: {
              baseUrl: `${url}/v1`,
              apiKey: 'sk-own-key',
              api: 'openai-completions',
              models: [{ id: 'fake-model', name: 'Fake', contextWindow: 128000, maxTokens: 4096 }],
            },
          },
        },
      }),
    }),
  },
];

/** Clients that connect and are tried here; no hooks of Instar run in them, and they do not practise. */
export const ROUTED_PROGRAMS: readonly Program[] = [
  {
    client: 'continue',
    packages: ['@continuedev/cli@1.5.47'],
    bin: 'cn',
    args: (prompt) => ['-p', '--auto', prompt],
    again: (prompt) => ['--resume', '-p', '--auto', prompt],
    model: 'fake/fake-model',
    direct: (url) => ({
      '.continue/config.yaml': [
        '# my own',
        'name: Mine',
        'version: 0.0.1',
        'schema: v1',
        'models:',
        '  - name: Fake',
        '    provider: openai',
        '    model: fake-model',
        `    apiBase: ${url}/v1`,
        '    apiKey: sk-own-key',
        '',
      ].join('\n'),
    }),
  },
  {
    client: 'cline',
    packages: ['cline@3.0.65'],
    bin: 'cline',
    args: (prompt) => ['--json', prompt],
    model: 'fake/fake-model',
    stop: ['hub', 'stop'],
    direct: (url) => ({
      '.cline/data/settings/providers.json': JSON.stringify({
        version: 1,
        lastUsedProvider: 'openai-compatible',
        modes: {},
        providers: {
          'openai-compatible': {
            settings: {
              provider: 'openai-compatible',
              apiKey: 'sk-own-key',
              model: 'fake-model',
              baseUrl: `${url}/v1`,
            },
            updatedAt: '2026-01-02T00:00:00.000Z',
            tokenSource: 'manual',
          },
        },
      }),
    }),
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

export interface Ran {
  readonly code: number | null;
  readonly output: string;
}

const LONGEST_MS = 400_000;

/** Runs a program headless; it is ended after some minutes. */
export function runProgram(
  program: Program,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Ran> {
  const { bin, nodeDir } = install(program);
  const PATH = `${nodeDir === undefined ? '' : `${nodeDir}${path.delimiter}`}${process.env.PATH}`;
  return runCommand(bin, args, { cwd, env: { ...env, PATH } });
}

/** Runs a command with these lines as its input; it is ended after some minutes. */
export function runCommand(
  bin: string,
  args: readonly string[],
  { cwd, env, lines }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly lines?: string },
): Promise<Ran> {
  const child = spawn(bin, args, {
    cwd,
    env,
    stdio: [lines === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(lines);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output });
    });
  });
}
