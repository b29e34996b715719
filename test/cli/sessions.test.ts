import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { shortId } from '../../src/text/short-id.ts';
import { textWidth } from '../../src/text/text-width.ts';
import { at, end, start } from '../record/store/facts.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { ROUTES, requestBody } from '../support/samples.ts';
import { runInProcess } from './run-cli.ts';

let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon | undefined;
/** Turns by what was asked. */
const turns = new Map<string, string>();
const cli = (...args: string[]) => runInProcess([...args, '--home', home.dir], { COLUMNS: '80', TZ: 'UTC' });
const json = async (...args: string[]) => JSON.parse((await cli(...args, '--json')).stdout);

const UUID = '0b9d8f9e-3c1f-4f6b-9d5c-0c2d5b1a7e11';
const ATTEMPT = 'attempt:run/0/task/1';
/** Where this test runs, and so the project that a person who runs the commands here stands in. */
const HERE = process.cwd();
const LONG = `<system-reminder>\nnobody typed these words, there are a lot of them\n</system-reminder>
make the export \u001b[31mred ${'and a bit longer '.repeat(30)}`;

async function send(text: string, headers: Record<string, string>, isKnown = true): Promise<string> {
  if (daemon === undefined) throw new Error('no daemon');
  const answer = await ask(daemon.port, {
    path: ROUTES.anthropic,
    body: requestBody('anthropic', true, text),
    headers: { ...(isKnown ? { 'x-instar-key': daemon.key } : {}), ...headers },
  });
  const turn = String(answer.headers['x-instar-turn']);
  turns.set(text, turn);
  return turn;
}

async function stop(): Promise<void> {
  daemon?.child.kill('SIGTERM');
  await daemon?.exited;
  daemon = undefined;
}

beforeAll(async () => {
  home = makeHome({ train: { engine: 'off' } });
  // No caller can name its session like this: only the daemon makes attempts.
  const store = openSqliteStore({ file: path.join(home.dir, 'instar.sqlite') });
  store.append({
    facts: at(Date.now() - 60_000, start('t_attempt', ATTEMPT, { runKind: 'practice' }), end('t_attempt')),
  });
  store.close();
  daemon = await startDaemon(home.dir);
  await send(LONG, { 'x-instar-session': UUID, 'x-instar-agent': 'coder', 'x-instar-project': HERE });
  await send('again', { 'x-instar-session': UUID, 'x-instar-agent': 'coder', 'x-instar-project': HERE });
  await send('what is on today?', { 'x-instar-session': 'one', 'x-instar-agent': 'butler' });
  await send('who am I?', { 'x-instar-session': 'nobody-knows-me', 'x-instar-agent': 'stranger' }, false);
  await vi.waitFor(
    async () =>
      expect((await json('sessions', 'show', 'nobody-knows-me')).turns?.[0]?.status).toBe('complete'),
    { timeout: 100_000 },
  );
});
afterAll(async () => {
  await stop();
  home.remove();
});

/** The same commands, answered by the daemon and without one. */
describe.each(['a running daemon', 'no daemon'])('with %s', (which) => {
  beforeAll(async () => {
    if (which === 'no daemon') await stop();
  });

  it('sessions list shows one line per session with what was asked, within 80 columns', async () => {
    const { stdout } = await cli('sessions', 'list');
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(80);
    expect(stdout).toMatch(
      /0b9d8f9e +(?:just now|\d+ s ago|\d+ min ago) +coder\/\S+ +2 .*make the export \\u\{1b\}/,
    );
    expect(stdout).not.toContain('nobody typed');
    expect(stdout).not.toMatch(/\d{4}-\d{2}-\d{2}T/);
    const list = await json('sessions', 'list');
    expect(list.find(({ id }: { id: string }) => id === 'one')).toMatchObject({
      agent: 'butler',
      turns: 1,
      startedAt: expect.stringMatching(/Z$/),
      asked: 'what is on today?',
      answered: expect.stringContaining('instar init'),
    });
  });

  it('sessions list goes on with the command that its last line names', async () => {
    const seen: string[] = [];
    let args = ['sessions', 'list', '--limit', '1'];
    for (let page = 0; page < 3; page++) {
      const { stdout } = await cli(...args);
      seen.push(stdout.split('\n')[1]?.split(' ')[0] ?? '');
      const more = /More: instar (.+)\n$/.exec(stdout)?.[1];
      expect(more === undefined).toBe(page === 2);
      args = more?.split(' ') ?? [];
    }
    expect(seen).toEqual(['nobody-knows-me', 'one', '0b9d8f9e'].map((id) => shortId(id)));
    expect((await cli('sessions', 'list', '--before', '2001-01-01')).stderr).toContain('No session before');
    expect((await cli('sessions', 'list', '--before', 'soon')).code).toBe(1);
  });

  it('sessions list takes a day, whole, and refuses what is no time', async () => {
    const ids = async (...args: string[]) =>
      (await json('sessions', 'list', ...args)).map(({ id }: { id: string }) => id);
    const day = (offset: number) => {
      const now = new Date();
      const at = new Date(now.getFullYear(), now.getMonth(), now.getDate() + offset, 12);
      return `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}-${String(at.getDate()).padStart(2, '0')}`;
    };
    // From yesterday on: this may run at midnight.
    expect(await ids('--since', day(-1), '--until', day(0))).toHaveLength(3);
    expect(await ids('--since', day(-1), '--until', day(0), '--agent', 'butler')).toEqual(['one']);
    expect(await ids('--since', day(1))).toEqual([]);
    expect(await ids('--until', day(-2))).toEqual([]);
    const { stdout } = await cli('sessions', 'list', '--since', day(-1), '--limit', '1');
    expect(stdout).toContain(`More: instar sessions list --since ${day(-1)} --limit 1 --before`);
    expect((await cli('sessions', 'list', '--until', day(-2))).stderr).toContain(
      `No session until ${day(-2)}`,
    );
    const wrong = await cli('sessions', 'list', '--since', 'soon');
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.stderr).toContain('"soon" is not a time');
  });

  it('sessions list leaves out attempts of practice, and shows them with --practice', async () => {
    const ids = async (...args: string[]) =>
      (await json('sessions', 'list', ...args)).map(({ id }: { id: string }) => id);
    const people = ['nobody-knows-me', 'one', UUID];
    expect(await ids()).toEqual(people);
    expect(await ids('--practice')).toEqual([...people, ATTEMPT]);
    const { stdout } = await cli('sessions', 'list', '--practice', '--limit', '1');
    expect(stdout).toContain('More: instar sessions list --practice --limit 1 --before');
    // A person's own sessions have no such mark.
    expect((await cli('sessions', 'list', '--practice')).stdout.match(/\[practice\]/g)).toHaveLength(1);
    expect((await json('sessions', 'show', ATTEMPT)).turns).toHaveLength(1);
  });

  it('sessions list takes the folder, the label or the id of a project', async () => {
    const [own] = await json('sessions', 'list', '--agent', 'coder');
    for (const project of ['.', HERE, own.project.id, own.project.label])
      expect(
        (await json('sessions', 'list', '--project', project)).map(({ id }: { id: string }) => id),
      ).toEqual([UUID]);
    const unknown = await cli('sessions', 'list', '--project', `${own.project.label}x`);
    expect(unknown).toMatchObject({ code: 1 });
    expect(unknown.stderr).toContain(`closest: "${own.project.label}"`);
  });

  it('sessions show prints a block per turn that fits, with the key’s name, for a short id', async () => {
    const { stdout } = await cli('sessions', 'show', '0b9d8f9e');
    for (const line of stdout.split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(80);
    expect(stdout).toContain('Session 0b9d8f9e  coder in ');
    expect(stdout).toContain('key "key"');
    expect(stdout).toMatch(/asked +make the export/);
    expect(stdout).toMatch(/answered .*\n/);
    expect(stdout).toContain(shortId(turns.get('again') ?? ''));
    expect(stdout).not.toContain(turns.get('again') ?? '');
    expect((await cli('sessions', 'show', 'nobody')).stderr).not.toContain('several');
    const wrong = await cli('sessions', 'show', '0b9d8f9f');
    expect(wrong).toMatchObject({ code: 1 });
    expect(wrong.stderr).toContain('closest: 0b9d8f9e');
  });

  it('sessions show pages, shows whole texts, and finds the last session of this project', async () => {
    const { stdout } = await cli('sessions', 'show', 'last', '--full', '--limit', '1', '--from', '1');
    expect(stdout).toContain('nobody typed these words');
    expect(stdout).toContain('\\u{1b}[31mred');
    expect(stdout).toContain(`${'and a bit longer '.repeat(30).trim()}\n`);
    expect(stdout).toContain('Later turns: instar sessions show 0b9d8f9e --from 2');
    expect((await cli('sessions', 'show', 'last', '--limit', '1')).stdout).toContain('--from 1');
    const shown = await json('sessions', 'show', '0b9d8f9e', '--full', '--from', '2');
    expect(shown).toMatchObject({
      id: UUID,
      turns: [{ n: 2, asked: 'again', messages: [{ role: 'user', text: 'again' }], lessons: [] }],
    });
  });

  it('feedback rates the last turn of the project you stand in, and says which', async () => {
    const turn = turns.get('again') ?? '';
    const given = await cli('feedback', 'last', 'use ISO dates');
    expect(given.stdout).toMatch(
      /^Feedback saved \(turn t_\w{11} of coder in .*, .*: “again”\): correction “use ISO dates”\n(?:Learned: Use ISO dates\. Undo: instar undo\n)?$/,
    );
    expect(given.stdout).toContain(shortId(turn));
    expect((await cli('feedback', 'use ISO dates, please')).stdout).toContain(
      'correction “use ISO dates, please”',
    );
    expect(await json('feedback', '--good')).toMatchObject({ ok: true, turn, score: 1 });
    const rewards = (await json('sessions', 'show', UUID)).turns[1].rewards;
    const at = expect.any(String);
    expect(rewards.slice(-3)).toEqual([
      { source: 'person', score: -0.5, note: 'use ISO dates', at },
      { source: 'person', score: -0.5, note: 'use ISO dates, please', at },
      { source: 'person', score: 1, at },
    ]);
    expect((await cli('sessions', 'show', UUID)).stdout).toContain('you: -0.5, “use ISO dates”');
    expect((await cli('sessions', 'list')).stdout).toContain('[good] make the export');
  });

  it('feedback takes an agent, a turn or a session, and a note in two forms', async () => {
    expect(await json('feedback', 'last', '--agent', 'butler', '--bad', '--note', 'late')).toMatchObject({
      turn: turns.get('what is on today?'),
      score: -1,
      note: 'late',
    });
    const turn = turns.get(LONG) ?? '';
    expect(await json('feedback', shortId(turn), '--score', '0.25', 'nearly', 'right')).toMatchObject({
      turn,
      score: 0.25,
      note: 'nearly right',
    });
    expect((await cli('feedback', '0b9d', '--good')).stdout).toContain('(session 0b9d8f9e of coder');
  });

  it('feedback on a turn without a known caller is kept, and says that nothing is learned from it', async () => {
    const given = await cli('feedback', 'last', '--agent', 'stranger', 'be polite');
    expect(given).toMatchObject({ code: 0 });
    expect(given.stderr).toContain('not learned from: the caller had no key');
  });
});

describe('feedback that cannot be given', () => {
  let before: unknown;
  beforeAll(async () => {
    before = await json('sessions', 'list');
  });
  afterAll(async () => expect(await json('sessions', 'list')).toEqual(before));

  it.each([
    [['last'], 'no score and no note'],
    [[], 'no score and no note'],
    [['terse'], 'instar feedback last "terse"'],
    [['good'], 'instar feedback --good'],
    [['last', 'bad'], 'instar feedback last --bad'],
    [['use', 'ISO', 'dates'], '"use" is neither "last" nor the id'],
    [['--good', '--bad'], 'exclude each other'],
    [['last', 'a note', '--note', 'another'], 'given twice'],
    [['one', '--agent', 'butler', '--good'], 'choose the last turn'],
    [['last', '--score', '7'], 'from -1 to 1'],
  ])('%j is wrong use (not a correction of the last turn)', async (args, message) => {
    const given = await cli('feedback', ...args);
    expect(given).toMatchObject({ code: 2, stdout: '' });
    expect(given.stderr).toContain(message);
  });

  it.each([
    [['t_zzzzzzzz', '--good'], 'no turn or session has the id'],
    [['last', '--agent', 'nobody', '--good'], 'no turn of agent "nobody"'],
  ])('%j names nothing that is recorded (exit 1)', async (args, message) => {
    const given = await cli('feedback', ...args);
    expect(given.code).toBe(1);
    expect(given.stderr).toContain(message);
  });
});

describe('a home in which nothing is recorded', () => {
  it('says so, with the command that changes it', async () => {
    const empty = makeHome({});
    const run = (...args: string[]) => runInProcess([...args, '--home', empty.dir]);
    expect((await run('sessions', 'list')).stderr).toContain('instar connect');
    const given = await run('feedback', '--good');
    expect(given).toMatchObject({ code: 1 });
    expect(given.stderr).toContain('no turn is recorded yet');
    empty.remove();
  });
});
