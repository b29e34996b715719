import type { Caller } from '../core/caller.ts';
import type { DaemonApi } from '../core/daemon-api.ts';
import type { JsonObject } from '../core/json.ts';
import { compact, parseJson } from '../core/json.ts';
import type { Records, SessionView, TurnView } from '../core/store.ts';
import { failedAttempts, foldEpisode, hasLearnableContrast } from '../evidence/episode.ts';
import { giveFeedback } from '../gateway/control-api.ts';
import { loadLearning } from '../learn/learning-state.ts';
import { readLearningSwitch } from '../learn/learning-switch.ts';
import { type BlockCache, readRecordedRequest } from '../record/request-manifest.ts';
import { describeUnreadable } from '../record/unreadable-body.ts';
import { createTrainingBuffer, SAMPLE_CAP } from '../train/buffer.ts';
import { ApiError } from './remote-api.ts';

/** The daemon's API on a store's records, except for what needs the clocks of the home. `schedule`: from the scheduler, where one runs. */
export function createStoreApi(
  records: Records,
  now: () => number,
  schedule: DaemonApi['schedule'] = async () => ({ state: 'off' }),
): Omit<DaemonApi, 'confirmTime'> {
  const show = async (
    id: string,
    turnOf: (turn: TurnView) => Promise<JsonObject>,
  ): Promise<JsonObject | undefined> => {
    const session = await records.session(id);
    if (session === undefined) return undefined;
    const turns: JsonObject[] = [];
    for (const turn of await records.turns(id)) turns.push(await turnOf(turn));
    const rewards = (await records.rewards({ session: id })).map(({ source, score, note }) =>
      compact({ source, score, note }),
    );
    return { ...describeSession(session), rewards, turns };
  };
  const describeTurn = async (turn: TurnView): Promise<JsonObject> => {
    const rewards = await records.rewards({ turn: turn.id });
    return compact({
      id: turn.id,
      status: turn.status ?? 'open',
      role: turn.role,
      model: turn.model,
      policy: turn.policy,
      generation: turn.generation,
      lessons: [...turn.lessons],
      startedAt: isoTime(turn.startedAt),
      endedAt: turn.endedAt === undefined ? undefined : isoTime(turn.endedAt),
      failure: turn.failure,
      caller: turn.caller,
      unreadable:
        turn.unreadable &&
        compact({ request: turn.unreadable.request?.why, reply: turn.unreadable.reply?.why }),
      usage: turn.usage && { ...turn.usage },
      rewards: rewards.map(({ source, score, note }) => compact({ source, score, note })),
    });
  };
  const requestOf = async ({ request, unreadable }: TurnView): Promise<JsonObject | undefined> => {
    const known: BlockCache = new Map();
    if (unreadable?.request !== undefined)
      return describeUnreadable(unreadable.request, request && (await records.block(request)));
    return request === undefined ? undefined : readRecordedRequest(request, records, known);
  };
  const withBodies = async (turn: TurnView): Promise<JsonObject> => {
    const reply = turn.reply === undefined ? undefined : await records.block(turn.reply);
    const unreadable = turn.unreadable?.reply;
    return {
      ...(await describeTurn(turn)),
      request: (await requestOf(turn)) ?? null,
      reply: unreadable ? describeUnreadable(unreadable, reply) : ((reply && parseJson(reply)) ?? null),
    };
  };

  return {
    sessions: async (query) => (await records.sessions(query)).map(describeSession),
    session: (id) => show(id, describeTurn),
    trajectory: (id) => show(id, withBodies),
    erase: async (id) => {
      const { turns, ...rest } = await records.erase(id, 'asked for by a person');
      return { erased: turns, ...rest };
    },
    feedback: async (body) => {
      const done = await giveFeedback({ records, now }, body, THE_OWNER);
      if ('kind' in done) throw new Error((done as { readonly message: string }).message);
      return done as JsonObject;
    },
    episode: async (id) => {
      const episode = foldEpisode(id, await records.events(id));
      if (episode === undefined) return undefined;
      return {
        state: episode.outcome ?? 'open',
        attempts: episode.attempts.length,
        failed: failedAttempts(episode),
        learns: hasLearnableContrast(episode),
      };
    },
    training: async () => {
      const buffer = createTrainingBuffer({ cap: SAMPLE_CAP });
      await loadLearning(buffer, records);
      const { query, support, generation } = buffer.counts();
      return { engine: 'off', policy: '', generation, buffer: { query, support } };
    },
    startTraining: needsDaemon,
    moveWeights: needsDaemon,
    schedule,
    // Loaded on demand: rarely called.
    suggestWindows: async () =>
      (await import('../schedule/suggest/suggest-windows.ts')).suggestWindowsFromRecord(records, now()),
    backup: (file) => records.snapshot(file),
    learning: async () =>
      (await import('./offline-learning.ts')).describeLearningOffline(records, USUAL_FAILURES, now()),
    switchLearning: async (on) => {
      const was = (await readLearningSwitch(records)).isOn;
      if (on !== was) await records.append([{ at: now(), fact: { type: 'learning-switched', on } }]);
      return { on, was };
    },
  };
}

/** The default of `learn.failures`. */
const USUAL_FAILURES = 3;

/** Without a daemon, whoever can open the store is its owner. */
const THE_OWNER: Caller = { kind: 'owner', id: 'owner', mayRate: true };

const needsDaemon = async (): Promise<never> => {
  throw new ApiError(409, 'Training needs a running daemon; start it with: instar up.');
};

const isoTime = (ms: number): string => new Date(ms).toISOString();

const describeSession = (session: SessionView): JsonObject =>
  compact({
    id: session.id,
    agent: session.agent,
    client: session.client,
    project: session.project && { ...session.project },
    turns: session.turns,
    startedAt: isoTime(session.startedAt),
    lastAt: isoTime(session.lastAt),
    endedAt: session.endedAt === undefined ? undefined : isoTime(session.endedAt),
    erased: session.erased ? true : undefined,
  });
