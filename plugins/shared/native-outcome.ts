import { isRecord, textOf } from './connection.ts';

/** How a tool call of an agent ended. */
export interface NativeOutcome {
  readonly tool: string;
  /** The command, or the tool with its arguments. */
  readonly action: string;
  /** What it printed, or its error. */
  readonly result: string;
  readonly ok: boolean;
  readonly exitCode?: number;
}

const LONGEST_ACTION = 1_000;
const LONGEST_RESULT = 4_000;

/** The beginning and the end: a command's end says how it went. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor((most - 3) / 2);
  return `${text.slice(0, half)} … ${text.slice(text.length - half)}`;
}

const COMMANDS = ['command', 'cmd', 'script'];

export function describeAction(tool: string, input: unknown): string {
  const given = isRecord(input) ? input : {};
  for (const name of COMMANDS) {
    const value = given[name];
    const command = Array.isArray(value) ? value.join(' ') : textOf(value);
    if (command !== undefined && command !== '') return shorten(command, LONGEST_ACTION);
  }
  const file = textOf(given.file_path) ?? textOf(given.filePath) ?? textOf(given.path);
  return shorten(file === undefined ? tool : `${tool} ${file}`, LONGEST_ACTION);
}

const EXIT_FIELDS = ['exitCode', 'exit_code', 'exit', 'returnCode', 'code'];
const EXIT_WORDS = /\b(?:exit(?:ed)?(?: with)?(?: code| status)?:?|Process exited with code) (-?\d{1,3})\b/i;

/** From a field of the result, or one level below, or from the words that the client adds; undefined when nothing says it. */
export function exitCodeOf(result: unknown, words: string): number | undefined {
  const places = isRecord(result) ? [result, result.details, result.metadata, result.output] : [];
  for (const place of places) {
    if (!isRecord(place)) continue;
    for (const name of EXIT_FIELDS) if (typeof place[name] === 'number') return place[name];
  }
  const said = EXIT_WORDS.exec(words.slice(-400)) ?? EXIT_WORDS.exec(words.slice(0, 200));
  return said?.[1] === undefined ? undefined : Number(said[1]);
}

/** The text of a result in the shapes that clients use. */
export function readResultText(result: unknown): string {
  if (typeof result === 'string') return shorten(result, LONGEST_RESULT);
  if (Array.isArray(result))
    return shorten(
      result.map((part) => (isRecord(part) ? (textOf(part.text) ?? '') : String(part))).join('\n'),
      LONGEST_RESULT,
    );
  if (!isRecord(result)) return '';
  if (result.content !== undefined) return readResultText(result.content);
  const streams = [result.stdout, result.stderr, result.output, result.aggregated, result.error];
  const texts = streams.flatMap((value) => textOf(value) || []);
  return shorten(texts.length > 0 ? texts.join('\n') : JSON.stringify(result), LONGEST_RESULT);
}

const COULD_FAIL = /exec|bash|shell|command|edit|patch|write/i;

/** Whether a call could have gone otherwise: reading a file says nothing about how the work went, unless it failed. */
export const couldHaveFailed = ({ tool, ok, exitCode }: NativeOutcome): boolean =>
  !ok || exitCode !== undefined || COULD_FAIL.test(tool);
