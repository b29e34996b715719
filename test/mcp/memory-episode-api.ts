import type { ReportedAttempt } from '../../src/core/evidence.ts';
import type {
  EpisodeApi,
  EpisodeCaller,
  EpisodeResult,
  ListedLesson,
  OfferedFlow,
} from '../../src/mcp/episode-api.ts';

interface Kept extends EpisodeCaller {
  readonly task: string;
  readonly attempts: ReportedAttempt[];
  outcome?: string;
  note?: string;
}

export interface MemoryEpisodeApi extends EpisodeApi {
  /** In force for the client of that name. */
  readonly flowsFor: Map<string, readonly OfferedFlow[]>;
  readonly episodes: ReadonlyMap<string, Kept>;
  readonly feedbacks: readonly object[];
  /** In the order of arrival. */
  readonly reports: readonly string[];
  readonly queries: readonly object[];
}

const UNKNOWN: EpisodeResult<never> = {
  ok: false,
  why: 'No episode has this id.',
  fix: 'Call start_episode first and use the id it answers with.',
};

/** An in-memory API with one lesson about dates. */
export function createMemoryEpisodeApi(lessons: readonly ListedLesson[] = [DATES]): MemoryEpisodeApi {
  const episodes = new Map<string, Kept>();
  const feedbacks: object[] = [];
  const reports: string[] = [];
  const flowsFor = new Map<string, readonly OfferedFlow[]>();
  const queries: object[] = [];
  const said = {
    at: '2026-11-19T09:00:00.000Z',
    session: 's',
    turn: 't',
    text: 'The crate came yesterday.',
    times: [{ words: 'yesterday', means: '18 November 2026' }],
  };
  const recalled = (task: string) =>
    task.includes('crate')
      ? { text: 'The crate came yesterday.', lessons: [], said: [said] }
      : task.includes('date')
        ? {
            text: '### iso-dates\n\nWrite dates as 2026-03-16.',
            lessons: [{ id: 'lesson-1', name: 'iso-dates' }],
            said: [],
          }
        : { text: '', lessons: [], said: [] };
  const tally = ({ attempts }: Kept) => ({
    attempts: attempts.length,
    failed: attempts.filter(({ ok }) => !ok).length,
  });
  return {
    episodes,
    feedbacks,
    reports,
    queries,
    flowsFor,
    flows: async ({ client = '' }) => ({ ok: true, value: flowsFor.get(client) ?? [] }),
    start: async ({ task, ...asker }) => {
      const episode = `ep-${episodes.size + 1}`;
      episodes.set(episode, { task, ...asker, attempts: [] });
      reports.push(`start ${episode}`);
      return { ok: true, value: { episode, recalled: recalled(task) } };
    },
    attempt: async ({ episode, ...attempt }) => {
      const kept = episodes.get(episode);
      if (kept === undefined || kept.outcome !== undefined) return UNKNOWN;
      // Later reports are handled faster, so only serialisation keeps the order.
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, 8 - kept.attempts.length)));
      kept.attempts.push(attempt);
      reports.push(`attempt ${episode}`);
      return { ok: true, value: tally(kept) };
    },
    end: async ({ episode, outcome, note }) => {
      const kept = episodes.get(episode);
      if (kept === undefined) return UNKNOWN;
      kept.outcome = outcome;
      if (note !== undefined) kept.note = note;
      reports.push(`end ${episode}`);
      const { attempts, failed } = tally(kept);
      return { ok: true, value: { attempts, failed, learns: failed > 0 && failed < attempts } };
    },
    recall: async (asked) => {
      if ('name' in asked) {
        const named = asked.name === 'iso-dates' ? recalled('dates') : { text: '', lessons: [], said: [] };
        return { ok: true, value: named };
      }
      const { task, ...query } = asked;
      queries.push(query);
      if (task === 'break') throw new Error('the API failed');
      return { ok: true, value: recalled(task) };
    },
    list: async ({ state, kind }) => ({
      ok: true,
      value: lessons.filter(
        (lesson) => (state ?? lesson.state) === lesson.state && (kind ?? lesson.kind) === lesson.kind,
      ),
    }),
    report: async ({ kind }) => {
      reports.push(`event ${String(kind)}`);
      return { ok: true, value: null };
    },
    feedback: async (given) => {
      feedbacks.push(given);
      return { ok: true, value: null };
    },
  };
}

export const DATES: ListedLesson = {
  id: 'lesson-1',
  kind: 'skill',
  name: 'iso-dates',
  description: 'When a date is written.',
  state: 'live',
  revision: 2,
};
