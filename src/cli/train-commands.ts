import { type Command, InvalidArgumentError } from 'commander';
import type { Act } from './record-commands.ts';

/** The commands about weights. */
export function addTrainCommands(program: Command, act: Act): void {
  const train = program.command('train').description('The weights of your own policy, and their training.');
  train
    .command('status')
    .description('Show the engine, which weights serve and which are on trial, and what may be trained on.')
    .addHelpText('after', '\nExample:\n  $ instar train status --json\n')
    .action(act(async () => (await import('./train.ts')).trainStatus));
  train
    .command('run')
    .option('--steps <n>', 'training steps (default: train.steps)', parseSteps)
    .description('Train now, then measure against what serves; Ctrl-C pauses.')
    .addHelpText('after', '\nExample:\n  $ instar train run --steps 20\n')
    .action(act(async () => (await import('./train.ts')).trainRun));
  train
    .command('promote')
    .description('Move the weights on trial one stage on: candidate to canary, canary to live.')
    .action(act(async () => (await import('./train.ts')).promoteWeights));
  train
    .command('rollback')
    .description('End the trial; when nothing is on trial, serve what served before.')
    .action(act(async () => (await import('./train.ts')).rollBackWeights));
}

function parseSteps(text: string): number {
  if (!/^[1-9]\d{0,3}$|^10000$/.test(text)) throw new InvalidArgumentError('Give a number from 1 to 10000.');
  return Number(text);
}
