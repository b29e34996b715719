import type { AssistantPart } from '../../core/chat.ts';
import type { ToolOutcome } from '../../core/evidence.ts';

/** A tool result that a client sends inside a user message, with the call it belongs to. */
export interface TextResult {
  readonly call: { readonly name: string; readonly arguments: string };
  readonly outcome: ToolOutcome;
}

/** `[execute_command for 'npm test'] Result:` (Cline, Roo Code without native tools). */
const HEADED =
  /^\[([a-z]\w{1,60})(?: (?:for|in|to|from|with) ['"](.{0,2000})['"])?[^\]\n]{0,200}\] Result:[ \t]*$/;
/** `EXECUTION RESULT of [execute_bash]:` (OpenHands without native tools). */
const EXECUTED = /^EXECUTION RESULT of \[([a-z]\w{1,60})\]:[ \t]*$/;
/** aider, about a command that the person let it run. */
const RAN = /^\s*I ran this command:\s*\n\n([\s\S]{1,4000}?)\n\nAnd got this output:\s*\n/;
/** aider, about its own edits: SEARCH/REPLACE blocks and unified diffs. */
const EDIT_BLOCKS =
  /^\s*(?:# \d{1,4} SEARCH\/REPLACE blocks? failed to match!|UnifiedDiff(?:NoMatch|NotUnique): hunk failed to apply!)/;
/** aider, about an edit that it made. */
const COMMITTED = /^\s*I (?:committed the changes with git hash [0-9a-f]{6,40}\b|updated the files\.\s*$)/;
/** aider, about what its linter found in an edit. */
const LINTED = /^\s*# Fix any errors below, if possible\.\s*\n/;
/** mini-SWE-agent and SWE-agent. */
const RETURNED = /^\s*<returncode>\s{0,4}-?\d{1,5}\s{0,4}<\/returncode>/;
const OBSERVED = /^\s*(?:OBSERVATION|Observation):[ \t]*\n/;
const CANCELLED = /^\s*The command ['"`][\s\S]{1,2000}?['"`] was cancelled because it took more than \d/;

/** From here on it is the client's: the state of its editor. */
const DETAILS = '<environment_details>';
const LAST_BLOCK = /```(?:bash|sh|shell|mswea_bash_command)?[ \t]*\n([\s\S]{1,8000}?)\n?```/g;
const READ_CAP = 400_000;
const MOST_RESULTS = 32;

/**
 * The tool results in a user message of a client that has no tool messages; empty when the person wrote it. `said` is the reply
 * before it: some clients name the command only there.
 */
export function readTextResults(message: string, said: readonly AssistantPart[] = []): readonly TextResult[] {
  if (message === '' || message.length > READ_CAP) return [];
  const ran = RAN.exec(message);
  if (ran !== null) return [result(0, 'bash', { command: ran[1] ?? '' }, message.slice(ran[0].length))];
  if (COMMITTED.test(message)) return [result(0, 'edit_file', {}, 'Edit applied successfully.')];
  if (LINTED.test(message)) return [result(0, 'bash', { command: 'lint' }, message.replace(LINTED, ''))];
  if (EDIT_BLOCKS.test(message)) return [result(0, 'edit_file', {}, message)];
  if (RETURNED.test(message) || CANCELLED.test(message))
    return [result(0, 'bash', { command: commandIn(said) }, message)];
  const observed = OBSERVED.exec(message);
  if (observed !== null)
    return [result(0, 'bash', { command: commandIn(said) }, message.slice(observed[0].length))];
  return message.includes('] Result:') || message.includes('EXECUTION RESULT of [')
    ? readHeaded(message)
    : [];
}

function readHeaded(message: string): readonly TextResult[] {
  const end = message.indexOf(DETAILS);
  const lines = (end < 0 ? message : message.slice(0, end)).split('\n');
  const heads = lines.flatMap((line, at) => {
    const found = HEADED.exec(line) ?? EXECUTED.exec(line);
    return found === null ? [] : [{ at, name: found[1] ?? '', about: found[2] ?? '' }];
  });
  // The person's own words may quote such a line further down.
  if (heads[0]?.at !== lines.findIndex((line) => line.trim() !== '')) return [];
  return heads.slice(0, MOST_RESULTS).map(({ at, name, about }, index) => {
    const text = lines.slice(at + 1, heads[index + 1]?.at ?? lines.length).join('\n');
    const given = /command|bash|shell/.test(name) ? { command: about } : { path: about };
    return result(index, name, given, text);
  });
}

const result = (index: number, name: string, given: object, text: string): TextResult => {
  const call = { name, arguments: JSON.stringify(given) };
  return { call, outcome: { callId: `text-${index}`, text: text.trim(), call } };
};

/** The command of a reply whose protocol is a fenced block. */
function commandIn(said: readonly AssistantPart[]): string {
  const text = said.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  return [...text.slice(-20_000).matchAll(LAST_BLOCK)].at(-1)?.[1] ?? '';
}
