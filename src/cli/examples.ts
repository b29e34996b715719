import { EventEmitter } from 'node:events';
import type { Command } from 'commander';
import { commandLine } from './usage.ts';

/** Examples for the help of commands that have no text of their own after it. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  keys: ['instar keys list', 'instar keys create ci-agent'],
  'keys list': ['instar keys list'],
  'keys revoke': ['instar keys revoke ci-agent'],
  'keys protect': ['instar keys protect --passphrase'],
  'keys audit': ['instar keys audit'],
  config: ['instar config confirm'],
  'config confirm': ['instar config confirm'],
  'config reload': ['instar config reload'],
  'config path': ['instar config path'],
  service: ['instar service install', 'instar service status'],
  'service install': ['instar service install'],
  'service remove': ['instar service remove'],
  'service status': ['instar service status'],
  store: ['instar store migrate postgres://instar@localhost/instar'],
  learning: ['instar learning status', 'instar learning off'],
  'learning status': ['instar learning status'],
  'learning on': ['instar learning on'],
  'learning off': ['instar learning off'],
  sessions: ['instar sessions list', 'instar sessions show SESSION'],
  'sessions list': ['instar sessions list', 'instar sessions list --json', 'instar sessions list --practice'],
  'sessions show': ['instar sessions show SESSION'],
  'sessions erase': ['instar sessions erase SESSION --yes'],
  feedback: ['instar feedback TURN --score -1 --note "use ISO dates"'],
  export: ['instar export trajectories --out sessions.jsonl'],
  identity: ['instar identity show', 'instar identity approve AGENT --unmeasured'],
  'identity show': ['instar identity show'],
  'identity diff': ['instar identity diff AGENT'],
  'identity history': ['instar identity history AGENT'],
  'identity approve': ['instar identity approve AGENT soul-free --unmeasured'],
  'identity practise': ['instar identity practise AGENT soul-guarded-revised'],
  'identity reflect': ['instar identity reflect'],
  'identity reject': ['instar identity reject AGENT soul-free'],
  'identity rollback': ['instar identity rollback AGENT soul-free --to 1'],
  lessons: ['instar lessons list', 'instar lessons show iso-dates'],
  'lessons list': ['instar lessons list', 'instar lessons list --json'],
  'lessons show': ['instar lessons show iso-dates'],
  'lessons why': ['instar lessons why TURN'],
  'lessons review': ['instar lessons review'],
  'lessons approve': ['instar lessons approve iso-dates'],
  'lessons reject': ['instar lessons reject iso-dates'],
  'lessons retire': ['instar lessons retire iso-dates'],
  'lessons always': ['instar lessons always iso-dates', 'instar lessons always iso-dates --off'],
  'lessons pin': ['instar lessons pin iso-dates'],
  'lessons freeze': ['instar lessons freeze iso-dates'],
  'lessons consolidate': ['instar lessons consolidate --plan', 'instar lessons consolidate'],
  'lessons restore': ['instar lessons list --archived', 'instar lessons restore iso-dates'],
  'lessons export': ['instar lessons export ./skills', 'instar lessons export . --for claude-code'],
  'lessons transfer': ['instar lessons transfer --plan', 'instar lessons transfer LESSON --to AGENT'],
  generations: ['instar generations list', 'instar generations rollback 3'],
  'generations list': ['instar generations list'],
  'generations diff': ['instar generations diff 3 5'],
  'generations rollback': ['instar generations rollback 3'],
  adapt: ['instar adapt candidates'],
  'adapt events': ['instar adapt events'],
  'adapt candidates': ['instar adapt candidates --json'],
  'adapt overlays': ['instar adapt overlays --agent builder'],
  'adapt approve': ['instar adapt approve limit-builder-repeated-retry'],
  'adapt reject': ['instar adapt reject limit-builder-repeated-retry'],
  'adapt retire': ['instar adapt retire limit-builder-repeated-retry'],
  practice: ['instar practice status', 'instar practice run --tasks 10'],
  'practice status': ['instar practice status'],
  'practice plan': ['instar practice plan --kind initial --domain code'],
  'practice run': ['instar practice run --tasks 10'],
  'practice stop': ['instar practice stop'],
  'practice report': ['instar practice report --out practice.html'],
  'practice tasks': ['instar practice tasks list', 'instar practice tasks add tasks.jsonl'],
  'practice tasks list': ['instar practice tasks list'],
  'practice tasks show': ['instar practice tasks show TASK'],
  'practice tasks add': ['instar practice tasks add tasks.jsonl'],
  'practice tasks exclude': ['instar practice tasks exclude TASK'],
  train: ['instar train status', 'instar train run --steps 20'],
  'train promote': ['instar train promote'],
  'train rollback': ['instar train rollback'],
  schedule: ['instar schedule status', 'instar schedule next'],
  'schedule next': ['instar schedule next'],
  'schedule suggest': ['instar schedule suggest'],
  'schedule connect': ['instar schedule connect'],
  bench: ['instar bench list', 'instar bench run workdays --seeds 3'],
  'bench list': ['instar bench list'],
  'bench report': ['instar bench report RUN'],
  engine: ['instar engine up --port 4700'],
};

/** Adds an example to the help of a command and of its subcommands, where they have none. */
export function addExamples(command: Command): void {
  const lines = EXAMPLES[commandLine(command).replace(/^instar /, '')];
  if (lines !== undefined && !hasOwnText(command)) {
    const title = lines.length === 1 ? 'Example' : 'Examples';
    command.addHelpText('after', `\n${title}:\n${lines.map((line) => `  $ ${line}\n`).join('')}`);
  }
  for (const one of command.commands) addExamples(one);
}

const hasOwnText = (command: Command): boolean =>
  command instanceof EventEmitter && command.listenerCount('afterHelp') > 0;
