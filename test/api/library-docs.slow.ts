import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldEpisode } from '../../src/evidence/episode.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { countOf } from '../support/counts.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
/** A program that has Instar as a dependency: the built package under its name. */
const program = mkdtempSync(path.join(tmpdir(), 'instar-consumer-'));
afterAll(() => rmSync(program, { recursive: true, force: true }));

beforeAll(() => {
  mkdirSync(path.join(program, 'node_modules'));
  symlinkSync(root, path.join(program, 'node_modules/instar'));
  symlinkSync(path.join(root, 'node_modules/@types'), path.join(program, 'node_modules/@types'));
  writeFileSync(path.join(program, 'package.json'), '{"private":true,"type":"module"}');
});

/** The code blocks of a page that stand under a mark. */
const blocksOf = (page: string, mark: string): readonly string[] =>
  [
    ...readFileSync(path.join(root, page), 'utf8').matchAll(
      new RegExp(`<!-- ${mark} -->\\n+\`\`\`[jt]s\\n([\\s\\S]*?)\`\`\``, 'g'),
    ),
  ].map(([, code = '']) => code);
const PAGES = ['docs/library.md', 'README.md'];
const EXAMPLES = PAGES.flatMap((page) =>
  blocksOf(page, 'library').map((code, nth) => ({ name: `${page} ${nth + 1}`, code })),
);

describe('the examples of the library', () => {
  it('are on the page (a renamed mark would test nothing)', () => {
    expect(EXAMPLES.length).toBeGreaterThanOrEqual(2);
    expect(blocksOf('docs/library.md', 'pipeline')).toHaveLength(1);
  });

  it.each(EXAMPLES)('run as they stand and end by themselves: $name', async ({ code }) => {
    const file = path.join(program, 'example.mjs');
    const home = path.join(program, 'home');
    rmSync(home, { recursive: true, force: true });
    writeFileSync(file, code);
    const env = { PATH: process.env.PATH, INSTAR_HOME: home };
    const { stderr } = await run(process.execPath, [file], { env, cwd: program });
    expect(stderr).toBe('');
    if (!code.includes('.end(')) return;
    const reader = openSqliteReader(path.join(home, 'instar.sqlite'));
    const [start] = reader.facts(0, 1).map(({ fact }) => fact);
    const id = start?.type === 'event-reported' ? (start.session ?? '') : '';
    expect(foldEpisode(id, reader.events(id))).toMatchObject({
      agent: 'library',
      task: 'Export the orders as CSV',
      attempts: [{ action: 'run export', ok: false }],
      outcome: 'failure',
      note: 'use ISO dates',
    });
    reader.close();
  });

  it('run for pipelines against a gateway: the failed check reaches the record as feedback', async () => {
    let provider: Provider | undefined;
    const home = makeHome({});
    try {
      provider = await startProvider((_request, response) => void response.end(wholeReply('openai-chat')));
      const { port } = provider;
      writeFileSync(
        path.join(home.dir, 'config.json'),
        JSON.stringify({
          providers: { fake: { wire: 'openai', baseUrl: `http://127.0.0.1:${port}/v1` } },
          models: { default: 'fake/model', evolver: 'off', judge: 'off' },
        }),
      );
      const daemon = await startDaemon(home.dir);
      try {
        const file = path.join(program, 'pipeline.mjs');
        writeFileSync(file, blocksOf('docs/library.md', 'pipeline')[0] ?? '');
        const env = {
          PATH: process.env.PATH,
          INSTAR_URL: `http://127.0.0.1:${daemon.port}`,
          INSTAR_KEY: daemon.key,
        };
        const { stdout, stderr } = await run(process.execPath, [file], { env, cwd: program });
        expect({ stdout, stderr }).toMatchObject({
          stderr: '',
          stdout: expect.stringContaining('YYYY-MM-DD'),
        });
      } finally {
        daemon.child.kill('SIGTERM');
        await daemon.exited;
      }
      const reader = openSqliteReader(path.join(home.dir, 'instar.sqlite'));
      const rewards = reader
        .facts(0, 100)
        .flatMap(({ fact }) => (fact.type === 'reward-given' ? [fact.note] : []));
      expect(rewards).toContain('Write every date as YYYY-MM-DD.');
      reader.close();
    } finally {
      await provider?.close();
      home.remove();
    }
  });
});

describe('the types of the package', () => {
  const wrong = `
import { open, type Instar } from 'instar';
const instar: Instar = await open('/nowhere');
// @ts-expect-error a task is a text
await instar.context(1);
const episode = await instar.episode('x', { agent: 'a' });
// @ts-expect-error an end has an outcome
await episode.end({ note: 'x' });
// @ts-expect-error feedback has a score or a note
await instar.feedback({ session: episode.id }, { from: 'person' });
// @ts-expect-error a result is missing
await episode.attempt({ action: 'x', ok: true });
const name: string | undefined = (await instar.lessons())[0]?.name;
// @ts-expect-error not loosely typed
const count: number = (await instar.lessons())[0]?.name;
await instar[Symbol.asyncDispose]();
export { count, name };
`;
  const settings = [
    ['node16', 'node16', { types: ['node'] }],
    ['esnext', 'bundler', { types: [], lib: ['es2022', 'dom'] }],
  ] as const;
  it.each(settings.slice(0, countOf(1, 2)))(
    'check the examples and refuse wrong calls with module %s and resolution %s, %j (not: fall back to untyped)',
    async (module, moduleResolution, more) => {
      const files = [
        ...EXAMPLES.map(({ code }) => code),
        ...(more.types.length > 0 ? blocksOf('docs/library.md', 'pipeline') : []),
        wrong,
      ].map((code, nth) => {
        writeFileSync(path.join(program, `typed-${nth}.mts`), code);
        return `typed-${nth}.mts`;
      });
      const compilerOptions = {
        noEmit: true,
        strict: true,
        target: 'es2022',
        module,
        moduleResolution,
        ...more,
      };
      writeFileSync(path.join(program, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
      const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
      const { stdout } = await run(process.execPath, [tsc, '-p', program]).catch(
        (error: { stdout: string }) => error,
      );
      expect(stdout).toBe('');
    },
    120_000,
  );
});
