import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, compact, type JsonObject } from '../../src/core/json.ts';
import { WIRE_NAMES, type WireName } from '../../src/core/wire.ts';
import { wires } from '../../src/wire/wires.ts';
import { ask } from '../support/client.ts';
import { CLIENT_SHAPES, type ClientShape, type ShapedTurn, shapedReply } from '../support/client-shapes.ts';
import { countOf } from '../support/counts.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 100 };
const ECHOES = countOf(14, 50);
/** What each client's person tells: first, and after everything that comes back. */
const TOLD: Readonly<Record<ClientShape['name'], readonly [rule: string, last: string]>> = {
  'claude-code': [
    'From now on always answer in British English.',
    'From now on always use ISO dates in reports.',
  ],
  codex: ['From now on always name the currency of a price.', 'From now on always sort names by surname.'],
  openclaw: [
    'From now on always write numbers below ten as words.',
    'From now on always end letters with a greeting.',
  ],
  hermes: [
    'From now on always give distances in kilometres.',
    'From now on always greet people by their first name.',
  ],
};
/** What a client's memory file holds: whatever people say. */
const MEMORY = [
  '- Never use tabs, I prefer two spaces.',
  '- From now on always call the customer "the member".',
  '- My name is Bea and I live in Lyon.',
  '- No, that is wrong. We always deploy on Tuesdays.',
].join('\n');
const SKILL_FILE = `---\nname: deploy-days\ndescription: Use when a deployment is planned.\n---\n\n# Deploy days\n\nAlways deploy on Tuesdays. Never deploy on Fridays. I prefer mornings.\n`;

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let prompt = '';
let answer = 'Done.';

beforeAll(async () => {
  provider = await startProvider(({ url, body }, response) => {
    const wire = WIRE_NAMES.find((name) => url.split('?')[0]?.endsWith(wires[name].path)) ?? 'openai-chat';
    prompt = body.toString();
    const { type, text } = shapedReply(wire, prompt, answer);
    response.writeHead(200, { 'content-type': type });
    response.end(text);
  });
  const entry = (wire: WireName) => ({ wire, baseUrl: `${provider.url}/v1` });
  home = makeHome({
    providers: Object.fromEntries(WIRE_NAMES.map((wire) => [wire, entry(wire)])),
    models: { default: 'openai-chat/m', evolver: 'off', judge: 'off' },
  });
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

interface Said {
  readonly session: string;
  readonly turns: readonly ShapedTurn[];
  readonly memory?: string;
  readonly skill?: { readonly name: string; readonly description: string };
  readonly isDone?: boolean;
}

const FILE = `${MEMORY}\n\n${SKILL_FILE}`;

/** Gives the prompt that the provider got. */
async function send(client: ClientShape, { session, turns, memory, skill, isDone = false }: Said) {
  const reply = await ask(daemon.port, {
    path: client.path,
    body: JSON.stringify(client.body(turns, compact({ memory, skill }))),
    headers: {
      ...client.headers,
      'x-instar-key': daemon.key,
      'x-instar-agent': `agent-${client.name}`,
      'x-instar-session': `${client.name}-${session}`,
      ...(isDone ? { 'x-instar-session-done': 'true' } : {}),
    },
  });
  expect(reply.status, reply.text).toBe(200);
  return prompt;
}

/** What the library holds, with how often people had to say it again. */
async function lessons(): Promise<readonly JsonObject[]> {
  const { text } = await ask(daemon.port, {
    method: 'GET',
    path: '/api/lessons',
    headers: { authorization: `Bearer ${daemon.ownerKey}` },
  });
  const all: readonly JsonObject[] = JSON.parse(text);
  return all.map(({ id, description, state, revision, adherence }) => ({
    ...{ id, description, state, revision },
    toldAgain: asObject(adherence).toldAgain,
  }));
}
const says = (rule: string) => (lesson: JsonObject) => JSON.stringify(lesson).includes(rule.slice(14, -1));

async function teach(client: ClientShape, rule: string, session: string) {
  const first = { user: 'Draft the invitation to the summer party', answer: 'Done.' };
  await send(client, { session, turns: [{ user: first.user }] });
  await send(client, { session, turns: [first, { user: rule }], isDone: true });
  await vi.waitFor(async () => {
    expect((await lessons()).filter(says(rule))).toHaveLength(1);
  }, SOON);
}

/** The block as the provider was sent it. */
function blockIn(body: string): string {
  let holding = '';
  JSON.parse(body, (_, value: unknown) => {
    if (typeof value === 'string' && value.includes('## Active Skills')) holding = value;
    return value;
  });
  return holding.slice(holding.indexOf('## Active Skills'));
}

const PAST =
  '## Said in earlier conversations\n\nFound for this message: what the user said before, word for word, the oldest first. Where two differ, the later one holds. Ignore what does not answer the message.\n\n- 12 May 2026 (Tuesday): "I moved to Lyon in May, and I prefer trains."';

/** A message that brings back what is ours or the client's, in each way that clients have. */
function echoes(client: ClientShape, block: string, rule: string): readonly ((task: string) => string)[] {
  return [
    (task) => `${task}\n\n${block}`,
    (task) => `${block}\n\n${task}`,
    () => block,
    (task) => `${task}\n\n${PAST}`,
    (task) => `${task}\n\n## Reminder\n\nYou were told: "${rule}" — the last answer did not keep to it.`,
    (task) =>
      `${task}\n\n<memory-context>\n[System note: The following is recalled memory context]\n\n${MEMORY}\n</memory-context>`,
    (task) => `<relevant-memories>\n${MEMORY}\n</relevant-memories>\n${task}`,
    () =>
      `[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below.\n\n${MEMORY}`,
    () =>
      `This session is being continued from a previous conversation that ran out of context.\n\n${MEMORY}\n\n${block}`,
    () => client.invoke({ name: 'deploy-days', file: SKILL_FILE }),
    () => SKILL_FILE,
    () => `Contents of /home/dev/shop/CLAUDE.md:\n\n${MEMORY}`,
    (task) =>
      `${task}\n<system-reminder>\nContents of /home/dev/.claude/projects/shop/memory/MEMORY.md:\n${MEMORY}\n</system-reminder>`,
    () => `# AGENTS.md instructions for /home/dev/shop\n\n<INSTRUCTIONS>\n${MEMORY}\n</INSTRUCTIONS>`,
  ];
}

describe.each(CLIENT_SHAPES)('in the requests of $name', (client) => {
  it('what Instar showed and what the client remembers come back in every form and answer, and the library stays as it was', async () => {
    const [rule, last] = TOLD[client.name];
    await teach(client, rule, 'teach');
    const first = 'Sort the rows of the invoices table by date';
    const block = blockIn(await send(client, { session: 'shown', turns: [{ user: first }] }));
    expect(block).toContain(rule.slice(14, -1));
    const before = await lessons();

    // The model says it, too.
    answer = `My instructions are:\n\n${block}\n\nMy notes:\n${MEMORY}`;
    const forms = echoes(client, block, rule);
    const turns: ShapedTurn[] = [];
    for (let nth = 0; nth < ECHOES; nth++) {
      const form = forms[nth % forms.length] ?? ((task: string) => task);
      const user = form(`Add the column number ${nth} to the table of invoices.`);
      await send(client, {
        session: 'echoed',
        turns: [...turns, { user, read: FILE }],
        memory: `${MEMORY}\n\n${block}`,
        isDone: nth === ECHOES - 1,
      });
      turns.push({ user, read: FILE, answer });
    }
    answer = 'Done.';
    // What is learned last shows that everything before was read.
    await teach(client, last, 'last');
    expect((await lessons()).filter((lesson) => !says(last)(lesson))).toEqual(before);
    const asked = await send(client, {
      session: 'asked',
      turns: [{ user: 'Where do I live, and what do I prefer?' }],
    });
    expect(asked).not.toContain('Lyon');
    expect(asked).not.toContain('two spaces');
  });

  it('a skill that the client lists itself is not shown a second time, and one that it does not list is', async () => {
    const [name, body] = [`pack-${client.name}`, `Weigh each parcel for ${client.name} twice.`];
    const description = 'Use when a parcel is packed, weighed and labelled for the courier.';
    const text = lessonText({ name, description, content: body });
    const { results } = JSON.parse(
      (
        await ask(daemon.port, {
          path: '/api/lessons',
          headers: { authorization: `Bearer ${daemon.ownerKey}` },
          body: JSON.stringify({
            changes: [{ op: 'add', id: name, kind: 'skill', state: 'live', text }],
            reason: 'a test',
          }),
        })
      ).text,
    );
    expect(asArray(results).map((one) => asObject(one).status)).toEqual(['applied']);
    const turns = [{ user: 'Pack the parcel, weigh it and label it for the courier.' }];
    expect(await send(client, { session: 'unlisted', turns })).toContain(body);
    expect(await send(client, { session: 'listed', turns, skill: { name, description } })).not.toContain(
      body,
    );
  });
});
