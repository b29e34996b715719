import { planUpgrade, type UpgradePlan, type UpgradeResult, upgradeHome } from '../api/upgrade-home.ts';
import { HomeInUseError, homeAt } from '../config/home.ts';
import { plural } from '../text/phrases.ts';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  failure,
} from './context.ts';
import type { Printer } from './print.ts';
import { refuseWhileRunning } from './up-checks.ts';

export const declareUpgrade: DeclareCommand = (command, act) =>
  void command
    .option('--plan', 'only say what would be done')
    .option(
      '--all',
      'print every change since the version that last ran, not only the newest release’s summary',
    )
    .option('--no-backup', 'change the format without a copy; for a disk without room for one')
    .addHelpText(
      'after',
      '\nRun it after installing a new version, before "instar up". The record is copied\nto snapshots/before-upgrade in the home before its format changes. The copy\nstays until you delete it. "instar up" makes the same copy, and does not start\nwhen it cannot. Without room on the disk: copy instar.sqlite to another disk\nwhile nothing runs, then use --no-backup.\n\nExamples:\n  $ instar upgrade --plan\n  $ instar upgrade\n',
    )
    .action(act(upgrade));

interface UpgradeFlags {
  readonly plan?: true;
  readonly all?: true;
  readonly backup: boolean;
}

const upgrade = async (flags: UpgradeFlags, context: CommandContext): Promise<ExitCode> => {
  const { printer, env } = context;
  const home = homeAt(context.homeDir);
  try {
    const plan = planUpgrade(home, env);
    if (!printer.json) printPlan(printer, plan, flags.all === true);
    if (flags.plan) {
      printer.document(plan);
      return EXIT.ok;
    }
    if (plan.configProblem !== undefined)
      throw failure(
        plan.configProblem,
        'correct the config first; nothing was changed. Check it with: instar config check',
      );
    await refuseWhileRunning(home);
    const result = plan.from === undefined ? {} : upgradeHome(home, plan, env, flags.backup);
    printer.document({ ...plan, ...result });
    printResult(printer, plan, result);
    if (result.damage === undefined || result.damage.length === 0) return EXIT.ok;
    throw failure(
      `the record has ${plural(result.damage.length, 'damaged place')}: ${result.damage[0]}`,
      'see: instar doctor',
    );
  } catch (error) {
    if (error instanceof HomeInUseError)
      throw new CommandError(EXIT.homeTaken, error.message, 'stop it first: instar stop');
    throw error;
  }
};

function printPlan(printer: Printer, plan: UpgradePlan, isAll: boolean): void {
  const { from, to, releases, record } = plan;
  if (from === undefined) {
    printer.line(`Nothing has run on this home yet; Instar ${to} needs no upgrade.`);
    return;
  }
  printer.line({ text: from === to ? `Instar ${to}` : `Instar ${from} → ${to}`, style: 'bold' });
  for (const { version, date, intro, changes } of releases) {
    printer.line('');
    printer.line({ text: `${version} (${date})`, style: 'bold' });
    if (intro !== '') printer.line(intro);
    for (const [title, lines] of Object.entries(changes)) {
      printer.line({ text: `${title}: ${lines.length}`, style: 'dim' });
      if (isAll) for (const line of lines) printer.line(`- ${line}`);
    }
  }
  if (releases.length > 0) printer.line('');
  if (releases.length > 0 && !isAll) printer.line('Every change: instar upgrade --plan --all');
  printer.fields([
    ['record', recordWords(record)],
    ['config', plan.configProblem ?? configWords(plan)],
  ]);
  for (const warning of plan.removedSettings) printer.line(`- ${warning}`);
}

const configWords = ({ removedSettings }: UpgradePlan): string =>
  removedSettings.length === 0
    ? 'can be used as it is'
    : `${plural(removedSettings.length, 'setting')} of an earlier version will be taken out of the file:`;

function recordWords(record: UpgradePlan['record']): string {
  if (record.is === 'none') return 'nothing is recorded yet';
  if (record.is === 'postgres')
    return 'in PostgreSQL: the first Instar that starts changes its tables, under a lock; back the server up before';
  if (record.format === record.newFormat) return `format ${record.format}, as this version writes it`;
  const before = record.format === 0 ? 'an older or interrupted file' : `format ${record.format}`;
  return `${before}; becomes format ${record.newFormat}, after a backup`;
}

function printResult(printer: Printer, { isMigration, from }: UpgradePlan, result: UpgradeResult): void {
  if (from === undefined) return;
  if (result.backup !== undefined) printer.line(`Backup written to ${result.backup}.`);
  if (result.oldConfig !== undefined) printer.line(`The config as it was: ${result.oldConfig}.`);
  if (!isMigration && result.oldConfig === undefined) printer.line('There was nothing to change.');
  else if (isMigration) printer.line(`Upgraded: ${plural(result.facts ?? 0, 'fact')}, all of them checked.`);
  printer.line('Start it with: instar up');
}
