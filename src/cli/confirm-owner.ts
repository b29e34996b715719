import type { StoredOwnerKey } from '../config/owner-key.ts';
import { type CommandContext, failure } from './context.ts';

/** Whether a person can be asked: questions go to standard error, so that `--json` does not matter. */
export const isAtTerminal = ({ stdin, stderr }: CommandContext): boolean =>
  stdin.isTTY === true && stderr.isTTY === true;

/**
 * Asks the person at the terminal to confirm what gives the agent more influence or more freedom. No flag replaces the
 * answer: an agent with a shell can add a flag. Throws `CommandError` when there is no terminal, or when the answer is no.
 */
export async function confirmOwner(context: CommandContext, question: string): Promise<void> {
  if (!isAtTerminal(context)) {
    throw failure(
      `${question.split('\n', 1)[0]?.replace(/ It says:$/, '')} Only a person at a terminal can confirm this.`,
      'run the same command in a terminal',
    );
  }
  if (!(await askOwner(context, question))) throw failure('not confirmed; nothing was changed');
}

/** The answer of the person at the terminal. */
export async function askOwner(
  context: CommandContext,
  question: string,
  initialValue = false,
): Promise<boolean> {
  const { confirm } = await import('@clack/prompts');
  const { stdin: input, stderr: output } = context;
  return (await confirm({ message: question, initialValue, input, output })) === true;
}

/** A protected owner key, with the passphrase of the person at the terminal. */
export async function askForOwnerKey(context: CommandContext, owner: StoredOwnerKey): Promise<string> {
  if (owner.protection !== 'passphrase') return owner.unlock('');
  return owner.unlock(await askPassphrase(context, 'Passphrase of the owner key'));
}

export async function askPassphrase(context: CommandContext, message: string): Promise<string> {
  if (!isAtTerminal(context)) {
    throw failure(
      'the owner key is protected by a passphrase, and there is no terminal to ask for it',
      'run the same command in a terminal',
    );
  }
  const { password } = await import('@clack/prompts');
  const given = await password({ message, input: context.stdin, output: context.stderr });
  if (typeof given !== 'string') throw failure('no passphrase was given');
  return given;
}
