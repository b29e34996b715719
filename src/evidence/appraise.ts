import type { Appraisal, EpisodeEnding, RewardSource, Signal, TurnEvidence } from '../core/evidence.ts';
import { composeReward, INFRASTRUCTURE } from './compose-reward.ts';
import { digestError } from './digest/digest-error.ts';
import {
  findAdmission,
  findCutReply,
  findEmptyReply,
  findInfrastructure,
  findRefusal,
} from './signals/reply-signals.ts';
import { findRevertedEdits } from './signals/reverted-edits.ts';
import {
  findClosingState,
  findGreenChecks,
  findMalformedCall,
  findRedChecks,
  findRepeatedCall,
  findRetry,
  findToolFailure,
  findToolSuccess,
} from './signals/tool-signals.ts';
import { findAskedAgain, findStop, NO_REACTION, readUserReaction } from './signals/user-signals.ts';
import { tellingAttempts } from './tools/outages.ts';
import { readTurn, type TurnReading } from './turn-reading.ts';

/** Each heuristic maps a turn to a signal, or to nothing. A new heuristic is a line here. */
const HEURISTICS: readonly ((turn: TurnReading) => Signal | undefined)[] = [
  findInfrastructure,
  findToolFailure,
  findRedChecks,
  findGreenChecks,
  findToolSuccess,
  findClosingState,
  findRetry,
  findRepeatedCall,
  findMalformedCall,
  findRefusal,
  findCutReply,
  findEmptyReply,
  findAdmission,
  findAskedAgain,
  findStop,
  findRevertedEdits,
  readAttempts,
];
const MAX_DIGESTS = 8;
const ENDED_BADLY = new Set(['fault', 'red', 'outage']);

/** Decides how a turn went from all its evidence. Pure: the same evidence gives the same appraisal. */
export function appraise(evidence: TurnEvidence): Appraisal {
  const turn = readTurn(evidence);
  // A title or a compaction is the client's own request: the next message does not react to it.
  const isAppraised = evidence.role !== 'aux';
  const seen = isAppraised ? HEURISTICS.flatMap((find) => find(turn) ?? []) : [];
  const { signals: said, correction, remark } = isAppraised ? readUserReaction(turn) : NO_REACTION;
  // A complaint about a broken turn ("still nothing!") is no word about the agent, unless it states a rule.
  const isOutage = seen.some(({ name }) => name === INFRASTRUCTURE);
  const isBroken = isOutage && correction?.isStanding !== true;
  const reactions = isBroken ? said.map((signal): Signal => ({ ...signal, source: 'signal' })) : said;
  const signals = [...readGiven(turn), ...seen, ...reactions];
  return {
    turn: evidence.turn,
    ...composeReward(signals),
    signals,
    digests: digestsOf(turn, signals),
    ...(correction === undefined ? {} : { correction }),
    ...(remark === undefined || isOutage ? {} : { remark }),
  };
}

function digestsOf(
  { evidence, calls, answered }: TurnReading,
  signals: readonly Signal[],
): readonly string[] {
  const hasStopped = signals.some(({ name }) => name === 'stopped-failing');
  const results = [...calls, ...(hasStopped ? answered.slice(-1) : [])].flatMap(({ outcome }) =>
    outcome && ENDED_BADLY.has(outcome.kind) ? [outcome.text] : [],
  );
  const attempts = evidence.attempts.flatMap(({ ok, result }) => (ok ? [] : [result]));
  const isCorrected = signals.some(({ name }) => name === 'user-corrected');
  const pasted = isCorrected ? [evidence.next?.user ?? ''] : [];
  return [...new Set([...results, ...attempts, ...pasted].flatMap(digestError))].slice(0, MAX_DIGESTS);
}

const NAMES: Readonly<Record<RewardSource, string>> = {
  verifier: 'verified',
  person: 'feedback',
  chat: 'chat-word',
  judge: 'judged',
  signal: 'reported',
  agent: 'reported',
};

/** Less than any heuristic: an agent that judges itself may say anything. */
const AGENT_WEIGHT = 0.5;

/** Recorded rewards as signals, each with its source; scores of −1 to 1 become 0 to 1. */
function readGiven({ evidence }: TurnReading): readonly Signal[] {
  const lastWord = evidence.given.findLastIndex(({ source }) => source === 'chat');
  return evidence.given.flatMap(({ source, score }, index): readonly Signal[] => {
    if (!Number.isFinite(score)) return [];
    // Whoever says another word about the same answer has changed their mind.
    if (source === 'chat' && index !== lastWord) return [];
    const scaled = (Math.min(1, Math.max(-1, score)) + 1) / 2;
    const weight = source === 'agent' ? AGENT_WEIGHT : 1;
    return [{ name: NAMES[source], source, score: scaled, weight, reason: `${source} gave ${score}` }];
  });
}

/** Between which scores an episode lies, by how it ended. */
const EPISODE_SCORES: Readonly<Record<EpisodeEnding, readonly [from: number, to: number]>> = {
  failure: [0, 0.25],
  partial: [0.25, 0.75],
  // Who claims no outcome claims no success: the attempts decide.
  ended: [0.25, 0.75],
  aborted: [0.25, 0.75],
  success: [0.75, 1],
};

/**
 * The attempts that an agent reported. How the episode ended decides whether it is a success; the share of attempts that worked says
 * how good a one. Only the last attempt at an action counts; outages do not count.
 */
function readAttempts({ evidence: { attempts, outcome } }: TurnReading): Signal | undefined {
  const last = new Map(tellingAttempts(attempts).map(({ action, ok }) => [action.trim(), ok]));
  if (last.size === 0) return undefined;
  const worked = [...last.values()].filter((ok) => ok).length;
  const [from, to] = outcome === undefined ? [0, 1] : EPISODE_SCORES[outcome];
  const score = from + (to - from) * (worked / last.size);
  const reason = `${outcome === undefined ? '' : `${outcome}: `}${worked} of ${last.size} attempts worked`;
  return { name: 'attempted', source: 'signal', score, weight: 1.5, reason };
}
