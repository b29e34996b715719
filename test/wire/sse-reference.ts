import type { SseEvent } from '../../src/core/wire.ts';

/** The event-stream rules of the HTML standard, step by step over the whole text at once. */
export function decodeWholeStream(bytes: Uint8Array): SseEvent[] {
  const text = new TextDecoder().decode(bytes);
  const lines = text.split(/\r\n|\r|\n/);
  lines.pop();
  const events: SseEvent[] = [];
  let data = '';
  let type = '';
  for (const line of lines) {
    if (line === '') {
      if (data !== '') events.push({ event: type || undefined, data: data.slice(0, -1) });
      data = '';
      type = '';
      continue;
    }
    if (line.startsWith(':')) continue;
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') type = value;
    if (field === 'data') data += `${value}\n`;
  }
  return events;
}
