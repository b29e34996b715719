import { type Refusal, refuse } from './refusal.ts';
import type { Group } from './rollout.ts';
import { groupFault, type Rollout, rolloutFault } from './rollout.ts';
import type { LiveTurn } from './running-baseline.ts';

export interface GateLimits {
  /** Fewest attempts of a batch. */
  readonly size: number;
  /** How many updates old the sampling weights may be. */
  readonly mostStale: number;
}

export interface GateInput {
  readonly groups: readonly Group[];
  readonly live: readonly LiveTurn[];
  /** The generation in force. */
  readonly generation: number;
  /** Versions from the first to the one in training, without rolled-back ones. */
  readonly lineage: readonly number[];
  readonly isTrained: (rollout: string) => boolean;
}

/** Why a batch must not be trained on; undefined when it may be. The batch is refused as a whole. */
export function gateBatch(input: GateInput, { size, mostStale }: GateLimits): Refusal | undefined {
  const { groups, live, generation, lineage, isTrained } = input;
  for (const group of groups) {
    const fault = groupFault(group);
    if (fault !== undefined) return fault;
  }
  const rollouts = [...groups.flatMap((group) => group.rollouts), ...live.map(({ rollout }) => rollout)];
  const seen = new Set<string>();
  for (const rollout of rollouts) {
    const { id } = rollout;
    if (isTrained(id) || seen.has(id)) return refuse('trained-before', `${id} was trained on before`);
    seen.add(id);
    const fault = originFault(rollout, generation, lineage, mostStale);
    if (fault !== undefined) return fault;
  }
  if (rollouts.length < size)
    return refuse('too-few', `${rollouts.length} attempts are fewer than the ${size} of a batch`);
  return undefined;
}

function originFault(
  rollout: Rollout,
  generation: number,
  lineage: readonly number[],
  mostStale: number,
): Refusal | undefined {
  const policy = rollout.segments[0]?.policy ?? -1;
  const made = rollout.segments[0]?.generation;
  if (made !== generation)
    return refuse(
      'other-generation',
      `${rollout.id} is of generation ${made}, and generation ${generation} is in force`,
    );
  const place = lineage.indexOf(policy);
  if (place === -1)
    return refuse(
      'stale-policy',
      `${rollout.id} was sampled by version ${policy}, which is no ancestor of these weights`,
    );
  const stale = lineage.length - 1 - place;
  if (stale > mostStale)
    return refuse('stale-policy', `${rollout.id} was sampled by version ${policy}, ${stale} updates ago`);
  return rolloutFault(rollout, { policy, generation });
}
