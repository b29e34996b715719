import type { Workspace } from '../../src/agent/sandbox/workspace.ts';
import { quoteShort } from './quote-short.ts';
import { readWork } from './read-work.ts';
import { isTimestamp } from './timestamp.ts';

export interface DoneLogTarget {
  readonly file: string;
  /** At least 1. */
  readonly minEntries: number;
  /** How the last entry's task id begins: the one that was just done. */
  readonly taskPrefix?: string;
}

const MARK = '[DONE] ';
const LONGEST_SUMMARY = 80;

/** Each line says what was done and when; blank lines do not count. Answers what is wrong, or undefined. */
export async function checkDoneLog(workspace: Workspace, target: DoneLogTarget): Promise<string | undefined> {
  const { file, minEntries, taskPrefix } = target;
  const read = await readWork(workspace, file);
  if ('fault' in read) return read.fault;
  const lines = read.value.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length < minEntries) return `${file} has ${lines.length} of at least ${minEntries} entries`;
  let lastTask = '';
  for (const [index, line] of lines.entries()) {
    const entry = readEntry(line);
    if (typeof entry === 'string') return `${file}, entry ${index + 1}: ${entry}`;
    lastTask = entry.task;
  }
  if (taskPrefix !== undefined && !lastTask.startsWith(taskPrefix))
    return `${file}: the last entry is for ${quoteShort(lastTask)}, which does not begin with ${taskPrefix}`;
  return undefined;
}

function readEntry(line: string): { readonly task: string } | string {
  const [head = '', task = '', ...rest] = line.split(' | ');
  const [id, summary] = [task.trim(), rest.join(' | ').trim()];
  if (!head.startsWith(MARK) || !isTimestamp(head.slice(MARK.length)) || id === '' || id.includes('|'))
    return `${quoteShort(line)} is not "[DONE] <time> | <task id> | <summary>"`;
  if (summary === '') return `${quoteShort(line)} has no summary`;
  if (summary.length > 2 * LONGEST_SUMMARY || [...summary].length > LONGEST_SUMMARY)
    return `its summary is longer than ${LONGEST_SUMMARY} characters`;
  return { task: id };
}
