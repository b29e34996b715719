import type { StopReason, Usage } from '../core/chat.ts';
import { createFailure, type Failure, type FailureKind } from '../core/failure.ts';
import { excerpt } from '../wire/excerpt.ts';

/** How one headless program is asked and how its answer is read. */
export interface CommandLine {
  readonly name: string;
  /** What to do when it is not there, or too old for the arguments. */
  readonly install: string;
  /** What to do when it is not signed in. */
  readonly signIn: string;
  /** Set whatever the environment says. */
  readonly env: Readonly<Record<string, string>>;
  /** The prompt goes to standard input; `systemFile` holds the system text. */
  args(systemFile: string): readonly string[];
  /** Undefined when the output is not what the program prints for an answer. */
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

/** What the program says went wrong, in its own words and with the mend that fits. */
export function describeComplaint(line: CommandLine, said: string, kind?: FailureKind): Failure {
  const text = excerpt(said);
  const found = kind ?? SIGNS.find(([sign]) => sign.test(text))?.[1] ?? 'upstream-error';
  const message = `${line.name}: ${text === '' ? 'failed without a word' : text}`;
  if (found !== 'unauthorized') return createFailure(found, message);
  return createFailure(found, `${message} (${line.signIn})`);
}
