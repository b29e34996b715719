import { asArray, asObject, parseJson } from '../core/json.ts';
import type { Records } from '../core/store.ts';
import type { LiveTurn } from './advantage.ts';
import type { TrainingSample } from './buffer.ts';
import type { LiveTurnsQuery } from './training-run.ts';

/** Distinguishes live turns from attempts. */
const LIVE = 'live/';

/** The query as plain data. */
export interface LiveQuery extends Omit<LiveTurnsQuery, 'trained'> {
  readonly done: readonly string[];
}

export const liveQueryOf = ({ trained, ...wanted }: LiveTurnsQuery): LiveQuery => ({
  ...wanted,
  done: [...trained].filter((id) => id.startsWith(LIVE)),
});

type Told = Pick<Records, 'rewards' | 'sampled' | 'block' | 'turn'>;

/**
 * The samples, oldest first, whose tokens were recorded and that a person or a verifier has rewarded. Failures are no
 * samples: they teach the library, never the weights.
 */
export async function readLiveTurns(
  { generation, versions, done, most }: LiveQuery,
  samples: readonly TrainingSample[],
  records: Told,
): Promise<readonly LiveTurn[]> {
  const known = new Set(done);
  const turns: LiveTurn[] = [];
  for (const sample of samples) {
    if (turns.length >= most) break;
    const id = `${LIVE}${sample.turn}`;
    if (sample.generation !== generation || known.has(id)) continue;
    const live = await readLiveTurn(sample, id, versions, records);
    if (live !== undefined) turns.push(live);
  }
  return turns;
}

async function readLiveTurn(
  { turn, session, generation, reward }: TrainingSample,
  id: string,
  versions: readonly number[],
  records: Told,
): Promise<LiveTurn | undefined> {
  const sources = (await records.rewards({ turn })).map(({ source }) => source);
  const rewardSource = (['verifier', 'person'] as const).find((source) => sources.includes(source));
  if (rewardSource === undefined) return undefined;
  const said = (await records.sampled(session)).flatMap(({ fact }) =>
    fact.type === 'turn-sampled' && fact.turn === turn ? [fact] : [],
  );
  const [fact] = said;
  // Replies sampled at another temperature do not train.
  if (fact?.tokens === undefined || said.length > 1 || fact.temperature !== 1) return undefined;
  if (!versions.includes(fact.version)) return undefined;
  const text = await records.block(fact.tokens);
  const agent = (await records.turn(turn))?.agent;
  if (text === undefined || agent === undefined) return undefined;
  const { prompt, tokens, logprobs } = asObject(parseJson(text));
  const stamp = { policy: fact.version, generation };
  const segments = [
    { kind: 'prompt', ids: asArray(prompt).map(Number), ...stamp },
    { kind: 'reply', ids: asArray(tokens).map(Number), logprobs: asArray(logprobs).map(Number), ...stamp },
  ] as const;
  return { rollout: { id, task: `turn/${turn}`, segments, reward, rewardSource } };
}
