import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { checkConfig } from '../../../src/config/check-config.ts';
import { homeAt } from '../../../src/config/home.ts';
import { asArray, asObject } from '../../../src/core/json.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { createLog } from '../../../src/redact/create-log.ts';
import type { InstarHere, Stage } from './instar-here.ts';
import type { SettingProof, SettingProofs } from './setting-proof.ts';

/** Generous: each wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 20 };
const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

export function createStoreProofs(stage: Stage): SettingProofs {
  const lines = (log: object): readonly string[] => {
    const { level } = checkConfig({ log }, { env: {} }).config.log;
    const written: string[] = [];
    const stream = { write: (line: string) => written.push(line) > 0 };
    const made = createLog({ format: 'json', level, stream, env: {} });
    made.debug('at debug');
    made.info('at info');
    made.warn('at warn');
    made.error('at error');
    return written;
  };
  const levels = (level: (typeof LEVELS)[number]): SettingProof => ({
    acts: async () => {
      const text = lines({ level }).join('');
      const named = LEVELS.filter((one) => text.includes(`at ${one}`));
      expect(named).toEqual(LEVELS.slice(LEVELS.indexOf(level), 4));
    },
  });
  const copiesOf = (dir: string): number => {
    const folder = homeAt(dir).snapshotDir;
    return existsSync(folder) ? readdirSync(folder).length : 0;
  };
  /** A home with a session of 100 days ago, in which the owner has just confirmed the time. */
  const open = async (name: string, store: object): Promise<InstarHere> => {
    const here = await stage.open(name, { store }, { prepare: recordOldSession });
    await here.owner('POST', '/api/time/confirm', {});
    return here;
  };
  const short = () => open('store-short', { url: 'sqlite', keepDays: 30, snapshots: 7 });
  const long = () => open('store-long', { keepDays: 180, snapshots: 0 });
  const isErased = async (here: InstarHere): Promise<boolean> =>
    asArray(await here.owner('GET', '/api/sessions')).every((session) => asObject(session).erased === true);

  return {
    'store.url': {
      acts: async () => expect(existsSync(path.join((await short()).dir, 'instar.sqlite'))).toBe(true),
    },
    'store.keepDays': {
      acts: async () => {
        const [few, many] = [await short(), await long()];
        await vi.waitFor(async () => expect(await isErased(few)).toBe(true), SOON);
        expect(await isErased(many)).toBe(false);
      },
    },
    'store.snapshots': {
      acts: async () => {
        const [copied, alone] = [await short(), await long()];
        await vi.waitFor(() => expect(copiesOf(copied.dir)).toBeGreaterThan(0), SOON);
        expect(copiesOf(alone.dir)).toBe(0);
      },
    },
    ...Object.fromEntries(LEVELS.map((level) => [`log.level=${level}`, levels(level)])),
  };
}

function recordOldSession(dir: string): void {
  const store = openSqliteStore({ file: homeAt(dir).storeFile });
  const at = Date.now() - 100 * 86_400_000;
  const start = {
    type: 'turn-start',
    turn: 't1',
    session: 's1',
    agent: 'a',
    role: 'main',
    wire: 'openai-chat',
    model: 'm',
    generation: 0,
    policy: 'p/m',
    lessons: [],
  } as const;
  const end = { type: 'turn-end', turn: 't1', status: 'complete', httpStatus: 200, totalMs: 1 } as const;
  store.append({
    facts: [
      { at, fact: start },
      { at, fact: end },
    ],
  });
  store.close();
}
