import type { Headed } from '../headed.ts';
import { columns, plainLine, wrapped } from './columns.ts';

export interface Section {
  readonly name: string;
  readonly lines: readonly string[];
}

/** What the run was, and what must be known before its numbers. `size` is how much was asked. */
export function headSection({ head, remarks }: Headed, size: string, width: number): Section {
  const made = Object.entries(head.options).map(([name, value]) => `${name} ${value}`);
  const facts = [`run ${head.run}`, size, ...made, `instar ${head.version}`, head.startedAt];
  const [first = ''] = columns([[`${head.suite} · policy ${head.policy}`]], { width, indent: '' });
  return {
    name: plainLine(first),
    lines: [
      ...wrapped(facts.join(' · '), width),
      ...remarks.flatMap((remark) => wrapped(`! ${remark}`, width)),
    ],
  };
}

/** Each under its name, an empty line between them; those without lines are left out. The last line is ended. */
export function sectionsText(sections: readonly Section[], colour: boolean): string {
  const title = (text: string): string => (colour ? `\u001b[1m${text}\u001b[0m` : text);
  return sections
    .filter(({ lines }) => lines.length > 0)
    .map(({ name, lines }) => `${[title(name), ...lines].join('\n')}\n`)
    .join('\n');
}
