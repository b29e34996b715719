import { asArray, asObject, parseJson } from '../src/core/json.ts';
import type { Records } from '../src/core/store.ts';
import type { TrainingOutcome } from '../src/evidence/training-buffer.ts';
import type { LiveTurn } from './advantage.ts';
import { followOutcomes, isLiveSource, type LiveOutcomes } from './live-outcomes.ts';
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

/** At most this share of the live turns of a batch is rewarded by a judge alone. */
const JUDGE_SHARE = 0.25;

type LiveRecords = Pick<Records, 'rewards' | 'sampled' | 'block'>;

interface LiveTurnsParts {
  readonly records: LiveRecords;
  /** What rewards are compared with. */
  readonly outcomes: Pick<LiveOutcomes, 'advantageOf'>;
}

interface LiveReaderOptions {
  readonly records: LiveRecords & Parameters<typeof followOutcomes>[0];
  readonly appraised: () => readonly TrainingOutcome[];
}

/** Live turns with their rewards, each compared with the agent's other outcomes. */
export function createLiveReader({
  records,
  appraised,
}: LiveReaderOptions): (query: LiveQuery) => Promise<readonly LiveTurn[]> {
  const readOutcomes = followOutcomes(records);
  return async (query) => readLiveTurns(query, appraised(), { records, outcomes: await readOutcomes() });
}

/**
 * Appraised turns of the generation in force whose tokens were recorded, failures that fed no lesson included, oldest first
 * among the samples and among the failures. A turn without a reward of its own is left out.
 */
export async function readLiveTurns(
  { generation, versions, done, most }: LiveQuery,
  appraised: readonly TrainingOutcome[],
  parts: LiveTurnsParts,
): Promise<readonly LiveTurn[]> {
  const trained = new Set(done);
  const turns: { readonly live: LiveTurn; readonly isJudged: boolean }[] = [];
  for (const outcome of spread(appraised)) {
    if (turns.filter(({ isJudged }) => !isJudged).length >= most) break;
    const id = `${LIVE}${outcome.turn}`;
    if (outcome.generation !== generation || trained.has(id)) continue;
    const live = await readLiveTurn(outcome, id, versions, parts);
    const isJudged = live?.rollout.rewardSource === 'judge';
    if (live !== undefined) turns.push({ live, isJudged });
  }
  // j ≤ share · (j + others), the turns that were read first.
  const others = turns.filter(({ isJudged }) => !isJudged).length;
  let judged = Math.floor((JUDGE_SHARE / (1 - JUDGE_SHARE)) * others);
  return turns.flatMap(({ live, isJudged }) => (isJudged && judged-- <= 0 ? [] : [live])).slice(0, most);
}

/** Samples and failures in turn, as their numbers are: a batch that is full must not have left out one kind. */
function spread(appraised: readonly TrainingOutcome[]): readonly TrainingOutcome[] {
  const isFailed = ({ reward }: TrainingOutcome): boolean => reward < 0.5;
  const kinds = [appraised.filter((one) => !isFailed(one)), appraised.filter(isFailed)];
  return kinds
    .flatMap((kind) => kind.map((outcome, at) => ({ outcome, place: (at + 0.5) / kind.length })))
    .toSorted((a, b) => a.place - b.place)
    .map(({ outcome }) => outcome);
}

async function readLiveTurn(
  { turn, session, generation, reward, source }: TrainingOutcome,
  id: string,
  versions: readonly number[],
  { records, outcomes }: LiveTurnsParts,
): Promise<LiveTurn | undefined> {
  const samples = (await records.sampled(session)).flatMap(({ fact }) =>
    fact.type === 'turn-sampled' && fact.turn === turn ? [fact] : [],
  );
  const [fact] = samples;
  // Replies sampled at another temperature do not train.
  if (fact?.tokens === undefined || samples.length > 1 || fact.temperature !== 1) return undefined;
  if (!versions.includes(fact.version)) return undefined;
  const text = await records.block(fact.tokens);
  if (text === undefined) return undefined;
  const { prompt, tokens, logprobs } = asObject(parseJson(text));
  const ids = asArray(prompt).map(Number);
  // The source of the appraisal must have rewarded this turn itself, not only its session.
  const isGiven =
    source === 'check' || (await records.rewards({ turn })).some((given) => given.source === source);
  const advantage = isGiven && isLiveSource(source) ? outcomes.advantageOf(turn) : undefined;
  if (advantage === undefined) return undefined;
  const stamp = { policy: fact.version, generation };
  const segments = [
    { kind: 'prompt', ids, ...stamp },
    { kind: 'reply', ids: asArray(tokens).map(Number), logprobs: asArray(logprobs).map(Number), ...stamp },
  ] as const;
  return {
    rollout: { id, task: `turn/${turn}`, segments, reward, rewardSource: source ?? 'signal' },
    advantage,
  };
}
