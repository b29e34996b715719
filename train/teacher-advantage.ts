import type { EngineProfile, TrainDatum, TrainingModel } from '../src/core/training.ts';
import type { ScoredRollout } from './advantage.ts';
import type { HintedRollout, Rollout } from './rollout.ts';

interface TeacherModels {
  readonly model: Pick<TrainingModel, 'forward'>;
  /**
   * Who reads the lessons; the weights in training themselves by default. A teacher that moves with its student can agree with it by
   * ignoring them, and with a high learning rate it does.
   */
  readonly teacher?: Pick<TrainingModel, 'forward'> | undefined;
}

// R: replies of a rollout · T: sampled tokens of a reply.

interface TeacherLimits {
  readonly profile: EngineProfile;
  /** The largest advantage of a token, up or down. */
  readonly clip: number;
}

/**
 * Distillation of lessons: the advantage of a sampled token is the teacher's log-probability under prompt and lessons minus the
 * student's under the prompt alone. Over the student's own samples the gradient is that of
 * −KL(student ‖ teacher) at each token. It says nothing about tokens that the student never samples; over the teacher's samples
 * (`isTaught`) it is that of −½ E (log teacher − log student)², which vanishes at the same place. Those are not weighted by an
 * importance ratio, so they carry the student's log-probabilities. A rollout that does not fit the engine's context together with
 * its lessons is left out. Rejects with a TrainingError.
 */
export async function teacherAdvantages(
  rollouts: readonly HintedRollout[],
  { model, teacher = model }: TeacherModels,
  { profile: { losses, contextLength }, clip }: TeacherLimits,
  signal: AbortSignal,
): Promise<readonly ScoredRollout[]> {
  const asked = rollouts.flatMap((each) => {
    const pairs_R = pairsOf(each);
    const fits = pairs_R?.every(({ student, teacher }) =>
      [student, teacher].every(({ tokens }) => tokens.length <= contextLength),
    );
    return pairs_R !== undefined && fits === true ? [{ ...each, pairs_R }] : [];
  });
  if (asked.length === 0) return [];
  const readings = asked.flatMap(({ pairs_R }) => pairs_R);
  const loss = losses.includes('cross_entropy') ? 'cross_entropy' : 'importance_sampling';
  const read = (by: typeof model, data: readonly TrainDatum[]) => by.forward({ data, loss }, signal);
  const [own, taught] = await Promise.all([
    read(
      model,
      readings.map(({ student }) => student),
    ),
    read(
      teacher,
      readings.map(({ teacher: datum }) => datum),
    ),
  ]);
  let next = 0;
  return asked.map(({ rollout, isTaught = false, pairs_R }): ScoredRollout => {
    const replies: (readonly number[])[] = [];
    const ofTokens = pairs_R.map(({ tokens: count }) => {
      const [without_T, with_T] = [own, taught].map(({ logprobs }) => logprobs[next]?.slice(-count));
      next++;
      replies.push(without_T ?? []);
      return Array.from({ length: count }, (_, at) =>
        bounded((with_T?.[at] ?? Number.NaN) - (without_T?.[at] ?? Number.NaN), clip),
      );
    });
    const scored = isTaught ? { ...rollout, segments: remeasured(rollout.segments, replies) } : rollout;
    return { rollout: scored, advantage: 0, ofTokens, against: 'teacher' };
  });
}

/** The segments with these log-probabilities for the replies. */
function remeasured(segments: Rollout['segments'], own: readonly (readonly number[])[]): Rollout['segments'] {
  let replies = 0;
  return segments.map((segment) =>
    segment.kind === 'reply' ? { ...segment, logprobs: own[replies++] ?? [] } : segment,
  );
}

/** NaN stays NaN: the step refuses it. */
const bounded = (value: number, most: number): number => Math.min(most, Math.max(-most, value));

interface Reading {
  readonly student: TrainDatum;
  readonly teacher: TrainDatum;
  /** Sampled tokens, which are the last targets of both. */
  readonly tokens: number;
}

/** Each reply after its own prompt and after the hinted one. Undefined when a reply has no prompt, or no hinted one. */
function pairsOf({ rollout: { segments }, hinted }: HintedRollout): readonly Reading[] | undefined {
  const readings: Reading[] = [];
  let prompt: readonly number[] | undefined;
  for (const segment of segments) {
    if (segment.kind === 'prompt') prompt = segment.ids;
    else {
      const hint = hinted[readings.length];
      if (prompt === undefined || hint === undefined || hint.length === 0 || segment.ids.length === 0)
        return undefined;
      const { ids } = segment;
      readings.push({ student: after(prompt, ids), teacher: after(hint, ids), tokens: ids.length });
      prompt = undefined;
    }
  }
  return readings.length === 0 ? undefined : readings;
}

function after(prompt: readonly number[], reply: readonly number[]): TrainDatum {
  const ids = [...prompt, ...reply];
  const zeros = ids.slice(1).map(() => 0);
  return {
    tokens: ids.slice(0, -1),
    targets: ids.slice(1),
    weights: zeros.map((_, at) => (at < prompt.length - 1 ? 0 : 1)),
    advantages: zeros,
    logprobs: zeros,
  };
}
