import type { TurnRole } from '../core/fact.ts';
import { asArray, asNumber, asObject, asString, type Json, parseJson } from '../core/json.ts';
import { type BodyPlaces, holdsAny, toNeedle } from './body-places.ts';
import { headerText } from './caller-text.ts';
import type { ClientName } from './client-of.ts';
import type { Clues } from './clues.ts';

/** What a request is for: what the caller says in a header, else what it is seen to do. Unsure means `main`. */
export function turnRole(clues: Clues): TurnRole {
  if (clues.kind !== 'chat') return 'aux';
  return said(clues) ?? claudeRole(clues) ?? codexRole(clues) ?? seen(clues);
}

const TURN_HEADERS = ['x-instar-turn', 'x-turn-type'];

function said({ headers }: Clues): TurnRole | undefined {
  for (const name of TURN_HEADERS) {
    const value = headerText(headers, name)?.toLowerCase();
    if (value === 'main' || value === 'side') return value;
  }
  return undefined;
}

/** The classes of Claude Code's own list, sent when it is told that a gateway reads them. */
const CLAUDE_CLASSES: ReadonlyMap<string, TurnRole> = new Map([
  ['main', 'main'],
  ['subagent', 'side'],
  ['workflow', 'side'],
  ['side_reply', 'side'],
  ['compaction', 'aux'],
  ['auxiliary', 'aux'],
]);

function claudeRole({ headers }: Clues): TurnRole | undefined {
  if (headerText(headers, 'x-claude-code-compaction') ?? headerText(headers, 'x-claude-code-auxiliary-type'))
    return 'aux';
  const known = CLAUDE_CLASSES.get(headerText(headers, 'x-claude-code-request-class') ?? '');
  return known ?? (headerText(headers, 'x-claude-code-agent-id') === undefined ? undefined : 'side');
}

function codexRole({ headers, codex }: Clues): TurnRole | undefined {
  const subagent = headerText(headers, 'x-openai-subagent') ?? codex?.subagent;
  const isTurn = codex?.requestKind === undefined || codex.requestKind === 'turn';
  if (!isTurn) return 'aux';
  if (subagent !== undefined) return /^(compact|memory)/.test(subagent) ? 'aux' : 'side';
  return codex?.requestKind === 'turn' ? 'main' : undefined;
}

function seen(clues: Clues): TurnRole {
  const { headers, places, client, openclaw } = clues;
  if (isAuxiliary(places, client)) return 'aux';
  const isChild = headerText(headers, 'x-parent-session-id') !== undefined;
  return isChild || openclaw?.lane === 'subagent' || openclaw?.lane === 'acp' ? 'side' : 'main';
}

/** Agents whose every step of work carries tools: what they ask without any is a title, a summary, a guess. */
const NEVER_WITHOUT_TOOLS: ReadonlySet<string> = new Set([
  'claude-code',
  'codex',
  'opencode',
  'openclaw',
  'cline',
]);

/** How the instructions of titlers and summarisers begin. */
const CHORES = [
  'You are a title generator',
  'You are naming a coding session',
  'You are a context summarization a',
  'Summarize the provided coding session',
].map(toNeedle);

/** Agents that ask for a summary in a request of its own, never at the end of the conversation. */
const SUMMARISE_APART: ReadonlySet<string> = new Set(['opencode', 'pi', 'openclaw', 'cline']);

/** How the others ask for one, tools and all: the words, and how the text that holds them begins. */
const SUMMARY_WORDS = ['create a detailed summary of the conversation', 'CONTEXT CHECKPOINT COMPACTION'].map(
  toNeedle,
);
const SUMMARY_STARTS = [
  'CRITICAL: Respond with TEXT ONLY',
  'Your task is to create a detailed summary',
  'You are performing a CONTEXT CHECKPOINT',
];

function isAuxiliary(places: BodyPlaces, client: ClientName | undefined): boolean {
  if (places.hasTools()) return !SUMMARISE_APART.has(client ?? '') && asksForSummary(places);
  if (NEVER_WITHOUT_TOOLS.has(client ?? '')) return true;
  if (mostTokens(places) === 1) return true;
  const isChore = places.introductions().some((span) => holdsAny(places.bytes, span, CHORES));
  return isChore || asksForSummary(places);
}

/** The words alone are not enough: an agent may be reading a file that holds them. */
function asksForSummary(places: BodyPlaces): boolean {
  if (!holdsAny(places.bytes, places.closing(), SUMMARY_WORDS)) return false;
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

function mostTokens(places: BodyPlaces): number | undefined {
  const span =
    places.member('max_tokens') ??
    places.member('max_completion_tokens') ??
    places.member('max_output_tokens');
  return span && span[1] - span[0] < 16
    ? asNumber(parseJson(places.bytes.toString('latin1', ...span)))
    : undefined;
}
