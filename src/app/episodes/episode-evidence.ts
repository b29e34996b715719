import type { TurnEvidence } from '../../core/evidence.ts';
import type { Records } from '../../core/records.ts';
import { type Episode, foldEpisode } from './episode.ts';

const SCORES: Readonly<Record<string, number>> = { success: 1, failure: -1 };

/** An ended episode as the evidence of one turn: its attempts, the agent's own outcome, and recorded rewards. */
export async function readEpisodeEvidence(
  id: string,
  records: Pick<Records, 'events' | 'rewards'>,
): Promise<{ readonly episode: Episode; readonly evidence: TurnEvidence } | undefined> {
  const episode = foldEpisode(id, await records.events(id));
  if (episode?.outcome === undefined) return undefined;
  const { agent, task, attempts, outcome, note } = episode;
  const score = SCORES[outcome];
  const said = (await records.rewards({ session: id })).map(({ source, score: given, note: words }) => ({
    source,
    score: given,
    ...(words === undefined ? {} : { note: words }),
  }));
  // The agent's own outcome is only a signal.
  const own =
    score === undefined
      ? []
      : [{ source: 'signal' as const, score, ...(note === undefined ? {} : { note }) }];
  const evidence: TurnEvidence = {
    turn: id,
    session: id,
    agent,
    role: 'main',
    status: 'complete',
    task,
    tools: [],
    reply: [],
    earlier: [],
    given: [...said, ...own],
    attempts,
  };
  return { episode, evidence };
}
