import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MINILM } from '../../../src/embed/minilm-embed.ts';
import { STATIC } from '../../../src/embed/static-embed.ts';
import { endChild, startChild } from '../gateway/child-process.ts';
import { type LoadOrder, type LoadResult, spreadOf } from '../gateway/load-order.ts';
import { type InstarProcess, startInstar } from '../gateway/start-instar.ts';
import { writeSection } from '../markdown.ts';
import {
  describeEngines,
  type EngineCounts,
  enginesBetween,
  requireComparison,
  requireSome,
} from '../measured.ts';

/** How learning slows down concurrent requests, and how long a failure takes to become a skill in a prompt. */
const ROUNDS = 5;
const ROUND_MS = 5_000;
const CONNECTIONS = 8;
const RATE = 400;
/** From one lesson to the next under load; faster than any user teaches. */
const PACE_MS = 1_000;
/** Alone, every task is compared by meaning: the sentence model takes two new tasks a second, and a lesson brings two or three. */
const CALM_MS = 2_000;
/** Polling more often would measure the polling. */
const LOOK_MS = 10;

const upstream = await startChild('upstream');
const loader = await startChild('load');
const instar = await startInstar({ main: path.resolve('dist/src/cli/main.js'), upstreamPort: upstream.port });
const readKey = (name: 'key' | 'owner-key'): string =>
  readFileSync(path.join(instar.home, name), 'utf8').trim();
const key = readKey('key');
/** Feedback with a caller's key is the agent's own word about itself. */
const owner = { authorization: `Bearer ${readKey('owner-key')}` };
const base = `http://127.0.0.1:${instar.port}`;

const load = async (): Promise<LoadResult> => {
  const order: LoadOrder = {
    port: instar.port,
    model: 'bench-json',
    size: '1 KB',
    headers: {},
    connections: CONNECTIONS,
    openOverMs: 0,
    perSecond: RATE,
    until: { ms: ROUND_MS },
    isExact: true,
  };
  loader.send(order);
  const [tally] = (await once(loader, 'message')) as [LoadResult];
  return tally;
};

const post = (where: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(base + where, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(body),
  });
const turn = async (agent: string, session: string, content: string): Promise<Headers> => {
  const who = { 'x-instar-agent': agent, 'x-instar-session': session };
  const reply = await post(
    '/v1/chat/completions',
    { model: 'bench-json', messages: [{ role: 'user', content }] },
    who,
  );
  await reply.arrayBuffer();
  return reply.headers;
};

const generation = async (): Promise<number> => {
  const { library } = (await instar.ask('/api/status')) as { library: { generation: number } };
  return library.generation;
};

/**
 * Three failures with a user's feedback, then a new session as soon as something was learned: milliseconds from the third feedback
 * to the reply of a turn whose prompt contained the skill.
 */
async function teach(nth: number): Promise<number | undefined> {
  const agent = `pupil-${nth}`;
  const task = `Write the invoice amounts of client ${nth} into report.md`;
  const turns: string[] = [];
  for (let at = 0; at < 3; at++)
    turns.push((await turn(agent, `${agent}-${at}`, task)).get('x-instar-turn') ?? '');
  for (const [at, id] of turns.entries()) {
    const note = `Put the unit U${nth} behind every amount of client ${nth}, such as 12.50 U${nth}.`;
    if (at === 2) break;
    await post('/v1/feedback', { turn: id, score: -1, note }, owner);
  }
  const before = await generation();
  const from = performance.now();
  await post(
    '/v1/feedback',
    { turn: turns[2], score: -1, note: `Put the unit U${nth} behind every amount of client ${nth}.` },
    owner,
  );
  while (performance.now() - from < 10_000) {
    if ((await generation()) === before) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      continue;
    }
    const asked = performance.now();
    const head = await turn(agent, `${agent}-next-${asked}`, `${task}, with all amounts`);
    if (head.get('x-instar-lessons') !== null) return performance.now() - from;
  }
  return undefined;
}

/**
 * The user corrects the agent in the chat, in three sessions; then a new session as soon as something was learned: milliseconds from
 * the message with the third correction to the reply of a turn whose prompt contained it. The first two are other rules of the
 * same project, so that the lesson that is waited for can only come from the third.
 */
async function correct(nth: number): Promise<number | undefined> {
  const agent = `corrected-${nth}`;
  const task = `Add the totals of client ${nth} to summary.md`;
  const rules = [
    `No. We use the short names of list ${nth} here, not the long ones.`,
    `No. We never use floats for the sums of ledger ${nth}.`,
    `No. We always write the currency K${nth} behind every total here.`,
  ];
  let before = 0;
  let from = 0;
  for (const [at, rule] of rules.entries()) {
    const session = `${agent}-${at}`;
    const first = { role: 'user', content: task };
    const answer = await (await chat(agent, session, [first])).json();
    const reply = (answer as { choices?: { message?: { content?: string } }[] }).choices?.[0]?.message
      ?.content;
    before = await generation();
    from = performance.now();
    const messages = [
      first,
      { role: 'assistant', content: reply ?? 'Done.' },
      { role: 'user', content: rule },
    ];
    await (await chat(agent, session, messages)).arrayBuffer();
    if (at < rules.length - 1 && (await waitForGeneration(before, from)) === undefined) return undefined;
  }
  while (performance.now() - from < 10_000) {
    if ((await waitForGeneration(before, from)) === undefined) return undefined;
    const asked = performance.now();
    const head = await turn(agent, `${agent}-next-${asked}`, `${task}, with the currency`);
    if (head.get('x-instar-lessons') !== null) return performance.now() - from;
  }
  return undefined;
}

const chat = (agent: string, session: string, messages: readonly object[]): Promise<Response> =>
  post(
    '/v1/chat/completions',
    { model: 'bench-json', messages },
    { 'x-instar-agent': agent, 'x-instar-session': session },
  );

async function waitForGeneration(before: number, from: number): Promise<number | undefined> {
  while (performance.now() - from < 10_000) {
    const now = await generation();
    if (now !== before) return now;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return undefined;
}

const cyclesOf = async (from: InstarProcess): Promise<number> => {
  const { learning } = (await from.ask('/api/status')) as { learning: { cycles: { run: number } } };
  return learning.cycles.run;
};

const alone: LoadResult[] = [];
const beside: LoadResult[] = [];
const delays: number[] = [];
let missed = 0;
let nth = 0;
const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, CALM_MS));
const teachMany = async (times: number): Promise<readonly number[]> => {
  const taken: number[] = [];
  for (let more = 0; more < times; more++) {
    const delay = await teach(nth++);
    if (delay !== undefined) taken.push(delay);
    await rest();
  }
  return taken;
};
const [first = Number.NaN] = await teachMany(1);
await teachMany(2);
const warm = await instar.engines();
const quiet = await teachMany(10);
const corrections: number[] = [];
let unlearned = 0;
for (let nth = 0; nth < 12; nth++) {
  const delay = await correct(nth);
  if (delay === undefined) unlearned++;
  // The first one warms up.
  else if (nth > 0) corrections.push(delay);
  await rest();
}
const calm = await instar.engines();
await load();
for (let round = 0; round < ROUNDS; round++) {
  alone.push(await load());
  const under = load();
  let isLoading = true;
  void under.then(() => {
    isLoading = false;
  });
  while (isLoading) {
    const pace = new Promise((resolve) => setTimeout(resolve, PACE_MS));
    const delay = await teach(nth++);
    if (delay === undefined) missed++;
    else delays.push(delay);
    await pace;
  }
  beside.push(await under);
}
const after = await teachMany(10);
const cycles = await cyclesOf(instar);
const kept = await instar.kept();
const all = await instar.engines();
await instar.close();
await endChild(loader);
await endChild(upstream);

const comparedAlone = enginesBetween(warm, calm);
requireComparison([STATIC, MINILM], comparedAlone);
requireSome('feedback that was learned in time, alone', quiet.length);
requireSome('feedback that was learned in time, under load', delays.length);
requireSome('correction that was learned in time', corrections.length);
for (const { requests } of [...alone, ...beside]) requireSome('request in a round', requests);

const middle = (tallies: readonly LoadResult[], of: 'p50' | 'p99'): string =>
  spreadOf(tallies.map(({ latency }) => latency[of])).p50.toFixed(2);
const range = (tallies: readonly LoadResult[], of: 'p50' | 'p99'): string => {
  const values = tallies.map(({ latency }) => latency[of]);
  return `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;
};
const row = (name: string, tallies: readonly LoadResult[]): string =>
  `| ${name} | ${tallies.reduce((sum, { requests }) => sum + requests, 0)} | ${middle(tallies, 'p50')} (${range(tallies, 'p50')}) | ${middle(tallies, 'p99')} (${range(tallies, 'p99')}) | ${tallies.reduce((sum, { lost }) => sum + lost, 0)} |`;
const delay = (values: readonly number[]): string => {
  const { p50 } = spreadOf(values);
  return values.length === 0
    ? 'none'
    : `p50 ${p50.toFixed(0)} ms, most ${Math.max(...values).toFixed(0)} ms (${values.length})`;
};
const compared = ({ byEngine }: EngineCounts): string => describeEngines(Object.fromEntries(byEngine));
const lines = [
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}. \`npm run bench:learning\`: ${ROUNDS} rounds of ${ROUND_MS / 1000} s, ${RATE} requests a second, alternately without and with a lesson learned every second; ${cycles} cycles, ${kept.lost} turns lost.`,
  '',
  '| | requests | p50 ms (rounds) | p99 ms (rounds) | lost |',
  '|---|---|---|---|---|',
  row('served alone', alone),
  row('served while it learns', beside),
  '',
  `From the third feedback to the first prompt with the skill (no model in between): ${delay(quiet)} alone (goal: 100 ms), ${first.toFixed(0)} ms the very first time, ${delay(delays)} under that load, ${delay(after)} right after it, ${missed} not within 10 s.`,
  '',
  `From the message with the third correction in the chat (each a rule of its own) to the first prompt that quotes it: ${delay(corrections)} (goal: 100 ms), ${unlearned} not within 10 s.`,
  '',
  `Tasks alone: ${compared(comparedAlone)}; with the load: ${compared(enginesBetween(calm, all))}.`,
];
process.stdout.write(`${lines.join('\n')}\n`);
if (process.argv.includes('--write'))
  writeSection('lab/results/performance.md', 'bench:learning', lines.join('\n'));
process.exit(0);
