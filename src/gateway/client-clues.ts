import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Repository } from '../base/repository.ts';
import type { ClientName } from '../core/client-name.ts';
import type { Project } from '../core/fact.ts';
import { asObject, asString, parseJson } from '../core/json.ts';
import { hasSessionPrefix, isAttemptId } from '../core/principal.ts';
import type { Outline, WireName } from '../core/wire.ts';
import {
  type ByteSpan,
  eachElement,
  eachMember,
  equalsText,
  OPEN_BRACE,
  OPEN_BRACKET,
  readString,
  skipSpace,
  skipValue,
} from '../wire/json-scan.ts';

/**
 * `chat` asks a model, `count` asks for a prompt's length in tokens, `other` is a provider's route that is only passed
 * on (embeddings, files, stored responses).
 */
export type TurnKind = 'chat' | 'count' | 'other';

/** A request whose body has been received. */
export interface ReceivedRequest {
  readonly kind: TurnKind;
  readonly wire: WireName;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | undefined;
  readonly outline: Outline | undefined;
}

/** What a request reveals about its sender; each part is read once. */
export interface ClientClues {
  readonly kind: TurnKind;
  readonly wire: WireName;
  readonly headers: IncomingHttpHeaders;
  readonly places: BodySections;
  readonly client: ClientName | undefined;
  readonly codex: CodexTurn | undefined;
  readonly openclaw: OpenclawRuntime | undefined;
}

/** What earlier turns of the same conversation revealed, so that it is not searched for again. */
export interface KnownClient {
  readonly client: ClientName | undefined;
  readonly project: Project | undefined;
  readonly folder?: string | undefined;
  readonly remote?: Repository | undefined;
}

export function readClientClues(
  { kind, wire, headers, body, outline }: ReceivedRequest,
  known?: KnownClient,
): ClientClues {
  const places = createBodySections(wire, body, outline);
  const client = known ? known.client : detectClient(headers, places);
  const codex = readCodexTurn(headers);
  const openclaw = client === 'openclaw' ? readOpenclawRuntime(places) : undefined;
  return { kind, wire, headers, places, client, codex, openclaw };
}

/**
 * The parts of a request body that identify its client, as byte offsets: only small parts are copied or parsed. A body
 * that is not a JSON object has none.
 */
export interface BodySections {
  readonly bytes: Buffer;
  /** A member of the body's object. */
  member(name: string): ByteSpan | undefined;
  /** A member that is a short string. */
  text(name: string): string | undefined;
  /** Whether the request offers the model any tool. */
  hasTools(): boolean;
  /** The first 8 KB of the client's instructions, as a separate member and as the first message: people write no system message. */
  introductions(): readonly ByteSpan[];
  /** The first 8 KB of a conversation that begins with a user's message. */
  userIntroduction(): ByteSpan | undefined;
  /** The instructions outside the conversation (`system`, `instructions`), at most 256 KB. */
  instructions(): ByteSpan | undefined;
  /** The first 256 KB of the conversation. */
  opening(): ByteSpan | undefined;
  /** The last 16 KB of the conversation. */
  closing(): ByteSpan | undefined;
  newestMessage(): ByteSpan | undefined;
}

const OPENING_BYTES = 256 * 1024;
const CLOSING_BYTES = 16 * 1024;
const INTRODUCTION_BYTES = 8 * 1024;
const SHORT_TEXT = 16 * 1024;

const NO_BYTES = Buffer.alloc(0);

const createBodySections = (
  wire: WireName,
  body: Buffer | undefined,
  outline: Outline | undefined,
): BodySections => new OutlinedPlaces(wire, body ?? NO_BYTES, outline);

/** A class, since every request creates one and most of its methods are never called. */
class OutlinedPlaces implements BodySections {
  readonly bytes: Buffer;
  readonly #wire: WireName;
  readonly #outline: Outline | undefined;

  constructor(wire: WireName, bytes: Buffer, outline: Outline | undefined) {
    this.bytes = bytes;
    this.#wire = wire;
    this.#outline = outline;
  }

  member(name: string): ByteSpan | undefined {
    return this.#outline?.member(name);
  }

  text(name: string): string | undefined {
    const span = this.member(name);
    return span && span[1] - span[0] <= SHORT_TEXT ? readString(this.bytes, span) : undefined;
  }

  hasTools(): boolean {
    const first = firstAt(this.bytes, this.member('tools')) ?? firstAt(this.bytes, this.member('functions'));
    return first !== undefined;
  }

  introductions(): readonly ByteSpan[] {
    const spans: ByteSpan[] = [];
    const instructions = this.#instructions();
    if (instructions !== undefined) spans.push(cut(instructions, INTRODUCTION_BYTES));
    const first = this.#firstMessage();
    if (first?.isSystem === true) spans.push(cut(first.span, INTRODUCTION_BYTES));
    return spans;
  }

  userIntroduction(): ByteSpan | undefined {
    const first = this.#firstMessage();
    return first === undefined || first.isSystem ? undefined : cut(first.span, INTRODUCTION_BYTES);
  }

  /** Without the messages behind it, whose words are other people's. */
  #firstMessage(): { readonly span: ByteSpan; readonly isSystem: boolean } | undefined {
    const at = firstAt(this.bytes, this.#conversation());
    if (at === undefined || this.bytes[at] !== OPEN_BRACE) return undefined;
    let isSystem = false;
    const end = eachMember(this.bytes, at, (key, valueAt) => {
      const span: ByteSpan = [valueAt, skipValue(this.bytes, valueAt)];
      if (equalsText(this.bytes, key, 'role'))
        isSystem = equalsText(this.bytes, span, 'system') || equalsText(this.bytes, span, 'developer');
      return span[1];
    });
    return end < 0 ? undefined : { span: [at, end], isSystem };
  }

  instructions(): ByteSpan | undefined {
    const span = this.#instructions();
    return span && cut(span, OPENING_BYTES);
  }

  opening(): ByteSpan | undefined {
    const span = this.#conversation();
    return span && cut(span, OPENING_BYTES);
  }

  closing(): ByteSpan | undefined {
    const span = this.#conversation();
    return span && [Math.max(span[0], span[1] - CLOSING_BYTES), span[1]];
  }

  newestMessage(): ByteSpan | undefined {
    return lastElement(this.bytes, this.#conversation());
  }

  #instructions(): ByteSpan | undefined {
    return this.member(this.#wire === 'anthropic' ? 'system' : 'instructions');
  }

  #conversation(): ByteSpan | undefined {
    return this.member(this.#wire === 'openai-responses' ? 'input' : 'messages');
  }
}

/** A text to search for in bodies, encoded once instead of with every search. */
export const toSearchBytes = (words: string): Buffer => Buffer.from(words, 'latin1');

/** The offset of `needle` in a span, or -1. */
export function indexInSpan(bytes: Buffer, span: ByteSpan | undefined, needle: Buffer): number {
  if (span === undefined) return -1;
  const at = bytes.subarray(span[0], span[1]).indexOf(needle);
  return at < 0 ? -1 : span[0] + at;
}

/** Whether a span contains any of the needles. */
export function containsAny(bytes: Buffer, span: ByteSpan | undefined, needles: readonly Buffer[]): boolean {
  if (span === undefined) return false;
  const text = bytes.subarray(span[0], span[1]);
  return needles.some((needle) => text.includes(needle));
}

const cut = ([start, end]: ByteSpan, most: number): ByteSpan => [start, Math.min(end, start + most)];

/** The offset of a list's first element; undefined when the list is empty. */
function firstAt(bytes: Buffer, list: ByteSpan | undefined): number | undefined {
  if (list === undefined || bytes[list[0]] !== OPEN_BRACKET) return undefined;
  const at = skipSpace(bytes, list[0] + 1);
  return at < list[1] - 1 ? at : undefined;
}

function lastElement(bytes: Buffer, list: ByteSpan | undefined): ByteSpan | undefined {
  if (list === undefined || bytes[list[0]] !== OPEN_BRACKET) return undefined;
  let last: ByteSpan | undefined;
  eachElement(bytes, list[0], (at) => {
    const end = skipValue(bytes, at);
    if (end > 0) last = [at, end];
    return end;
  });
  return last;
}

/** Programs that state their name at the start of `user-agent` or `originator`. */
const AGENT_NAMES: readonly (readonly [start: RegExp, client: ClientName])[] = [
  [/^claude-(cli|code)\b/i, 'claude-code'],
  [/^codex/i, 'codex'],
  [/^opencode\b/i, 'opencode'],
  [/^openclaw\b/i, 'openclaw'],
  [/^cline\b/i, 'cline'],
  [/^pi(-coding-agent)?\//i, 'pi'],
];

/** Programs that call through a vendor's SDK and can only be recognised by the first words of their instructions. */
const FIRST_WORDS = (
  [
    ['running inside OpenClaw', 'openclaw'],
    ['operating inside pi, a coding agent harness', 'pi'],
    ['You are Cline, ', 'cline'],
    ['official CLI for Claude', 'claude-code'],
    ['running in the Codex CLI', 'codex'],
    ['You are opencode, ', 'opencode'],
    ['You are an agent in the Continue CLI', 'continue'],
    ['You are Hermes Agent, ', 'hermes'],
    // The prompts of its modes: code, ask, architect, editor, context; then commit messages and summaries.
    ['Take requests for changes to the supplied code.', 'aider'],
    ['Answer questions about the supplied code.', 'aider'],
    ['provide direction to your editor engineer.', 'aider'],
    ['Act as an expert software developer who edits source code.', 'aider'],
    ['Act as an expert software developer and make changes to source code.', 'aider'],
    ['solely to determine ALL the existing sources files', 'aider'],
    ['generates concise, one-line Git commit messages', 'aider'],
    ['*Briefly* summarize this partial conversation about programming.', 'aider'],
    // The summariser prompts of the two clients differ in one word.
    ['between a user and an AI coding assistant, then produce', 'pi'],
    ['between a user and an AI assistant, then produce', 'openclaw'],
  ] satisfies readonly (readonly [words: string, client: ClientName])[]
).map(([words, client]) => [toSearchBytes(words), client] as const);
/** Clients introduce themselves at once; text far behind the start was written by someone else. */
const CLIENT_NAME_BYTES = 4096;

/** The program that sent this request; undefined when it is not recognised. */
function detectClient(headers: IncomingHttpHeaders, places: BodySections): ClientName | undefined {
  if (headerText(headers, 'x-claude-code-session-id')) return 'claude-code';
  if (headerText(headers, 'x-codex-turn-metadata')) return 'codex';
  for (const name of ['originator', 'user-agent']) {
    const text = headerText(headers, name) ?? '';
    const known = AGENT_NAMES.find(([start]) => start.test(text));
    if (known) return known[1];
  }
  for (const introduction of places.introductions()) {
    const known = readFirstWords(places.bytes, introduction);
    if (known !== undefined) return known;
  }
  const spoken = places.userIntroduction();
  return spoken !== undefined && readFirstWords(places.bytes, spoken) === 'aider' ? 'aider' : undefined;
}

function readFirstWords(bytes: Buffer, introduction: ByteSpan): ClientName | undefined {
  const start = cut(introduction, CLIENT_NAME_BYTES);
  return FIRST_WORDS.find(([words]) => indexInSpan(bytes, start, words) >= 0)?.[1];
}

/**
 * Whether a person may have written what the client was recognised by: aider writes its instructions into the user's message for models
 * without a system prompt.
 */
export const mayBeClaimed = (client: ClientName | undefined): boolean =>
  client === undefined || client === 'aider';

/** What Codex states about a request in its header `x-codex-turn-metadata`. */
interface CodexTurn {
  /** `turn`, `compaction` or another purpose of the model call. */
  readonly requestKind?: string;
  readonly thread?: string;
  readonly parentThread?: string;
  /** Why a sub-agent runs, such as `review` or `thread_spawn`; undefined for the main agent. */
  readonly subagent?: string;
  /** The agent's name, if it has one; the main agent is `/root`. */
  readonly agentName?: string;
  /** The repository it works in, and where that was cloned from. */
  readonly workspace?: string;
  readonly origin?: string;
}

/** Undefined when the header is missing; a field that cannot be read is left out. */
function readCodexTurn(headers: IncomingHttpHeaders): CodexTurn | undefined {
  const text = headerText(headers, 'x-codex-turn-metadata');
  if (text === undefined) return undefined;
  const metadata = asObject(parseJson(text));
  const isSubagent = metadata.thread_source === 'subagent';
  const subagent = asString(metadata.subagent_kind) ?? (isSubagent ? 'subagent' : undefined);
  const workspaces = asObject(metadata.workspaces);
  const workspace = Object.keys(workspaces)[0];
  const fields = {
    requestKind: asString(metadata.request_kind),
    thread: asString(metadata.thread_id),
    parentThread: asString(metadata.parent_thread_id),
    subagent,
    agentName: asString(metadata.agent_name),
    workspace,
    origin: asString(asObject(asObject(workspaces[workspace ?? '']).associated_remote_urls).origin),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The facts about a run that OpenClaw writes into a line of the first message. */
interface OpenclawRuntime {
  readonly agent?: string;
  readonly sessionId?: string;
  /** The kind of run in the session key: `subagent`, `cron`, `hook` …; undefined for a plain conversation. */
  readonly lane?: string;
}

const LINE = toSearchBytes('Runtime: agent=');
const LINE_BYTES = 1024;
/** Session keys are `agent:NAME:REST`; the rest of a background run starts with one of these words. */
const LANES = new Set(['subagent', 'acp', 'cron', 'hook', 'heartbeat']);

function readOpenclawRuntime(places: BodySections): OpenclawRuntime | undefined {
  const at = indexInSpan(places.bytes, places.opening(), LINE);
  if (at < 0) return undefined;
  const line = places.bytes.toString('latin1', at, at + LINE_BYTES);
  const agent = /agent=([\w.-]+)/.exec(line)?.[1];
  const sessionId = /\| sessionId=([\w.:-]+)/.exec(line)?.[1];
  const key = /\| session=([\w.:-]+)/.exec(line)?.[1] ?? '';
  const lane = key
    .split(':')
    .slice(2)
    .find((word) => LANES.has(word));
  return {
    ...(agent !== undefined && { agent }),
    ...(sessionId !== undefined && { sessionId }),
    ...(lane !== undefined && { lane }),
  };
}

/**
 * Text that is safe to show, log and compare: printable ASCII, no control characters and no look-alike letters. Without the
 * characters of patterns: in a lesson's scope a name would match the agents of others.
 */
const PLAIN = /^[\x20-\x29\x2b-\x3e\x40-\x7e]{1,128}$/;

/** A header's trimmed value; undefined when the header is missing or empty. */
export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  return text === '' ? undefined : text;
}

/**
 * A caller's text as an id of at most 128 printable characters: the text itself, or its hash when it has others. Ids of attempts of
 * practice are left out of lists: no caller can give itself one.
 */
export function toCallerId(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  if (!trimmed) return undefined;
  // Neither an attempt's nor another caller's session can be named from outside.
  if (PLAIN.test(trimmed) && !isAttemptId(trimmed) && !hasSessionPrefix(trimmed)) return trimmed;
  return `sha256-${createHash('sha256').update(trimmed).digest('hex').slice(0, 32)}`;
}

export const headerId = (headers: IncomingHttpHeaders, name: string): string | undefined =>
  toCallerId(headerText(headers, name));
