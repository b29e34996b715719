import { asArray, asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { duration, localTime, plural, relativeTime } from '../text/phrases.ts';
import { sayRules } from '../text/say-rules.ts';
import { quoteWord, shortId } from '../text/short-id.ts';
import { truncateEnd } from '../text/truncate.ts';
import { dim, type Part, type Printer } from './print.ts';

interface SessionPrintOptions {
  readonly now: number;
  /** Whole texts in place of previews. */
  readonly isFull: boolean;
  /** Names of caller keys and of lessons, by id. */
  readonly keys: ReadonlyMap<string, string>;
  readonly lessons: ReadonlyMap<string, string>;
}

type Field = readonly [label: string, text: Part];

/** Prints a session for people: a header, then a block of lines per turn. */
export function printSession(printer: Printer, session: JsonObject, options: SessionPrintOptions): void {
  const turns = asArray(session.turns).map(asObject);
  printHeader(printer, session, turns, options);
  let shown = '';
  for (const turn of turns) {
    const lessons = describeLessons(turn, options.lessons);
    printer.line('');
    printer.line(...headOf(turn, session));
    const fields: readonly Field[] = [
      ...(options.isFull ? [] : textFields(turn)),
      ...(lessons === shown ? [] : [['lessons', lessons === '' ? dim('none any more') : lessons] as const]),
      ...ratingFields(turn),
      ...problemFields(turn),
    ];
    shown = lessons;
    printer.fields(fields.map(([label, text]) => [`    ${label.padEnd(LABEL)}`, text]));
    if (options.isFull) printTexts(printer, turn);
  }
  printMore(printer, session, turns);
}

/** The width of the longest label, so that all turns are aligned. */
const LABEL = 'answered'.length;

function printHeader(
  printer: Printer,
  session: JsonObject,
  turns: readonly JsonObject[],
  { now, keys }: SessionPrintOptions,
): void {
  const id = asString(session.id) ?? '';
  const label = asString(asObject(session.project).label);
  const count = plural(asNumber(session.turnCount) ?? 0, 'turn');
  printer.line(
    { text: `Session ${shortId(id)}`, style: 'bold' },
    `  ${asString(session.agent) ?? ''}${label === undefined || label === '' ? '' : ` in ${label}`}, ${count}`,
  );
  const callers = [...new Set(turns.map(({ caller }) => describeCaller(asString(caller), keys)))];
  const client = asString(session.client);
  const rewards = asArray(session.rewards).map(asObject).map(describeReward);
  printer.fields([
    ['  when', whenOf(session, now)],
    ...(client === undefined || client === session.agent ? [] : [['  client', client] as const]),
    ...(callers.length === 0 ? [] : [['  caller', callers.join(', ')] as const]),
    ...(shortId(id) === id ? [] : [['  id', id] as const]),
    ...rewards.map((text) => ['  rated', text] as const),
    ...(session.erased === true ? [['  erased', 'its content was erased for good'] as const] : []),
  ]);
}

/** `2026-11-16 14:02, 12 min long, 3 h ago`. */
function whenOf({ startedAt, lastAt }: JsonObject, now: number): string {
  const [start, last] = [timeOf(startedAt), timeOf(lastAt)];
  const length = last - start >= 1000 ? `, ${duration(last - start)} long` : '';
  return `${localTime(start)}${length}, ${relativeTime(last, now)}`;
}

const timeOf = (value: unknown): number => Date.parse(asString(value as string) ?? '');

/** Who made a turn. `k_…` and `owner_…` are keys, `c_…` is a client's own credential at its provider. */
function describeCaller(id: string | undefined, keys: ReadonlyMap<string, string>): string {
  if (id === undefined) return 'not recorded (by an earlier version)';
  if (id === 'anonymous') return 'nobody known: no key was sent, so nothing is learned from it';
  if (id === 'unverified')
    return 'nobody known: its credential was not accepted, so nothing is learned from it';
  if (id.startsWith('owner')) return 'you (the owner key)';
  const name = keys.get(id);
  if (name !== undefined) return `key "${name}"`;
  return id.startsWith('c_')
    ? `a client with its own provider credential (${id})`
    : `a key that is gone (${id})`;
}

const MEMBER_ROLES: Readonly<Record<string, string>> = { side: 'sub-agent', aux: 'auxiliary' };

function headOf(turn: JsonObject, session: JsonObject): readonly Part[] {
  const at = localTime(timeOf(turn.startedAt));
  const isSameDay = at.slice(0, 10) === localTime(timeOf(session.startedAt)).slice(0, 10);
  const status = asString(turn.status) ?? '';
  const role = MEMBER_ROLES[asString(turn.role) ?? ''];
  return [
    dim(`#${String(turn.n)} `.padEnd(4)),
    { text: shortId(asString(turn.id) ?? ''), style: 'bold' },
    `  ${isSameDay ? at.slice(11) : at}  `,
    status === 'complete' ? status : { text: status, style: 'yellow' },
    dim(`  generation ${String(turn.generation)}  ${asString(turn.policy) ?? ''}`),
    ...(role === undefined ? [] : [dim(`  (${role})`)]),
  ];
}

function textFields({ asked, results, answered, calls }: JsonObject): readonly Field[] {
  const tools = asArray(calls).map(String);
  const count = asNumber(results);
  return [
    ...(typeof asked === 'string' ? [['asked', asked] as const] : []),
    ...(count === undefined ? [] : [['results', `of ${plural(count, 'tool call')}`] as const]),
    ...(typeof answered === 'string' ? [['answered', truncateEnd(answered, LONGEST_ANSWER)] as const] : []),
    ...(tools.length === 0 ? [] : [['called', countNames(tools)] as const]),
  ];
}

/** In lines of 80 columns: about three. */
const LONGEST_ANSWER = 200;

/** `bash (3), edit`. */
function countNames(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count})`)).join(', ');
}

const describeLessons = ({ lessons }: JsonObject, names: ReadonlyMap<string, string>): string =>
  asArray(lessons)
    .map(String)
    .map((id) => names.get(id) || shortId(id))
    .join(', ');

const SOURCES: Readonly<Record<string, string>> = { person: 'you', agent: 'the agent', signal: 'signals' };
const sourceName = (source: unknown): string => SOURCES[String(source)] ?? `the ${String(source)}`;

/** `you: -0.5, “use ISO dates”`. */
function describeReward({ source, score, note }: JsonObject): string {
  const said = typeof note === 'string' && note !== '' ? `, “${note}”` : '';
  return `${sourceName(source)}: ${String(score)}${said}`;
}

const VERDICTS: Readonly<Record<string, string>> = {
  success: 'went well',
  failure: 'went badly',
  infrastructure: 'broken by the connection or the provider, not by the agent',
  ambiguous: 'undecided',
};

function ratingFields(turn: JsonObject): readonly Field[] {
  const { rewards, verdict, judgedBy, reasons } = turn;
  const given = asArray(rewards).map(asObject).map(describeReward);
  const rules = sayRules(asArray(turn.rules).map(asObject));
  if (verdict === undefined)
    return [
      ...given.map((text) => ['rated', text] as const),
      ...(rules === undefined ? [] : [['rules', rules.replace('rules: ', '')] as const]),
    ];
  const word = VERDICTS[String(verdict)] ?? String(verdict);
  const by = judgedBy === undefined ? '' : `, according to ${sourceName(judgedBy)}`;
  const why = asArray(reasons).map(String).slice(0, 3).join('; ');
  return [
    ...given.map((text) => ['rated', text] as const),
    ['verdict', `${word}${by}${why === '' ? '' : `: ${why}`}`],
    ['reward', rewardParts(turn)],
  ];
}

/** `task 0.75 (you 0.75; not counted: the judge 0.40), rules: kept 2 of 3, 1,234 tokens`. */
function rewardParts({ reward, judgedBy, parts, rules, usage }: JsonObject): string {
  const signs = asArray(parts).map(asObject);
  const say = ({ source, score }: JsonObject): string =>
    `${sourceName(source)} ${(asNumber(score) ?? 0).toFixed(2)}`;
  const counted = signs.filter(({ source }) => source === judgedBy).map(say);
  const others = signs.filter(({ source }) => source !== judgedBy).map(say);
  const told = [counted.join(', '), others.length === 0 ? '' : `not counted: ${others.join(', ')}`];
  const { inputTokens, outputTokens } = asObject(usage);
  const tokens = (asNumber(inputTokens) ?? 0) + (asNumber(outputTokens) ?? 0);
  const task = typeof reward === 'number' ? `task ${reward.toFixed(2)}` : 'task: none';
  return [
    signs.length === 0 ? task : `${task} (${told.filter(Boolean).join('; ')})`,
    ...[sayRules(asArray(rules).map(asObject)) ?? []].flat(),
    ...(tokens === 0 ? [] : [plural(tokens, 'token')]),
  ].join(', ');
}

const SIZE_ONLY = new Set(['encoding', 'too-long']);

function problemFields({ failure, unreadable, missing, runKind }: JsonObject): readonly Field[] {
  const parts = Object.entries(asObject(unreadable)).map(([part, why]) => {
    const kept = SIZE_ONLY.has(String(why)) ? 'only its size is kept' : 'kept as text';
    return ['note', `the ${part} could not be read (${String(why)}): ${kept}, not learned from`] as const;
  });
  return [
    ...(typeof failure === 'string' ? [['failed', failure] as const] : []),
    ...parts,
    ...(typeof missing === 'string' ? [['note', missing] as const] : []),
    ...(runKind === 'train' || runKind === 'practice' ? [['note', `a run of ${runKind}`] as const] : []),
  ];
}

/** Every new message of the turn and its reply, with line breaks as they were. */
function printTexts(printer: Printer, { messages, reply }: JsonObject): void {
  for (const message of asArray(messages).map(asObject)) {
    const isTool = message.role === 'tool';
    const title = isTool ? `result of ${String(message.callId)}` : String(message.role);
    printBlock(
      printer,
      `${title}${message.isError === true ? ' (an error)' : ''}`,
      asString(message.text) ?? '',
    );
  }
  for (const part of asArray(reply).map(asObject)) {
    if (part.type === 'tool-call')
      printBlock(
        printer,
        `call of ${String(part.name)} (${String(part.id)})`,
        asString(part.arguments) ?? '',
      );
    else printBlock(printer, part.type === 'reasoning' ? 'reasoning' : 'answer', asString(part.text) ?? '');
  }
}

function printBlock(printer: Printer, title: string, text: string): void {
  printer.line('    ', dim(title));
  for (const line of text.trimEnd().split('\n')) printer.line(`      ${line}`);
}

/** What is not on this page, and the command that shows it. */
function printMore(printer: Printer, session: JsonObject, turns: readonly JsonObject[]): void {
  const command = `instar sessions show ${quoteWord(shortId(asString(session.id) ?? ''))}`;
  const { earlier, later, hidden } = session;
  const notes = [
    ...(typeof hidden === 'number'
      ? [`${plural(hidden, 'auxiliary call')} hidden; --all shows ${hidden === 1 ? 'it' : 'them'}`]
      : []),
    ...(typeof earlier === 'number' ? [`Earlier turns: ${command} --from ${earlier}`] : []),
    ...(typeof later === 'number' ? [`Later turns: ${command} --from ${later}`] : []),
  ];
  if (turns.length === 0) printer.note('no turn has this number, or a later one');
  if (notes.length > 0) printer.line('');
  for (const note of notes) printer.line(dim(note));
}
