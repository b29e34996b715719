import { isOwnerId } from '../core/caller.ts';
import type { AssistantPart, ChatMessage, ChatRequest, UserPart } from '../core/chat.ts';
import type { RewardSource, TurnEvidence } from '../core/evidence.ts';
import { asArray, asObject, asString, parseJson } from '../core/json.ts';
import type { Origin, Passage, RunCommand, TurnMaterial } from '../core/learn.ts';
import type { Quote } from '../core/lesson.ts';
import type { Records } from '../core/store.ts';
import { separateTypedText, type TypedText } from '../text/typed-text.ts';
import { readCall } from './tools/tool-call.ts';
import { readOutcome } from './tools/tool-outcome.ts';

/** A conversation as it was sent, with the answer and what followed it. */
interface WholeTurn {
  readonly request: Pick<ChatRequest, 'system' | 'messages'>;
  /** The messages after the request: the reply, tool results, the user's next message. Absent while nothing followed. */
  readonly followed?: readonly ChatMessage[] | undefined;
  readonly reply: readonly AssistantPart[];
  readonly given: TurnEvidence['given'];
  /** The id of the key that the request came with. */
  readonly caller?: string | undefined;
}

/** What the turns of one session share: a request repeats the messages of the one before. */
export interface SessionTexts {
  /** Divided messages, by their text. */
  readonly typed: Map<string, TypedText>;
  /** Of the turn that was read last: the same passage of the next one is the same object. */
  passages: readonly Passage[];
}

export const createSessionTexts = (): SessionTexts => ({ typed: new Map(), passages: [] });

/** A bound on the work of one comparison. The newest text is kept; a lesson of a longer conversation needs a person's words. */
const MOST_CHARACTERS = 400_000;
const MOST_PASSAGES = 4000;

const TOO_LONG = 'the conversation is too long to be compared as a whole';
const SHORTENED = 'an earlier part of the conversation was replaced by a summary';
const UNREADABLE = 'the conversation has an image or a file that cannot be compared';

/** Tools whose results are written by third parties: pages, mails, calendars, issues, commit messages. */
const WEB =
  /web|fetch|brows|https?|url|scrape|crawl|mail|inbox|calendar|rss|slack|discord|telegram|jira|notion|confluence|git_?log|commit|issue|ticket|pull_?request/i;
const WEB_PROGRAMS: ReadonlySet<string> = new Set(
  'curl wget http https lynx w3m links gh glab hub mail mutt neomutt himalaya khal gcalcli icalbuddy newsboat'.split(
    ' ',
  ),
);
const THIRD_PARTY_GIT: ReadonlySet<string> = new Set([
  'log',
  'show',
  'shortlog',
  'blame',
  'notes',
  'whatchanged',
]);

/** Whose words the result of a call are. */
export function originOfResult(call: { readonly name: string; readonly arguments: string }): 'tool' | 'web' {
  if (WEB.test(call.name)) return 'web';
  const isThirdParty = readCall(call).programs.some(
    ({ name, args }) =>
      WEB_PROGRAMS.has(name) || (name === 'git' && args.some((arg) => THIRD_PARTY_GIT.has(arg))),
  );
  return isThirdParty ? 'web' : 'tool';
}

/** All text that an answer may rest on. */
export function readMaterial(turn: WholeTurn, known: SessionTexts): TurnMaterial {
  const passages: Passage[] = [];
  const pending = new Map<string, Extract<AssistantPart, { type: 'tool-call' }>>();
  const commands: RunCommand[] = [];
  const missing = new Set<string>();
  const owners = isOwnerId(turn.caller) ? { isOwners: true as const } : {};
  const add = (origin: Origin, text: string): void => {
    if (text.trim() === '') return;
    const before = known.passages[passages.length];
    const isSame = before?.origin === origin && before.text === text && before.isOwners === owners.isOwners;
    passages.push(isSame ? before : { origin, text, ...(origin === 'user' ? owners : {}) });
  };
  const typedIn = (text: string): TypedText => {
    const before = known.typed.get(text) ?? separateTypedText(text);
    known.typed.set(text, before);
    return before;
  };
  const addParts = (content: readonly UserPart[], addText: (text: string) => void): void => {
    for (const part of content) {
      if (part.type === 'text') addText(part.text);
      else {
        missing.add(UNREADABLE);
        if (part.type === 'file' && part.name !== undefined) add('tool', part.name);
      }
    }
  };
  const addSystem = (text: string): void => {
    // The client's own prompt is compared as an agent's text; the files and listings in it are outside text.
    const { typed, inserted } = typedIn(text);
    add('assistant', typed);
    for (const section of inserted) add('client', section);
  };
  const addReply = (content: readonly AssistantPart[]): void => {
    for (const part of content) {
      if (part.type === 'tool-call') pending.set(part.id, part);
      else add('assistant', part.text);
    }
  };
  const addUserText = (text: string): void => {
    const { typed, inserted, isSummary } = typedIn(text);
    add('user', typed);
    for (const section of inserted) add(isSummary ? 'tool' : 'client', section);
    if (isSummary) missing.add(SHORTENED);
  };
  const addResult = (message: Extract<ChatMessage, { role: 'tool' }>): void => {
    const call = pending.get(message.callId);
    const text = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    const ran = call && commandOf(call);
    if (call !== undefined && ran !== undefined) {
      const { kind, reason } = readOutcome(readCall(call), { ...message, text });
      const isOk = kind === 'ok' || kind === 'green' || (kind === 'unclear' && reason === '');
      commands.push({ text: ran, isOk, after: passages.length });
    }
    const origin = call === undefined ? 'tool' : originOfResult(call);
    addParts(message.content, (part) => add(origin, withoutFixedReminders(part)));
  };
  const addMessage = (message: ChatMessage): void => {
    if (message.role === 'assistant') addReply(message.content);
    else if (message.role === 'system') addParts(message.content, addSystem);
    else if (message.role === 'user') addParts(message.content, addUserText);
    else addResult(message);
  };

  for (const { text } of turn.request.system) addSystem(text);
  turn.request.messages.forEach(addMessage);
  if (turn.followed === undefined) addReply(turn.reply);
  else turn.followed.forEach(addMessage);
  for (const { source, note = '', by } of turn.given)
    if (note.trim() !== '') passages.push(notePassage(source, note, by));
  known.passages = passages;
  return bounded(passages, commands, missing);
}

/** The note of a reward. What was said in the chat is a user's text like any other that they typed there. */
export function notePassage(source: RewardSource, text: string, by?: string): Passage {
  const owners = isOwnerId(by) ? { isOwners: true as const } : {};
  if (source === 'chat') return { origin: 'user', text, isFeedback: true, ...owners };
  // An agent's own word about its work: its key may learn from it, as from all that the agent writes.
  if (source === 'agent') return { origin: 'assistant', text };
  return { origin: source === 'person' || source === 'verifier' ? source : 'tool', text, ...owners };
}

/**
 * The material of a turn together with that of a later turn of its session: what failed may have been corrected later, and
 * only then is it known what worked.
 */
export function joinMaterial(
  turn: TurnMaterial | undefined,
  later: TurnMaterial | undefined,
): TurnMaterial | undefined {
  if (turn === undefined || later === undefined || turn === later) return turn;
  const offset = turn.passages.length;
  return {
    passages: [...turn.passages, ...later.passages],
    commands: [
      ...turn.commands,
      ...later.commands.map((command) => ({ ...command, after: command.after + offset })),
    ],
    missing: [...new Set([...turn.missing, ...later.missing])],
  };
}

/** What was reported of an episode: the agent's own actions, each with its result. Only what a program passed on for its user is a person's text. */
export function readReportedMaterial({
  task,
  attempts,
  given,
  next,
  isReported,
}: TurnEvidence): TurnMaterial {
  const passage =
    (origin: Passage['origin']) =>
    (text: string): Passage => ({ origin, text });
  const person = isReported === true ? passage('tool') : passage('user');
  const before = [person(task)].filter(({ text }) => text.trim() !== '').length;
  const reported = attempts.flatMap(({ action, result }) => [
    passage('assistant')(action),
    passage('tool')(result),
  ]);
  const commands = attempts.map(({ action, ok }, nth) => ({
    text: action,
    isOk: ok,
    after: before + 2 * nth,
  }));
  const notes = given.map(({ source, note = '', by }) => notePassage(source, note, by));
  const later = [person(next?.user ?? ''), ...notes].filter(({ text }) => text.trim() !== '');
  return bounded([...(before === 0 ? [] : [person(task)]), ...reported, ...later], commands, new Set());
}

/** The newest passages within the bounds. A person's own words are always kept: they are what may become a lesson. */
function bounded(
  passages: readonly Passage[],
  commands: readonly RunCommand[],
  missing: Set<string>,
): TurnMaterial {
  let characters = 0;
  let from = passages.length;
  while (from > 0) {
    characters += passages[from - 1]?.text.length ?? 0;
    if (characters > MOST_CHARACTERS || passages.length - from >= MOST_PASSAGES) break;
    from--;
  }
  if (from === 0) return { passages, commands, missing: [...missing] };
  missing.add(TOO_LONG);
  return {
    passages: passages.slice(from),
    // What the lost passages said of a command is unknown.
    commands: commands.flatMap((command) =>
      command.after < from ? [] : [{ ...command, after: command.after - from }],
    ),
    missing: [...missing],
  };
}

/** Sentences that a client appends to the results of its own tools, word for word. Anything else in such a section stays. */
const FIXED_REMINDERS: readonly string[] = [
  'Whenever you read a file, you should consider whether it would be considered malware. You CAN and SHOULD provide analysis of malware, what it is doing. But you MUST refuse to improve or augment the code. You can still analyze existing code, write reports, or answer questions about the code behavior.',
  'Whenever you read a file, you should consider whether it looks malicious. If it does, you MUST refuse to improve or augment the code. You can still analyze existing code, write reports, or answer high-level questions about the code behavior.',
  "The TodoWrite tool hasn't been used recently. If you're working on tasks that would benefit from tracking progress, consider using the TodoWrite tool to track progress.",
];
const EMPTY_REMINDER = /<system-reminder>\s*<\/system-reminder>/g;

function withoutFixedReminders(text: string): string {
  if (!text.includes('<system-reminder>')) return text;
  let rest = text;
  for (const fixed of FIXED_REMINDERS) rest = rest.split(fixed).join('');
  return rest.replace(EMPTY_REMINDER, '');
}

const FIELDS = ['command', 'cmd', 'script', 'input'] as const;

/** The command line of a shell call. */
function commandOf(call: { readonly name: string; readonly arguments: string }): string | undefined {
  if (readCall(call).kind !== 'shell') return undefined;
  const given = asObject(parseJson(call.arguments));
  for (const field of FIELDS) {
    const value = given[field];
    if (Array.isArray(value) && value.every((word) => typeof word === 'string')) return value.join(' ');
    const line = asString(value);
    if (line !== undefined) return line;
  }
  return undefined;
}

/** About how many characters the material holds by itself: its texts and passages are shared with the other turns of the session. */
export const materialCharacters = ({ passages }: TurnMaterial): number => POINTER * passages.length;

/** Eight bytes. */
const POINTER = 4;

/** How far back in a conversation a quote is searched. */
const MOST_MANIFESTS = 8;

/** The position of a passage in the recorded blocks of a turn; undefined when it does not occur verbatim. */
export async function locateQuote(
  turn: string,
  text: string,
  records: Pick<Records, 'turn' | 'block'>,
): Promise<Quote | undefined> {
  const view = await records.turn(turn);
  // As it is written inside a JSON string.
  const needle = JSON.stringify(text).slice(1, -1);
  if (view === undefined || needle === '') return undefined;
  const find = async (block: string): Promise<Quote | undefined> => {
    const start = (await records.block(block))?.indexOf(needle) ?? -1;
    return start < 0 ? undefined : { turn, block, start, length: needle.length };
  };
  const inReply = view.reply === undefined ? undefined : await find(view.reply);
  if (inReply !== undefined) return inReply;
  let manifest = view.request;
  for (let step = 0; manifest !== undefined && step < MOST_MANIFESTS; step++) {
    const fields = asObject(parseJson((await records.block(manifest)) ?? ''));
    const lists = Object.values(asObject(fields.lists)).flatMap((list) => asArray(asObject(list).add));
    const parts = [fields.rest, ...lists].flatMap((part) => asString(part) ?? []);
    for (const block of [manifest, ...parts.reverse()]) {
      const found = await find(block);
      if (found !== undefined) return found;
    }
    manifest = asString(fields.base);
  }
  return undefined;
}
