import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { asObject, asString, parseJson } from '../../core/json.ts';
import type { Log } from '../log.ts';

/** Lines that a child process logged go on in our log, with its name and at their own level; what is no log line is a warning. */
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
