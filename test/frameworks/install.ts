import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '../..');
const cache = path.join(root, '.cache/frameworks');
export const EXAMPLES = path.join(root, 'examples');

/** What the examples were tried with. Most of it needs Node 22, which is why none of it is a dependency. */
const NODE = '24';
export const NPM: Readonly<Record<string, string>> = {
  openai: '7.55.0',
  '@anthropic-ai/sdk': '1.9.0',
  ai: '7.0.170',
  '@ai-sdk/openai': '4.0.115',
  '@langchain/core': '1.2.13',
  '@langchain/langgraph': '1.2.9',
  '@langchain/openai': '1.6.0',
  '@mastra/core': '1.71.0',
  '@openai/agents': '0.20.0',
  zod: '4.6.7',
};
export const PYPI: Readonly<Record<string, string>> = {
  openai: '2.54.0',
  anthropic: '2.9.0',
  litellm: '1.106.2',
};

const js = path.join(cache, 'js');
const node = path.join(cache, `node${NODE}`, 'node_modules', 'node', 'bin', 'node');
const python = path.join(cache, 'py', 'bin', 'python');

const isThere = (dir: string, packages: Readonly<Record<string, string>>): boolean =>
  Object.keys(packages).every((name) => existsSync(path.join(dir, 'node_modules', name, 'package.json')));

function npmInstall(dir: string, packages: readonly string[], more: readonly string[] = []): void {
  mkdirSync(dir, { recursive: true });
  const args = ['install', '--prefix', dir, '--no-audit', '--no-fund', '--save-exact', ...more, ...packages];
  execFileSync('npm', args, { stdio: 'ignore' });
}

/** Installs what is missing, and puts the examples beside the packages: they are found from there. */
export function installFrameworks(): void {
  if (!existsSync(node)) npmInstall(path.dirname(path.resolve(node, '../../..')), [`node@${NODE}`]);
  if (!isThere(js, NPM)) {
    const packages = Object.entries(NPM).map(([name, version]) => `${name}@${version}`);
    npmInstall(js, packages, ['--ignore-scripts', '--legacy-peer-deps']);
  }
  if (!existsSync(python)) {
    execFileSync('python3', ['-m', 'venv', path.join(cache, 'py')]);
    const packages = Object.entries(PYPI).map(([name, version]) => `${name}==${version}`);
    execFileSync(python, ['-m', 'pip', 'install', '-q', ...packages], { stdio: 'ignore' });
  }
  for (const from of [EXAMPLES, path.join(import.meta.dirname, 'variants')])
    for (const file of readdirSync(from)) copyFileSync(path.join(from, file), path.join(js, file));
}

/** Runs an example to its end; returns what it printed. */
export async function runExample(file: string, env: NodeJS.ProcessEnv): Promise<string> {
  const command = file.endsWith('.py') ? python : node;
  const { stdout } = await promisify(execFile)(command, [path.join(js, file)], {
    env: { PATH: process.env.PATH, HOME: js, ...env },
    timeout: 300_000,
  });
  return stdout;
}
