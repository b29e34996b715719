import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import type { Fact } from '../../src/core/fact.ts';
import { readWorkspaceContent } from '../../src/core/workspace-content.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { createStage, type InstarHere, replyWith } from '../config/settings/instar-here.ts';

const stage = createStage();
afterAll(() => stage.close());

const TOKEN = ['ghp', '0123456789abcdefABCDEF0123456789abcd'].join('_');

const git = (dir: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: dir, encoding: 'utf8' });

function project(): string {
  const dir = stage.folder();
  mkdirSync(path.join(dir, 'lib'));
  writeFileSync(path.join(dir, 'lib/date.js'), 'export const year = 1;\n');
  git(dir, 'init', '-q', '-b', 'main');
  git(dir, 'add', '.');
  git(dir, 'commit', '-qm', 'first');
  return dir;
}

const open = async (name: string, practice: object): Promise<InstarHere> => {
  const provider = await stage.provider('work', (_, response) => replyWith(response, 'done'));
  return stage.open(name, {
    practice,
    providers: { p: { wire: 'openai-chat', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' } },
  });
};

type Snapshot = Extract<Fact, { readonly type: 'workspace-snapshotted' }>;

async function snapshots(here: InstarHere, session: string, ...hashes: readonly string[]) {
  await here.daemon.settle();
  const reader = openSqliteReader(homeAt(here.dir).storeFile);
  try {
    const facts = reader
      .events(session)
      .flatMap(({ fact }) => (fact.type === 'workspace-snapshotted' ? [fact as Snapshot] : []));
    const all = reader.facts(0, 10_000).map(({ fact }) => JSON.stringify(fact));
    const known = [...hashes, ...facts.flatMap(({ content }) => content ?? [])];
    const texts = new Map(known.map((hash) => [hash, reader.block(hash)]));
    return { facts, all, text: (hash = '') => texts.get(hash) };
  } finally {
    reader.close();
  }
}

const asked = (dir: string, text: string, ...after: readonly object[]) => ({
  model: 'p/m',
  messages: [
    { role: 'system', content: `You are a coding agent.\nWorking directory: ${dir}\n` },
    { role: 'user', content: text },
    ...after,
  ],
});

describe('snapshots of a project (practice.snapshots)', () => {
  it('keeps commit, diff and small untracked files of a git work tree when they are on, and nothing when they are off', async () => {
    const dir = project();
    writeFileSync(path.join(dir, 'lib/date.js'), 'export const year = 2;\n');
    writeFileSync(path.join(dir, 'notes.txt'), 'to do\n');
    writeFileSync(path.join(dir, 'large.txt'), 'x'.repeat(100_000));
    writeFileSync(path.join(dir, 'image.bin'), Buffer.from([0, 1, 2]));
    const on = await open('work-on', { snapshots: true });
    const off = await open('work-off', { snapshots: false });
    const { messages } = asked(dir, 'Fix the year');
    for (const here of [on, off]) await here.chat('', { model: 'p/m', session: 'w1', messages });
    const { facts, text } = await snapshots(on, 'w1');
    expect(facts).toHaveLength(1);
    expect(facts[0]).toMatchObject({ repository: dir, commit: git(dir, 'rev-parse', 'HEAD').trim() });
    const content = readWorkspaceContent(text(facts[0]?.content) ?? '');
    expect(content.diff).toContain('+export const year = 2;');
    expect(content.untracked).toEqual({ 'notes.txt': 'to do\n' });
    expect((await snapshots(off, 'w1')).all.join()).not.toContain(dir);
    expect((await snapshots(off, 'w1')).facts).toEqual([]);
  });

  it('is made for requests of the user, not for the results of tools, and only when something changed', async () => {
    const dir = project();
    const here = await open('work-on', { snapshots: true });
    const call = { id: 'c1', type: 'function', function: { name: 'bash', arguments: '{}' } };
    const step = [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
    ];
    const send = (...after: readonly object[]) =>
      here.chat('', { model: 'p/m', session: 'w2', messages: asked(dir, 'Fix it', ...after).messages });
    await send();
    await here.daemon.settle();
    writeFileSync(path.join(dir, 'lib/date.js'), 'export const year = 3;\n');
    await send(...step);
    expect((await snapshots(here, 'w2')).facts).toHaveLength(1);
    await send(...step, { role: 'assistant', content: 'done' }, { role: 'user', content: 'now the month' });
    expect((await snapshots(here, 'w2')).facts).toHaveLength(2);
    await send(...step, { role: 'assistant', content: 'done' }, { role: 'user', content: 'and the day' });
    expect((await snapshots(here, 'w2')).facts).toHaveLength(2);
  });

  it('keeps nothing of a project with a secret in its changes, and says why without the secret', async () => {
    const dir = project();
    const here = await open('work-on', { snapshots: true });
    writeFileSync(path.join(dir, 'lib/date.js'), `export const token = '${TOKEN}';\n`);
    await here.chat('', { model: 'p/m', session: 'w3', messages: asked(dir, 'Fix it').messages });
    const changed = await snapshots(here, 'w3');
    expect(changed.facts).toMatchObject([{ skipped: 'its diff contains a secret' }]);
    git(dir, 'checkout', '-q', '.');
    writeFileSync(path.join(dir, 'env.txt'), `TOKEN=${TOKEN}\n`);
    await here.chat('', { model: 'p/m', session: 'w4', messages: asked(dir, 'Fix it').messages });
    const added = await snapshots(here, 'w4');
    expect(added.facts).toMatchObject([{ skipped: 'an untracked file contains a secret: env.txt' }]);
    expect(added.all.join()).not.toContain(TOKEN);
  });

  it('keeps nothing for a caller that may not teach, and nothing of a folder that is no work tree', async () => {
    const here = await open('work-on', { snapshots: true });
    const { messages } = asked(project(), 'Fix it');
    await here.chat('', { model: 'p/m', session: 'w5', messages, headers: { 'x-instar-key': '' } });
    await here.chat('', { model: 'p/m', session: 'w6', messages: asked(stage.folder(), 'Fix it').messages });
    await here.chat('', {
      ...{ model: 'p/m', session: 'w7', messages },
      headers: { 'x-instar-run-kind': 'practice' },
    });
    for (const session of ['w5', 'w6', 'w7']) expect((await snapshots(here, session)).facts).toEqual([]);
  });

  it('runs no program that the repository names', async () => {
    const dir = project();
    const mark = path.join(stage.folder(), 'ran');
    const script = path.join(dir, '.git', 'run.sh');
    writeFileSync(script, `#!/bin/sh\ntouch ${mark}\ncat\n`, { mode: 0o755 });
    writeFileSync(path.join(dir, '.gitattributes'), '*.js diff=x\n');
    git(dir, 'config', 'core.fsmonitor', script);
    git(dir, 'config', 'diff.x.command', script);
    git(dir, 'config', 'diff.x.textconv', script);
    writeFileSync(path.join(dir, 'lib/date.js'), 'export const year = 4;\n');
    const here = await open('work-on', { snapshots: true });
    await here.chat('', { model: 'p/m', session: 'w8', messages: asked(dir, 'Fix it').messages });
    expect((await snapshots(here, 'w8')).facts).toMatchObject([{ repository: dir }]);
    git(dir, 'config', 'filter.x.clean', script);
    await here.chat('', { model: 'p/m', session: 'w9', messages: asked(dir, 'Fix it').messages });
    expect((await snapshots(here, 'w9')).facts).toMatchObject([
      { skipped: 'its settings have filters, which are programs' },
    ]);
    expect(() => execFileSync('ls', [mark], { stdio: 'pipe' })).toThrow();
  });

  it('erases the snapshot with its session', async () => {
    const dir = project();
    writeFileSync(path.join(dir, 'plan.txt'), 'zebra plan\n');
    const here = await open('work-on', { snapshots: true });
    await here.chat('', { model: 'p/m', session: 'w10', messages: asked(dir, 'Fix it').messages });
    const before = await snapshots(here, 'w10');
    const hash = before.facts[0]?.content;
    expect(before.text(hash)).toContain('zebra');
    await here.owner('DELETE', '/api/sessions/w10');
    const after = await snapshots(here, 'w10', hash ?? '');
    expect(after.text(hash)).toBeUndefined();
    expect(after.all.join()).not.toContain(dir);
  });
});
