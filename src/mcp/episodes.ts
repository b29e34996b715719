import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EpisodeOutcome, ReportedAttempt } from '../core/evidence.ts';
import { asArray, asNumber, asObject, asString, compact, type JsonObject } from '../core/json.ts';
import { LESSON_KINDS, LESSON_STATES, type LessonKind, type LessonState } from '../core/lesson.ts';
import type { FlowOverlay, OverlayQuery } from '../core/overlay.ts';
import { truncateMiddle } from '../text/truncate.ts';
import type {
  AttemptCounts,
  EpisodeCaller,
  EpisodeLearned,
  EpisodeSummary,
  FeedbackSubject,
  ListedLesson,
  LookUp,
  OfferedFlow,
  RecalledLessons,
} from './episode-api.ts';

/** Where episodes are recorded: a running daemon, or the store. In the JSON shapes of the HTTP API; rejects when refused. */
export interface EpisodeRecords {
  /** An event, as `POST /v1/events` takes it. Durable when it resolves. */
  report(event: JsonObject): Promise<unknown>;
  /** `POST /api/recall`. */
  recall(query: JsonObject): Promise<unknown>;
  /** `GET /api/episodes/ID`; rejects for an unknown id. */
  episode(id: string): Promise<unknown>;
  /** `GET /api/lessons`. */
  lessons(query: { readonly state?: LessonState; readonly kind?: LessonKind }): Promise<unknown>;
  /** `POST /v1/feedback`. Durable when it resolves. */
  feedback(body: JsonObject): Promise<unknown>;
  /** `GET /api/overlays`. */
  overlays(query: OverlayQuery): Promise<unknown>;
  /** A daemon answers, and learns: where none does there is nothing to wait for. */
  readonly isServed?: true;
}

/** An episode that cannot take the report: it has ended. */
export class EpisodeStateError extends Error {
  override readonly name = 'EpisodeStateError';
  readonly status = 409;
}

interface StartedEpisode {
  readonly episode: string;
  readonly recalled: RecalledLessons;
}

interface EpisodeQuery extends EpisodeCaller {
  readonly task: string;
}

/** The rules of episodes. Every method rejects when the records do, or with `EpisodeStateError`. */
export interface Episodes {
  /** `isMeasured` (default): the lessons are recorded as shown, and a few are held out to measure their effect. */
  start(query: EpisodeQuery & { readonly isMeasured?: boolean }): Promise<StartedEpisode>;
  attempt(attempt: ReportedAttempt & { readonly episode: string }): Promise<AttemptCounts>;
  end(end: {
    readonly episode: string;
    readonly outcome: EpisodeOutcome;
    readonly note?: string;
    readonly wait?: boolean;
  }): Promise<EpisodeSummary>;
  recall(query: EpisodeCaller & LookUp): Promise<RecalledLessons>;
  list(query: { readonly state?: LessonState; readonly kind?: LessonKind }): Promise<readonly ListedLesson[]>;
  flows(caller: EpisodeCaller): Promise<readonly OfferedFlow[]>;
  feedback(given: {
    readonly subject: FeedbackSubject;
    readonly score: number;
    readonly note?: string;
    readonly source?: 'agent' | 'person';
  }): Promise<void>;
}

/** Two minutes in all. */
const LOOK_MS = 250;
const MOST_LOOKS = 480;
const LONGEST_ACTION = 4000;
const LONGEST_RESULT = 12_000;

/** An attempt as it is stored: of a long text the beginning and the end. */
export const shortenAttempt = ({ action, result, ok }: ReportedAttempt): ReportedAttempt => ({
  action: truncateMiddle(action, LONGEST_ACTION, { headShare: 0.5 }),
  result: truncateMiddle(result, LONGEST_RESULT, { headShare: 0.5 }),
  ok,
});

export function createEpisodes(records: EpisodeRecords): Episodes {
  const look = async (episode: string): Promise<EpisodeSummary & { readonly state: string }> => {
    const view = asObject(await records.episode(episode));
    return {
      state: asString(view.state) ?? '',
      attempts: asNumber(view.attempts) ?? 0,
      failed: asNumber(view.failed) ?? 0,
      learns: view.learns === true,
      ...compact({ learned: view.learned === undefined ? undefined : readLearned(view.learned) }),
    };
  };
  const lookEnded = async (episode: string, looks: number): Promise<EpisodeSummary> => {
    const { state: _, ...ended } = await look(episode);
    if (!ended.learns || ended.learned !== undefined || looks <= 1) return ended;
    await sleep(LOOK_MS);
    return lookEnded(episode, looks - 1);
  };
  const recall = async (query: JsonObject): Promise<RecalledLessons> =>
    readRecalled(await records.recall(query));

  return {
    start: async ({ task, isMeasured = true, ...caller }) => {
      const episode = `ep_${randomUUID()}`;
      const who = scopeOf(caller);
      await records.report({ kind: 'episode_start', session: episode, task, ...who });
      return { episode, recalled: await recall({ task, ...who, ...(isMeasured && { episode }) }) };
    },
    attempt: async ({ episode, ...attempt }) => {
      if ((await look(episode)).state !== 'open') throw new EpisodeStateError(`episode ${episode} has ended`);
      await records.report({ kind: 'episode_attempt', session: episode, ...shortenAttempt(attempt) });
      const { attempts, failed } = await look(episode);
      return { attempts, failed };
    },
    end: async ({ episode, outcome, note, wait }) => {
      const { state } = await look(episode);
      if (state !== 'open' && state !== outcome)
        throw new EpisodeStateError(`episode ${episode} has already ended with ${state}`);
      if (state === 'open')
        await records.report({ kind: 'episode_end', session: episode, outcome, ...(note ? { note } : {}) });
      return lookEnded(episode, wait && records.isServed ? MOST_LOOKS : 1);
    },
    recall: ({ limit, ...query }) =>
      recall({
        ...('task' in query ? { task: query.task } : { name: query.name }),
        ...scopeOf(query),
        ...(limit ? { limit } : {}),
      }),
    list: async (query) => asArray(await records.lessons(query)).flatMap(readListedLesson),
    flows: async ({ agent, client, project }) =>
      readFlows(await records.overlays(compact({ agent: agent ?? client, project: project || undefined }))),
    feedback: async ({ subject, score, note, source = 'agent' }) => {
      const about = 'episode' in subject ? { session: subject.episode } : subject;
      await records.feedback({ ...about, score, source, ...(note ? { note } : {}) });
    },
  };
}

const readLearned = (value: unknown): EpisodeLearned => {
  const { lessons, why } = asObject(value);
  const text = (one: unknown): string => asString(one) ?? '';
  return {
    lessons: asArray(lessons)
      .map(asObject)
      .map(({ id, name, outcome }) => ({ id: text(id), name: text(name), outcome: text(outcome) })),
    ...compact({ why: asString(why) }),
  };
};

const scopeOf = ({ agent, client, project, domain }: EpisodeCaller): JsonObject => ({
  agent: agent ?? client ?? 'unknown',
  ...compact({ project: project || undefined, domain: domain || undefined }),
});

function readRecalled(value: unknown): RecalledLessons {
  const { text, lessons, said } = asObject(value);
  return {
    text: asString(text) ?? '',
    lessons: asArray(lessons)
      .map(asObject)
      .map(({ id, name, isLine }) => ({
        id: asString(id) ?? '',
        name: asString(name) ?? '',
        ...(isLine === true && { isLine }),
      })),
    said: asArray(said)
      .map(asObject)
      .map((quote) => ({
        at: asString(quote.at) ?? '',
        session: asString(quote.session) ?? '',
        turn: asString(quote.turn) ?? '',
        text: asString(quote.text) ?? '',
        times: asArray(quote.times)
          .map(asObject)
          .map(({ words, means }) => ({ words: asString(words) ?? '', means: asString(means) ?? '' })),
      })),
  };
}

/** Lessons of a kind or state that this version does not know are left out. */
function readListedLesson(value: unknown): readonly ListedLesson[] {
  const lesson = asObject(value);
  const kind = LESSON_KINDS.find((one) => one === lesson.kind);
  const state = LESSON_STATES.find((one) => one === lesson.state);
  if (kind === undefined || state === undefined) return [];
  return [
    {
      id: asString(lesson.id) ?? '',
      kind,
      name: asString(lesson.name) ?? '',
      description: asString(lesson.description) ?? '',
      state,
      revision: asNumber(lesson.revision) ?? 0,
    },
  ];
}

/** The flows among overlays as the API lists them. Checked when they were published: what this version cannot read is left out. */
const readFlows = (listed: unknown): readonly OfferedFlow[] =>
  asArray(listed).flatMap((value) => {
    const { name, payload } = asObject(value);
    return isFlow(payload)
      ? [{ name: asString(name) ?? '', parameters: payload.parameters, steps: payload.steps }]
      : [];
  });

const isFlow = (payload: unknown): payload is FlowOverlay => {
  const { type, parameters, steps } = asObject(payload);
  return type === 'flow_offload' && Array.isArray(parameters) && Array.isArray(steps);
};
