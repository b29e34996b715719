import type { CheckedWork } from '../../../src/core/check.ts';
import { asArray, asString, isObject, type Json, parseJson } from '../../../src/core/json.ts';

const ITEM_KINDS = ['violating', 'keeping', 'innocent'] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];

/** A rule that a person stated, with answers of which somebody said whether they keep it. */
export interface CheckSetRule {
  readonly id: string;
  readonly rule: string;
  readonly request: string;
  readonly corrected?: CheckedWork;
  readonly revised?: CheckedWork;
  readonly items: readonly { readonly kind: ItemKind; readonly work: CheckedWork }[];
}

/** One JSON object a line. Throws for a line that is no rule; a missing list is empty. */
export function parseCheckSet(text: string, file: string): readonly CheckSetRule[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const row = parseJson(line);
    if (!isObject(row) || typeof row.id !== 'string' || typeof row.rule !== 'string')
      throw new Error(`${file}:${index + 1} is no rule: it needs an id and a rule.`);
    const task = asString(row.task) ?? '';
    const items = ITEM_KINDS.flatMap((kind) =>
      asArray(row[kind]).map((item) => ({ kind, work: readItem(item, task) })),
    );
    return [
      {
        id: row.id,
        rule: row.rule,
        request: task,
        ...(row.corrected === undefined ? {} : { corrected: readAnswer(row.corrected, task) }),
        ...(row.revised === undefined ? {} : { revised: readAnswer(row.revised, task) }),
        items,
      },
    ];
  });
}

const readItem = (item: Json, task: string): CheckedWork =>
  isObject(item) && item.answer !== undefined
    ? readAnswer(item.answer, asString(item.task) ?? task)
    : readAnswer(item, task);

function readAnswer(answer: Json, request: string): CheckedWork {
  if (!isObject(answer)) return { request, reply: asString(answer) ?? '', files: [], commands: [] };
  return {
    request,
    reply: asString(answer.reply) ?? '',
    commands: asArray(answer.commands).flatMap((command) => asString(command) ?? []),
    files: asArray(answer.files).flatMap((file) =>
      isObject(file) ? [{ path: asString(file.path) ?? '', text: asString(file.text) ?? '' }] : [],
    ),
  };
}
