import { asArray, asNumber, isObject, type Json } from '../../core/json.ts';
import type { Answer, Ask, ReplyRead } from '../../core/learn.ts';
import type { LessonText } from '../../core/lesson.ts';
import type { AttemptGroup } from '../../core/practice.ts';
import { fenceData } from '../../evidence/judge/fence-data.ts';
import { cosineSimilarity } from '../../lessons/similar/compare.ts';
import { topicStems } from '../../text/topic-words.ts';
import { fieldOf } from '../reply-fields.ts';
import { answersOf, findLeak } from './find-leak.ts';
import { rewardsOf, type SimilarTexts } from './practice-input.ts';
import { type LessonOperation, readOperations } from './propose-operations.ts';
import { sharedWords } from './sources/near-tasks.ts';

const SAME_MEANING = 0.85;
const SAME_WORDS = 0.6;
const MAX_TOKENS = 1500;

/** What one group of the batch wants. */
export interface GroupPlan {
  readonly group: AttemptGroup;
  /** Its experience as a lesson. */
  readonly text: LessonText;
  readonly operations: readonly LessonOperation[];
}

/** One change that the batch agreed on. Plain data. */
export interface PlannedChange {
  readonly op: 'ADD' | 'UPDATE' | 'MERGE' | 'DELETE';
  /** The lessons that it changes; none for a new one. */
  readonly ids: readonly string[];
  readonly content?: string;
  readonly reason?: string;
  /** The groups that it rests on; the text of the first one leads. */
  readonly groups: readonly string[];
}

interface Wish extends PlannedChange {
  readonly plan: GroupPlan;
}

interface ReconcileInput {
  readonly plans: readonly GroupPlan[];
  readonly similar: SimilarTexts | undefined;
  readonly ask: Ask | undefined;
  readonly signal: AbortSignal;
}

interface ReconciledBatch {
  readonly changes: readonly PlannedChange[];
  /** What was not carried out because groups disagree, for the report. */
  readonly dropped: readonly string[];
  /** The model could not be asked: the same batch may be reconciled better later. */
  readonly failed?: Answer<unknown> & { readonly ok: false };
}

/**
 * One plan out of the operations of all groups. Operations on different lessons do not disagree and stay as they are; the same
 * operation twice is one. Where groups disagree about a lesson, or add the same, a model is asked once for the whole batch; what it
 * leaves open is settled by rule. The order of groups decides ties, never the order in which they were ready.
 */
export async function reconcileBatch(input: ReconcileInput): Promise<ReconciledBatch> {
  const wishes = input.plans.flatMap(wishesOf);
  const clusters = await clusterWishes(wishes, input.similar);
  const conflicts = clusters.filter((cluster) => united(cluster) === undefined);
  const asked = await askAbout(conflicts, input);
  const changes: PlannedChange[] = [];
  const dropped: string[] = [];
  for (const cluster of clusters) {
    const agreed = united(cluster) ?? asked.decisions.get(conflicts.indexOf(cluster));
    const settled = agreed === undefined ? settle(cluster) : { ok: true as const, decision: agreed };
    if (!settled.ok) dropped.push(settled.why);
    else if (settled.decision.op !== 'NONE') changes.push(settled.decision);
  }
  return { changes, dropped, ...(asked.failed === undefined ? {} : { failed: asked.failed }) };
}

const wishesOf = (plan: GroupPlan): readonly Wish[] =>
  plan.operations.flatMap((operation): readonly Wish[] => {
    if (operation.op === 'NONE') return [];
    const { op } = operation;
    const ids = 'ids' in operation ? operation.ids : [];
    const content =
      'content' in operation && operation.content !== undefined ? { content: operation.content } : {};
    const reason =
      'reason' in operation && operation.reason !== undefined ? { reason: operation.reason } : {};
    return [{ op, ids, ...content, ...reason, groups: [plan.group.id], plan }];
  });

/** Wishes about the same lessons, and additions of the same meaning, in the order of the first of each. */
async function clusterWishes(
  wishes: readonly Wish[],
  similar: SimilarTexts | undefined,
): Promise<readonly (readonly Wish[])[]> {
  const areAlike = await compareAdditions(wishes, similar);
  const clusters: Wish[][] = [];
  for (const wish of wishes) {
    const isNear = (other: Wish): boolean =>
      wish.op === 'ADD' || other.op === 'ADD'
        ? wish.op === other.op && areAlike(wish, other)
        : wish.ids.some((id) => other.ids.includes(id));
    const joined = clusters.filter((cluster) => cluster.some(isNear));
    const [first, ...rest] = joined;
    if (first === undefined) clusters.push([wish]);
    else {
      first.push(...rest.flat(), wish);
      for (const one of rest) clusters.splice(clusters.indexOf(one), 1);
    }
  }
  return clusters;
}

async function compareAdditions(
  wishes: readonly Wish[],
  similar: SimilarTexts | undefined,
): Promise<(a: Wish, b: Wish) => boolean> {
  const additions = wishes.filter(({ op }) => op === 'ADD');
  const texts = additions.map(wordsOf);
  const vectors =
    additions.length < 2 ? undefined : await similar?.embed(texts).catch((): undefined => undefined);
  if (vectors !== undefined && vectors.length === texts.length)
    return (a, b) => {
      const [one, other] = [vectors[additions.indexOf(a)], vectors[additions.indexOf(b)]];
      return one !== undefined && other !== undefined && cosineSimilarity(one, other) >= SAME_MEANING;
    };
  const stems = texts.map(topicStems);
  const none: ReadonlySet<string> = new Set();
  return (a, b) =>
    sharedWords(stems[additions.indexOf(a)] ?? none, stems[additions.indexOf(b)] ?? none) >= SAME_WORDS;
}

const wordsOf = ({ content, plan: { text } }: Wish): string =>
  `${text.description} ${content ?? text.content}`;

/** What all wishes of a cluster have in common; undefined when they disagree. */
function united(cluster: readonly Wish[]): PlannedChange | undefined {
  const [first] = cluster;
  if (first === undefined) return undefined;
  const isSame = cluster.every(
    ({ op, ids, content }) =>
      op === first.op &&
      ids.join() === first.ids.join() &&
      (cluster.length === 1 || op === 'DELETE' || (content !== undefined && content === first.content)),
  );
  return isSame ? withGroups(first, cluster) : undefined;
}

const withGroups = ({ plan: _, ...wish }: Wish, cluster: readonly Wish[]): PlannedChange => ({
  ...wish,
  groups: [...new Set([...wish.groups, ...cluster.flatMap(({ groups }) => groups)])],
});

const spreadOf = ({ plan: { group } }: Wish): number => {
  const rewards = rewardsOf(group.attempts);
  return rewards.length === 0 ? 0 : Math.max(...rewards) - Math.min(...rewards);
};

/** By rule: the clearest contrast speaks for the others. A lesson that one group improves and another deletes stays as it is. */
function settle(
  cluster: readonly Wish[],
): { readonly ok: true; readonly decision: Decision } | { readonly ok: false; readonly why: string } {
  const ops = new Set(cluster.map(({ op }) => op));
  const ids = [...new Set(cluster.flatMap((wish) => wish.ids))];
  if (ops.has('DELETE') && ops.size > 1)
    return { ok: false, why: `groups disagree about ${ids.join(', ')}: one deletes what another changes` };
  const candidates = ops.has('MERGE') ? cluster.filter(({ op }) => op === 'MERGE') : cluster;
  const [best] = candidates.toSorted((a, b) => spreadOf(b) - spreadOf(a));
  return best === undefined
    ? { ok: false, why: 'nothing is left of it' }
    : { ok: true, decision: withGroups(best, cluster) };
}

type Decision = PlannedChange | { readonly op: 'NONE' };

/** No call without a conflict. */
async function askAbout(
  conflicts: readonly (readonly Wish[])[],
  { ask, signal }: ReconcileInput,
): Promise<Pick<ReconciledBatch, 'failed'> & { readonly decisions: ReadonlyMap<number, Decision> }> {
  if (conflicts.length === 0 || ask === undefined) return { decisions: new Map() };
  const { text, rule } = fenceData(
    conflicts.map((cluster, at) => ({ label: `conflict ${at + 1}`, text: cluster.map(tell).join('\n') })),
  );
  const answer = await ask<ReadonlyMap<number, Decision>>(
    {
      name: 'reconcile',
      system: `${ROLE}\n\n${rule}`,
      user: `${text}\n\n${WISH}`,
      maxTokens: MAX_TOKENS,
      read: (value) => readDecisions(value, conflicts),
    },
    signal,
  );
  if (answer.ok) return { decisions: answer.value };
  return { decisions: new Map(), ...(answer.cause === 'reply' ? {} : { failed: answer }) };
}

const tell = (wish: Wish): string =>
  `${wish.op}${wish.ids.length === 0 ? '' : ` ${wish.ids.join(' + ')}`} (contrast ${spreadOf(wish).toFixed(2)}): ${
    wish.op === 'DELETE' ? (wish.reason ?? 'no reason given') : wordsOf(wish)
  }`;

const ROLE = `You keep the notes of an assistant. Several comparisons of its attempts led to changes of the notes that do not fit together: they add the same twice, or change one note in different ways. Decide each conflict once.`;

const WISH = `Answer with a JSON list and nothing else, one member for each conflict: {"conflict": its number, "operation": "ADD", "UPDATE", "MERGE", "DELETE" or "NONE", "content": "the one text that holds, one to three sentences, at most 400 characters; not for DELETE and NONE"}. Use ADD only where the conflict is about additions.`;

/** Decisions that fit their conflict. Those that are missing or do not fit are settled by rule. */
function readDecisions(
  value: Json,
  conflicts: readonly (readonly Wish[])[],
): ReplyRead<ReadonlyMap<number, Decision>> {
  const inner = isObject(value)
    ? (fieldOf(value, ['decisions', 'conflicts', 'operations', 'plan']) ?? [value])
    : value;
  const decisions = new Map<number, Decision>();
  for (const [place, one] of asArray(inner)
    .slice(0, conflicts.length * 2)
    .entries()) {
    if (!isObject(one)) continue;
    const named = fieldOf(one, ['conflict', 'number', 'index']);
    const at = (asNumber(named) ?? Number(/\d{1,4}/.exec(String(named ?? place + 1))?.[0] ?? 0)) - 1;
    const cluster = conflicts[at];
    const decision = cluster && !decisions.has(at) ? decide(one, cluster) : undefined;
    if (decision !== undefined) decisions.set(at, decision);
  }
  return decisions.size === 0
    ? { ok: false, why: 'it must be a list with one decision for each conflict' }
    : { ok: true, value: decisions };
}

function decide(one: Json, cluster: readonly Wish[]): Decision | undefined {
  const ids = [...new Set(cluster.flatMap((wish) => wish.ids))];
  const bare = isObject(one) ? { ...one, id: undefined, ids: ids.length === 0 ? ['new'] : ids } : one;
  const read = readOperations(bare, {
    ids: new Map([...ids, 'new'].map((id) => [id, id])),
    fixed: new Set(),
  });
  const operation = read.ok ? read.value.operations[0] : undefined;
  if (operation === undefined) return undefined;
  if (operation.op === 'NONE') return { op: 'NONE' };
  const same = cluster.filter(({ op }) => op === operation.op);
  const [lead] = (same.length === 0 ? cluster : same).toSorted((a, b) => spreadOf(b) - spreadOf(a));
  const isAddition = ids.length === 0;
  // What nobody asked for is no decision: a conflict about additions deletes nothing.
  if (lead === undefined || (operation.op === 'ADD') !== isAddition) return undefined;
  if (operation.op === 'DELETE' && same.length === 0) return undefined;
  const content = 'content' in operation ? operation.content : undefined;
  const answers = cluster.flatMap(({ plan }) => answersOf(plan.group.task));
  const isUsable = content !== undefined && findLeak(content, answers) === undefined;
  const targets =
    operation.op === 'MERGE'
      ? ids
      : operation.op === 'ADD'
        ? []
        : lead.ids.length === 1
          ? lead.ids
          : ids.slice(0, 1);
  const { content: own, plan: _, ...rest } = lead;
  const words = isUsable ? content : own;
  const change = {
    ...rest,
    op: operation.op,
    ids: targets,
    ...(words === undefined ? {} : { content: words }),
  };
  return { ...change, groups: [...new Set([...lead.groups, ...cluster.flatMap(({ groups }) => groups)])] };
}
