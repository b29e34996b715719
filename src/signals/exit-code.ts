import { headLines, tailLines } from './lines.ts';

const DIGITS = '(-?\\d{1,5})';
/** Claude Code, Codex and Gemini print the exit code before the output, … */
const BEFORE = new RegExp(
  `^(?:Exit code:? ${DIGITS}|Process exited with code ${DIGITS}|\\[Command exited with code ${DIGITS}\\])$`,
);
/** … pi, OpenClaw, Gemini and plain programs after it. */
const AFTER = new RegExp(
  `^(?:[([]?Command (?:exited|failed) with (?:exit )?code ${DIGITS}\\.?[)\\]]?|Exit Code: ${DIGITS}|exit status ${DIGITS})$`,
);
/** Go prints this about a child process, and so does every log of such a run. */
const CHILD = /^exit status /;

/**
 * The exit code of a shell result: alone on a line, at the start or at the end of the text. One in between is part of
 * the command's output. `isShown`: the output is existing content, such as a log.
 */
export function readExitCode(text: string, isShown = false): number | undefined {
  for (const line of headLines(text, 4)) {
    const code = numberIn(BEFORE.exec(line.trim()));
    if (code !== undefined) return code;
  }
  for (const line of tailLines(text, 5).toReversed()) {
    const code = isShown && CHILD.test(line) ? undefined : numberIn(AFTER.exec(line.trim()));
    if (code !== undefined) return code;
  }
  return undefined;
}

function numberIn(match: RegExpExecArray | null): number | undefined {
  const digits = match?.slice(1).find((group) => group !== undefined);
  return digits === undefined ? undefined : Number(digits);
}
