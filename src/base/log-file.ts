import { asArray, asObject, asString, type Json, type JsonObject, parseJson } from '../core/json.ts';
import { openRotatingFile, type RotatingFile } from './rotating-file.ts';

const MAX_BYTES = 10 * 1024 * 1024;
/** How many files `instar status --log` finds at most. */
export const LOG_FILES = 5;

/**
 * The log file of a home, for `instar status --log`: JSON lines that were redacted before. An erased session cannot be found in
 * it again, so it gets none of a conversation's words: see `toKeptLine`.
 */
export function openLogFile(file: string, onFault: (error: Error) => void): RotatingFile {
  const rotating = openRotatingFile({
    file,
    maxBytes: MAX_BYTES,
    files: LOG_FILES,
    onFault,
    describeLoss: (lines) =>
      `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines, msg: 'log lines are missing here: the log file could not be written' })}\n`,
  });
  return {
    write: (line) => {
      const kept = toKeptLine(line);
      if (kept !== undefined) rotating.write(kept);
    },
    close: rotating.close,
  };
}

/** Failures whose text is Instar's own. The text of any other may be a provider's, which may quote the request. */
const OWN_WORDS: readonly unknown[] = ['unreachable', 'timeout', 'aborted'];
/** A provider's text; the beginning of a text that is not JSON. */
const QUOTING_ERRORS: readonly unknown[] = ['ModelError', 'SyntaxError'];

/**
 * A log line without words of a conversation: not what a provider said of a failed turn or job, not the names and reasons of
 * drafted lessons, no debug lines, which quote drafts. Undefined for a line that is not kept at all.
 */
export function toKeptLine(line: string): string | undefined {
  const { message, judgements, err, why, ...fields } = asObject(parseJson(line));
  if (fields.level === 'debug') return undefined;
  const kept: JsonObject = {
    ...fields,
    // Why a job failed may be a provider's text; the record has it: `instar schedule`.
    ...(why !== undefined && fields.job === undefined ? { why } : {}),
    ...(message !== undefined && OWN_WORDS.includes(fields.failure) ? { message } : {}),
    ...(judgements === undefined ? {} : { judgements: asArray(judgements).map(withoutReasons) }),
    ...(err === undefined ? {} : { err: withoutQuotes(err) }),
  };
  return `${JSON.stringify(kept)}\n`;
}

function withoutReasons(judgement: Json): Json {
  const { lesson = null, outcome = null } = asObject(judgement);
  return { lesson, outcome };
}

/** The first lines of a stack repeat the message. */
function withoutQuotes(error: Json): Json {
  const { message, cause, stack, ...rest } = asObject(error);
  const frames = asString(stack)?.match(/^ {4}at .*/gm) ?? [];
  const isQuoting = QUOTING_ERRORS.includes(rest.type);
  return {
    ...rest,
    message: isQuoting
      ? `(not kept: the text of a ${String(rest.type)} may quote a conversation)`
      : (message ?? ''),
    ...(cause === undefined || isQuoting ? {} : { cause }),
    stack: frames.join('\n'),
  };
}
