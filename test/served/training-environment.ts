import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach } from 'vitest';
import { workdaysTasks } from '../../lab/suites/workdays/task-source.ts';
import { createRemoteApi } from '../../src/api/remote-api.ts';
import { openSettings } from '../../src/api/settings-api.ts';
import { createEngineKey } from '../../src/config/engine-key.ts';
import { openHome } from '../../src/config/home.ts';
import { readOrCreateKey } from '../../src/config/key.ts';
import { readOrCreateOwnerKey } from '../../src/config/owner-key.ts';
import type { OwnerApis } from '../../src/core/daemon-api.ts';
import { asObject } from '../../src/core/json.ts';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts';
import { createLog } from '../../src/redact/create-log.ts';
import type { ServedTraining, TrainingOverride } from '../../train/serve-training.ts';
import type { TrainingRequest } from '../../train/training-plan.ts';
import type { TrainingEvent } from '../../train/training-window.ts';
import { type Answer, ask } from '../support/client.ts';
import { lessonText } from '../support/lesson-text.ts';

/** Of the daemon's engine, so that a test can call it too. */
export const ENGINE_KEY = createEngineKey();

export interface TrainingEnvironment extends OwnerApis {
  readonly dir: string;
  readonly port: number;
  readonly key: string;
  readonly ownerKey: string;
  readonly daemon: Daemon;
  readonly training: ServedTraining;
  /** What was logged, a line each. */
  readonly lines: readonly { readonly level: string; readonly msg: string }[];
  /** One turn of the policy. */
  chat(text: string, more?: { readonly session?: string; readonly model?: string }): Promise<Answer>;
  /** The daemon ends, and the folder stays. */
  close(): Promise<void>;
}

export interface BedOptions {
  /** A new one unless given. */
  readonly dir?: string;
  readonly override?: TrainingOverride;
  readonly train?: object;
  readonly learn?: object;
  readonly models?: object;
  readonly env?: NodeJS.ProcessEnv;
  /** False: only what is recorded here can be trained on. */
  readonly hasTasks?: boolean;
}

/** Instar as people run it, in this process, with the embedded engine in its own; batches are small. */
export async function openTrainingEnvironment({
  dir = newFolder(),
  override = {},
  train = {},
  learn = {},
  models = {},
  env = {},
  hasTasks = true,
}: BedOptions = {}): Promise<TrainingEnvironment> {
  const home = openHome(dir);
  const key = readOrCreateKey(home, {}).key;
  const ownerKey = readOrCreateOwnerKey(home, {}).key ?? '';
  const asked = { train, models, learn: { failures: 50, ...learn } };
  writeFileSync(home.configFile, JSON.stringify(asked));
  const { settings } = await openSettings({ file: home.configFile, env: {} }, home);
  const lines: { level: string; msg: string }[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const daemon = await startDaemon({
    home,
    config: settings.config,
    settings,
    env: { PATH: process.env.PATH, INSTAR_ENGINE_KEY: ENGINE_KEY, ...env },
    log: createLog({ format: 'json', level: 'info', stream }),
    port: 0,
    isUnhurried: true,
    training: {
      policySeed: 1,
      ...(hasTasks && { tasks: FEW_TASKS }),
      ...override,
      // One pair in a window decides nothing: what is proposed stays a candidate.
      tuning: { seed: 1, mostPairs: 1, size: { groups: 2 }, ...override.tuning },
      promotion: { power: 0, ...override.promotion },
    },
  });
  const record = { url: daemon.url, port: daemon.port, pid: process.pid, startedAt: '', version: '' };
  const { training } = daemon;
  if (training === undefined) throw new Error('nothing is trained here');
  return {
    ...createRemoteApi(record, ownerKey),
    dir,
    port: daemon.port,
    key,
    ownerKey,
    daemon,
    training,
    lines,
    chat: (text, { session, model = 'instar/nano' } = {}) =>
      ask(daemon.port, {
        path: '/v1/chat/completions',
        headers: {
          authorization: `Bearer ${key}`,
          ...(session === undefined ? {} : { 'x-instar-session': session }),
        },
        body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: text }] }),
      }),
    close: () => daemon.close(),
  };
}

export const newFolder = (): string => mkdtempSync(path.join(tmpdir(), 'instar-trained-'));
export const removeFolder = (dir: string): void => rmSync(dir, { recursive: true, force: true });

export interface BedsOfEach {
  folder(): string;
  open(options: BedOptions & { readonly dir: string }): Promise<TrainingEnvironment>;
  /** Ends the daemon that was started last, and starts another one in its folder. */
  reopen(environment: TrainingEnvironment): Promise<TrainingEnvironment>;
}

/** Folders and beds of each test of a file: after it they are closed and removed, the last one first. */
export function bedsOfEach(): BedsOfEach {
  const undo: (() => unknown)[] = [];
  afterEach(async () => {
    for (const run of undo.splice(0).reverse()) await run();
  });
  const open: BedsOfEach['open'] = async (options) => {
    const environment = await openTrainingEnvironment(options);
    undo.push(() => environment.close());
    return environment;
  };
  return {
    folder: () => {
      const dir = newFolder();
      undo.push(() => removeFolder(dir));
      return dir;
    },
    open,
    reopen: async (environment) => {
      await environment.close();
      undo.pop();
      return open({ dir: environment.dir });
    },
  };
}

/** A few tasks of the workdays that the policy sometimes does well, and one to measure on, which decides nothing. */
export const FEW_WORKDAYS = {
  train: { split: 'train', seed: 6, count: 12, since: 0 },
  heldOut: { split: 'gate', seed: 2, count: 1, since: 0 },
} as const;
const FEW_TASKS = workdaysTasks(FEW_WORKDAYS);

/** A task as the policy knows them. */
export const TASK = 't0101, May 4, 2031, 10:00, from Ada. Set state to done in a.json.';

/** A rule of the house. With it some attempts of the policy go well and some do not. */
const TIMES = 'Please write every time as 2031-05-04T10:00:00+08:00: ISO 8601 with the offset +08:00.';

/** A lesson, live at once: another generation. */
export const lesson = (id: string, content: string) => ({
  changes: [
    {
      op: 'add',
      id,
      kind: 'skill',
      state: 'live',
      text: asObject(
        lessonText({
          name: id,
          description:
            'When a line, a file or a field has a date or a time: append, set, write, plan, notes.',
          content: `1. ${content}`,
        }),
      ),
    },
  ],
  reason: 'a test',
});

export async function teach({ lessonsApi }: Pick<TrainingEnvironment, 'lessonsApi'>): Promise<void> {
  await lessonsApi.change(lesson('times', TIMES));
}

/** One window, and what happened in it. `onNews` sees each before the next is waited for. */
export async function runWindow(
  training: ServedTraining,
  request: TrainingRequest,
  {
    signal = new AbortController().signal,
    onNews,
  }: {
    readonly signal?: AbortSignal;
    readonly onNews?: (news: TrainingEvent) => void | Promise<void>;
  } = {},
): Promise<readonly TrainingEvent[]> {
  const heard: TrainingEvent[] = [];
  for await (const news of training.run(request, signal)) {
    heard.push(news);
    await onNews?.(news);
  }
  return heard;
}
