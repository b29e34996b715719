import type { StoredOwnerKey } from '../config/owner-key.ts';
import { type CommandContext, CommandError, EXIT } from './context.ts';

const isInteractive = ({ stdin, stderr, printer }: CommandContext): boolean =>
  stdin.isTTY === true && stderr.isTTY === true && !printer.json;

/**
 * Asks the person at the terminal to confirm what gives the agent more influence or more freedom. No flag replaces the
 * answer: an agent with a shell can add a flag. Throws `CommandError` when there is no terminal, or when the answer is no.
 */
export async function confirmOwner(context: CommandContext, question: string): Promise<void> {
  if (!isInteractive(context)) {
    throw new CommandError(
      EXIT.failed,
      `${question} Only a person at a terminal can confirm this.`,
      'run the same command in a terminal, without --json',
    );
  }
  const { confirm } = await import('@clack/prompts');
  const agreed = await confirm({
    message: question,
    initialValue: false,
    input: context.stdin,
    output: context.stderr,
  });
  if (agreed !== true) throw new CommandError(EXIT.failed, 'not confirmed; nothing was changed');
}

/** A protected owner key, with the passphrase of the person at the terminal. */
export async function askForOwnerKey(context: CommandContext, owner: StoredOwnerKey): Promise<string> {
  if (owner.protection !== 'passphrase') return owner.unlock('');
  return owner.unlock(await askPassphrase(context, 'Passphrase of the owner key'));
}

export async function askPassphrase(context: CommandContext, message: string): Promise<string> {
  if (!isInteractive(context)) {
    throw new CommandError(
      EXIT.failed,
      'the owner key is protected by a passphrase, and there is no terminal to ask for it',
      'run the same command in a terminal, without --json',
    );
  }
  const { password } = await import('@clack/prompts');
  const given = await password({ message, input: context.stdin, output: context.stderr });
  if (typeof given !== 'string') throw new CommandError(EXIT.failed, 'no passphrase was given');
  return given;
}
