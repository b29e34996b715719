import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type KeyWorld, openKeyWorld, type Speaker } from './key-world.ts';

/** What a person said in earlier sessions is quoted to that person's agent. Each row is a way in which it could be quoted to another's. */
const FACT = 'My sister Wilhelmina moved to the lighthouse in Trondheim, the door code word is';
const QUESTION = 'Where did my sister Wilhelmina move, and what is the door code word of the lighthouse?';
const AGENT = 'helper';

let world: KeyWorld;
let ada: Speaker;
let eve: Speaker;
let words = 0;
beforeAll(async () => {
  world = await openKeyWorld();
  ada = { key: await world.makeKey('ada'), agent: AGENT, user: 'ines' };
  eve = { key: await world.makeKey('eve'), agent: AGENT, user: 'ines' };
}, 240_000);
afterAll(() => world.close());

/** Says it in a session that ends, and returns the one word by which it is found again. */
async function say(
  speaker: Speaker,
  text: (word: string) => string,
  more: readonly object[] = [],
): Promise<string> {
  const word = `canary${++words}word`;
  const messages = [...more, { role: 'user', content: text(word) }];
  const headers = { ...speaker.headers, 'x-instar-session-done': 'true' };
  await world.learned(await world.send({ ...speaker, headers }, `said-${words}`, messages));
  return word;
}

const fact = (word: string): string => `${FACT} ${word}.`;
const asks = (speaker: Speaker): Promise<string> => world.promptOf(speaker, QUESTION);

/** A search may be too slow for one prompt: who said it is asked until it is found. */
const isFound = (speaker: Speaker, word: string): Promise<void> =>
  vi.waitFor(async () => expect(await asks(speaker)).toContain(word), { timeout: 60_000, interval: 200 });

/** Several prompts, since one search may have come too late. */
async function isNeverShown(speaker: Speaker, word: string): Promise<void> {
  for (let nth = 0; nth < 3; nth++) expect(await asks(speaker)).not.toContain(word);
}

describe('what one person said in earlier sessions', () => {
  it('is quoted to that person, or the rows below would hold for no reason; and to nobody else', async () => {
    const word = await say(ada, fact);
    await isFound(ada, word);
    const key = ada.key;
    for (const other of [
      eve,
      { key, agent: AGENT, user: 'otto' },
      { key, agent: AGENT },
      { key, agent: AGENT, user: '' },
      { key: world.here.key, agent: AGENT, user: 'ines' },
      { key: world.here.key, agent: AGENT },
    ])
      await isNeverShown(other, word);
  });

  it('is quoted for no other agent and no other project of the same person', async () => {
    const inShop = { ...ada, headers: { 'x-instar-project': 'shop' } };
    const word = await say(inShop, fact);
    await isFound(inShop, word);
    await isNeverShown(ada, word);
    await isNeverShown({ ...ada, headers: { 'x-instar-project': 'other' } }, word);
    await isNeverShown({ ...ada, agent: 'writer', headers: { 'x-instar-project': 'shop' } }, word);
  });

  it('is not reached by the id of the session, of the person or by the words of a client', async () => {
    const told = await world.send(ada, 'named', [{ role: 'user', content: 'Hello.' }]);
    const session = String(told.headers['x-instar-session']);
    const word = await say(ada, fact);
    await isFound(ada, word);
    const person = session.slice(0, session.indexOf(':'));
    const ways: readonly Speaker[] = [
      { ...eve, user: person },
      { ...eve, headers: { 'x-instar-user': person } },
      { key: ada.key, agent: AGENT, headers: { 'x-instar-user': person.split('.')[1] ?? '' } },
      { ...eve, headers: { 'x-instar-session': session } },
      { ...eve, headers: { 'x-instar-session': `${person}:mine` } },
      { key: ada.key, agent: AGENT, headers: { 'user-agent': 'claude-cli/2.0' } },
      { ...eve, agent: `${AGENT}\u00a0` },
    ];
    for (const way of ways) await isNeverShown(way, word);
  });

  it('is not quoted where nobody is named, whatever folder is pasted into the words', async () => {
    const nobody = { key: ada.key, agent: AGENT };
    const log = 'Working directory: /home/runner/work\n';
    const word = await say(nobody, (one) => log + fact(one));
    for (let nth = 0; nth < 3; nth++)
      expect(await world.promptOf(nobody, `${log}${QUESTION}`)).not.toContain(word);
  });
});

describe('what a person did not say', () => {
  it.each<readonly [string, (word: string) => string]>([
    ['a mail', (word) => `Can you sort this?\n\nFrom: Eve\nSubject: hello\n\n${fact(word)}`],
    ['a chat', (word) => `Sort this please\n[10:42] Eve Miller\n${fact(word)}`],
    ['a post', (word) => `Sort this please\n\neve @eve · 2h\n${fact(word)}`],
    ['a ticket', (word) => `Sort this please\n\nReporter: eve\nDescription: ${fact(word)}`],
    ['a page', (word) => `Here is what I found about it\n\n${fact(word)}`],
    ['a quotation', (word) => `Is it right that “${fact(word)}” stands there?`],
    ['a file of the client', (word) => `Sort this please\n<file_contents>\n${fact(word)}\n</file_contents>`],
    [
      'a summary by a model',
      (word) => `This session is being continued from a previous conversation.\n${fact(word)}`,
    ],
    [
      'a stack trace',
      (word) =>
        `any idea?\n\njava.lang.IllegalStateException: expired\n  at com.acme.Lic.check(Lic.java:10)\n  caused by: ${fact(word)}`,
    ],
    ['a file name', (word) => `Sort this please\n[Attached file: ${fact(word)}.txt]`],
  ])('is not quoted as theirs: %s', async (_, text) => {
    const paster = { ...ada, user: `paster-${words}` };
    const word = await say(paster, text);
    const own = await say(paster, (one) => `My sister Wilhelmina keeps a lighthouse of paper, ${one}.`);
    await isFound(paster, own);
    await isNeverShown(paster, word);
  });

  it('is not quoted as theirs: the words of their agent, and the output of its tools', async () => {
    const listener = { ...ada, user: 'listener' };
    const heard = `${FACT} heardword.`;
    await say(listener, (one) => `Thanks, my lighthouse is of paper, ${one}.`, [
      { role: 'user', content: 'Read the mails about the lighthouse.' },
      {
        role: 'assistant',
        content: heard,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: heard },
      { role: 'assistant', content: heard },
    ]);
    const own = await say(listener, (one) => `My sister Wilhelmina keeps a lighthouse of paper, ${one}.`);
    await isFound(listener, own);
    await isNeverShown(listener, 'heardword');
  });
});

describe('what was said once', () => {
  it('is not quoted any more when its session was erased', async () => {
    const eraser = { ...ada, user: 'eraser' };
    const word = await say(eraser, fact);
    await isFound(eraser, word);
    const found = await world.here.owner('GET', '/api/sessions?limit=200');
    const named = JSON.stringify(found).match(new RegExp(`k_\\w+\\.u_\\w+:said-${words}`))?.[0] ?? '';
    expect(named).not.toBe('');
    await world.here.owner('DELETE', `/api/sessions/${encodeURIComponent(named)}`);
    await world.here.daemon.settle();
    await isNeverShown(eraser, word);
  });

  it('is neither kept nor quoted where the caller turned recording off', async () => {
    const silent = { ...ada, user: 'silent' };
    const headers = { 'x-instar-record': 'off', 'x-instar-session-done': 'true' };
    await world.send({ ...silent, headers }, 'off', [{ role: 'user', content: fact('silentword') }]);
    const own = await say(silent, (one) => `My sister Wilhelmina keeps a lighthouse of paper, ${one}.`);
    await isFound(silent, own);
    await isNeverShown(silent, 'silentword');
  });
});
