import type { ChatMessage, Usage } from '../../core/chat.ts';
import type { AttemptOrder } from '../../core/practice.ts';
import { runAgent } from '../agent.ts';
import type { Workspace } from '../sandbox/workspace.ts';
import { createConfinedAgentShell, createPlainAgentShell, type Shell } from '../shell.ts';
import { faultOf, isTooLong, type MadeAttempt } from './attempt-parts.ts';
import { makerOf, speakerOf, spendingOfReplies } from './attempt-speaker.ts';
import { openingOf } from './reasoning.ts';
import type { WatchedModel } from './watched-model.ts';

/** The longest run of one command. */
const COMMAND_MS = 120_000;

export interface WorkspaceAttemptOptions {
  /** Replies of the model for one message of the user; 30 by default. */
  readonly steps?: number;
  /** Folders of the host that commands may read, such as tools. */
  readonly readable?: readonly string[];
}

export interface AttemptWorkspace {
  readonly workspace: Workspace;
  /** Whether this machine confines commands; if not, the built-in commands work on files. */
  readonly isConfined: boolean;
}

/** An attempt of our own agent in a folder of its own. */
export async function attemptInWorkspace(
  order: AttemptOrder,
  watched: WatchedModel,
  { workspace, isConfined, steps = 30, readable = [] }: WorkspaceAttemptOptions & AttemptWorkspace,
  signal: AbortSignal,
): Promise<MadeAttempt> {
  const { task, temperature } = order;
  const { model } = watched;
  const shell: Shell = isConfined
    ? createConfinedAgentShell(workspace, { timeoutMs: COMMAND_MS, readable })
    : createPlainAgentShell(workspace);
  const opening = openingOf(task);
  const prompts = [task.prompt, ...(task.followUps ?? [])];
  let history: readonly ChatMessage[] = opening.slice(0, -1);
  let output = '';
  const replies: { readonly usage?: Usage; readonly policy?: string }[] = [];
  const made = (more: Partial<MadeAttempt> = {}): MadeAttempt => ({
    by: makerOf(model, replies),
    output,
    messages: history,
    used: spendingOfReplies(model, watched.calls(), replies),
    ...more,
  });
  for (const [at, prompt] of prompts.entries()) {
    const run = await runAgent({
      speak: watched.speak,
      speaker: speakerOf(order, at + 1 === prompts.length),
      model: model.model,
      system: task.system ?? '',
      history,
      prompt,
      shell,
      limits: {
        steps,
        temperature: model.temperature ?? temperature,
        ...(model.maxTokens === undefined ? {} : { maxTokens: model.maxTokens }),
      },
      signal,
    });
    history = run.messages;
    replies.push(...run.turns);
    if (run.answer !== '') output = run.answer;
    const refused = run.commands.find((command) => command.refused !== undefined)?.refused;
    if (refused !== undefined && run.commands.every((command) => command.refused !== undefined))
      return made({ fault: { why: `no command could be run: ${refused}`, isLasting: true } });
    if (run.end === 'failed' && run.failure !== undefined)
      return run.steps > 0 && isTooLong(run.failure)
        ? made({ remarks: ['the conversation became longer than the model can read'] })
        : made({ fault: faultOf(run.failure) });
    if (run.end === 'aborted') return made();
    if (run.end === 'steps') return made({ remarks: [`it was stopped after ${steps} steps`] });
  }
  return made();
}
