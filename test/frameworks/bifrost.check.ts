import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import type { Provider } from '../support/provider.ts';
import { startBothProviders } from './both-providers.ts';

/*
 * The public integration tests of another gateway (github.com/maximhq/bifrost, tests/integrations/python, Apache-2.0), as they are, with the
 * real Python SDKs. BIFROST_TESTS: that folder. BIFROST_PYTHON: a Python with pytest, pytest-asyncio, pyyaml, python-dotenv, pillow, requests,
 * openai and anthropic. BIFROST_REPORT: where the list of cases goes.
 */
const { BIFROST_TESTS: from, BIFROST_PYTHON: python = 'python3', BIFROST_REPORT: report } = process.env;

/** Cases that fail here, by name, and what they would need. */
const ELSEWHERE: readonly (readonly [name: RegExp, why: string])[] = [
  [/web_search/, 'a provider that searches the web'],
  [/citations/, 'a provider that cites'],
  [
    /code_exec|_python_|text_editor|version_2026|programmatic|generated_files|container_|bash_code/,
    'a provider that runs code',
  ],
  [/compaction/, 'a provider that compacts'],
  [/embedding_(?:dis)?similarity/, 'a model of embeddings'],
  [/batch/, 'a provider that keeps batches; the list of all of them is not a caller’s'],
  [/file_(?:upload|list|delete|content)/, 'a provider that keeps files'],
  [/video/, 'a provider that makes films'],
  [/^test_6\d_(?:ws|realtime)/, 'web sockets, which Instar does not serve'],
  [/_5[12]_passthrough/, 'an address that only that gateway has'],
  [
    /51[abc]_input_tokens.*\[anthropic/,
    'a count of tokens translated between vendors, which Instar does not do',
  ],
  [/test_12_error_handling_invalid_roles/, 'an invalid role that is corrected: Instar says what is wrong'],
  [/test_11_integration_specific_features/, 'an older SDK: this one has no temperature'],
];

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let folder = '';

beforeAll(async () => {
  provider = await startBothProviders();
  home = makeHome({
    providers: {
      openai: { wire: 'openai', baseUrl: `${provider.url}/v1`, keyEnv: 'SCRIPTED_KEY' },
      anthropic: { wire: 'anthropic', baseUrl: `${provider.url}/v1`, keyEnv: 'SCRIPTED_KEY' },
    },
    gateway: { forward: ['/files', '/files/', '/audio/', '/images/'] },
    models: { default: 'openai/gpt-4o', evolver: 'off', judge: 'off' },
  });
  daemon = await startDaemon(home.dir, [], { SCRIPTED_KEY: 'sk-scripted' });
  folder = mkdtempSync(path.join(tmpdir(), 'bifrost-'));
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Outcome {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly why: string;
}

/** Runs a file of tests against the daemon. */
async function runFile(file: string): Promise<readonly Outcome[]> {
  const results = path.join(folder, `${file}.xml`);
  const child = spawn(
    python,
    ['-m', 'pytest', `tests/${file}`, '-q', '--tb=line', '-p', 'no:cacheprovider', `--junitxml=${results}`],
    {
      cwd: folder,
      stdio: 'ignore',
      env: {
        PATH: process.env.PATH,
        BIFROST_BASE_URL: `http://127.0.0.1:${daemon.port}`,
        OPENAI_API_KEY: daemon.key,
        ANTHROPIC_API_KEY: daemon.key,
      },
    },
  );
  await new Promise((resolve) => child.on('exit', resolve));
  return readCases(readFileSync(results, 'utf8'));
}

const withNeed = (one: Outcome) =>
  one.outcome === 'failed'
    ? { ...one, needs: ELSEWHERE.find(([pattern]) => pattern.test(one.name))?.[1] ?? '' }
    : one;

const readCases = (xml: string): readonly Outcome[] =>
  [...xml.matchAll(/<testcase [^>]*?(?<= )name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g)].map(
    ([, name = '', inside = '']) => {
      const outcome = /<(?:failure|error)\b/.test(inside)
        ? 'failed'
        : inside.includes('<skipped')
          ? 'skipped'
          : 'passed';
      return { name, outcome, why: /message="([^"]{0,300})/.exec(inside)?.[1] ?? '' };
    },
  );

it.skipIf(from === undefined || !existsSync(from)).each(['test_openai.py', 'test_anthropic.py'])(
  'of %s only those cases fail that need what is not here',
  async (file) => {
    cpSync(from ?? '', folder, { recursive: true });
    const config = readFileSync(path.join(from ?? '', 'config.yml'), 'utf8');
    // Here both SDKs have one address.
    writeFileSync(
      path.join(folder, 'config.yml'),
      config.replace('openai: "openai"', 'openai: "v1"').replace('anthropic: "anthropic"', 'anthropic: "v1"'),
    );
    const cases = await runFile(file);
    if (report !== undefined)
      writeFileSync(`${report}.${file}.json`, JSON.stringify(cases.map(withNeed), null, 1));
    expect(cases.length).toBeGreaterThan(50);
    const failed = cases.filter(({ outcome }) => outcome === 'failed');
    expect(failed.filter(({ name }) => !ELSEWHERE.some(([pattern]) => pattern.test(name)))).toEqual([]);
  },
);
