import type { TurnRole } from '../core/fact.ts';
import { asArray, asNumber, asObject, asString, type Json, parseJson } from '../core/json.ts';
import { type BodyPlaces, holdsAny, toNeedle } from './body-places.ts';
import { headerText } from './caller-text.ts';
import type { ClientName } from './client-of.ts';
import type { Clues } from './clues.ts';

/** A request's role: what the caller's header states, else what its content shows; `main` when unsure. */
export function turnRole(clues: Clues): TurnRole {
  if (clues.kind !== 'chat') return 'aux';
  return statedRole(clues) ?? claudeRole(clues) ?? codexRole(clues) ?? inferRole(clues);
}

const TURN_HEADERS = ['x-instar-turn', 'x-turn-type'];

function statedRole({ headers }: Clues): TurnRole | undefined {
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

function inferRole(clues: Clues): TurnRole {
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
]);

/** How the instructions of title and summary requests begin. */
const AUXILIARY_STARTS = [
  'You are a title generator',
  'You are naming a coding session',
  'You are a context summarization a',
  'Summarize the provided coding session',
].map(toNeedle);

/** Agents that ask for a summary in a separate request, never at the end of the conversation. */
const SUMMARISE_SEPARATELY: ReadonlySet<string> = new Set(['opencode', 'pi', 'openclaw', 'cline']);

/** How the others ask for one, with tools: the words, and how the text that contains them begins. */
const SUMMARY_WORDS = ['create a detailed summary of the conversation', 'CONTEXT CHECKPOINT COMPACTION'].map(
  toNeedle,
);
const SUMMARY_STARTS = [
  'CRITICAL: Respond with TEXT ONLY',
  'Your task is to create a detailed summary',
  'You are performing a CONTEXT CHECKPOINT',
];

function isAuxiliary(places: BodyPlaces, client: ClientName | undefined): boolean {
  if (places.hasTools()) return !SUMMARISE_SEPARATELY.has(client ?? '') && asksForSummary(places);
  if (ALWAYS_WITH_TOOLS.has(client ?? '')) return true;
  if (mostTokens(places) === 1) return true;
  const startsAuxiliary = places
    .introductions()
    .some((span) => holdsAny(places.bytes, span, AUXILIARY_STARTS));
  return startsAuxiliary || asksForSummary(places);
}

/** The words alone are not enough: an agent may be reading a file that contains them. */
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
