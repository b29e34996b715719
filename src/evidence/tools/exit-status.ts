import { headLines, tailLines } from '../../text/lines.ts';

/*
 * The ways in which agents' tools print how a command ended, each with where it was seen: in the source of that client, in its
 * recorded requests, or in a transcript. `assumed` forms were seen nowhere: they are near to those that were. `N` stands for the
 * number. A row counts only as a whole line, and only at the start or at the end of a result: in between it is
 * something that the command printed.
 */
const AT_START: readonly (readonly [form: string, seenIn: string])[] = [
  ['Exit code:? N', 'Claude Code, Codex (shell), Roo Code'],
  ['Process exited with code N', 'Codex (exec_command)'],
  ['\\[Command exited with code N\\]', 'OpenClaw'],
  [
    '<(?:returncode|return_code|exit_code|exit-code|exitcode)>\\s*N\\s*</[\\w-]{1,20}>',
    'mini-SWE-agent, BashOutput of Claude Code',
  ],
  ["Command executed in terminal within working directory '.{1,400}'\\. Exit code: N", 'Roo Code'],
  ['Command `.{1,400}` executed with exit code N\\.?', 'OpenHands'],
  ['(?:Error executing tool \\w{1,40}: )?Error \\(exit code N\\):.{0,2000}', 'Continue'],
  ['(?:\\[FAIL\\] )?Command failed \\(exit code:? N\\)', 'a program that shortens output for agents'],
  ['Command (?:failed|exited|finished|completed) with (?:exit )?(?:code|status):? N[.:]?', 'Continue'],
  ['(?:exit[_ ]?code|exit[_ ]?status|return[_ ]?code|rc)\\s{0,2}[:=]\\s{0,2}N', 'assumed'],
  ['\\[exit(?:[_ ]?code)?\\]?:? N\\]?', 'a transcript of an unnamed agent'],
];
const AT_END: readonly (readonly [form: string, seenIn: string])[] = [
  ['[([]?Command (?:exited|failed) with (?:exit )?code N\\.?[)\\]]?', 'pi, goose, OpenClaw'],
  [
    '\\[(?:The )?[Cc]ommand (?:completed|finished) with exit code N\\.?(?: CTRL\\+\\w was sent\\.)?\\]',
    'OpenHands, SWE-agent',
  ],
  ['Exit Code: N', 'Gemini CLI'],
  ['[([]?exit[_ ]code:? N[)\\]]?', 'goose (ACP), an unnamed agent'],
  ['<(?:returncode|return_code|exit_code|exit-code|exitcode)>\\s*N\\s*</[\\w-]{1,20}>', 'assumed'],
  ['\\[exit(?:[_ ]?code)?\\]?:? N\\]?', 'a transcript of an unnamed agent'],
  ['exit status N', 'Go programs, about a child of theirs'],
];
/** A process that a signal ended has no exit code; shells call it 128 and the signal's number. */
const SIGNALS: Readonly<Record<string, number>> = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  ILL: 4,
  TRAP: 5,
  ABRT: 6,
  BUS: 7,
  FPE: 8,
  KILL: 9,
  SEGV: 11,
  PIPE: 13,
  ALRM: 14,
  TERM: 15,
};
const SIGNALLED =
  /^(?:Signal: |Process terminated by signal |(?:Command|Process) (?:was )?(?:killed|terminated) by (?:signal )?)(?:SIG)?([A-Z]{2,5}|\d{1,2})(?: - core dump possible)?\.?$/;

const DIGITS = '(-?\\d{1,5})';
const compile = (rows: typeof AT_START): readonly RegExp[] =>
  rows.map(([form]) => new RegExp(`^(?:${form.replace('N', DIGITS)})$`, 'i'));
const START = compile(AT_START);
const END = compile(AT_END);
/** Go prints this about a child process, and so does every log of such a run. */
const CHILD = /^exit status /i;

const FIRST = 6;
const LAST = 5;

/**
 * The exit code of a shell result; undefined when it does not name one. `isShown`: the output is existing content, such as a
 * log, which may end with the words of another run.
 */
export function readExitCode(text: string, isShown = false): number | undefined {
  for (const line of headLines(text, FIRST)) {
    const code = codeIn(line.trim(), START);
    if (code !== undefined) return code;
  }
  for (const line of tailLines(text, LAST).toReversed()) {
    const found = line.trim();
    const code = isShown && CHILD.test(found) ? undefined : (codeIn(found, END) ?? signalIn(found));
    if (code !== undefined) return code;
  }
  return undefined;
}

function codeIn(line: string, forms: readonly RegExp[]): number | undefined {
  for (const form of forms) {
    const digits = form.exec(line)?.[1];
    if (digits !== undefined) return Number(digits);
  }
  return undefined;
}

function signalIn(line: string): number | undefined {
  const name = SIGNALLED.exec(line)?.[1];
  if (name === undefined) return undefined;
  const number = SIGNALS[name] ?? Number(name);
  return Number.isInteger(number) ? 128 + number : undefined;
}
