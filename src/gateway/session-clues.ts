import { createHash } from 'node:crypto';
import path from 'node:path';
import { normaliseOrigin, type Repository } from '../base/repository.ts';
import type { ClientName } from '../core/client-name.ts';
import type { TurnRole } from '../core/evidence.ts';
import type { Project } from '../core/fact.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  type Json,
  type JsonObject,
  parseJson,
} from '../core/json.ts';
import type { ByteSpan } from '../wire/json-scan.ts';
import {
  type BodySections,
  type ClientClues,
  containsAny,
  headerText,
  indexInSpan,
  mayBeClaimed,
  toSearchBytes,
} from './client-clues.ts';

/** The client's own ids of a conversation and of its parent. Raw text: `toCallerId` makes it safe to store. */
interface ClientSession {
  readonly id: string;
  readonly parent?: string;
}

/** The first source that has an id: Instar's header, MetaClaw's, then the clients' own. */
export function readClientSession(clues: ClientClues): ClientSession | undefined {
  return (
    fromHeader(clues) ?? fromClaudeCode(clues) ?? fromCodex(clues) ?? fromAffinity(clues) ?? fromBody(clues)
  );
}

function fromHeader({ headers }: ClientClues): ClientSession | undefined {
  const given = headerText(headers, 'x-instar-session');
  if (given !== undefined) return { id: given };
  // The header of MetaClaw and OpenCode; OpenCode also names a sub-agent's parent session.
  const id = headerText(headers, 'x-session-id');
  return id === undefined ? undefined : named(id, headerText(headers, 'x-parent-session-id'));
}

/**
 * Claude Code's sub-agents share their parent's session id, but each is a conversation of its own: the block that is
 * frozen for one must not appear in the other.
 */
function fromClaudeCode(clues: ClientClues): ClientSession | undefined {
  const { headers } = clues;
  const session = headerText(headers, 'x-claude-code-session-id') ?? claudeUser(clues);
  if (session === undefined) return undefined;
  const agent = headerText(headers, 'x-claude-code-agent-id');
  if (agent === undefined) return { id: session };
  const parent = headerText(headers, 'x-claude-code-parent-agent-id');
  return { id: `${session}:${agent}`, parent: parent === undefined ? session : `${session}:${parent}` };
}

const LARGEST_METADATA = 8192;

/**
 * The end user that a request names. A client that is recognised serves one person and uses these fields for its own ends (Claude Code
 * for its session), so that only Instar's header counts there.
 */
export function readEndUser({ headers, places, client, wire }: ClientClues): string | undefined {
  const given = headerText(headers, 'x-instar-user');
  if (given !== undefined) return given;
  if (!mayBeClaimed(client)) return undefined;
  const user =
    wire === 'anthropic'
      ? asString(metadataOf(places).user_id)
      : (places.text('safety_identifier') ?? places.text('user'));
  return user?.trim() || undefined;
}

function metadataOf(places: BodySections): JsonObject {
  const span = places.member('metadata');
  return span === undefined || span[1] - span[0] > LARGEST_METADATA
    ? {}
    : asObject(parseJson(places.bytes.toString('utf8', ...span)));
}

/** From the body's `metadata.user_id`: JSON text with a session id; older versions wrote `…_session_ID`. */
function claudeUser({ places, client }: ClientClues): string | undefined {
  if (client !== 'claude-code') return undefined;
  const user = asString(metadataOf(places).user_id) ?? '';
  return asString(asObject(parseJson(user)).session_id) ?? /_session_([\w-]{8,})$/.exec(user)?.[1];
}

/** Codex uses one session id for a thread and its sub-agents' threads, so the thread is the conversation. */
function fromCodex({ headers, codex: turn, client }: ClientClues): ClientSession | undefined {
  if (client !== 'codex') return undefined;
  const thread = headerText(headers, 'thread-id') ?? turn?.thread;
  const parent = headerText(headers, 'x-codex-parent-thread-id') ?? turn?.parentThread;
  const id = thread ?? headerText(headers, 'session-id') ?? headerText(headers, 'session_id');
  return id === undefined ? undefined : named(id, parent);
}

/** Headers for sticky routing carry a session id, and Goose's own. OpenClaw appends `:N`, the number of the context window. */
function fromAffinity({ headers }: ClientClues): ClientSession | undefined {
  for (const name of ['session_id', 'session-id', 'x-session-affinity', 'agent-session-id']) {
    const id = headerText(headers, name);
    if (id !== undefined) return { id: withoutWindow(id) };
  }
  return undefined;
}

const UNIQUE = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|^ses_\w{16,}/i;

/** A cache key counts as a session id only if it contains a unique id: many programs use one key for all sessions. */
function fromBody({ places, openclaw }: ClientClues): ClientSession | undefined {
  if (openclaw?.sessionId !== undefined) return { id: openclaw.sessionId };
  const key = places.text('prompt_cache_key');
  return key !== undefined && UNIQUE.test(key) ? { id: withoutWindow(key) } : undefined;
}

const withoutWindow = (id: string): string => id.replace(/(?<=.):\d{1,6}$/, '');

const named = (id: string, parent: string | undefined): ClientSession =>
  parent === undefined || parent === id ? { id } : { id, parent };

/** A request's role: what the caller's header states, else what its content shows; `main` when unsure. */
export function detectTurnRole(clues: ClientClues): TurnRole {
  if (clues.kind !== 'chat') return 'aux';
  return statedRole(clues) ?? claudeRole(clues) ?? codexRole(clues) ?? inferRole(clues);
}

const TURN_HEADERS = ['x-instar-turn', 'x-turn-type'];

function statedRole({ headers }: ClientClues): TurnRole | undefined {
  for (const name of TURN_HEADERS) {
    const value = headerText(headers, name)?.toLowerCase();
    if (value === 'main' || value === 'side') return value;
  }
  return undefined;
}

/** Claude Code's request classes, sent when it is configured to use a gateway. */
const CLAUDE_CLASSES: ReadonlyMap<string, TurnRole> = new Map([
  ['main', 'main'],
  ['subagent', 'side'],
  ['workflow', 'side'],
  ['side_reply', 'side'],
  ['compaction', 'aux'],
  ['auxiliary', 'aux'],
]);

function claudeRole({ headers }: ClientClues): TurnRole | undefined {
  if (headerText(headers, 'x-claude-code-compaction') ?? headerText(headers, 'x-claude-code-auxiliary-type'))
    return 'aux';
  const known = CLAUDE_CLASSES.get(headerText(headers, 'x-claude-code-request-class') ?? '');
  return known ?? (headerText(headers, 'x-claude-code-agent-id') === undefined ? undefined : 'side');
}

function codexRole({ headers, codex }: ClientClues): TurnRole | undefined {
  const subagent = headerText(headers, 'x-openai-subagent') ?? codex?.subagent;
  const isTurn = codex?.requestKind === undefined || codex.requestKind === 'turn';
  if (!isTurn) return 'aux';
  if (subagent !== undefined) return /^(compact|memory)/.test(subagent) ? 'aux' : 'side';
  return codex?.requestKind === 'turn' ? 'main' : undefined;
}

function inferRole(clues: ClientClues): TurnRole {
  const { headers, places, client, openclaw } = clues;
  if (isAuxiliary(places, client)) return 'aux';
  const isChild = headerText(headers, 'x-parent-session-id') !== undefined;
  return isChild || openclaw?.lane === 'subagent' || openclaw?.lane === 'acp' ? 'side' : 'main';
}

/** Agents that send tools with every step of work: a request without tools is for a title, a summary or a suggestion. */
const ALWAYS_WITH_TOOLS: ReadonlySet<string> = new Set([
  'claude-code',
  'codex',
  'opencode',
  'openclaw',
  'cline',
  'continue',
]);

/** How the instructions of title and summary requests begin. */
const AUXILIARY_STARTS = [
  'You are a title generator',
  'You are naming a coding session',
  'You are a context summarization a',
  'Summarize the provided coding session',
  'generates concise, one-line Git commit messages',
  '*Briefly* summarize this partial conversation about programming.',
].map(toSearchBytes);

/** Agents that ask for a summary in a separate request, never at the end of the conversation. */
const SUMMARISE_SEPARATELY: ReadonlySet<string> = new Set(['opencode', 'pi', 'openclaw', 'cline']);

/** How the others ask for one, with tools: the words, and how the text that contains them begins. */
const SUMMARY_WORDS = ['create a detailed summary of the conversation', 'CONTEXT CHECKPOINT COMPACTION'].map(
  toSearchBytes,
);
const SUMMARY_STARTS = [
  'CRITICAL: Respond with TEXT ONLY',
  'Your task is to create a detailed summary',
  'You are performing a CONTEXT CHECKPOINT',
];

function isAuxiliary(places: BodySections, client: ClientName | undefined): boolean {
  if (places.hasTools()) return !SUMMARISE_SEPARATELY.has(client ?? '') && asksForSummary(places);
  if (ALWAYS_WITH_TOOLS.has(client ?? '')) return true;
  if (mostTokens(places) === 1) return true;
  const startsAuxiliary = places
    .introductions()
    .some((span) => containsAny(places.bytes, span, AUXILIARY_STARTS));
  return startsAuxiliary || asksForSummary(places);
}

/** The words alone are not enough: an agent may be reading a file that contains them. */
function asksForSummary(places: BodySections): boolean {
  if (!containsAny(places.bytes, places.closing(), SUMMARY_WORDS)) return false;
  const newest = places.newestMessage();
  if (newest === undefined) return false;
  const message = asObject(parseJson(places.bytes.toString('utf8', ...newest)));
  if (message.role !== 'user') return false;
  return textsOf(message.content).some((text) =>
    SUMMARY_STARTS.some((start) => text.trimStart().startsWith(start)),
  );
}

const textsOf = (content: Json | undefined): readonly string[] =>
  typeof content === 'string'
    ? [content]
    : asArray(content).flatMap((part) => asString(asObject(part).text) ?? []);

function mostTokens(places: BodySections): number | undefined {
  const span =
    places.member('max_tokens') ??
    places.member('max_completion_tokens') ??
    places.member('max_output_tokens');
  return span && span[1] - span[0] < 16
    ? asNumber(parseJson(places.bytes.toString('latin1', ...span)))
    : undefined;
}

interface DetectProjectOptions {
  readonly redact: (text: string) => string;
  /** An application writes for many people: a folder in the words of one of them is no place that they share. */
  readonly isApplication: boolean;
}

/** The caller's project: from its header, else from what the client tells the model. The path itself is not kept. */
export function detectProject(
  clues: ClientClues,
  { redact, isApplication }: DetectProjectOptions,
): FoundProject {
  const { headers, codex } = clues;
  const named = headerText(headers, 'x-instar-project');
  const folder = statedFolder(clues, isApplication) ?? codex?.workspace;
  const stated = named ?? folder;
  return {
    project: stated === undefined ? undefined : toProject(redact(stated)),
    folder: named?.startsWith('/') ? named : folder,
    remote: named === undefined && folder !== undefined ? remoteOf(folder, codex) : undefined,
  };
}

/** A project, and the folder in which the client says that it works. Paths identify people: the folder is not recorded. */
export interface FoundProject {
  readonly project: Project | undefined;
  readonly folder: string | undefined;
  /** What the client says of the repository of the folder, which need not be on this machine. */
  readonly remote: Repository | undefined;
}

function remoteOf(folder: string, codex: ClientClues['codex']): Repository | undefined {
  const origin = normaliseOrigin(codex?.origin);
  if (codex?.workspace === undefined || origin === undefined) return undefined;
  const within = path.posix.relative(codex.workspace, folder);
  return within.startsWith('..') ? undefined : { origin, within };
}

interface Mark {
  /** The text before the path. */
  readonly words: Buffer;
  /** The character that ends the path, if not the end of the line. */
  readonly close?: string;
}

/** "Primary working directory: ", "Current working directory: " and the like. */
const PLAIN: Mark = { words: toSearchBytes('orking directory: ') };
const TITLE: Mark = { words: toSearchBytes('orking Directory: ') };
const TAG: Mark = { words: toSearchBytes('<cwd>'), close: '<' };
const BRACKET: Mark = { words: toSearchBytes('orking Directory ('), close: ')' };

/** How each client writes it; an unknown client may write it in any of these ways. */
const MARKS: Readonly<Record<ClientName, readonly Mark[]>> = {
  'claude-code': [PLAIN],
  codex: [TAG],
  opencode: [PLAIN],
  pi: [PLAIN],
  openclaw: [PLAIN],
  cline: [TITLE, BRACKET],
  continue: [PLAIN],
  hermes: [PLAIN],
  // It names files, never its folder.
  aider: [],
};
const ALL_MARKS = [PLAIN, TITLE, TAG, BRACKET];
const LONGEST_PATH = 4096;
/** The words may occur in prose before they occur before a path. */
const MOST_SEARCHES = 4;

function statedFolder({ places, client }: ClientClues, isApplication: boolean): string | undefined {
  const opening = places.opening();
  // A client's own text precedes its users' text; an unknown client's conversation is searched less far.
  const isUnknown = mayBeClaimed(client);
  const spans =
    isApplication && isUnknown
      ? places.introductions()
      : [places.instructions(), isUnknown && opening ? near(opening) : opening];
  for (const span of spans) {
    if (span === undefined) continue;
    for (const { words, close } of client === undefined ? ALL_MARKS : MARKS[client]) {
      let at = indexInSpan(places.bytes, span, words);
      for (let search = 0; search < MOST_SEARCHES && at >= 0; search++) {
        const path = readPath(places.bytes, at + words.length, close);
        if (path !== undefined) return path;
        at = indexInSpan(places.bytes, [at + words.length, span[1]], words);
      }
    }
  }
  return undefined;
}

const NEAR_BYTES = 32 * 1024;
const near = ([start, end]: ByteSpan): ByteSpan => [start, Math.min(end, start + NEAR_BYTES)];

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** n, r and t: escapes that do not occur in a path. */
const BREAKS = new Set([0x6e, 0x72, 0x74]);

/** The path that starts at `start` inside a JSON string and ends with the line, the string or `close`. */
function readPath(bytes: Buffer, start: number, close: string | undefined): string | undefined {
  const last = Math.min(bytes.length, start + LONGEST_PATH);
  const closing = close?.charCodeAt(0);
  let end = start;
  for (; end < last; end++) {
    const byte = bytes[end];
    if (byte === QUOTE || byte === closing) break;
    if (byte !== BACKSLASH) continue;
    if (BREAKS.has(bytes[end + 1] ?? 0)) break;
    end++;
  }
  if (end >= last) return undefined;
  const path = asString(parseJson(`"${bytes.toString('utf8', start, end)}"`))?.trim();
  return path !== undefined && /^([/~]|[A-Za-z]:[\\/]|\\\\)/.test(path) ? path : undefined;
}

/** The project of a folder: a hash of its path, and its name. */
export function toProject(path: string): Project {
  const plain = path.length > 1 ? path.replace(/(?<=[^:\\/])[\\/]+$/, '') : path;
  const id = createHash('sha256').update(plain).digest('hex').slice(0, 12);
  return { id, label: labelOf(plain) };
}

/** The folder's name. A home folder is named after its user, so it is labelled `home`. */
function labelOf(path: string): string {
  if (/^(\/root|~|(\/home|\/Users|[A-Za-z]:[\\/]Users)[\\/][^\\/]+)$/.test(path)) return 'home';
  const name = path.split(/[\\/]/).findLast((segment) => segment !== '') ?? path;
  const shown = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '�');
  return [...shown].slice(0, 64).join('');
}
