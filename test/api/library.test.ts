import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { readOrCreateKey } from '../../src/config/key.ts';
import { protectOwnerKey, readOrCreateOwnerKey } from '../../src/config/owner-key.ts';
import type { Fact } from '../../src/core/fact.ts';
import { foldEpisode } from '../../src/evidence/episode.ts';
import { type Instar, type OpenOptions, open } from '../../src/index.ts';
import { lockHome } from '../../src/record/home-lock.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { itInFull } from '../support/counts.ts';
import { startDaemon } from '../support/daemon.ts';

/** A daemon starts within it on a machine that is busy with other things. */
const SLOW = 120_000;
const TASK = 'Export the orders and write their dates';
const RULE = 'Always write dates as ISO 8601, such as 2026-03-16.';

let dir: string;
let opened: Instar[];
const env = { PATH: process.env.PATH };
const openHere = async (options: OpenOptions = {}): Promise<Instar> => {
  const instar = await open({ home: dir, env, ...options });
  opened.push(instar);
  return instar;
};
const factsHere = (): readonly Fact[] => {
  const reader = openSqliteReader(path.join(dir, 'instar.sqlite'));
  try {
    return reader.facts(0, 1000).map(({ fact }) => fact);
  } finally {
    reader.close();
  }
};
const episodeHere = (id: string) => {
  const reader = openSqliteReader(path.join(dir, 'instar.sqlite'));
  try {
    return foldEpisode(id, reader.events(id));
  } finally {
    reader.close();
  }
};
const configure = (config: object): void =>
  writeFileSync(path.join(dir, 'config.json'), JSON.stringify(config), { mode: 0o600 });
const failed = { action: 'run export', result: 'the dates are DD/MM', ok: false };

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'instar-library-'));
  opened = [];
});
afterEach(async () => {
  for (const instar of opened) await instar.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('a library without a daemon', () => {
  it('reports events, refuses ones without a kind, and lists no overlay while none is in force', async () => {
    const instar = await openHere();
    await instar.report({ kind: 'budget_incident', agent: 'cto', session: 's-1', limit: 5 });
    expect(factsHere().at(-1)).toMatchObject({
      ...{ type: 'event-reported', kind: 'budget_incident', agent: 'cto', data: { limit: 5 } },
    });
    await expect(instar.report({ kind: '' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(instar.report({ kind: 'Not a name' })).rejects.toMatchObject({ code: 'invalid' });
    expect(await instar.overlays({ agent: 'cto' })).toEqual([]);
  });

  it('has each report on disk when its call resolves, in the order of the calls, awaited or not', async () => {
    const instar = await openHere({ agent: 'exporter', project: 'shop' });
    const episode = await instar.episode(TASK, { domain: 'data' });
    const tries = Array.from({ length: 8 }, (_, nth) =>
      episode.attempt({ action: `try ${nth}`, result: 'x'.repeat(50_000 * (nth % 2)), ok: nth === 7 }),
    );
    const ended = episode.end({ success: true });
    expect((await Promise.all(tries)).at(-1)).toEqual({ attempts: 8, failed: 7 });
    expect(await ended).toEqual({ attempts: 8, failed: 7, learns: true });
    // Read by another connection, while the library is open.
    const found = episodeHere(episode.id);
    expect(found).toMatchObject({ agent: 'exporter', project: 'shop', domain: 'data', outcome: 'success' });
    expect(found?.attempts.map(({ action }) => action)).toEqual(tries.map((_, nth) => `try ${nth}`));
    expect(found?.attempts[1]?.result.length).toBeLessThan(13_000);
  });

  it('refuses a report after the end, and another outcome, but not the same one again', async () => {
    const instar = await openHere();
    const episode = await instar.episode(TASK);
    await episode.end({ outcome: 'partial', note: 'half of it' });
    await expect(episode.end({ outcome: 'partial' })).resolves.toMatchObject({ attempts: 0 });
    await expect(episode.end({ success: true })).rejects.toMatchObject({
      name: 'InstarError',
      code: 'ended',
    });
    await expect(episode.attempt(failed)).rejects.toMatchObject({ code: 'ended' });
  });

  it('gives the home back between calls, and waits for a process that has it (not: fails at once, or hangs)', async () => {
    const instar = await openHere({ waitMs: 300 });
    const episode = await instar.episode(TASK);
    const lock = await untilLocked();
    await expect(episode.attempt(failed)).rejects.toMatchObject({
      code: 'home-in-use',
      message: expect.stringContaining(dir),
      fix: expect.stringContaining('instar status'),
    });
    const patient = await openHere({ waitMs: 20_000 });
    const waiting = patient.lessons();
    setTimeout(lock.release, 100);
    await expect(waiting).resolves.toEqual([]);
    await expect(episode.attempt(failed)).resolves.toEqual({ attempts: 1, failed: 1 });
  });

  it('lets several of its kind write at the same time without losing a report', async () => {
    const both = [await openHere({ agent: 'one' }), await openHere({ agent: 'two' })];
    await Promise.all(
      both.flatMap((instar) =>
        Array.from({ length: 5 }, async (_, nth) => {
          const episode = await instar.episode(`task ${nth}`);
          await episode.attempt(failed);
          await episode.end({ success: true });
        }),
      ),
    );
    const kinds = factsHere().map((fact) => (fact.type === 'event-reported' ? `${fact.kind}` : fact.type));
    for (const kind of ['episode_start', 'episode_attempt', 'episode_end'])
      expect(kinds.filter((one) => one === kind)).toHaveLength(10);
  });

  it('stores no secret of a report', async () => {
    const instar = await openHere();
    const { key } = readOrCreateKey(homeAt(dir), env);
    const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    const episode = await instar.episode(`Log in with ${token}`);
    await episode.attempt({ action: `curl -H "authorization: Bearer ${key}"`, result: token, ok: false });
    await episode.end({ success: false, note: `the token is ${token}` });
    const text = JSON.stringify(factsHere());
    expect(text).not.toContain(token);
    expect(text).not.toContain(key);
    expect(text).toContain('Log in with');
  });

  it('rates as the program, or as a person with the owner key; never as a person without it', async () => {
    const instar = await openHere();
    const { id } = await instar.episode(TASK);
    await instar.feedback({ session: id }, { score: 0.5 });
    await instar.feedback({ session: id }, { note: RULE, from: 'person' });
    const given = factsHere().flatMap((fact) =>
      fact.type === 'reward-given' ? [[fact.source, fact.score, fact.note]] : [],
    );
    expect(given).toEqual([
      ['agent', 0.5, undefined],
      ['person', -0.5, RULE],
    ]);
    protectOwnerKey(
      homeAt(dir),
      readOrCreateOwnerKey(homeAt(dir), env).key ?? '',
      'passphrase',
      'a long one',
    );
    await expect(instar.feedback({ session: id }, { score: 1, from: 'person' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(instar.feedback({ turn: 't_none' }, { score: 1 })).rejects.toMatchObject({
      code: 'not-found',
    });
    await expect(instar.feedback({ session: id }, { score: 3 })).rejects.toMatchObject({ code: 'invalid' });
  });

  it('says what is wrong with an argument, a config and a closed library, and closes twice', async () => {
    const instar = await openHere();
    await expect(instar.context('  ')).rejects.toMatchObject({ code: 'invalid', message: /task/ });
    await expect(instar.context('x', { limit: 0 })).rejects.toMatchObject({
      code: 'invalid',
      message: /limit/,
    });
    configure({ library: { topK: 'six' } });
    await expect(instar.context(TASK)).rejects.toMatchObject({ code: 'config', message: /topK/ });
    await Promise.all([instar.close(), instar[Symbol.asyncDispose]()]);
    await expect(instar.lessons()).rejects.toMatchObject({ code: 'closed' });
    writeFileSync(path.join(dir, 'file'), '');
    await expect(openHere({ home: path.join(dir, 'file') })).rejects.toMatchObject({ code: 'config' });
  });

  async function untilLocked() {
    for (;;) {
      const lock = lockHome(path.join(dir, 'lock.sqlite'));
      if (lock !== undefined) return lock;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
});

describe('learning through the library', () => {
  it(
    'learns in this process with learn, and recalls what a person said with and without a daemon, in every episode',
    async () => {
      configure({ learn: { failures: 1 } });
      const offline = await openHere();
      const first = await offline.episode(TASK);
      await first.attempt(failed);
      await first.end({ success: false });
      await offline.feedback({ session: first.id }, { note: RULE, from: 'person' });
      expect(await offline.lessons()).toEqual([]);

      const learning = await openHere({ learn: true });
      await learning.settle();
      const [lesson] = await learning.lessons({ state: 'live' });
      expect(lesson).toMatchObject({ kind: 'skill', description: expect.stringContaining('ISO 8601') });
      // Another object of the same home finds the daemon of this process.
      const online = await offline.context(TASK);
      expect(online).toMatchObject({
        text: expect.stringContaining('ISO 8601'),
        lessons: [{ id: lesson?.id }],
      });
      await learning.close();

      const later = await openHere();
      const episodes = [];
      for (let nth = 0; nth < 24; nth++) episodes.push(await later.episode(TASK));
      expect(await later.context(TASK)).toEqual(online);
      await later.close();
      const recalled = factsHere().flatMap((fact) => (fact.type === 'lessons-recalled' ? [fact] : []));
      expect(
        recalled.map(({ session, lessons, unmeasured, heldOut }) => [session, lessons, unmeasured, heldOut]),
      ).toEqual(episodes.map(({ id }) => [id, [lesson?.id], [lesson?.id], []]));
      expect(new Set(episodes.map(({ text }) => text))).toEqual(new Set([online.text]));
      expect(await (await openHere()).context('Paint the fence', { agent: 'painter' })).toEqual({
        text: '',
        lessons: [],
        said: [],
      });
    },
    SLOW,
  );
});

describe('a library beside a daemon', () => {
  itInFull('continues an episode when the daemon starts and when it stops', async () => {
    configure({});
    const instar = await openHere({ agent: 'exporter' });
    const episode = await instar.episode(TASK);
    await episode.attempt(failed);
    const daemon = await untilStarted();
    try {
      expect(await episode.attempt({ ...failed, ok: true })).toEqual({ attempts: 2, failed: 1 });
      const other = await instar.episode('Another task');
      await other.end({ success: true });
      await instar.feedback({ session: other.id }, { score: 1 });
      await expect(instar.feedback({ turn: 'nope' }, { score: 1 })).rejects.toMatchObject({
        code: 'not-found',
      });
      await expect(other.attempt(failed)).rejects.toMatchObject({ code: 'ended' });
    } finally {
      daemon.child.kill('SIGTERM');
      await daemon.exited;
    }
    expect(await episode.end({ success: true })).toEqual({ attempts: 2, failed: 1, learns: true });
    expect(episodeHere(episode.id)).toMatchObject({ outcome: 'success', agent: 'exporter' });
  });

  /** A daemon that starts in the same moment as a call may find the home in use for some milliseconds. */
  async function untilStarted() {
    for (;;) {
      const lock = lockHome(path.join(dir, 'lock.sqlite'));
      lock?.release();
      if (lock !== undefined) return startDaemon(dir);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
});
