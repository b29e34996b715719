import { z } from 'zod';
import type { Draft } from '../../files/draft.ts';
import type { Plan } from '../../files/plan.ts';
import { meansDay } from '../../files/read-moment.ts';
import { commandOf, type Step } from '../../files/steps.ts';
import type { Work } from '../../files/work.ts';
import { createLineFormat } from '../line-format.ts';
import { createForm, type Slip } from '../rule-form.ts';

const TIME = 'timestamp';
const TASK = 'task id';
const SUMMARY = 'summary';
const LONG = 'with all that was said about it on the way and everything that is left to do some other day';

/** After each task there is a line about it in a log. */
export const DONE_LOG = createForm({
  name: 'done-log',
  parameters: z.strictObject({
    file: z.string().min(1),
    line: z.string().refine((line) => [TIME, TASK, SUMMARY].every((part) => line.includes(`<${part}>`)), {
      error:
        'must hold <timestamp>, <task id> and <summary>, as in: [DONE] <timestamp> | <task id> | <summary>',
    }),
    /** Characters of a summary. */
    longest: z.int().min(10),
  }),
  create: ({ file, line, longest }) => {
    const format = createLineFormat(line);
    const tell = (draft: Draft, over: Readonly<Record<string, string>> = {}): string =>
      format.write({
        [TIME]: draft.style.time(draft.plan.today),
        [TASK]: draft.plan.task,
        [SUMMARY]: cut(draft.plan.summary, longest),
        ...over,
      });
    const append = (draft: Draft, said: (draft: Draft) => string, into = file): Draft => ({
      ...draft,
      after: [...draft.after, (last): readonly Step[] => [{ do: 'append', path: into, line: said(last) }]],
    });
    const slip = (name: string, why: string, said: (draft: Draft) => string): Slip => ({
      name,
      why,
      make: (draft) => append(draft, said),
    });
    const head = line.slice(0, line.indexOf('<'));
    const swapped = head === head.toLowerCase() ? head.toUpperCase() : head.toLowerCase();
    const slips: readonly Slip[] = [
      slip('too long', 'a very long summary', (draft) =>
        tell(draft, { [SUMMARY]: `${draft.plan.summary} ${LONG}`.padEnd(longest + 1, '.') }),
      ),
      slip('no summary', 'there is no summary', (draft) => tell(draft, { [SUMMARY]: '' }).trimEnd()),
      slip('no task', 'no word of which task', (draft) => tell(draft, { [TASK]: 'task' })),
      slip('no time', 'there is no time', (draft) => tell(draft, { [TIME]: 'now' })),
      slip('other signs', 'a form of its own', (draft) => `- ${tell(draft)}`),
      {
        name: 'other letters',
        why: 'small and capital letters mixed up',
        make: (draft) =>
          /[A-Za-z]/.test(head)
            ? append(draft, (last) => swapped + tell(last).slice(head.length))
            : undefined,
      },
      {
        name: 'another file',
        why: `another file than ${file}`,
        make: (draft) => append(draft, tell, file === 'log.txt' ? 'notes.txt' : 'log.txt'),
      },
    ];
    return {
      appliesTo: () => true,
      files: [file],
      timesIn: (work) =>
        linesAbout(work)
          .flatMap((said) => format.read(said)?.[TIME] ?? [])
          .filter((said) => meansDay(said, work.plan.today)),
      check: (work) => {
        const said = linesAbout(work);
        if (said.length === 0) return [`there is no line about ${work.plan.task} in ${file}`];
        return said.flatMap((one) => faultOf(one, work.plan) ?? []);
      },
      obey: (draft) => append(draft, tell),
      slips,
      excerpt: (_, steps) =>
        steps
          .filter((step) => step.do === 'append')
          .slice(-1)
          .map(commandOf)
          .join(''),
      words: (plan) => ({
        file,
        line,
        longest: String(longest),
        task: plan.task,
        example: format.write({
          [TIME]: '<timestamp>',
          [TASK]: plan.task,
          [SUMMARY]: cut(plan.summary, longest),
        }),
      }),
    };

    function linesAbout({ texts, plan }: Work): readonly string[] {
      const lines = texts.get(file)?.split('\n') ?? [];
      return lines.filter((one) => one.split(/[^\w-]+/).includes(plan.task)).map((one) => one.trimEnd());
    }

    function faultOf(said: string, { task, today }: Plan): string | undefined {
      const read = format.read(said);
      if (read === undefined) return `${JSON.stringify(said.slice(0, 80))} in ${file} is not ${line}`;
      const summary = read[SUMMARY]?.trim() ?? '';
      if (read[TASK]?.trim() !== task) return `the line in ${file} names another task than ${task}`;
      if (!meansDay(read[TIME] ?? '', today)) return `the line about ${task} in ${file} does not say when`;
      if (summary === '') return `the line about ${task} in ${file} has no summary`;
      return summary.length > longest ? `the summary of ${task} in ${file} is too long` : undefined;
    }
  },
});

const cut = (summary: string, longest: number): string => summary.slice(0, longest).trimEnd();
