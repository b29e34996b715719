import type { Attempt } from '../../core/evidence.ts';
import type { StoredFact } from '../../core/fact.ts';
import { asString } from '../../core/json.ts';

/** One task of an agent, as it reported it over MCP or as events. */
export interface Episode {
  readonly id: string;
  readonly agent: string;
  readonly project?: string;
  readonly domain?: string;
  readonly task: string;
  readonly attempts: readonly Attempt[];
  readonly startedAt: number;
  /** Absent while the episode is open. */
  readonly outcome?: string;
  readonly note?: string;
  readonly endedAt?: number;
}

/** Folds events, oldest first, into an episode; undefined without a start event. The first end counts. */
export function foldEpisode(id: string, events: readonly StoredFact[]): Episode | undefined {
  let episode: Episode | undefined;
  for (const { at, fact } of events) {
    if (fact.type !== 'event-reported') continue;
    const { kind, data } = fact;
    if (kind === 'episode_start' && episode === undefined) {
      const project = asString(data.project);
      const domain = asString(data.domain);
      episode = {
        id,
        agent: fact.agent ?? 'unknown',
        ...(project === undefined ? {} : { project }),
        ...(domain === undefined ? {} : { domain }),
        task: asString(data.task) ?? '',
        attempts: [],
        startedAt: at,
      };
    } else if (episode === undefined || episode.outcome !== undefined) continue;
    else if (kind === 'episode_attempt') {
      const { action, result, ok } = data;
      const attempt = { action: asString(action) ?? '', result: asString(result) ?? '', ok: ok === true };
      episode = { ...episode, attempts: [...episode.attempts, attempt] };
    } else if (kind === 'episode_end') {
      const note = asString(data.note);
      episode = {
        ...episode,
        outcome: asString(data.outcome) ?? 'partial',
        endedAt: at,
        ...(note === undefined ? {} : { note }),
      };
    }
  }
  return episode;
}

export const failedIn = ({ attempts }: Episode): number => attempts.filter(({ ok }) => !ok).length;

/** Whether it has a failure and a success: learning needs the contrast. */
export const teaches = (episode: Episode): boolean =>
  failedIn(episode) > 0 && (failedIn(episode) < episode.attempts.length || episode.outcome === 'success');
