import { neutraliseLine } from '../base/printable.ts';
import { asArray, asNumber, asObject, asString, compact, type JsonObject } from '../core/json.ts';
import { plural, relativeTime } from '../text/phrases.ts';
import type { DeclareCommand } from './context.ts';
import { onApi } from './with-api.ts';

export const declareAdapt: DeclareCommand = (adapt, act) => {
  adapt
    .command('events')
    .description('List the newest events that something can be learned from, with their scores.')
    .action(act(listEvents));
  adapt
    .command('candidates')
    .description('List the changes that these events propose, with their arithmetic and what became of them.')
    .action(act(listCandidates));
  adapt
    .command('pipelines')
    .description('Show completion, retries, refine cycles and robustness of your own pipelines.')
    .action(act(listPipelines));
  adapt
    .command('changes')
    .option('--agent <name>', 'only those that apply to this agent')
    .option('--run-kind <name>', 'only those that apply to this kind of run')
    .description('List the changes of the running system that are in force.')
    .action(act(listOverlaysInForce));
};

const text = (row: JsonObject, key: string): string => asString(row[key]) ?? String(asNumber(row[key]) ?? '');
const scope = (row: JsonObject): string =>
  `${text(row, 'scopeType').replace('_', ' ')} ${neutraliseLine(text(row, 'scopeId'))}`;

const listEvents = onApi(async (_options: object, { api, printer }) => {
  const { events } = await api.adaptation();
  const rows = asArray(events).map(asObject);
  printer.document(rows);
  if (rows.length === 0)
    printer.note(
      'No events yet: agents and pipelines report them to POST /v1/events, and Instar observes its own.',
    );
  else
    printer.table(['EVENT', 'WHEN', 'KIND', 'LABEL', 'ABOUT', 'SCORE'], rows, (row) => [
      text(row, 'id'),
      relativeTime(Date.parse(text(row, 'at')), Date.now()),
      text(row, 'kind'),
      text(row, 'sourceLabel'),
      scope(row),
      text(row, 'score'),
    ]);
});

const listCandidates = onApi(async (_options: object, { api, printer }) => {
  const { candidates, counts } = await api.adaptation();
  const rows = asArray(candidates).map(asObject);
  printer.document(rows);
  const known = asNumber(asObject(counts).records) ?? 0;
  if (rows.length === 0) {
    printer.note(`No candidates: none of ${plural(known, 'event')} scores 60 or more.`);
    return;
  }
  printer.table(['TYPE', 'ABOUT', 'LABEL', 'SCORE', 'OTHER EVENTS', 'STATUS', 'LESSON'], rows, (row) => [
    text(row, 'type'),
    scope(row),
    text(row, 'sourceLabel'),
    text(row, 'score'),
    `${text(row, 'matches')}, mean ${text(row, 'mean')}`,
    text(row, 'status'),
    text(row, 'lesson'),
  ]);
  for (const row of rows)
    if (text(row, 'why') !== '') printer.note(`${text(row, 'id')}: ${neutraliseLine(text(row, 'why'))}.`);
  printer.note('A candidate needs 60: 0.85 of the mean score of other events, and 5 for each, at most 15.');
  if (rows.some(({ status }) => status === 'proposed'))
    printer.note('proposed: it needs your decision: instar lessons keep LESSON, or drop it');
});

const listPipelines = onApi(async (_options: object, { api, printer }) => {
  const rows = asArray((await api.adaptation()).pipelines).map(asObject);
  printer.document(rows);
  if (rows.length === 0) {
    printer.note('No pipeline has reported a stage: createPipeline of the library does.');
    return;
  }
  const figures = (of: JsonObject): string[] => [
    percent(of.completion),
    percent(of.retryRate),
    (asNumber(of.refinesPerStage) ?? 0).toFixed(1),
    (asNumber(of.robustness) ?? 0).toFixed(3),
  ];
  const lines = rows.flatMap((row) => [
    [
      text(row, 'name'),
      text(row, 'agent'),
      plural(asNumber(row.count) ?? 0, 'run'),
      ...figures(asObject(row.mean)),
    ],
    ...asArray(row.runs)
      .map(asObject)
      .map((run) => ['', '', neutraliseLine(text(run, 'run')), ...figures(run)]),
  ]);
  printer.table(
    ['PIPELINE', 'AGENT', 'RUN', 'COMPLETED', 'RETRIED', 'REFINES', 'ROBUSTNESS'],
    lines,
    (line) => line,
  );
});

const percent = (share: unknown): string => `${Math.round(100 * (asNumber(share) ?? 0))} %`;

interface OverlayOptions {
  readonly agent?: string;
  readonly runKind?: string;
}

const listOverlaysInForce = onApi(async ({ agent, runKind }: OverlayOptions, { api, printer }) => {
  const rows = await api.overlays(compact({ agent, runKind }));
  printer.document([...rows]);
  if (rows.length === 0) printer.note('No change is in force: reported events have changed nothing yet.');
  else
    printer.table(['LESSON', 'STATE', 'TYPE', 'FOR', 'WHAT IT DOES'], rows, (row) => {
      const { type, ...fields } = asObject(row.payload);
      const where = Object.entries(asObject(row.scope)).map(([key, value]) => `${key} ${String(value)}`);
      return [
        text(row, 'name'),
        text(row, 'state'),
        String(type),
        neutraliseLine(where.join(', ')) || 'everything',
        neutraliseLine(JSON.stringify(fields)).slice(0, LONGEST_SHOWN),
      ];
    });
});

const LONGEST_SHOWN = 120;
