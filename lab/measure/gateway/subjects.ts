import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { endChild, startChild } from './child-process.ts';
import type { LoadOrder, LoadResult } from './load-order.ts';
import { isPeer, PEERS, type Peer, type PeerName, startPeer } from './peers.ts';
import { type InstarProcess, type RecordedTurns, startInstar } from './start-instar.ts';
import { createRequest, createText } from './traffic.ts';

type OwnSubject = 'instar' | 'instar + block';
export type SubjectName =
  | 'direct'
  | 'pass-through'
  | 'record off'
  | OwnSubject
  | `before: ${OwnSubject}`
  | PeerName;

/** A gateway under load, or the upstream itself. */
export interface GatewaySubject {
  readonly name: SubjectName;
  readonly port: number;
  /** Undefined for the upstream itself. */
  readonly pid?: number;
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly isExact: boolean;
  /** Whether it can stream at all. */
  readonly hasStreams: boolean;
  /** What of a request is recorded durably, in words. */
  readonly keeps: string;
  kept?(): Promise<RecordedTurns>;
  /** Absent where no lesson is compared. */
  readonly engines?: InstarProcess['engines'];
}

/** The processes of one run. */
export interface GatewayBench {
  readonly main: string;
  /** The build that it is compared with. */
  readonly before?: string;
  readonly upstreamPort: number;
  readonly subjects: readonly GatewaySubject[];
  /** What could not be measured, and why. */
  readonly notes: readonly string[];
  /** Sends one order to the load process. */
  load(order: LoadOrder): Promise<LoadResult>;
  close(): Promise<void>;
}

const NOTHING = 'nothing';
/** As long as the lesson block of a busy agent. */
const BLOCK = createText(4)(2048);

interface BenchOptions {
  readonly main: string;
  readonly before?: string;
  readonly peers: readonly string[];
}

export async function openBench({ main, before, peers: peerNames }: BenchOptions): Promise<GatewayBench> {
  const notes: string[] = [];
  const upstream = await startChild('upstream');
  const loader = await startChild('load');
  const passThrough = await startChild('pass-through', [`http://127.0.0.1:${upstream.port}`]);
  const upstreamPort = upstream.port;
  const plain = await startInstar({ main, upstreamPort });
  const spliced = await startInstar({ main, upstreamPort, block: BLOCK });
  const unrecorded = await startInstar({ main, upstreamPort });
  const own = [
    { name: 'instar' as const, process: plain },
    { name: 'instar + block' as const, process: spliced },
    ...(before === undefined
      ? []
      : [
          { name: 'before: instar' as const, process: await startInstar({ main: before, upstreamPort }) },
          {
            name: 'before: instar + block' as const,
            process: await startInstar({ main: before, upstreamPort, block: BLOCK }),
          },
        ]),
  ];
  const peers: Peer[] = [];
  for (const name of PEERS.filter((one) => peerNames.includes(one))) {
    const peer = await startPeer(name, upstreamPort);
    if (peer.ok) peers.push(peer);
    else notes.push(peer.why);
  }
  for (const name of peerNames)
    if (!isPeer(name)) notes.push(`there is no peer ${name}: ${PEERS.join(', ')}`);
  const usual = { headers: {}, isExact: true, hasStreams: true, keeps: NOTHING };
  const subjects: GatewaySubject[] = [
    { name: 'direct', port: upstreamPort, ...usual },
    { name: 'pass-through', port: passThrough.port, pid: passThrough.pid ?? 0, ...usual },
    {
      ...usual,
      name: 'record off',
      port: unrecorded.port,
      pid: unrecorded.pid,
      headers: { ...unrecorded.headers, 'x-instar-record': 'off' },
    },
    ...own.map(({ name, process: { port, pid, kept, headers, engines } }) => ({
      ...usual,
      ...(name === 'instar + block' ? { engines } : {}),
      name,
      ...{ port, pid, kept, headers },
      keeps: 'every turn, whole, on disk',
    })),
  ];
  for (const { name, port, pid, path, headers, hasStreams, keeps } of peers) {
    subjects.push({ name, port, pid, path, headers, isExact: false, hasStreams, keeps });
    notes.push(`${name} keeps ${keeps}`);
  }
  notes.push(...(await findFaults(subjects)));
  const ours: ChildProcess[] = [loader, passThrough, upstream];
  return {
    main,
    ...(before === undefined ? {} : { before }),
    upstreamPort,
    subjects,
    notes,
    load: async (order) => {
      loader.send(order);
      const [tally] = (await once(loader, 'message')) as [LoadResult];
      return tally;
    },
    close: async () => {
      await Promise.all([
        ...own.map(({ process }) => process.close()),
        unrecorded.close(),
        ...peers.map((peer) => peer.close()),
      ]);
      await Promise.all(ours.map(endChild));
    },
  };
}

/** Sends one request through each: it must arrive unchanged, or with the block where there is one. */
async function findFaults(subjects: readonly GatewaySubject[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { name, port, path = '/v1/chat/completions', headers, isExact } of subjects) {
    const { bytes, bodyLength } = createRequest(port, { model: 'bench-json', size: '1 KB', headers });
    const body = bytes.subarray(bytes.length - bodyLength);
    const known = {
      'content-type': 'application/json',
      authorization: 'Bearer sk-bench',
      'x-instar-session': 'bench-probe',
      ...headers,
    };
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: known,
      body,
    });
    await reply.arrayBuffer();
    const added = Number(reply.headers.get('x-bench-received') ?? bodyLength) - bodyLength;
    if (reply.status !== 200) faults.push(`${name} answers ${reply.status}`);
    const hasBlock = name.endsWith('block');
    if (hasBlock && added < BLOCK.length) faults.push(`${name} does not insert the block`);
    if (!hasBlock && isExact && added !== 0) faults.push(`${name} changes requests by ${added} bytes`);
  }
  return faults;
}
