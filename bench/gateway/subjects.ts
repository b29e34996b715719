import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { endChild, startChild } from './child.ts';
import type { Order, Tally } from './orders.ts';
import { createRequest } from './requests.ts';
import { type Kept, startInstar } from './start-instar.ts';
import { startPortkey } from './start-portkey.ts';
import { createText } from './text.ts';

export const SUBJECTS = ['direct', 'pass-through', 'instar', 'instar + block', 'portkey'] as const;
export type SubjectName = (typeof SUBJECTS)[number];

/** A gateway under load, or the upstream itself. */
export interface Subject {
  readonly name: SubjectName;
  readonly port: number;
  /** Undefined for the upstream itself. */
  readonly pid?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly isExact: boolean;
  /** Whether it can stream at all. */
  readonly hasStreams: boolean;
  kept?(): Promise<Kept>;
}

/** The processes of one run. */
export interface Bench {
  readonly main: string;
  readonly upstreamPort: number;
  readonly subjects: readonly Subject[];
  /** What could not be measured, and why. */
  readonly notes: readonly string[];
  /** Sends one order to the load process. */
  load(order: Order): Promise<Tally>;
  close(): Promise<void>;
}

/** As long as the lesson block of a busy agent. */
export const BLOCK = createText(4)(2048);

export async function openBench(main: string, withPortkey: boolean): Promise<Bench> {
  const notes: string[] = [];
  const upstream = await startChild('upstream');
  const loader = await startChild('load');
  const passThrough = await startChild('pass-through', [`http://127.0.0.1:${upstream.port}`]);
  const upstreamPort = upstream.port;
  const plain = await startInstar({ main, upstreamPort });
  const spliced = await startInstar({ main, upstreamPort, block: BLOCK });
  const portkey = withPortkey
    ? await startPortkey(upstreamPort)
    : ({ ok: false, why: 'portkey was skipped' } as const);
  const usual = { headers: {}, isExact: true, hasStreams: true };
  const subjects: Subject[] = [
    { name: 'direct', port: upstreamPort, ...usual },
    { name: 'pass-through', port: passThrough.port, pid: passThrough.pid ?? 0, ...usual },
    { name: 'instar', port: plain.port, pid: plain.pid, kept: plain.kept, ...usual },
    { name: 'instar + block', port: spliced.port, pid: spliced.pid, kept: spliced.kept, ...usual },
  ];
  if (!portkey.ok) notes.push(portkey.why);
  else {
    const { port, pid, headers } = portkey;
    subjects.push({ name: 'portkey', port, pid, headers, isExact: false, hasStreams: false });
  }
  notes.push(...(await findFaults(subjects)));
  const ours: ChildProcess[] = [loader, passThrough, upstream];
  return {
    main,
    upstreamPort,
    subjects,
    notes,
    load: async (order) => {
      loader.send(order);
      const [tally] = (await once(loader, 'message')) as [Tally];
      return tally;
    },
    close: async () => {
      await Promise.all([plain.close(), spliced.close(), portkey.ok ? portkey.close() : undefined]);
      await Promise.all(ours.map(endChild));
    },
  };
}

/** Sends one request through each: it must arrive unchanged, or with the block where there is one. */
async function findFaults(subjects: readonly Subject[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { name, port, headers, isExact } of subjects) {
    const { bytes, bodyLength } = createRequest(port, { model: 'bench-json', size: '1 KB', headers });
    const body = bytes.subarray(bytes.length - bodyLength);
    const known = { 'content-type': 'application/json', 'x-instar-session': 'bench-probe', ...headers };
    const reply = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: known,
      body,
    });
    await reply.arrayBuffer();
    const added = Number(reply.headers.get('x-bench-received') ?? bodyLength) - bodyLength;
    if (reply.status !== 200) faults.push(`${name} answers ${reply.status}`);
    if (name === 'instar + block' && added < BLOCK.length) faults.push(`${name} does not insert the block`);
    if (name !== 'instar + block' && isExact && added !== 0)
      faults.push(`${name} changes requests by ${added} bytes`);
  }
  return faults;
}
