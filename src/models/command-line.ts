import type { StopReason, Usage } from '../core/chat.ts';
import { createFailure, type Failure, type FailureKind } from '../core/failure.ts';
import { excerpt } from '../wire/excerpt.ts';

/** How one headless program is called and how its answer is read. */
export interface CommandLine {
  readonly name: string;
  /** What to do when it is missing, or too old for the arguments. */
  readonly install: string;
  /** What to do when it is not signed in. */
  readonly signIn: string;
  /** Variables that override the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The prompt goes to standard input; `systemFile` contains the system text. */
  args(systemFile: string): readonly string[];
  /** Undefined when the output is neither an answer nor an error of the program. */
  decode(stdout: string): CommandReply | Failure | undefined;
}

interface CommandReply {
  readonly id: string | undefined;
  readonly model: string;
  readonly text: string;
  readonly stop: StopReason;
  readonly usage?: Usage;
}

const SIGNS: readonly (readonly [RegExp, FailureKind])[] = [
  [
    /not logged in|please run \/login|log ?in again|invalid api key|\b401\b|unauthorized|authentication/i,
    'unauthorized',
  ],
  [/usage limit|limit reached|hit your limit|rate limit|\b429\b/i, 'rate-limited'],
  [/overloaded|\b529\b|\b503\b/i, 'overloaded'],
  [/unable to connect|connection (refused|failed)|stream disconnected|network/i, 'unreachable'],
];

/** The program's error in its own words, with advice when it is not signed in. */
export function describeComplaint(line: CommandLine, output: string, kind?: FailureKind): Failure {
  const text = excerpt(output);
  const found = kind ?? SIGNS.find(([sign]) => sign.test(text))?.[1] ?? 'upstream-error';
  const message = `${line.name}: ${text === '' ? 'failed without an error message' : text}`;
  if (found !== 'unauthorized') return createFailure(found, message);
  return createFailure(found, `${message} (${line.signIn})`);
}
