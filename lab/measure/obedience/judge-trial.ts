import { createWorkspace } from '../../../src/agent/sandbox/workspace.ts';
import { readNanoReply } from '../../../train/nano/policy/nano-template.ts';
import type { NanoTokenizer } from '../../../train/nano/policy/tokenizer.ts';
import type { Trial } from './make-trials.ts';

/** How a reply did in a trial. */
export interface Outcome {
  /** Ids of the trial's rules that were obeyed. */
  readonly obeyed: readonly string[];
  /** The task was done, apart from the rules. */
  readonly isDone: boolean;
  readonly isComplete: boolean;
  readonly text: string;
}

/** Carries out a reply in a workspace of its own and judges it with the suite's checks. */
export async function judgeTrial(
  { question, rules }: Trial,
  tokens: Iterable<number>,
  tokenizer: NanoTokenizer,
): Promise<Outcome> {
  const reply = readNanoReply(tokens, tokenizer);
  if (reply.is !== 'act')
    return {
      obeyed: [],
      isDone: false,
      isComplete: false,
      text: reply.is === 'say' ? reply.text : 'foreign',
    };
  const workspace = await createWorkspace();
  try {
    for (const { path, before } of question.plan.edits) await workspace.write(path, before);
    await workspace.runPlain(reply.commands.filter((line) => line !== 'done').join('\n'), {});
    const { broken, isDone = false, passed } = await question.check(workspace, new AbortController().signal);
    return {
      obeyed: rules.map(({ id }) => id).filter((id) => !broken.includes(id)),
      isDone,
      isComplete: passed,
      text: reply.commands.join('\n'),
    };
  } finally {
    await workspace.dispose();
  }
}
