import { readShellQuote } from '../../src/text/shell-quote.ts';

/** A word of a command: as it stands, or the output of a Python program in `$(…)`. */
export type Word = { readonly text: string } | { readonly outputOf: readonly string[] };

/**
 * Splits a command line as `sh` would, into commands joined by `&&`. Of the shell it knows words, quotes and `$(…)` as
 * a word of its own. Throws for everything else: to guess what a check means is to grade something else.
 */
export function readShellWords(line: string): readonly (readonly Word[])[] {
  const reader: Reader = { line, at: 0 };
  const commands = readCommands(reader);
  if (reader.at < line.length) throw unknown(reader);
  return commands;
}

interface Reader {
  readonly line: string;
  at: number;
}

/** What would start an expansion, a redirection, or another command. `[]` stays: no file has such a name. */
const SPECIAL = /[|&;<>()$`"'\\*?~#{}!\n]/;
const BLANK = /[ \t]/;

function readCommands(reader: Reader): readonly (readonly Word[])[] {
  const commands: Word[][] = [[]];
  for (;;) {
    while (BLANK.test(peek(reader))) reader.at++;
    if (peek(reader) === '' || peek(reader) === ')') break;
    if (reader.line.startsWith('&&', reader.at)) {
      reader.at += 2;
      commands.push([]);
    } else commands.at(-1)?.push(readWord(reader));
  }
  if (commands.some((words) => words.length === 0)) throw new Error('a command is empty');
  return commands;
}

const peek = ({ line, at }: Reader): string => line[at] ?? '';

const unknown = ({ line, at }: Reader): Error =>
  new Error(
    `${JSON.stringify(line.slice(at, at + 12))} at character ${at + 1} is more of a shell than is known here`,
  );

function readWord(reader: Reader): Word {
  if (reader.line.startsWith('$(', reader.at)) return readOutput(reader);
  let text = '';
  for (;;) {
    const next = peek(reader);
    if (next === '' || next === ')' || BLANK.test(next) || reader.line.startsWith('&&', reader.at))
      return { text };
    if (next === '"' || next === "'") text += readQuoted(reader);
    else if (SPECIAL.test(next)) throw unknown(reader);
    else {
      text += next;
      reader.at++;
    }
  }
}

function readOutput(reader: Reader): Word {
  const start = reader.at;
  reader.at += 2;
  const [words, ...more] = readCommands(reader);
  if (peek(reader) !== ')' || words === undefined || more.length > 0) throw unknown({ ...reader, at: start });
  reader.at++;
  const after = peek(reader);
  if (after !== '' && after !== ')' && !BLANK.test(after)) throw unknown(reader);
  const plain = words.map((word) => {
    if ('text' in word) return word.text;
    throw unknown({ ...reader, at: start });
  });
  return { outputOf: plain };
}

function readQuoted(reader: Reader): string {
  const { text, end, isClosed, expansionAt } = readShellQuote(reader.line, reader.at);
  if (expansionAt !== undefined) throw unknown({ ...reader, at: expansionAt });
  if (!isClosed) throw new Error('a quote is not closed');
  reader.at = end;
  return text;
}
