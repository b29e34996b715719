import net, { type AddressInfo, type Socket } from 'node:net';
import {
  anthropicReply,
  DONE,
  jsonReply,
  LAST_EVENT,
  MODELS,
  PACES,
  type Pace,
  streamEvent,
  streamEvents,
} from './replies.ts';

/**
 * A provider that costs next to nothing: bare sockets, no HTTP library. Reads each request to its end, then answers
 * in the way its model's name says.
 */
const HEAD_END = '\r\n\r\n';
const MODEL_IS_WITHIN = 4096;
let replies = 0;

function serve(socket: Socket): void {
  let head = '';
  let missing = 0;
  let start: Buffer[] = [];
  let startBytes = 0;

  const takeBody = (bytes: Buffer): void => {
    missing -= bytes.length;
    if (startBytes < MODEL_IS_WITHIN) {
      start.push(bytes.subarray(0, MODEL_IS_WITHIN));
      startBytes += bytes.length;
    }
    if (missing > 0) return;
    const asked = Buffer.concat(start).toString('latin1');
    const request = head;
    head = '';
    start = [];
    startBytes = 0;
    answer(socket, request, asked);
  };

  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes: Buffer) => {
    if (missing > 0) return takeBody(bytes);
    const end = bytes.indexOf(HEAD_END);
    head += bytes.toString('latin1', 0, end < 0 ? bytes.length : end);
    if (end < 0) return;
    missing = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    takeBody(bytes.subarray(end + HEAD_END.length));
  });
}

function answer(socket: Socket, head: string, body: string): void {
  const nth = ++replies;
  // Says how long the request was, so that what a proxy put into it can be seen from outside.
  const length = /^content-length: *(\d+)/im.exec(head)?.[1] ?? '0';
  const model = MODELS.find((name) => body.includes(name)) ?? 'bench-json';
  if (head.startsWith('GET')) return sendJson(socket, '{"object":"list","data":[]}', length);
  if (/^POST \S*\/messages/.test(head)) return sendJson(socket, anthropicReply(nth), length);
  if (model === 'bench-json') return sendJson(socket, jsonReply(nth), length);
  const opening = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-bench-received: ${length}\r\ntransfer-encoding: chunked\r\n\r\n`;
  const pace = PACES[model];
  if (pace !== undefined) return sendPaced(socket, opening, pace);
  socket.write(`${opening}${streamEvents(nth).map(chunk).join('')}${chunk(DONE)}0\r\n\r\n`, 'latin1');
}

function sendJson(socket: Socket, text: string, length: string): void {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-bench-received: ${length}\r\ncontent-length: ${text.length}\r\n\r\n`;
  socket.write(head + text, 'latin1');
}

/** Each event carries the moment at which it was sent, on the clock that all processes of a machine share. */
function sendPaced(socket: Socket, opening: string, { events, everyMs }: Pace): void {
  let sent = 0;
  socket.write(opening, 'latin1');
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer);
    sent++;
    socket.write(chunk(streamEvent(Number(process.hrtime.bigint() / 1000n))), 'latin1');
    if (sent < events) return;
    clearInterval(timer);
    socket.write(`${chunk(LAST_EVENT)}${chunk(DONE)}0\r\n\r\n`, 'latin1');
  }, everyMs);
}

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

const server = net.createServer(serve);
server.listen(0, '127.0.0.1', 2048, () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit(0));
