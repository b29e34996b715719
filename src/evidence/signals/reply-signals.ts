import type { Signal, TurnStatus } from '../../core/evidence.ts';
import { blamesOutage, reportsOutage } from '../../reader/cues/outage-words.ts';
import { INFRASTRUCTURE } from '../compose-reward.ts';
import { INTERRUPTED } from '../tools/interruption.ts';
import { findOutage } from '../tools/outages.ts';
import type { ToolCallReading, TurnReading } from '../turn-reading.ts';
import { lastTelling } from './tool-signals.ts';
import { findStop } from './user-signals.ts';

/** The agent refused a harmless request. */
export function findRefusal({ evidence, said, calls }: TurnReading): Signal | undefined {
  const isFiltered = evidence.stop === 'filter';
  const isRefused = calls.length === 0 && isRefusalText(said);
  if ((!isFiltered && !isRefused) || isHarmful(evidence.task)) return undefined;
  const reason = isFiltered ? "stopped by the provider's filter" : 'the agent refused';
  return { name: 'refused', source: 'signal', score: 0, weight: 1.5, reason };
}

/** The reply ended at its token limit, so an answer or a call is incomplete. */
export function findCutReply({ evidence }: TurnReading): Signal | undefined {
  if (evidence.stop !== 'length') return undefined;
  return {
    name: 'cut-short',
    source: 'signal',
    score: 0.2,
    weight: 1,
    reason: 'the reply hit its length limit',
  };
}

/** The agent says that it did not succeed, and no tool shows the contrary. */
export function findAdmission({ said, calls, answered, evidence }: TurnReading): Signal | undefined {
  const last = answered.at(-1)?.outcome?.kind;
  if (calls.length > 0 || evidence.stop === 'length' || last === 'green' || last === 'ok') return undefined;
  const text = said.slice(-HEAD * 2).replaceAll('’', "'");
  if (!ADMITTED.test(text) || text.trimEnd().endsWith('?')) return undefined;
  return {
    name: 'gave-up',
    source: 'signal',
    score: 0.2,
    weight: 0.8,
    reason: 'the agent says that it failed',
  };
}

const ADMITTED =
  /\b(?:I(?:'m| am| was| have been|'ve been)? (?:still )?(?:unable|not able) to (?:fix|resolve|complete|finish|solve|get|make|reproduce)|I (?:could not|couldn't|can't|cannot|failed to|did not manage to|didn't manage to) (?:fix|resolve|complete|finish|solve|make (?:it|the|this)|get (?:it|the|this))|(?:tests?|build|it|they) (?:still|are still|is still) fail|still failing|I(?:'ve| have)? (?:give|given) up|(?:run|ran) out of ideas)\b/i;

/** The reply has neither text nor calls. An episode reports attempts, and an answer only where it likes to. */
export function findEmptyReply({ evidence, said, calls }: TurnReading): Signal | undefined {
  if (evidence.outcome !== undefined) return undefined;
  const isOver = evidence.status === 'complete' && (evidence.stop === undefined || evidence.stop === 'end');
  if (!isOver || said !== '' || calls.length > 0) return undefined;
  return { name: 'empty-reply', source: 'signal', score: 0, weight: 1.5, reason: 'the reply is empty' };
}

/** Only the start of a reply can refuse. */
const HEAD = 400;
const CANNOT = "(?:can't|cannot|can not|won't|will not|unable to|not able to|not going to)";
const WHAT =
  '(?:help|assist|comply|do (?:that|this|so)|fulfil+|engage in|participate in|provide (?:that|this|assistance|help|opinions?|any (?:help|assistance))|answer (?:that|this)|discuss|support (?:that|this)|(?:complete|continue|process|proceed)(?: with)? (?:that|this|your) request|write (?:that|this)|create (?:that|this))';

const REFUSALS: readonly RegExp[] = [
  new RegExp(`\\b${CANNOT} (?:\\w{1,20} ){0,2}${WHAT}\\b`),
  /\bi(?:'m| am)? ?(?:must|have to|need to|going to) (?:respectfully )?(?:decline|refuse)\b/,
  /\bi (?:respectfully )?(?:decline|refuse) to\b/,
  /\bi(?:'m| am) not comfortable (?:with|helping|doing|writing)\b/,
  /\b(?:against|violates?) (?:my|our|the) (?:guidelines|polic(?:y|ies)|programming|usage)\b/,
  /\b(?:outside|beyond) (?:of )?(?:what i (?:do|can)|my (?:scope|capabilities|abilities))\b/,
  /\bas an ai(?: language model| assistant)?, i (?:can't|cannot|am unable to|am not able to) (?:provide|help|assist|offer|give|express|fulfil|engage)\b/,
  /(?:dabei|damit|hierbei) (?:kann|darf) ich (?:\S{1,20} ){0,2}nicht (?:helfen|weiterhelfen|behilflich)/,
  /ich kann (?:\S{1,20} ){0,3}nicht (?:helfen|weiterhelfen|behilflich)/,
  /no puedo (?:ayudar|asistir|cumplir)/,
  /je ne (?:peux|suis) pas (?:\S{1,20} ){0,3}(?:aider|assister|vous aider)/,
  /(?:我(?:无法|不能)|抱歉，?(?:我)?(?:无法|不能))(?:帮助|协助|提供(?:帮助|协助)|满足|完成(?:这个|该|您的)请求)/,
];
/** A condition is not a refusal: the agent will help once it is met. */
const CONDITION =
  /\b(?:until|unless|without|because|yet|before you|missing|don't have access|do not have access)\b/;

function isRefusalText(text: string): boolean {
  const head = text.slice(0, HEAD).toLowerCase().replaceAll('’', "'");
  return sentences(head).some(
    (sentence) => REFUSALS.some((pattern) => pattern.test(sentence)) && !CONDITION.test(sentence),
  );
}

const sentences = (text: string): readonly string[] => text.split(/[.!?\n]/);

/** Requests that a model should refuse: refusing them is not a failure. */
const HARMFUL: readonly RegExp[] = [
  /\b(?:ransomware|malware|keylogger|botnet|spyware|rootkit|computer virus|trojan|credential stuffing)\b/,
  /\bphish(?:ing)?\b|\bddos\b|\bdenial of service attack\b/,
  /\b(?:steal|stealing|steals|harvest|exfiltrate)\b.{0,60}\b(?:password|credential|login|credit card|bank|identit|cookie|token)/,
  /\b(?:hack|break) into\b|\bcrack (?:\w{1,20} ){0,3}(?:password|account|wifi)\b|\bwithout (?:their|her|his) (?:knowledge|consent|permission)\b/,
  /\b(?:pipe )?bombs?\b|\bexplosives?\b|\bnerve agent\b|\bbioweapon|\bmake (?:\w{1,20} ){0,2}(?:weapon|poison|meth)\b|\bsynthesi[sz]e (?:\w{1,20} ){0,2}(?:meth|fentanyl|sarin|ricin)\b/,
  /\b(?:kill|murder|poison|hurt|stalk|blackmail|dox+) (?:my|him|her|them|someone|a person|people)\b/,
  /\bself[- ]harm\b|\bsuicide\b|\bchild (?:porn|sexual)|\bfake (?:id|passport|prescription)s?\b|\bcounterfeit\b|\blaunder(?:ing)? money\b|\bevade taxes\b/,
  /erpressungs|schadsoftware|bombe bauen|炸弹|勒索软件|木马/,
];

function isHarmful(task: string): boolean {
  const text = task.slice(0, 4000).toLowerCase();
  return HARMFUL.some((pattern) => pattern.test(text));
}

/** Statuses that say nothing about the agent. `truncated`: the provider closed the connection; not a length limit. */
const OUTSIDE: ReadonlySet<TurnStatus> = new Set([
  'client-abort',
  'upstream-error',
  'truncated',
  'refused',
  'crashed',
]);
const KINDS = /^(?:rate-limited|overloaded|upstream-error|unreachable|timeout|truncated|aborted|internal)\b/;

/** Limits, time-outs, resets, missing credentials and aborts: of the turn, of its tools, or as somebody reports them. */
export function findInfrastructure(turn: TurnReading): Signal | undefined {
  const reason = reasonOf(turn);
  if (reason === undefined) return undefined;
  return { name: INFRASTRUCTURE, source: 'signal', score: 0.5, weight: 1, reason };
}

function reasonOf(turn: TurnReading): string | undefined {
  const { evidence, calls, answered, said } = turn;
  const kind = KINDS.exec(evidence.failure ?? '')?.[0];
  // Whoever stops the agent and says what they want instead has judged it.
  const isJudged = findStop(turn) !== undefined;
  if (OUTSIDE.has(evidence.status) && !(isJudged && evidence.status === 'client-abort'))
    return kind ?? evidence.status;
  if (kind !== undefined && !isJudged) return kind;
  const user = evidence.next?.user ?? '';
  if (evidence.next?.isStopped && !isJudged) return 'interrupted';
  const outage = calls.find(isOutage) ?? (calls.length === 0 ? lastTelling(answered) : undefined);
  const isStop = isJudged && outage?.outcome?.reason === INTERRUPTED;
  if (outage !== undefined && isOutage(outage) && !isStop)
    return `${outage.part.name}: ${outage.outcome?.reason ?? ''}`;
  if (reportsOutage(user)) return 'the user reports an outage';
  if (calls.length === 0 && answered.length === 0 && isErrorText(said)) return 'the reply is an error';
  const hasFailed = answered.length === 0 || answered.at(-1)?.outcome?.kind !== 'green';
  if (calls.length === 0 && evidence.next === undefined && hasFailed && blamesOutage(said))
    return 'the agent reports an outage';
  // Whoever reached the end in spite of an outage did so.
  if (evidence.outcome === 'success') return undefined;
  const attempt = evidence.attempts.find(({ ok, result }) => !ok && findOutage(result) !== undefined);
  const isRetried = evidence.attempts.some(({ ok, action }) => ok && action === attempt?.action);
  return attempt === undefined || isRetried ? undefined : `attempt: ${findOutage(attempt.result)}`;
}

const LONGEST_ERROR = 600;
/** An error names itself in its first words. */
const ERROR_FIRST = /^\W{0,4}(?:[\w.-]{1,30}\W{1,2}){0,4}(?:\w{0,30}error|failed|failure)\b/i;

/** A client put its provider's error in the place of an answer: what is said about it is no word about the agent. */
const isErrorText = (said: string): boolean =>
  said.length <= LONGEST_ERROR && ERROR_FIRST.test(said) && findOutage(said) !== undefined;

const isOutage = ({ outcome }: ToolCallReading): boolean => outcome?.kind === 'outage';
