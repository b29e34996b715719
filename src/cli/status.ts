import { askStatus, describeRollback, type StatusReport } from '../api/daemon-status.ts';
import { sayWaiting } from '../api/what-waits.ts';
import { homeAt } from '../config/home.ts';
import { describeSettingsState } from '../config/settings-state.ts';
import { asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { localTime, plural, relativeTime } from '../text/phrases.ts';
import {
  type CommandContext,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  expectedError,
  failure,
} from './context.ts';
import { declareLogOptions, LOG_HELP, type LogsOptions, logs } from './logs.ts';
import { dim, type Part, type Printer } from './print.ts';
import { waitingRows } from './say-waiting.ts';
import { printToday } from './today.ts';
import { withApi } from './with-api.ts';

export const declareStatus: DeclareCommand = (command, act) =>
  void declareLogOptions(
    command
      .option('--why', 'everything about it, and what was learned today')
      .option('--log', 'print the log instead, also when Instar does not run'),
  )
    .addHelpText(
      'after',
      `\n${LOG_HELP}\nExamples:\n  $ instar status --why\n  $ instar status --log -f\n  $ instar status --log --level warn --since 2h\n`,
    )
    .action(act(status));

interface StatusOptions extends LogsOptions {
  readonly why?: true;
  readonly log?: true;
}

/** Prints the status of the daemon that serves this home. */
async function status(options: StatusOptions, context: CommandContext): Promise<ExitCode> {
  if (options.log === true) return logs(options, context);
  const { printer } = context;
  const report = await askStatus(homeAt(context.homeDir), context.env);
  if (report === undefined) {
    printer.document({ running: false, fix: 'instar up' });
    printer.line('not running');
    printer.next('start it with: instar up');
    return EXIT.failed;
  }
  if ('what' in report) throw failure(report.what, report.fix);
  const settings = describeSettingsState(report.raw.settings);
  printer.document({ ...report.raw, running: true, ...report.daemon });
  if (options.why === true) {
    showWhole(printer, report);
    for (const { what, fix } of settings)
      printer.note({ text: 'settings ', style: 'yellow' }, `${what} → ${fix}`);
    printer.line('');
    return withApi(context, (apis) => printToday(apis, printer, true)).catch((error: unknown) => {
      const known = expectedError(error);
      if (known === undefined) throw error;
      printer.note(dim(known.message));
      return EXIT.ok;
    });
  } else {
    printer.line(
      { text: 'running', style: 'green' },
      ` at ${report.daemon.url}, since ${since(report.daemon.startedAt)}`,
    );
    printer.table([], summaryRows(report, settings, Date.now()), ([label, text]) => [dim(label), text]);
  }
  return EXIT.ok;
}

interface Step {
  readonly what: string;
  readonly fix: string;
}

/** At most nine rows, the last of which is the one next step. */
function summaryRows(
  report: StatusReport,
  settings: readonly Step[],
  now: number,
): readonly (readonly [string, Part])[] {
  const { providers, raw, counts, recording, waiting } = report;
  const lessons = asObject(asObject(raw.library).lessons);
  const countOf = (state: string): number => asNumber(lessons[state]) ?? 0;
  const inUse = countOf('live') + countOf('trial');
  const undecided = waiting.filter(({ code }) => code === 'needs-approval' || code === 'not-tested');
  const decisions = undecided.reduce((sum, { count }) => sum + (asNumber(count) ?? 1), 0);
  const recorded = recordingState(recording);
  const { models } = asObject(raw.learning);
  const writer = asString(asObject(models).evolver);
  const rest = waiting.filter((one) => !undecided.includes(one) && one.code !== 'session-open');
  const [first] = rest;
  const [setting] = settings;
  return [
    ['model', providers.length === 0 ? NO_PROVIDER : providers.map(({ name }) => name).join(', ')],
    ['served', servedWords(counts)],
    ...(typeof recorded === 'string' ? [] : [['record', recorded] as const]),
    ...(setting === undefined
      ? []
      : [['settings', { text: `${setting.what}${moreThan(settings)}`, style: 'yellow' }] as const]),
    ['learned', learnedWords(asObject(raw.library), inUse)],
    ...(models === undefined ? [] : [['writer', writer ?? 'your own words; no model rewords them'] as const]),
    ...(decisions === 0
      ? []
      : [
          [
            'decide',
            {
              text: `${plural(decisions, 'lesson')} ${decisions === 1 ? 'needs' : 'need'} your decision`,
              style: 'yellow',
            },
          ] as const,
        ]),
    ...(first === undefined ? [] : [['waits', `${sayWaiting(first, now)}${moreThan(rest)}`] as const]),
    ['next', { text: nextStep(report, settings, { decisions, inUse }), style: 'cyan' }],
  ];
}

/** What the row of the first of these adds. */
const moreThan = ({ length }: readonly unknown[]): string =>
  length === 1 ? '' : `; ${length - 1} more: instar status --why`;

const NO_PROVIDER = 'none yet: the built-in toy model answers';

/** How many lessons are in use and how they are kept; of none in use, what ended those that were. */
function learnedWords(library: JsonObject, inUse: number): string {
  const kept = asString(asObject(library.adherence).words);
  if (inUse > 0) return `${plural(inUse, 'lesson')} in use${kept === undefined ? '' : `; ${kept}`}`;
  const [rollback] = describeRollback(library);
  if (rollback !== undefined) return `no lesson is in use: ${rollback}`;
  const retired = asNumber(asObject(library.lessons).retired) ?? 0;
  return retired === 0 ? 'nothing yet' : `no lesson is in use, ${retired} retired: instar lessons list --all`;
}

const servedWords = ({ served, failed = 0, refused = 0, inFlight = 0 }: StatusReport['counts']): string =>
  [
    `${served === undefined ? 'an unknown number of' : served} ${served === 1 ? 'request' : 'requests'}`,
    ...(inFlight > 0 ? [`${inFlight} in progress`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(refused > 0 ? [`${refused} refused`] : []),
  ].join(', ');

/** The one thing to do now. */
function nextStep(
  { providers, counts, recording, waiting }: StatusReport,
  [setting]: readonly Step[],
  { decisions, inUse }: { readonly decisions: number; readonly inUse: number },
): string {
  if (recording.degraded !== undefined || recording.missing !== undefined) return 'instar doctor';
  if (providers.length === 0) return 'instar init  (choose the model that answers your agents)';
  if (setting !== undefined) return setting.fix;
  const urgent = waiting.find(({ code, fix }) => fix !== undefined && URGENT.has(asString(code) ?? ''));
  if (urgent !== undefined) return asString(urgent.fix) ?? '';
  if (decisions > 0) return 'instar lessons review';
  if ((counts.served ?? 0) === 0 && inUse === 0) return 'instar connect  (point an agent at Instar)';
  return 'work on; when an answer is wrong, say so to your agent';
}

const URGENT: ReadonlySet<string> = new Set([
  'store-degraded',
  'database-away',
  'clock-not-believed',
  'learning-stopped',
  'learning-off',
  'no-key',
  'budget-spent',
  'model-unavailable',
]);

function showWhole(
  printer: Printer,
  {
    daemon,
    providers,
    counts,
    recording,
    copies,
    library,
    learning,
    router,
    gateways,
    settings,
    waiting,
  }: StatusReport,
): void {
  printer.line(
    { text: 'running', style: 'green' },
    ` at ${daemon.url} (pid ${daemon.pid}, version ${daemon.version})`,
  );
  const serves =
    providers.length === 0
      ? ['the toy model inside Instar; no provider yet']
      : providers.map((provider) => `${provider.name} (${provider.serves})`);
  printer.fields([
    ['since', since(daemon.startedAt)],
    ...serves.map((text) => ['serves', text] as const),
    ['served', orUnknown(counts.served)],
    ['in flight', orUnknown(counts.inFlight)],
    ['errors', `${orUnknown(counts.failed)} failed, ${orUnknown(counts.refused)} refused`],
    ['recording', recordingState(recording)],
    ...copies.map((line) => ['copies', line] as const),
    ...library.map((line) => ['library', line] as const),
    ...router.map((line) => ['router', line] as const),
    ...learning.map((line) => ['learning', line] as const),
    ...settings.map((line) => ['settings', line] as const),
    ...gateways.map((line) => ['gateways', line] as const),
    ...waitingRows(waiting, Date.now()),
  ]);
}

function recordingState({
  degraded,
  lost = 0,
  recorded,
  unreadable = 0,
  missing,
  away,
}: StatusReport['recording']): Part {
  if (degraded !== undefined)
    return {
      text: `degraded: ${degraded} (${plural(lost, 'turn')} lost); requests are served. Fix: instar doctor`,
      style: 'yellow',
    };
  if (away !== undefined) return { text: away, style: 'yellow' };
  if (missing !== undefined) return { text: `${missing}; see: instar doctor`, style: 'yellow' };
  if (recorded === undefined) return 'unknown';
  const notes = [
    ...(lost > 0 ? [`${lost} lost`] : []),
    ...(unreadable > 0
      ? [`${plural(unreadable, 'body', 'bodies')} unreadable, kept without structure and not learned from`]
      : []),
  ];
  return [`${plural(recorded, 'turn')} recorded`, ...notes].join('; ');
}

const orUnknown = (count: number | undefined): string => String(count ?? 'unknown');

function since(startedAt: string): string {
  const at = Date.parse(startedAt);
  return Number.isFinite(at) ? `${localTime(at)} (${relativeTime(at, Date.now())})` : startedAt;
}
