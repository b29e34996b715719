import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Log } from '../../base/log.ts';
import { asObject, asString, parseJson } from '../../core/json.ts';

/** Writes a child process's log lines to our log with its name and their own level. Other output is a warning. */
export function relayLines(stream: Readable, name: string, log: Log, isQuiet: () => boolean): void {
  createInterface({ input: stream }).on('line', (line) => {
    if (line.trim() === '') return;
    const { level, msg, time: _, ...fields } = asObject(parseJson(line));
    const text = asString(msg);
    if (isQuiet()) log.debug({ from: name }, text ?? line);
    else if (text === undefined) log.warn({ from: name }, line);
    else if (level === 'error' || level === 'fatal') log.error({ from: name, ...fields }, text);
    else if (level === 'warn') log.warn({ from: name, ...fields }, text);
    else log.debug({ from: name, ...fields }, text);
  });
}
