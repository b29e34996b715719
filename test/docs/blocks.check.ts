import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startForgetfulModel } from '../newcomer/forgetful-model.ts';
import { type RunningDaemon, startDaemon } from '../support/daemon.ts';
import type { Provider } from '../support/provider.ts';
import { type PageBlock, pageBlocks, ROOT } from './pages.ts';

/**
 * `npm run test:docs` runs the blocks of the pages as they stand: each in a folder of its own, with `instar` on the path, and
 * a model on loopback that writes dates the European way unless it is told otherwise. Words in capitals (NAME, SESSION) are
 * replaced by what the home has.
 */
const MAIN = path.join(ROOT, 'dist/src/cli/main.js');
const folder = mkdtempSync(path.join(tmpdir(), 'instar-docs-'));
const bin = path.join(folder, 'bin');
let provider: Provider;

beforeAll(async () => {
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'instar'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(path.join(bin, 'instar'), 0o755);
  provider = await startForgetfulModel();
  taught = await teachHome();
}, 300_000);
afterAll(async () => {
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The blocks of each page with such a mark, in their order. */
const pagesWith = (
  mark: RegExp,
): readonly { readonly page: string; readonly blocks: readonly PageBlock[] }[] => {
  const found = pageBlocks().filter((block) => mark.test(block.mark ?? ''));
  return [...new Set(found.map(({ page }) => page))].map((page) => ({
    page,
    blocks: found.filter((block) => block.page === page),
  }));
};

const marked = (mark: string): readonly PageBlock[] =>
  pageBlocks().filter((block) => block.mark === mark && block.language !== 'json');

interface Place {
  /** The folder of the person, with the files that the pages speak of. */
  readonly work: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

let count = 0;
function makePlace(): Place {
  const person = path.join(folder, `person-${++count}`);
  const [work, home] = [path.join(person, 'shop'), path.join(person, '.instar')];
  for (const dir of [work, home]) mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(
    path.join(work, 'CLAUDE.md'),
    '# Rules\n\n- Use pnpm, never npm.\n- Write dates as YYYY-MM-DD.\n',
  );
  writeFileSync(
    path.join(work, 'playbook.txt'),
    '## STRATEGIES\n[str-00001] helpful=3 harmful=0 :: Check the totals of an invoice before it is sent.\n',
  );
  writeFileSync(
    path.join(work, 'tasks.jsonl'),
    '{"prompt": "How many days are in the first three months of 2028?", "answer": "91"}\n',
  );
  const env = {
    PATH: `${bin}:${process.env.PATH ?? ''}`,
    HOME: person,
    INSTAR_HOME: home,
    NO_COLOR: '1',
  };
  return { work, home, env };
}

const configOf = (): string =>
  JSON.stringify({
    providers: { shop: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'shop/clerk-1', evolver: 'off', judge: 'off' },
  });

/** Runs a script of a page; rejects with its output when a line fails. */
function runScript(code: string, { work, env }: Place): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', code], {
      cwd: work,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    child.on('error', reject);
    child.on('close', (status) =>
      status === 0 ? resolve(output) : reject(new Error(`exit ${status}\n${code}\n${output}`)),
    );
  });
}

async function ask(daemon: RunningDaemon, session: string, text: string): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${daemon.port}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${daemon.key}`,
      'content-type': 'application/json',
      'x-instar-agent': 'clerk',
      'x-instar-session': session,
    },
    body: JSON.stringify({ model: 'clerk-1', messages: [{ role: 'user', content: text }] }),
  });
  expect(reply.status).toBe(200);
  return reply.headers.get('x-instar-turn') ?? '';
}

/** A home with four sessions and a lesson that a person's feedback made; each page begins with a copy of it. */
let taught: { readonly home: string; readonly lesson: string };

async function teachHome(): Promise<typeof taught> {
  const place = makePlace();
  writeFileSync(path.join(place.home, 'config.json'), configOf(), { mode: 0o600 });
  const daemon = await startDaemon(place.home);
  try {
    for (const session of ['monday', 'tuesday', 'wednesday']) {
      const turn = await ask(daemon, session, `When was order 104${session.length} shipped?`);
      const say = `instar feedback ${turn} --score -1 --note "Use ISO dates in shipping reports."`;
      // The turn is on disk a moment after its reply.
      await vi.waitFor(() => runScript(say, place), { timeout: 60_000, interval: 500 });
    }
    const findLesson = async (): Promise<string> => {
      const lessons: readonly { readonly name: string; readonly title: string }[] = JSON.parse(
        await runScript('instar lessons list --json', place),
      );
      const found = lessons.find(({ title }) => /iso/i.test(title));
      if (found === undefined) throw new Error('there is no lesson yet');
      return found.name;
    };
    const lesson = await vi.waitFor(findLesson, { timeout: 120_000, interval: 1000 });
    await ask(daemon, 'thursday', 'When was order 1044 shipped?');
    return { home: place.home, lesson };
  } finally {
    daemon.child.kill('SIGTERM');
    await daemon.exited;
  }
}

async function withDaemon<T>(work: (place: Place, daemon: RunningDaemon) => Promise<T>): Promise<T> {
  const place = makePlace();
  cpSync(taught.home, place.home, { recursive: true });
  const daemon = await startDaemon(place.home);
  try {
    return await work(place, daemon);
  } finally {
    daemon.child.kill('SIGTERM');
    await daemon.exited;
  }
}

const filled = (code: string): string =>
  code
    .replaceAll(/\bNAME\b/g, taught.lesson)
    .replaceAll(/\bSESSION\b/g, 'monday')
    .replaceAll(/\bAGENT\b/g, 'clerk');

describe('scripts on the pages', () => {
  it.each(marked('run: home'))('run in an empty home: $place', async ({ code }) => {
    await runScript(code, makePlace());
  });

  it.each(pagesWith(/^run: (?:daemon|connected \S+)$/))(
    'run beside a daemon, in the order of the page: $page',
    async ({ blocks }) => {
      await withDaemon(async (place) => {
        for (const { code, place: where } of blocks)
          await runScript(filled(code), place).catch((error: Error) => {
            throw new Error(`${where}: ${error.message}`);
          });
        if (!blocks.some(({ code }) => code.includes('--undo'))) return;
        const look = `grep -rl 127.0.0.1 "$HOME" --include='*.json' --include='*.toml' --exclude-dir=.instar || true`;
        expect((await runScript(look, place)).trim()).toBe('');
      });
    },
  );

  it.each(marked('run: old home'))('run in a home of 0.1.0: $place', async ({ code }) => {
    const place = makePlace();
    const old = path.join(ROOT, 'test/upgrade/homes/format-2');
    cpSync(old, place.home, { recursive: true });
    const store = path.join(place.home, 'instar.sqlite');
    writeFileSync(store, gunzipSync(readFileSync(`${store}.gz`)), { mode: 0o600 });
    expect(await runScript(code, place)).toContain('Backup written to');
  });
});

describe('programs on the pages', () => {
  it.each(pagesWith(/^run: program$/))('run with the built package: $page', async ({ blocks }) => {
    await withDaemon(async (place, daemon) => {
      const modules = path.join(place.work, 'node_modules');
      mkdirSync(modules);
      symlinkSync(ROOT, path.join(modules, 'instar'));
      for (const name of ['openai', '@anthropic-ai'])
        symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name));
      const base = `http://127.0.0.1:${daemon.port}`;
      const env = {
        ...place.env,
        OPENAI_BASE_URL: `${base}/v1`,
        OPENAI_API_KEY: daemon.key,
        ANTHROPIC_BASE_URL: base,
        ANTHROPIC_API_KEY: daemon.key,
      };
      for (const { code, place: where } of blocks) {
        writeFileSync(path.join(place.work, 'program.mjs'), code);
        const output = await runScript(`'${process.execPath}' program.mjs`, { ...place, env });
        expect(`${where}: ${output.trim()}`).not.toMatch(/: $|undefined|\b[45]\d\d\b.*error/i);
      }
    });
  });

  it.each(marked('practice'))('practise in a home that no daemon serves: $place', async ({ code }) => {
    const place = makePlace();
    cpSync(taught.home, place.home, { recursive: true });
    mkdirSync(path.join(place.work, 'node_modules'));
    symlinkSync(ROOT, path.join(place.work, 'node_modules/instar'));
    writeFileSync(path.join(place.work, 'program.mjs'), code);
    expect(await runScript(`'${process.execPath}' program.mjs`, place)).toMatch(/\d/);
  });

  it.each(pageBlocks().filter(({ language }) => /^py(?:thon)?$/.test(language)))(
    'in Python have no syntax error, wherever they are run: $place',
    ({ code }) => {
      execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: code });
    },
  );

  it.each(pageBlocks().filter(({ mark }) => mark === 'json: overlay'))(
    'are overlays by their type: $place',
    ({ code }) => {
      const place = makePlace();
      mkdirSync(path.join(place.work, 'node_modules'));
      symlinkSync(ROOT, path.join(place.work, 'node_modules/instar'));
      writeFileSync(path.join(place.work, 'package.json'), '{"private":true,"type":"module"}');
      const file = path.join(place.work, 'overlay.ts');
      writeFileSync(
        file,
        `import type { OverlayPayload } from 'instar';\nexport const one: OverlayPayload = ${code};\n`,
      );
      const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
      expect(existsSync(tsc)).toBe(true);
      execFileSync(
        process.execPath,
        [tsc, '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '', file],
        { cwd: place.work },
      );
    },
  );
});
