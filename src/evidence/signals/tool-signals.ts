import { memoByText } from '../../base/text-memo.ts';
import type { Signal, TurnEvidence } from '../../core/evidence.ts';
import { asArray, asObject, isObject, type Json, type JsonObject, parseJson } from '../../core/json.ts';
import { bothEnds } from '../../text/lines.ts';
import type { Program } from '../../text/shell-programs.ts';
import { isChange, isReading } from '../tools/shell-command.ts';
import { type CallView, readCall } from '../tools/tool-call.ts';
import type { OutcomeKind } from '../tools/tool-outcome.ts';
import { isFailedCall, type ToolCallReading, type TurnReading } from '../turn-reading.ts';

/** A call was wrong. An edit that did not match and was made right afterwards does not count. */
export function findToolFailure({ calls, evidence }: TurnReading): Signal | undefined {
  const faults = calls.filter((call) => isWrongCall(call) && !isAnswer(call, evidence.task));
  const [first, ...more] = faults;
  if (first === undefined) return undefined;
  if (faults.every(({ view }) => view.kind === 'edit')) {
    if (evidence.next?.isCorrected) return undefined;
    return { name: EDIT_FAILED, source: 'signal', score: 0, weight: 1, reason: describe(first, more.length) };
  }
  return { name: 'tool-failed', source: 'signal', score: 0, weight: 1, reason: describe(first, more.length) };
}

/** An edit that left errors behind is one that has to be made right, as one that did not match is. */
const isWrongCall = ({ outcome, view }: ToolCallReading): boolean =>
  outcome?.kind === 'fault' || (outcome?.kind === 'red' && view.kind === 'edit');

/** The signal of a turn whose edit did not match, or left errors: later turns may correct it. */
export const EDIT_FAILED = 'edit-failed';

/** A look that finds nothing answers the question whether something is there. */
const isAnswer = ({ view }: ToolCallReading, task: string): boolean =>
  isAskedFor(task) && (view.kind === 'read' || (view.programs.length > 0 && view.programs.every(isReading)));

/** A question whether something is there is answered by its absence. */
const WHETHER =
  /^\W{0,4}(?:do we|does|is there|are there|is|are|have we|has|did|which|who|what|where|how many|check (?:if|whether)|see if|gibt es|haben wir|ist)\b/i;

const isAskedFor = (task: string): boolean => WHETHER.test(task.trimStart().slice(0, 200));

/** Tests, a build or a program failed, and the failure was not expected. */
export function findRedChecks(turn: TurnReading): Signal | undefined {
  const [first, ...more] = ofKind(turn.calls, 'red').filter(({ view }) => view.kind !== 'edit');
  if (first === undefined || isExpectedRed(turn)) return undefined;
  return {
    name: 'checks-failed',
    source: 'signal',
    score: 0.1,
    weight: 1,
    reason: describe(first, more.length),
  };
}

export function findGreenChecks({ calls }: TurnReading): Signal | undefined {
  const [first, ...more] = ofKind(calls, 'green');
  if (first === undefined) return undefined;
  return {
    name: 'checks-passed',
    source: 'signal',
    score: 0.9,
    weight: 1,
    reason: describe(first, more.length),
  };
}

/** The tool reports success. It does not show that the call was the right one, so the weight is small. */
export function findToolSuccess({ calls }: TurnReading): Signal | undefined {
  const [first, ...more] = ofKind(calls, 'ok');
  if (first === undefined) return undefined;
  return { name: 'tool-ok', source: 'signal', score: 0.7, weight: 0.4, reason: describe(first, more.length) };
}

const ofKind = (calls: readonly ToolCallReading[], kind: OutcomeKind): readonly ToolCallReading[] =>
  calls.filter(({ outcome }) => outcome?.kind === kind);

const describe = ({ part, outcome }: ToolCallReading, more: number): string =>
  `${part.name}: ${outcome?.reason ?? ''}${more > 0 ? ` (and ${more} more)` : ''}`;

/** Of longer texts only the start and the end are read. */
const WORDS_CAP = 3000;

/** The task is to examine something broken, … */
const ABOUT_A_FAULT =
  /\b(?:fail(?:s|ed|ing|ures?)?|broken|red|crash(?:es|ed|ing)?|errors?(?! (?:handling|messages?|pages?|boundar|codes?|class|types?|states?))|exceptions?(?! (?:handling|class))|bugs?|flaky|reproduce|investigate|debug|diagnos\w{1,6}|why|which tests?|find out|doesn't work|does not work|hangs?)\b|fehler|kaputt|schlägt fehl|falla|échoue|失败|报错|错误/i;
/** … or the agent announces that it only examines. */
const ONLY_LOOKING =
  /\b(?:baseline|reproduce|see (?:the failures?|what fails|which|how it fails|it fail|them fail|red)|before (?:changing|any change|i change|making))\b/i;
/** A failing check is the expected result. */
const RED_WANTED =
  /\b(?:tdd|test[- ]first|test[- ]driven|red[- ]green|failing test|test that fails|(?:should|must|will|has to|have to|expected to|expect it to|expect them to|expect this to) (?:fail|be rejected|exit with [1-9]|throw)|expect(?:ed)? (?:a )?(?:failure|red)|see (?:it|them) fail|fails?,? as (?:expected|wanted|it should)|see red)\b/i;
const TEST_PATH = /(?:^|[/_.-])(?:tests?|specs?|__tests__)(?:[/_.-]|$)/i;

/**
 * Whether a failed check says nothing about this turn: the agent announced the failure, or nothing has been changed yet
 * and the task is about something broken, or only tests were written because the task asked for tests first. A check
 * that fails before any change shows the initial state, not the result of the turn.
 */
function isExpectedRed({ evidence, said, calls }: TurnReading): boolean {
  const changed = changedPaths(evidence.earlier, calls);
  const task = bothEnds(evidence.task, WORDS_CAP);
  const words = bothEnds(said, WORDS_CAP);
  if (RED_WANTED.test(words)) return true;
  if (changed.length === 0)
    return RED_WANTED.test(task) || ABOUT_A_FAULT.test(task) || ONLY_LOOKING.test(words);
  return RED_WANTED.test(task) && changed.every((path) => TEST_PATH.test(path));
}

/** The files changed so far; an empty name stands for a change to an unknown file. */
function changedPaths(
  earlier: TurnReading['evidence']['earlier'],
  calls: TurnReading['calls'],
): readonly string[] {
  const views = [...earlier.filter(({ failed }) => !failed).map(readCall), ...calls.map(({ view }) => view)];
  return views.flatMap((view) => {
    if (view.kind === 'edit') return view.paths.length > 0 ? view.paths : [''];
    return view.programs.some(isChange) ? [''] : [];
  });
}

/** Failed attempts after which one more, still without a result, counts as a loop. */
const PATIENCE = 2;
/** Arguments that a model words anew for the same call. */
const COMMENTARY = new Set([
  'description',
  'explanation',
  'justification',
  'reason',
  'thought',
  'id',
  'call_id',
  'request_id',
]);

/** The same failed call again, with no change in between. A retry that succeeds does not count. */
export function findRetry({ evidence, calls }: TurnReading): Signal | undefined {
  for (const call of calls) {
    const failures = failuresBefore(call, evidence.earlier);
    const isLoop = call.outcome === undefined ? failures >= PATIENCE : failures > 0 && isFailedCall(call);
    if (isLoop) {
      const reason = `${call.part.name}: tried ${failures + 1} times without a change`;
      return { name: 'retried', source: 'signal', score: 0.1, weight: 1, reason };
    }
  }
  return undefined;
}

/** How often this call failed since the last change. */
function failuresBefore({ part }: ToolCallReading, earlier: TurnReading['evidence']['earlier']): number {
  const wanted = essence(part.name, part.arguments);
  let failures = 0;
  for (const before of earlier.toReversed()) {
    if (essence(before.name, before.arguments) === wanted) failures += before.failed ? 1 : 0;
    else if (!before.failed && changes(before)) break;
  }
  return failures;
}

function changes(call: { readonly name: string; readonly arguments: string }): boolean {
  const view = readCall(call);
  return view.kind === 'edit' || view.programs.some(isChange);
}

/** A call without white space, commentary and ids, which differ between retries. */
export function essence(name: string, text: string): string {
  const given = parseJson(text);
  const words =
    given === undefined
      ? text
      : JSON.stringify(given, (key, value) => (COMMENTARY.has(key) ? undefined : value));
  return `${name} ${words.replace(/\\[nrt]|\s/g, '')}`;
}

/** A call that does not fit its tool's schema. Ignored when the client accepted it anyway. */
export function findMalformedCall({ evidence, calls }: TurnReading): Signal | undefined {
  for (const call of calls) {
    if (call.outcome !== undefined && !isFailedCall(call)) continue;
    const problem = problemOf(call, evidence.tools);
    if (problem === undefined) continue;
    const reason = `${call.part.name}: ${problem}`;
    return { name: 'malformed-call', source: 'signal', score: 0, weight: 1.5, reason };
  }
  return undefined;
}

function problemOf({ part }: ToolCallReading, tools: TurnReading['evidence']['tools']): string | undefined {
  if (tools.length === 0) return undefined;
  const tool = tools.find(({ name }) => name === part.name);
  return tool === undefined ? 'no such tool was offered' : checkArguments(tool.parameters, part.arguments);
}

const DEPTH = 4;

/**
 * Why these arguments do not fit the tool's schema; undefined when they do. Only what no client could accept counts: a
 * missing value, a wrong type, or a value outside an enum. References, alternatives and patterns are not checked.
 */
function checkArguments(schema: unknown, text: string): string | undefined {
  const value = text.trim() === '' ? {} : parseJson(text);
  if (value === undefined) return 'arguments are not JSON';
  const root = asObject(schema);
  const isKnown = root.type === 'object' || isObject(root.properties);
  if (!isKnown) return undefined;
  return isObject(value) ? checkObject(root, value, 0) : 'arguments are not an object';
}

function checkObject(schema: JsonObject, value: JsonObject, depth: number): string | undefined {
  const required = asArray(schema.required).filter((name) => typeof name === 'string');
  if (required.some((name) => value[name] === undefined)) return 'a required argument is missing';
  for (const [name, member] of Object.entries(value)) {
    const property = asObject(schema.properties)[name];
    // Models write null for arguments they omit, and clients accept it.
    const isLeftOut = member === undefined || (member === null && !required.includes(name));
    if (!isObject(property) || isLeftOut) continue;
    const problem = checkValue(property, member, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkValue(schema: JsonObject, value: Json, depth: number): string | undefined {
  const isOpen = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not'].some((key) => schema[key] !== undefined);
  if (isOpen || depth > DEPTH) return undefined;
  const types = typeof schema.type === 'string' ? [schema.type] : asArray(schema.type);
  if (types.length > 0 && !types.some((type) => isOfType(type, value)))
    return 'an argument has the wrong type';
  const list = asArray(schema.enum);
  const isPlain = typeof value === 'string' || typeof value === 'number';
  if (isPlain && list.length > 0 && !list.includes(value)) return 'an argument is outside its enum';
  if (isObject(value)) return checkObject(schema, value, depth);
  const items = schema.items;
  if (!Array.isArray(value) || !isObject(items)) return undefined;
  return (value as readonly Json[])
    .map((item) => checkValue(items, item, depth + 1))
    .find((problem) => problem !== undefined);
}

function isOfType(type: Json, value: Json): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'null') return value === null;
  if (type === 'string' || type === 'number' || type === 'boolean') return typeof value === type;
  return true;
}

/** The last call whose result tells something: later ones only read. */
export const lastTelling = (calls: readonly ToolCallReading[]): ToolCallReading | undefined =>
  calls.findLast(({ outcome }) => outcome !== undefined && outcome.kind !== 'unclear');

/**
 * The state in which the agent stopped: the last result before a reply that makes no further call. A check that still fails, or
 * an edit that was never made, is a failure whatever the reply claims; passing checks are a success.
 */
export function findClosingState(turn: TurnReading): Signal | undefined {
  const { answered, calls, evidence } = turn;
  if (calls.length > 0) return undefined;
  const last = lastTelling(answered);
  const kind = last?.outcome?.kind;
  const reason = `${last?.part.name}: ${last?.outcome?.reason}`;
  const isLast = last === answered.at(-1);
  if (kind === 'red' && !isExpectedRed({ ...turn, calls: answered }))
    return { name: 'stopped-failing', source: 'signal', score: 0.1, weight: 1, reason };
  // What was tried in vain and then done in another way is no failure.
  if (kind === 'fault' && isLast && !isAskedFor(evidence.task))
    return { name: 'stopped-failing', source: 'signal', score: 0.2, weight: 0.8, reason };
  if (kind === 'green') return { name: 'stopped-passing', source: 'signal', score: 0.9, weight: 1, reason };
  // An edit or an act that was done need not be the one that was wanted; what the user says next may be about it.
  const isAct = last?.view.kind === 'edit' || last?.view.kind === 'other';
  const isUnproved = isAct && evidence.next?.user !== undefined;
  if (kind === 'ok' && !isUnproved)
    return { name: 'stopped-ok', source: 'signal', score: 0.7, weight: 0.4, reason };
  return undefined;
}

/** The same call for the third time with the same result is a loop; files and listings are looked at more often. */
const REPEATS = 3;
const REPEATED_LOOKS = 4;
/** Calls that are meant to be repeated: they wait for something, or show what goes on. */
const WAITING_TOOL =
  /output|status|wait|poll|sleep|logs?$|progress|monitor|heartbeat|stdin|screenshot|snapshot|todo|think|plan|clock|time$/i;
const WAITING_PROGRAM: ReadonlySet<string> = new Set(
  'sleep watch tail ps top uptime date jobs kubectl oc docker podman helm gh glab systemctl journalctl squeue qstat curl wget nc ping pgrep lsof ss netstat nvidia-smi tmux until while aws gcloud az'.split(
    ' ',
  ),
);
/** Programs that only look around. */
const LOOKING: ReadonlySet<string> = new Set(
  'ls pwd cat head git find grep rg which env wc stat tree file'.split(' '),
);
const MARK_CAP = 2000;
/** Times, durations and addresses differ between two runs with the same result. */
const VARYING =
  /\d{1,4}[-/]\d\d?[-/]\d{1,4}[T ]?|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,9})?Z?|\d{1,9}(?:\.\d{1,9})? ?(?:ms|µs|s|sec|seconds)\b|0x[0-9a-f]{4,16}|\bpid[ =:]{1,3}\d{1,9}/gi;

/** A fingerprint of a result: two calls with the same one brought nothing new. */
export const resultMark = memoByText(markOf);

function markOf(text: string): string {
  const plain = bothEnds(text, MARK_CAP).replace(VARYING, '').replace(/\s+/g, ' ').trim();
  let hash = 0x811c9dc5;
  for (let at = 0; at < plain.length; at++) hash = Math.imul(hash ^ plain.charCodeAt(at), 0x01000193);
  return `${text.length < MARK_CAP ? plain.length : text.length}-${(hash >>> 0).toString(36)}`;
}

/**
 * The same call again and again, with the same arguments and the same result, and nothing changed in between. Failed calls
 * count as retries elsewhere; waiting for something is not a loop.
 */
export function findRepeatedCall({ evidence, calls }: TurnReading): Signal | undefined {
  const texts = new Map(evidence.next?.tools.map(({ callId, text }) => [callId, text]));
  for (const call of calls) {
    if (isFailedCall(call) || isWaiting(call.view)) continue;
    const text = texts.get(call.part.id);
    const times = timesBefore(call, evidence.earlier, text === undefined ? undefined : resultMark(text)) + 1;
    if (times < (isLook(call.view) ? REPEATED_LOOKS : REPEATS)) continue;
    const reason = `${call.part.name}: the same call ${times} times, with the same result`;
    return { name: 'repeated', source: 'signal', score: 0.2, weight: 0.8, reason };
  }
  return undefined;
}

/** How often the call was made since the last change, each time with this result. Without a result of its own: with one result. */
function timesBefore(
  { part }: ToolCallReading,
  earlier: TurnEvidence['earlier'],
  mark: string | undefined,
): number {
  const wanted = essence(part.name, part.arguments);
  let same = mark;
  let times = 0;
  for (const before of earlier.toReversed()) {
    if (before.name === part.name && essence(before.name, before.arguments) === wanted) {
      same ??= before.result;
      if (before.failed || before.result === undefined || before.result !== same) break;
      times++;
    } else if (!before.failed && isChanging(readCall(before))) break;
  }
  // A call that has no result yet may bring a new one.
  return mark === undefined && times < REPEATED_LOOKS ? 0 : times;
}

const isChanging = ({ kind, programs }: CallView): boolean => kind === 'edit' || programs.some(isChange);

const isWaiting = ({ name, programs }: CallView): boolean =>
  WAITING_TOOL.test(name) || programs.some((program) => WAITING_PROGRAM.has(program.name));

const isLook = ({ kind, programs }: CallView): boolean =>
  kind === 'read' || kind === 'search' || (programs.length > 0 && programs.every(isLooking));

const isLooking = ({ name }: Program): boolean => LOOKING.has(name);
