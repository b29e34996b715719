import type { CheckedWork, RuleCheck, SlowTest } from '../../core/check.ts';
import { type Ask, addCost, type Cost, NO_COST } from '../../core/learn.ts';
import type { VerifiedWorkspace } from '../../core/verifier.ts';
import { judgeRule } from '../../evidence/judge/quoting-judge.ts';
import { createCommandVerifier } from '../../evidence/verifiers/command-verifier.ts';
import type { AskSlowTest } from '../../lessons/checks/run-check.ts';
import { hasPersonsCommand, sandboxFiles } from './sandbox-files.ts';

/** A folder of the sandbox of practice with these files, by path. Rejects when it cannot be made. */
export type OpenSandbox = (
  files: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<VerifiedWorkspace & { dispose(): Promise<void> }>;

interface SlowTestParts {
  /** Absent: no command is run here. */
  readonly sandbox?: OpenSandbox | undefined;
  /** Absent: no model is asked. */
  readonly ask?: Ask | undefined;
  readonly signal: AbortSignal;
}

interface SlowTests {
  readonly ask: AskSlowTest;
  cost(): Cost;
  /** Why a test could not be asked although it could be later. */
  fault(): string | undefined;
}

const USUAL_TIMEOUT_MS = 20_000;
const OUTPUT_BYTES = 64 * 1024;

/** Answers the tests of checks that need a process or a model. */
export function createSlowTests({ sandbox, ask, signal }: SlowTestParts): SlowTests {
  let cost = NO_COST;
  let fault: string | undefined;
  const judge = async (test: SlowTest & { readonly is: 'judge' }, check: RuleCheck, work: CheckedWork) => {
    if (ask === undefined) {
      fault = 'no model may be asked';
      return UNDECIDED;
    }
    const answer = await judgeRule(ask, test.asks, toQuote(check, work), signal);
    cost = addCost(cost, answer.cost);
    if (!answer.ok && answer.isRetryable) fault = answer.why;
    if (!answer.ok || answer.value.says === 'nothing') return UNDECIDED;
    const { says, quote } = answer.value;
    return says === 'keeps' ? YES : ({ answer: 'no', quote } as const);
  };
  const run = async (test: SlowTest & { readonly is: 'command' }, check: RuleCheck, work: CheckedWork) => {
    const files = hasPersonsCommand(check) ? sandboxFiles(work) : undefined;
    if (files === undefined || sandbox === undefined) return UNDECIDED;
    const workspace = await sandbox(files, signal).catch(() => undefined);
    if (workspace === undefined) return UNDECIDED;
    try {
      const { command, timeoutMs = USUAL_TIMEOUT_MS } = test;
      const verify = createCommandVerifier({ command, timeoutMs, outputBytes: OUTPUT_BYTES });
      const graded = await verify({ task: work.request, output: work.reply, domain: '', workspace }, signal);
      if (graded.status !== 'ok') return UNDECIDED;
      return graded.reward === 1 ? YES : ({ answer: 'no', quote: graded.reasons.join('; ') } as const);
    } finally {
      await workspace.dispose();
    }
  };
  return {
    ask: async (test, check, work) => {
      if (signal.aborted) return UNDECIDED;
      return test.is === 'judge' ? judge(test, check, work) : run(test, check, work);
    },
    cost: () => cost,
    fault: () => fault,
  };
}

const UNDECIDED = { answer: 'undecided' } as const;
const YES = { answer: 'yes' } as const;

/** The parts of the work that the check looks at. */
function toQuote({ looksAt }: RuleCheck, { request, reply, files, commands }: CheckedWork) {
  const has = (part: RuleCheck['looksAt']): boolean => looksAt === part || looksAt === 'work';
  return {
    request,
    parts: [
      ...(has('reply') ? [{ label: 'the reply', text: reply }] : []),
      ...(has('files') ? files.map(({ path, text }) => ({ label: `the file ${path}`, text })) : []),
      ...(has('commands') ? [{ label: 'the commands', text: commands.join('\n') }] : []),
    ],
  };
}
