import {
  EPISODE_ENDINGS,
  type EpisodeEnding,
  type ReportedAttempt,
  type TurnEvidence,
} from '../core/evidence.ts';
import { BY_PERSON, type StoredFact } from '../core/fact.ts';
import { asString } from '../core/json.ts';
import type { Records } from '../core/store.ts';
import { tellingAttempts } from './tools/outages.ts';

/** One task of an agent, as it reported it over MCP or as events. */
interface Episode {
  readonly id: string;
  readonly agent: string;
  readonly project?: string;
  readonly domain?: string;
  readonly task: string;
  readonly attempts: readonly ReportedAttempt[];
  readonly startedAt: number;
  /** Absent while the episode is open. */
  readonly outcome?: EpisodeEnding;
  readonly note?: string;
  readonly endedAt?: number;
  /** What the agent answered in the end. */
  readonly answer?: string;
  /** What the person said next, passed on by a program that may speak for its user. */
  readonly reply?: string;
  /** The task is in a person's words, for the same reason. */
  readonly isByPerson: boolean;
}

/** Folds events, oldest first, into an episode; undefined without a start event. The first end and the first reply to it count. */
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
        isByPerson: data[BY_PERSON] === true,
      };
    } else if (kind === 'episode_reply' && episode?.outcome !== undefined) {
      const text = asString(data.text) ?? '';
      if (episode.reply === undefined && text.trim() !== '' && data[BY_PERSON] === true)
        episode = { ...episode, reply: text };
    } else if (episode === undefined || episode.outcome !== undefined) continue;
    else if (kind === 'episode_attempt') {
      const { action, result, ok } = data;
      const attempt = { action: asString(action) ?? '', result: asString(result) ?? '', ok: ok === true };
      episode = { ...episode, attempts: [...episode.attempts, attempt] };
    } else if (kind === 'episode_end') {
      const note = asString(data.note);
      const answer = asString(data.answer);
      episode = {
        ...episode,
        outcome: EPISODE_ENDINGS.find((one) => one === data.outcome) ?? 'partial',
        endedAt: at,
        ...(note === undefined ? {} : { note }),
        ...(answer === undefined ? {} : { answer }),
      };
    }
  }
  return episode;
}

/** Under which an episode is queued for learning, and its result is found. */
export const episodeItem = (id: string): string => `live:${id}`;

export const failedAttempts = ({ attempts }: Episode): number => attempts.filter(({ ok }) => !ok).length;

/** Whether it shows a failure beside something that worked: then one lesson can be drawn from it alone. An outage is no failure. */
export function hasLearnableContrast({
  attempts,
  outcome,
  note,
  answer,
}: Pick<Episode, 'attempts' | 'outcome' | 'note' | 'answer'>): boolean {
  const telling = tellingAttempts(attempts);
  const worked = telling.some(({ ok }) => ok) || (outcome === 'success' && Boolean(note ?? answer));
  return worked && telling.some(({ ok }) => !ok);
}

const SCORES: Readonly<Partial<Record<EpisodeEnding, number>>> = { success: 1, failure: -1 };

/** An ended episode as the evidence of one turn: its attempts, the agent's own outcome, and recorded rewards. */
export async function readEpisodeEvidence(
  id: string,
  records: Pick<Records, 'events' | 'rewards'>,
): Promise<{ readonly episode: Episode; readonly evidence: TurnEvidence } | undefined> {
  const episode = foldEpisode(id, await records.events(id));
  if (episode?.outcome === undefined) return undefined;
  const { agent, task, attempts, outcome, note, answer = '', reply, isByPerson } = episode;
  const score = SCORES[outcome];
  const said = (await records.rewards({ session: id })).map(({ source, score: given, note: words }) => ({
    source,
    score: given,
    ...(words === undefined ? {} : { note: words }),
  }));
  // The agent's own outcome is only a signal.
  const own =
    score === undefined ? [] : [{ source: 'agent' as const, score, ...(note === undefined ? {} : { note }) }];
  const evidence: TurnEvidence = {
    turn: id,
    session: id,
    agent,
    role: 'main',
    status: 'complete',
    task,
    tools: [],
    reply: answer === '' ? [] : [{ type: 'text', text: answer }],
    earlier: [],
    ...(reply === undefined ? {} : { next: { tools: [], user: reply } }),
    given: [...said, ...own],
    attempts,
    outcome,
    ...(isByPerson ? {} : { isReported: true }),
  };
  return { episode, evidence };
}
