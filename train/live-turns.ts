import { asArray, asObject, parseJson } from '../src/core/json.ts';
import type { Records } from '../src/core/store.ts';
import type { TrainingOutcome } from '../src/evidence/training-buffer.ts';
import type { LiveTurn } from './advantage.ts';
import { createReadHintedPrompt, type HintedTurnsOptions, type ReadHintedPrompt } from './hinted-turns.ts';
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

/** What is learned from a live turn. `evaluative`: from its reward. `directive`: from what the user said against it. */
export interface LiveEstimators {
  readonly evaluative: boolean;
  readonly directive: boolean;
}

/** `true`, as in earlier versions, is learning from rewards. */
export const liveEstimators = (live: boolean | LiveEstimators): LiveEstimators =>
  typeof live === 'boolean' ? { evaluative: live, directive: false } : live;

/** Whether anything is learned from live turns. */
export function usesLiveTurns(live: boolean | LiveEstimators): boolean {
  const { evaluative, directive } = liveEstimators(live);
  return evaluative || directive;
}

/** At most this share of the live turns of a batch is rewarded by a judge alone. */
const JUDGE_SHARE = 0.25;

type LiveRecords = Pick<Records, 'rewards' | 'sampled' | 'block'>;

interface LiveTurnsParts {
  readonly records: LiveRecords;
  /** What rewards are compared with; absent: nothing is learned from rewards. */
  readonly outcomes?: Pick<LiveOutcomes, 'advantageOf'> | undefined;
  /** The prompt with the user's correction; absent: nothing is learned from corrections. */
  readonly hinted?: ReadHintedPrompt | undefined;
}

interface LiveReaderOptions extends HintedTurnsOptions {
  readonly estimators: LiveEstimators;
  readonly records: HintedTurnsOptions['records'] & LiveRecords & Pick<Records, 'factsOf'>;
  readonly appraised: () => readonly TrainingOutcome[];
}

/** Live turns for the estimators that are on. */
export function createLiveReader(
  options: LiveReaderOptions,
): (query: LiveQuery) => Promise<readonly LiveTurn[]> {
  const { estimators, records, appraised } = options;
  const readOutcomes = followOutcomes(records);
  const hinted = estimators.directive ? createReadHintedPrompt(options) : undefined;
  return async (query) => {
    const outcomes = estimators.evaluative ? await readOutcomes() : undefined;
    return readLiveTurns(query, appraised(), { records, outcomes, hinted });
  };
}

/**
 * Appraised turns of the generation in force whose tokens were recorded, failures that fed no lesson included, oldest first
 * among the samples and among the failures. A turn that neither estimator can use is left out.
 */
export async function readLiveTurns(
  { generation, versions, done, most }: LiveQuery,
  appraised: readonly TrainingOutcome[],
  parts: LiveTurnsParts,
): Promise<readonly LiveTurn[]> {
  const known = new Set(done);
  const turns: { readonly live: LiveTurn; readonly isJudged: boolean }[] = [];
  for (const outcome of spread(appraised)) {
    if (turns.filter(({ isJudged }) => !isJudged).length >= most) break;
    const id = `${LIVE}${outcome.turn}`;
    if (outcome.generation !== generation || known.has(id)) continue;
    const live = await readLiveTurn(outcome, id, versions, parts);
    const isJudged = live?.hinted === undefined && live?.rollout.rewardSource === 'judge';
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
  { records, outcomes, hinted: readHinted }: LiveTurnsParts,
): Promise<LiveTurn | undefined> {
  const said = (await records.sampled(session)).flatMap(({ fact }) =>
    fact.type === 'turn-sampled' && fact.turn === turn ? [fact] : [],
  );
  const [fact] = said;
  // Replies sampled at another temperature do not train.
  if (fact?.tokens === undefined || said.length > 1 || fact.temperature !== 1) return undefined;
  if (!versions.includes(fact.version)) return undefined;
  const text = await records.block(fact.tokens);
  if (text === undefined) return undefined;
  const { prompt, tokens, logprobs } = asObject(parseJson(text));
  const ids = asArray(prompt).map(Number);
  // The source of the appraisal must have rewarded this turn itself, not only its session.
  const isGiven = (await records.rewards({ turn })).some((given) => given.source === source);
  const advantage = isGiven && isLiveSource(source) ? outcomes?.advantageOf(turn) : undefined;
  const hinted = await readHinted?.({ turn, session, prompt: ids });
  if (advantage === undefined && hinted === undefined) return undefined;
  const stamp = { policy: fact.version, generation };
  const segments = [
    { kind: 'prompt', ids, ...stamp },
    { kind: 'reply', ids: asArray(tokens).map(Number), logprobs: asArray(logprobs).map(Number), ...stamp },
  ] as const;
  return {
    rollout: { id, task: `turn/${turn}`, segments, reward, rewardSource: source ?? 'signal' },
    ...(advantage === undefined ? {} : { advantage }),
    ...(hinted === undefined ? {} : { hinted: [hinted] }),
  };
}
