import type { Workspace } from '../../src/agent/sandbox/workspace.ts';
import { parseJson } from '../../src/core/json.ts';
import { type FieldPath, valuesAt } from './field-path.ts';
import { quoteShort } from './quote-short.ts';
import { readWork } from './read-work.ts';
import { isTimestamp } from './timestamp.ts';

/** Every value at each path of a JSON file is there and is a timestamp. Answers what is wrong, or undefined. */
export async function checkIso8601(
  workspace: Workspace,
  file: string,
  fields: readonly FieldPath[],
): Promise<string | undefined> {
  const read = await readWork(workspace, file);
  if ('fault' in read) return read.fault;
  const data = parseJson(read.value);
  if (data === undefined) return `${file} is not JSON`;
  for (const field of fields) {
    const wrong = valuesAt(data, field).find(({ value }) => !isTimestamp(value));
    if (wrong?.value === undefined && wrong !== undefined) return `${file}: ${wrong.at} is not there`;
    if (wrong !== undefined)
      return `${file}: ${wrong.at} is ${quoteShort(wrong.value)}, not a time like 2026-03-16T09:30:00+08:00`;
  }
  return undefined;
}
