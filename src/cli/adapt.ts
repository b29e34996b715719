import { asArray, asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { plural, relativeTime } from '../text/phrases.ts';
import { type CommandContext, type DeclareCommand, EXIT, type ExitCode } from './context.ts';
import { dim } from './print.ts';
import { withApi } from './with-api.ts';

export const declareAdapt: DeclareCommand = (adapt, act) => {
  adapt
    .command('events')
    .description('List the newest events that something can be learned from, with their scores.')
    .action(act(listEvents));
  adapt
    .command('candidates')
    .description('List the changes that these events propose, and whether other events support them.')
    .action(act(listCandidates));
};

const text = (row: JsonObject, key: string): string => asString(row[key]) ?? String(asNumber(row[key]) ?? '');
const scope = (row: JsonObject): string =>
  `${text(row, 'scopeType').replace('_', ' ')} ${text(row, 'scopeId')}`;

const listEvents = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ api }) => {
    const { events } = await api.adaptation();
    const rows = asArray(events).map(asObject);
    const { printer } = context;
    if (printer.json) printer.document(rows);
    else if (rows.length === 0)
      printer.note('No events yet: agents and pipelines report them to POST /v1/events.');
    else
      printer.table([
        ['EVENT', 'WHEN', 'KIND', 'LABEL', 'ABOUT', 'SCORE'].map(dim),
        ...rows.map((row) => [
          text(row, 'id'),
          relativeTime(Date.parse(text(row, 'at')), Date.now()),
          text(row, 'kind'),
          text(row, 'sourceLabel'),
          scope(row),
          text(row, 'score'),
        ]),
      ]);
    return EXIT.ok;
  });

const listCandidates = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ api }) => {
    const { candidates, counts } = await api.adaptation();
    const rows = asArray(candidates).map(asObject);
    const { printer } = context;
    if (printer.json) {
      printer.document(rows);
      return EXIT.ok;
    }
    const known = asNumber(asObject(counts).records) ?? 0;
    if (rows.length === 0)
      printer.note(`No candidates: none of ${plural(known, 'event')} scores 60 or more.`);
    else {
      printer.table([
        ['TYPE', 'ABOUT', 'LABEL', 'SCORE', 'OTHER EVENTS', 'STATUS'].map(dim),
        ...rows.map((row) => [
          text(row, 'type'),
          scope(row),
          text(row, 'sourceLabel'),
          text(row, 'score'),
          `${text(row, 'matches')}, mean ${text(row, 'mean')}`,
          text(row, 'status'),
        ]),
      ]);
      printer.note(
        'A candidate needs 60: 0.85 of the mean score of other events, and 5 for each, at most 15.',
      );
      printer.note('None of them acts yet: they are shown so that you can see what events would propose.');
    }
    return EXIT.ok;
  });
