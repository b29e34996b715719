import type { Command } from 'commander';
import type { Act } from './record-commands.ts';

/** The commands about when slow work runs. */
export function addScheduleCommands(program: Command, act: Act): void {
  const schedule = program.command('schedule').description('When slow work may run, and why.');
  schedule
    .command('status')
    .description('Show each sign of presence, the state, what runs and what is left of the budget.')
    .addHelpText('after', '\nExample:\n  $ instar schedule status --json\n')
    .action(act(async () => (await import('./schedule.ts')).scheduleStatus));
  schedule
    .command('next')
    .description('Say when the next window opens, and why then.')
    .action(act(async () => (await import('./schedule.ts')).scheduleNext));
  schedule
    .command('suggest')
    .option('--write', 'put it into the config; a copy of the old one (.old) is kept')
    .description('Suggest quiet hours from what was recorded, with the evidence.')
    .action(act(async () => (await import('./schedule.ts')).scheduleSuggest));
  schedule
    .command('connect')
    .description('Let Instar see when your Google calendar is busy; you agree in your browser.')
    .action(act(async () => (await import('./schedule.ts')).scheduleConnect));
}
