/** Whether a sentence is borne out by a paper; undefined for a sentence that cannot be understood. */
export type Reader = (sentence: string) => boolean | undefined;
type Texts = Readonly<Record<string, string>>;

const textOf = (texts: Texts, name: string): string =>
  Object.entries(texts).find(([path]) => path.endsWith(`/${name}`))?.[1] ?? '';

/** A sentence with a thing and a value in it, and where in the thing's record the value stands. */
interface Shape {
  readonly shape: RegExp;
  readonly field: string;
}

function readRecords(
  records: ReadonlyMap<string, Readonly<Record<string, string>>>,
  shapes: readonly Shape[],
): Reader {
  return (sentence) => {
    for (const { shape, field } of shapes) {
      const { thing, value } = shape.exec(sentence)?.groups ?? {};
      if (thing === undefined || value === undefined) continue;
      return records.get(thing)?.[field] === value;
    }
    return undefined;
  };
}

const dayOf = (moment: string): string => moment.split(',')[0] ?? '';

export function readBoard(texts: Texts): Reader {
  const { tickets } = JSON.parse(textOf(texts, 'board.json')) as {
    tickets: {
      number: number;
      title: string;
      project: string;
      owner: string;
      state: string;
      due: string;
      estimate_hours: number;
    }[];
  };
  const records = new Map(
    tickets.map((ticket) => [
      String(ticket.number),
      {
        ...ticket,
        number: String(ticket.number),
        due: dayOf(ticket.due),
        estimate_hours: String(ticket.estimate_hours),
      },
    ]),
  );
  return readRecords(records, [
    { shape: /^Ticket (?<thing>\d+) is owned by (?<value>.+)$/, field: 'owner' },
    { shape: /^(?<value>.+) is the owner of ticket (?<thing>\d+)$/, field: 'owner' },
    { shape: /^Ticket (?<thing>\d+) has the state "(?<value>.+)"$/, field: 'state' },
    { shape: /^The board shows ticket (?<thing>\d+) as "(?<value>.+)"$/, field: 'state' },
    { shape: /^Ticket (?<thing>\d+) belongs to (?<value>.+)$/, field: 'project' },
    { shape: /^(?<value>.+) is the project of ticket (?<thing>\d+)$/, field: 'project' },
    { shape: /^Ticket (?<thing>\d+) is due on (?<value>.+)$/, field: 'due' },
    { shape: /^The day by which ticket (?<thing>\d+) is wanted is (?<value>.+)$/, field: 'due' },
    { shape: /^Ticket (?<thing>\d+) is estimated at (?<value>\d+) hours$/, field: 'estimate_hours' },
    { shape: /^The estimate for ticket (?<thing>\d+) is (?<value>\d+) hours$/, field: 'estimate_hours' },
    { shape: /^The title of ticket (?<thing>\d+) is "(?<value>.+)"$/, field: 'title' },
    { shape: /^Ticket (?<thing>\d+) asks to "(?<value>.+)"$/, field: 'title' },
  ]);
}

export function readDeploys(texts: Texts): Reader {
  const { deploys } = JSON.parse(textOf(texts, 'deploy_log.json')) as {
    deploys: {
      version: string;
      project: string;
      environment: string;
      when: string;
      by: string;
      outcome: string;
    }[];
  };
  const records = new Map(deploys.map((deploy) => [deploy.version, { ...deploy, when: dayOf(deploy.when) }]));
  return readRecords(records, [
    { shape: /^Version (?<thing>\S+) went to (?<value>.+)$/, field: 'environment' },
    { shape: /^The target of version (?<thing>\S+) was (?<value>.+)$/, field: 'environment' },
    { shape: /^The outcome of version (?<thing>\S+) is "(?<value>.+)"$/, field: 'outcome' },
    { shape: /^The log closes version (?<thing>\S+) with "(?<value>.+)"$/, field: 'outcome' },
    { shape: /^Version (?<thing>\S+) was deployed by (?<value>.+)$/, field: 'by' },
    { shape: /^(?<value>.+) deployed version (?<thing>\S+)$/, field: 'by' },
    { shape: /^Version (?<thing>\S+) is a deploy of (?<value>.+)$/, field: 'project' },
    { shape: /^(?<value>.+) is what version (?<thing>\S+) updates$/, field: 'project' },
    { shape: /^Version (?<thing>\S+) was deployed on (?<value>.+)$/, field: 'when' },
  ]);
}

export function readBudget(texts: Texts): Reader {
  const memo = textOf(texts, 'decision_memo.md');
  const rows = textOf(texts, 'budget.csv').trim().split('\n').slice(1);
  const records = new Map(
    rows.map((row) => {
      const [project = '', planned = '', spent = ''] = row.split(',');
      const left = Number(planned) - Number(spent);
      const decisions = memo.split('\n').filter((line) => line === `- Project: ${project}`).length;
      return [
        project,
        { spent, left: String(left), over: left < 0 ? 'more' : 'within', decisions: String(decisions) },
      ];
    }),
  );
  return readRecords(records, [
    { shape: /^Planned less spent leaves (?<value>-?\d+) EUR for (?<thing>\w+)$/, field: 'left' },
    { shape: /^Set against its plan, (?<thing>\w+) stands at (?<value>-?\d+) EUR /, field: 'left' },
    { shape: /^(?<thing>\w+) has spent (?<value>\d+) EUR so far$/, field: 'spent' },
    { shape: /^(?<thing>\w+) has spent (?<value>more) than was planned$/, field: 'over' },
    { shape: /^(?<thing>\w+) has kept (?<value>within) what was planned$/, field: 'over' },
    { shape: /^The number of decisions in force for (?<thing>\w+) is (?<value>\d+)$/, field: 'decisions' },
  ]);
}

/** The sheet against the note: whether the note's entry has the sheet's value, segment and source in it. */
export function readAssumptions(texts: Texts): Reader {
  const entries = textOf(texts, 'market_note.md').split('\n### ').slice(1);
  const rows = textOf(texts, 'assumptions.md')
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.includes(' | '));
  const records = new Map(
    rows.slice(1).map((row) => {
      const [name = '', value = '', segment = '', source = '', by = ''] = row.slice(2, -2).split(' | ');
      const note = entries.find((entry) => entry.startsWith(`${name}\n`)) ?? '';
      const same = (text: RegExp): string => (text.test(note) ? 'yes' : 'no');
      return [
        name,
        {
          value,
          segment,
          source,
          by,
          sameValue: same(new RegExp(`(^|\\s)${value}[.:]`, 'm')),
          sameSegment: same(new RegExp(`\\d ${segment}[ .]`)),
          sameSource: same(new RegExp(`(from|off) ${source} on `)),
        },
      ];
    }),
  );
  const verdicts: readonly (readonly [shape: RegExp, field: string, meant: string])[] = [
    [/^The plan applies the (.+) to the segment on which it was measured$/, 'sameSegment', 'yes'],
    [/^The figure for the (.+) was measured on one segment and is applied to another$/, 'sameSegment', 'no'],
    [/^For the (.+), sheet and note have the same value$/, 'sameValue', 'yes'],
    [/^For the (.+), the sheet departs from the value in the note$/, 'sameValue', 'no'],
    [/^The source entered for the (.+) is the one the market note gives$/, 'sameSource', 'yes'],
    [/^The source entered for the (.+) is not the one the market note gives$/, 'sameSource', 'no'],
  ];
  const values = readRecords(records, [
    { shape: /^The plan reckons with (?<value>.+) for the (?<thing>.+)$/, field: 'value' },
    { shape: /^The plan applies the (?<thing>.+) to (?<value>.+)$/, field: 'segment' },
    { shape: /^In the sheet, the (?<thing>.+) stands for (?<value>.+)$/, field: 'segment' },
    { shape: /^The sheet enters (?<value>.+) as the source of the (?<thing>.+)$/, field: 'source' },
    { shape: /^According to the sheet, the (?<thing>.+) comes from (?<value>.+)$/, field: 'source' },
    { shape: /^The figure for the (?<thing>.+) was entered in the sheet by (?<value>.+)$/, field: 'by' },
  ]);
  return (sentence) => {
    for (const [shape, field, meant] of verdicts) {
      const record = records.get(shape.exec(sentence)?.[1] ?? '');
      if (record !== undefined)
        return Object.entries(record).some(([key, is]) => key === field && is === meant);
    }
    return values(sentence);
  };
}
