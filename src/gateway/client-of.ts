import type { IncomingHttpHeaders } from 'node:http';
import { type BodyPlaces, findIn, toNeedle } from './body-places.ts';
import { headerText } from './caller-text.ts';

export type ClientName = 'claude-code' | 'codex' | 'opencode' | 'pi' | 'openclaw' | 'cline';

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
    // The summariser prompts of the two clients differ in one word.
    ['between a user and an AI coding assistant, then produce', 'pi'],
    ['between a user and an AI assistant, then produce', 'openclaw'],
  ] satisfies readonly (readonly [words: string, client: ClientName])[]
).map(([words, client]) => [toNeedle(words), client] as const);
/** Clients introduce themselves at once; text far behind the start was written by someone else. */
const CLIENT_NAME_BYTES = 4096;

/** The program that sent this request; undefined when it is not recognised. */
export function clientOf(headers: IncomingHttpHeaders, places: BodyPlaces): ClientName | undefined {
  if (headerText(headers, 'x-claude-code-session-id')) return 'claude-code';
  if (headerText(headers, 'x-codex-turn-metadata')) return 'codex';
  for (const name of ['originator', 'user-agent']) {
    const text = headerText(headers, name) ?? '';
    const known = AGENT_NAMES.find(([start]) => start.test(text));
    if (known) return known[1];
  }
  for (const [start, end] of places.introductions()) {
    const introduction = [start, Math.min(end, start + CLIENT_NAME_BYTES)] as const;
    const known = FIRST_WORDS.find(([words]) => findIn(places.bytes, introduction, words) >= 0);
    if (known) return known[1];
  }
  return undefined;
}
