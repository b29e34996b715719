import fs from 'node:fs';
import net from 'node:net';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into a daemon: measures the longest processor time of its main thread between two turns of the event loop, which
 * does not depend on what else the machine does. A connection to MEASURE_SOCKET gets the longest so far in milliseconds and
 * starts again from 0.
 */
if (isMainThread && process.env.MEASURE_SOCKET) {
  const file = fs.openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const bytes = Buffer.alloc(100);
  const cpuMs = () => {
    const length = fs.readSync(file, bytes, 0, bytes.length, 0);
    return Number(bytes.toString('latin1', 0, length).split(' ')[0]) / 1e6;
  };
  let last = cpuMs();
  let longest = 0;
  const look = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  setInterval(look, 1).unref();
  net
    .createServer((socket) => {
      look();
      socket.end(String(longest));
      longest = 0;
    })
    .listen(process.env.MEASURE_SOCKET)
    .unref();
}
