import net, { type AddressInfo, type Socket } from 'node:net';
import {
  ANTHROPIC_REPLY,
  DONE,
  digits,
  EVENTS,
  type EventPace,
  JSON_REPLY,
  LAST_EVENT,
  MODELS,
  NUMBER,
  NUMBERED_EVENT,
  PACES,
} from './traffic.ts';

/**
 * A provider with minimal CPU cost: bare sockets, no HTTP library, prepared replies. Reads each request to its end, then replies
 * as the model name says.
 */
const HEAD_END = '\r\n\r\n';
const MODEL_IS_WITHIN = 4096;
const LENGTH = /^content-length: *(\d+)/im;
/** Reports the length of the request, so that what a proxy added can be measured. */
const RECEIVED = `x-bench-received: ${NUMBER}\r\n`;
const STREAM_HEAD = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${RECEIVED}transfer-encoding: chunked\r\n\r\n`;

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const whole = (text: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${RECEIVED}content-length: ${text.length}\r\n\r\n${text}`;

/** A reply with placeholders: the first is the request's length, the others are the reply's number. */
function createNumbered(text: string): (length: number, nth: number) => Buffer {
  const template = Buffer.from(text, 'latin1');
  const places: number[] = [];
  for (let at = template.indexOf(NUMBER); at >= 0; at = template.indexOf(NUMBER, at + 1)) places.push(at);
  const [first = 0, ...others] = places;
  return (length, nth) => {
    const bytes = Buffer.from(template);
    bytes.write(digits(length), first, 'latin1');
    for (const at of others) bytes.write(digits(nth), at, 'latin1');
    return bytes;
  };
}

const jsonReply = createNumbered(whole(JSON_REPLY));
const anthropicReply = createNumbered(whole(ANTHROPIC_REPLY));
const streamReply = createNumbered(`${STREAM_HEAD}${[...EVENTS, DONE].map(chunk).join('')}0\r\n\r\n`);
const streamHead = createNumbered(STREAM_HEAD);
const pacedEvent = chunk(NUMBERED_EVENT);
let replies = 0;

function serve(socket: Socket): void {
  let head = '';
  let missing = 0;
  let start: Buffer[] = [];
  let startBytes = 0;

  const takeBody = (bytes: Buffer): void => {
    missing -= bytes.length;
    if (startBytes < MODEL_IS_WITHIN) start.push(bytes.subarray(0, MODEL_IS_WITHIN));
    startBytes += bytes.length;
    if (missing > 0) return;
    answer(socket, head, Buffer.concat(start));
    head = '';
    start = [];
    startBytes = 0;
  };

  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes: Buffer) => {
    if (missing > 0) {
      takeBody(bytes);
      return;
    }
    const end = bytes.indexOf(HEAD_END);
    head += bytes.toString('latin1', 0, end < 0 ? bytes.length : end);
    if (end < 0) return;
    missing = Number(LENGTH.exec(head)?.[1] ?? 0);
    takeBody(bytes.subarray(end + HEAD_END.length));
  });
}

function answer(socket: Socket, head: string, body: Buffer): void {
  const nth = ++replies;
  const length = Number(LENGTH.exec(head)?.[1] ?? 0);
  const model = MODELS.find((name) => body.includes(name)) ?? 'bench-json';
  const pace = PACES[model];
  if (/^POST \S*\/messages/.test(head)) socket.write(anthropicReply(length, nth));
  else if (model === 'bench-json') socket.write(jsonReply(length, nth));
  else if (pace === undefined) socket.write(streamReply(length, nth));
  else sendPaced(socket, length, pace);
}

/** Each event carries its send time, on the clock shared by all processes of a machine. */
function sendPaced(socket: Socket, length: number, { events, everyMs }: EventPace): void {
  let sent = 0;
  socket.write(streamHead(length, 0));
  const timer = setInterval(() => {
    if (socket.destroyed) {
      clearInterval(timer);
      return;
    }
    sent++;
    socket.write(pacedEvent.replace(NUMBER, digits(Number(process.hrtime.bigint() / 1000n))), 'latin1');
    if (sent < events) return;
    clearInterval(timer);
    socket.write(`${chunk(LAST_EVENT)}${chunk(DONE)}0\r\n\r\n`, 'latin1');
  }, everyMs);
}

const server = net.createServer(serve);
server.listen(0, '127.0.0.1', 2048, () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit(0));
