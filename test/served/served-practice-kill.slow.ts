import { afterAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';
import { rootOf, splitOf } from '../../src/learn/practice/sources/split.ts';
import { wires } from '../../src/wire/wires.ts';
import { goodReply, stageOf } from '../learn/practice/scripted-practice.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { startProvider } from '../support/provider.ts';

const wire = wires['openai-chat'];
/** Few words in common: near duplicates are one task. */
const ABOUT: Readonly<Record<string, string>> = {
  daily: 'bread and cakes sold in the bakery',
  weekly: 'diesel for the ambulances of the city',
  monthly: 'rent of flats near the harbour',
  yearly: 'salaries of school teachers',
};
const PLACES = ['', ' in Rome', ' in Oslo', ' in Cairo', ' in Lima', ' in Perth', ' in Kyoto', ' in Quito'];
/** Each teaches something else, and all are tasks to learn from: nothing else is measured, and nothing depends on chance. */
const PROMPTS = Object.entries(ABOUT).map(([name, about]) => {
  const words = PLACES.map((place) => `Write the ${name} report: ${about}${place}`);
  const found = words.find((prompt) => splitOf(rootOf('reports', prompt)) === 'learn');
  if (found === undefined) throw new Error(`no wording of ${name} is a task to learn from`);
  return found;
});
const TASKS = PROMPTS.map((prompt) =>
  JSON.stringify({
    prompt,
    domain: 'reports',
    check: { kind: 'regex', pattern: 'carries its currency sign' },
  }),
).join('\n');
/** With this many attempts at a task, a few that are made again leave better and worse ones. */
const GROUP = 8;
/** At the same time, of attempts and of questions. */
const CONCURRENCY = 4;

const closers: (() => Promise<void> | void)[] = [];
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

/** A provider whose answers depend on the request and on how often it answered the same one. */
async function openProvider(onRequest: (isAttempt: boolean) => void) {
  const answered = new Map<string, number>();
  const provider = await startProvider((request, response) => {
    const chat = wire.decodeRequest(asObject(parseJson(request.body.toString())));
    const system = chat.system.map(({ text }) => text).join('\n');
    const isAttempt = !/^You |JSON/.test(system);
    const words = request.body.toString();
    // Questions for further tasks come before the session.
    if (!words.includes('The request, as data')) onRequest(isAttempt);
    const root = /Write the (\S+) report/.exec(words)?.[1] ?? 'daily';
    setTimeout(() => {
      if (response.destroyed) return;
      const nth = answered.get(words) ?? 0;
      const text = !isAttempt
        ? goodReply(stageOf(chat), chat)
        : nth % 2 === 0
          ? `Every amount carries its currency sign, checked line by line for ${root}.`
          : `The amounts of ${root} are listed without a currency sign.`;
      answered.set(words, nth + 1);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          id: 'r',
          object: 'chat.completion',
          model: 'm',
          choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
          usage: { prompt_tokens: 100, completion_tokens: 20 },
        }),
      );
    }, 20);
  });
  closers.push(() => provider.close());
  return { url: provider.url, count: () => [...answered.values()].reduce((sum, one) => sum + one, 0) };
}

const practice = async (daemon: RunningDaemon, what: string, body: JsonObject = {}): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  const path = `/api/practice/${what}`;
  return asObject(parseJson((await ask(daemon.port, { path, headers, body: JSON.stringify(body) })).text));
};

/** How many requests a life of the daemon lasts, or that it ends with the first question about attempts. */
type Kill = number | 'question';

/** A whole session; the daemon is killed as often as told. */
async function live(kills: readonly Kill[]) {
  const left = [...kills];
  let seen = 0;
  let daemon: RunningDaemon | undefined;
  const provider = await openProvider((isAttempt) => {
    seen++;
    const [next] = left;
    if (next === undefined || daemon === undefined) return;
    if (next === 'question' ? isAttempt : seen < next) return;
    left.shift();
    // What still comes belongs to the life that has ended.
    const dying = daemon;
    daemon = undefined;
    dying.child.kill('SIGKILL');
  });
  const home = makeHome({
    providers: { lab: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'lab/m', evolver: 'lab/m', practice: 'lab/m' },
  });
  closers.push(home.remove);
  let killed = 0;
  for (let isBegun = false; ; isBegun = true) {
    seen = 0;
    const started = await startDaemon(home.dir);
    daemon = started;
    const { exited, child } = started;
    const finish = async (running: RunningDaemon): Promise<boolean> => {
      if (!isBegun) await practice(running, 'add', { text: TASKS, file: 'tasks.jsonl' });
      // The second time it names nothing: what was interrupted goes on.
      await practice(running, 'run', isBegun ? {} : { kind: 'exploratory', group: GROUP });
      await vi.waitFor(
        async () => {
          const status = await practice(running, 'status');
          expect([status.running, status.problem]).toEqual([undefined, undefined]);
        },
        { timeout: 120_000, interval: 100 },
      );
      return true;
    };
    // A killed daemon answers nothing more.
    const isDone = await Promise.race([
      finish(started).catch((error) =>
        exited.then((code) => {
          if (code !== null) throw error;
          return false;
        }),
      ),
      exited.then(() => false),
    ]);
    if (!isDone) {
      killed++;
      continue;
    }
    const headers = { authorization: `Bearer ${started.ownerKey}` };
    const library = await ask(started.port, { method: 'GET', path: '/api/library', headers });
    const report = await practice(started, 'report');
    const status = await practice(started, 'status');
    child.kill('SIGTERM');
    await exited;
    const lessons = asArray(parseJson(library.text)).map((lesson) => {
      const { name, state, text } = asObject(lesson);
      return [asString(name) ?? '', state, asObject(text).content, asObject(text).description];
    });
    return {
      killed,
      report,
      lessons: lessons.sort(),
      sessions: asArray(status.sessions),
      paid: provider.count(),
    };
  }
}

describe('a daemon that is killed with SIGKILL in a session of practice', () => {
  it('goes on with it: the same library and spending as without, one session, and nothing is paid for twice', async () => {
    const whole = await live([]);
    expect(whole.report).toMatchObject({ end: 'done', counts: { kept: PROMPTS.length } });
    expect(whole.lessons.length).toBeGreaterThan(2);
    const kills: readonly Kill[] = [3, 9, 8, 8, 'question', 'question'];
    const broken = await live(kills);
    expect(broken.killed).toBe(kills.length);
    expect(broken.sessions).toHaveLength(1);
    expect(broken.lessons).toEqual(whole.lessons);
    expect(broken.report.counts).toEqual(whole.report.counts);
    const callsOf = ({ report }: typeof whole) => asObject(report.spent).calls;
    expect(callsOf(broken)).toBe(callsOf(whole));
    // Only answers that were on their way when it was killed are asked for again.
    expect(broken.paid).toBeLessThanOrEqual(whole.paid + CONCURRENCY * kills.length);
  }, 300_000);
});
