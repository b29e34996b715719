import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createInstarClient } from '../../plugins/shared/instar-client.ts';
import { normaliseOrigin } from '../../src/base/repository.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 60_000, interval: 100 };
const root = mkdtempSync(path.join(tmpdir(), 'instar-projects-'));
const at = (name: string): string => path.join(root, name);
const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
    cwd: at(folder),
    stdio: 'pipe',
  });

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

beforeAll(async () => {
  for (const name of ['shop', 'elsewhere', 'mirror-a', 'mirror-b', 'other']) {
    mkdirSync(at(name));
    git(name, 'init', '-q');
  }
  git('shop', 'commit', '-q', '--allow-empty', '-m', 'first');
  git('shop', 'worktree', 'add', '-q', '-b', 'fix', at('shop-fix'));
  git('.', 'clone', '-q', at('shop'), at('copy'));
  for (const name of ['shop-fix', 'copy', 'shop']) mkdirSync(at(`${name}/web`));
  git('mirror-a', 'remote', 'add', 'origin', 'git@example.org:Team/App.git');
  git('mirror-b', 'remote', 'add', 'origin', 'https://me:secret@example.org/team/app');
  git('other', 'remote', 'add', 'origin', 'https://example.org/team/other.git');
  git('elsewhere', 'config', 'instar.project', 'the shop');
  provider = await startProvider((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
  home = makeHome({
    providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'local/m', evolver: 'off', judge: 'off' },
  });
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
  rmSync(root, { recursive: true, force: true });
});

let sessions = 0;
const work = async (folder: string, headers = {}): Promise<string> => {
  const session = `s${++sessions}`;
  const answer = await ask(daemon.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({
      model: 'default',
      messages: [
        { role: 'system', content: `You are a coding agent.\nWorking directory: ${folder}\n` },
        { role: 'user', content: 'Sort the rows of the invoices table by date' },
      ],
    }),
    headers: {
      'x-instar-key': daemon.key,
      'x-instar-agent': 'cody',
      'x-instar-session': session,
      ...headers,
    },
  });
  expect(answer.status).toBe(200);
  return session;
};
const projectOf = async (session: string): Promise<unknown> =>
  vi.waitFor(async () => {
    const { text } = await ask(daemon.port, {
      method: 'GET',
      path: `/api/sessions/${session}`,
      headers: { authorization: `Bearer ${daemon.ownerKey}` },
    });
    const { project }: { project?: JsonObject } = JSON.parse(text);
    if (project === undefined) throw new Error('not recorded yet');
    return project.id;
  }, SOON);
const idIn = async (folder: string, headers = {}) => projectOf(await work(folder, headers));

it('a worktree and a clone in another folder are the project of their repository, also below its root', async () => {
  const shop = await idIn(at('shop'));
  expect([await idIn(at('shop-fix')), await idIn(at('copy'))]).toEqual([shop, shop]);
  const web = await idIn(at('shop/web'));
  expect([await idIn(at('shop-fix/web')), await idIn(at('copy/web'))]).toEqual([web, web]);
  expect(web).not.toBe(shop);
});

it('clones of one address are one project, in whatever form the address is written; another address is another project', async () => {
  const [a, b, other] = [await idIn(at('mirror-a')), await idIn(at('mirror-b')), await idIn(at('other'))];
  expect(b).toBe(a);
  expect(other).not.toBe(a);
  const forms = ['git@h.org:O/r.git', 'ssh://git@h.org:22/o/r', 'https://u:p@h.org/o/r.git/', 'h.org:o/r'];
  expect(new Set(forms.map(normaliseOrigin))).toEqual(new Set(['h.org/o/r']));
});

it('is what the owner says it is: git config instar.project, or the header of the request', async () => {
  const named = await idIn(at('elsewhere'));
  git('other', 'config', 'instar.project', 'the shop');
  // The name was not known when the folder was first worked in, and is read again after a restart.
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  daemon = await startDaemon(home.dir);
  expect(await idIn(at('other'))).toBe(named);
  const header = { 'x-instar-project': 'by-header' };
  expect(await idIn(at('mirror-a'), header)).toBe(await idIn(at('shop'), header));
});

it('what is told in a worktree is shown in the folder that it was made from, and the command line knows both as one', async () => {
  const rule = 'From now on always answer in British English.';
  const session = 'teach';
  const say = (messages: readonly object[], done: boolean) =>
    ask(daemon.port, {
      path: '/v1/chat/completions',
      body: JSON.stringify({
        model: 'default',
        messages: [{ role: 'system', content: `Working directory: ${at('shop-fix')}\n` }, ...messages],
      }),
      headers: {
        'x-instar-key': daemon.key,
        'x-instar-agent': 'cody',
        'x-instar-session': session,
        ...(done ? { 'x-instar-session-done': 'true' } : {}),
      },
    });
  const first = { role: 'user', content: 'Draft the invitation to the summer party' };
  await say([first], false);
  await say([first, { role: 'assistant', content: 'Done.' }, { role: 'user', content: rule }], true);
  await vi.waitFor(async () => {
    await work(at('shop'));
    expect(provider.seen.at(-1)?.body.toString()).toContain('British English');
  }, SOON);
  // A session is listed once its turn has ended in the record, which may be after its answer.
  await vi.waitFor(async () => {
    const listed = await runInProcess([
      ...['sessions', 'list', '--project', at('shop-fix'), '--limit', '900', '--json'],
      ...['--home', home.dir],
    ]);
    const ids = JSON.parse(listed.stdout).map(({ id }: JsonObject) => id);
    expect(ids).toEqual(expect.arrayContaining(['teach', `s${sessions}`]));
  }, SOON);
});

it('what a plugin tells of a worktree, a clone and a checkout with the same remote is of the project that the gateway knows', async () => {
  const client = createInstarClient({
    client: 'pi',
    url: `http://127.0.0.1:${daemon.port}`,
    key: daemon.key,
  });
  const recall = async (folder: string): Promise<string> => {
    const asked = {
      task: 'Pack the parcel and label it for the courier.',
      agent: 'cody',
      folder: at(folder),
    };
    const { status, body } = await client.ask('POST', '/api/recall', asked, 60_000);
    expect(status).toBe(200);
    return JSON.stringify(body);
  };
  const lesson = async (id: string, project: string) => {
    const text = lessonText({
      name: id,
      description: 'Use when a parcel is packed and labelled for the courier.',
      content: `Weigh it for ${id}.`,
      scope: { project },
    });
    const { text: said } = await ask(daemon.port, {
      path: '/api/lessons',
      headers: { authorization: `Bearer ${daemon.ownerKey}` },
      body: JSON.stringify({
        changes: [{ op: 'add', id, kind: 'skill', state: 'live', text }],
        reason: 'a test',
      }),
    });
    expect(said).toContain('"applied"');
  };
  await lesson('parcels-of-shop', String(await idIn(at('shop'))));
  await lesson('parcels-of-app', String(await idIn(at('mirror-a'))));
  for (const folder of ['shop', 'shop-fix', 'copy'])
    expect(await recall(folder), folder).toContain('parcels-of-shop');
  for (const folder of ['mirror-a', 'mirror-b', 'other']) {
    const text = await recall(folder);
    expect(text, folder).not.toContain('parcels-of-shop');
    expect(text.includes('parcels-of-app'), folder).toBe(folder !== 'other');
  }
});

it('Codex in a container, whose folder is not on this machine, is in the project of its remote', async () => {
  const container = async (origin: string): Promise<unknown> => {
    const workspaces = { '/workspace': { associated_remote_urls: { origin }, has_changes: false } };
    const metadata = JSON.stringify({ request_kind: 'turn', workspaces });
    return projectOf(await work('/workspace', { 'x-codex-turn-metadata': metadata }));
  };
  expect(await container('git@example.org:team/app.git')).toBe(await idIn(at('mirror-a')));
  const elsewhere = await container('git@example.org:team/unseen.git');
  expect(await container('https://example.org/team/unseen')).toBe(elsewhere);
});
