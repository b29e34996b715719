import type { Clock } from '../../core/clock.ts';
import { JUDGE_SUBJECT } from '../../core/fact.ts';
import type { Ask } from '../../core/learn.ts';
import type { Records } from '../../core/store.ts';
import { type IdentityRuling, identityTest, judgeIdentity } from '../../evidence/judge/identity-judge.ts';
import type { DatedTest } from '../../evidence/judge/judge-test.ts';

/** Says how far replies keep lines. `model` is its source, for the record. */
export interface IdentityJudge {
  readonly model: string;
  /** Undefined when it has no answer. */
  rule(reply: JudgedReply, signal: AbortSignal): Promise<IdentityRuling | undefined>;
}

interface JudgedReply {
  /** The lines of the identity that the reply should keep. */
  readonly lines: readonly string[];
  readonly task: string;
  readonly reply: string;
  /** The sessions that the task comes from: an answer about their words is erased with them. */
  readonly sessions: readonly string[];
}

interface IdentityJudgeOptions {
  /** The judge model; its answers about a session's words are erased with the session. */
  readonly model: string;
  readonly askAbout: (sessions: readonly string[]) => Ask | undefined;
  /** Whether the words of a session may be shown to it. */
  readonly mayAsk: (session: string) => Promise<boolean>;
  readonly records: Pick<Records, 'events' | 'append'>;
  readonly clock: Clock;
}

/**
 * A judge of identities, after it graded planted replies: one that calls broken lines kept is off, and undefined. The test is a
 * fact, and is made once for a model.
 */
export async function openIdentityJudge(
  { model, askAbout, mayAsk, records, clock }: IdentityJudgeOptions,
  signal: AbortSignal,
): Promise<IdentityJudge | undefined> {
  let known: DatedTest | undefined;
  for (const stored of await records.events(JUDGE_SUBJECT)) known = identityTest.fold(known, stored);
  if (identityTest.isDue(known, model, clock.now())) {
    const ask = askAbout([]);
    const end = ask && (await identityTest.run(ask, model, signal));
    if (end?.ok !== true) return undefined;
    const at = Math.round(clock.now());
    await records.append([{ at, fact: end.test }]);
    known = { test: end.test, at };
  }
  if (known?.test.isPassed !== true) return undefined;
  return {
    model,
    rule: async ({ lines, task, reply, sessions }, stop) => {
      const ask = askAbout(sessions);
      if (ask === undefined || lines.length === 0) return undefined;
      for (const session of sessions) if (!(await mayAsk(session))) return undefined;
      return judgeIdentity(ask, { lines, task, reply }, stop);
    },
  };
}
