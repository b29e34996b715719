import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  addUse,
  type CountPrompt,
  clientUse,
  costInInput,
  createAnthropicCache,
  createOpenAiCache,
  NO_USE,
  type PromptUse,
} from '../../lab/measure/cache/prompt-cache.ts';
import { type NativeHome, openNativeHome } from '../plugins/native-home.ts';
import { install, PROGRAMS, type Program, runProgram } from './programs.ts';
import { startToolProvider, type UsageOf } from './provider.ts';
import { learnedWith } from './routed-home.ts';

/*
 * The same scripted session with and without Instar, before a provider that counts cached prefixes as the real ones do. Steps of a
 * session are processes of the real program that continue one conversation.
 */

const CALLS = 3;
const STEPS = [
  'STEP 1: read the first parts of the report and say what they are about.',
  'STEP 2: read the next parts and write the dates into a table.',
  'STEP 3: No, that is wrong. In this project always write dates as 2026-05-03, with the year first. Read on.',
  'STEP 4: read the next parts and list the names.',
  'STEP 5: read the next parts and list the places, with the dates.',
  'STEP 6: read the last parts and write a summary with all dates.',
];

/** The lessons that the third arm begins with. */
const SUBJECTS = ['dates', 'tables', 'reports', 'names', 'places', 'summaries', 'lists', 'numbers'];

type Arm = 'direct' | 'Instar, empty at first' | 'Instar, with lessons';
const ARMS: readonly Arm[] = ['direct', 'Instar, empty at first', 'Instar, with lessons'];

interface Measured {
  readonly client: string;
  readonly arm: Arm;
  readonly requests: number;
  readonly use: PromptUse;
  /** What the client printed itself. */
  readonly own: Pick<PromptUse, 'input' | 'read' | 'write'>;
}

const measured: Measured[] = [];

/** Parts of a report, long enough that a session passes every smallest size. */
function writeParts(work: string): void {
  for (let nth = 0; nth < STEPS.length * CALLS; nth++) {
    const lines = Array.from(
      { length: 40 },
      (_, line) => `Part ${nth}, line ${line}: parcel ${nth * 40 + line} left.`,
    );
    writeFileSync(path.join(work, `part-${nth}.txt`), `${lines.join('\n')}\n`);
  }
}

const JSON_OUTPUT: Readonly<Record<string, readonly string[]>> = { codex: ['--json'] };

async function play(program: Program, arm: Arm): Promise<Measured> {
  const count: CountPrompt = program.client === 'codex' ? createOpenAiCache() : createAnthropicCache();
  let use = NO_USE;
  let requests = 0;
  const usageOf: UsageOf = (_wire, body) => {
    const one = count(body);
    use = addUse(use, one);
    requests++;
    return {
      inputTokens: one.input,
      outputTokens: 9,
      ...(one.read > 0 ? { cacheReadTokens: one.read } : {}),
      ...(one.write > 0 ? { cacheWriteTokens: one.write } : {}),
    };
  };
  const provider = await startToolProvider(
    ({ messages }) => {
      const text = JSON.stringify(messages);
      const step = STEPS.findLastIndex((one) => text.includes(one.slice(0, 7))) + 1;
      const done = messages.filter(({ role }) => role === 'tool').length;
      return step > 0 && done < step * CALLS ? `cat part-${done}.txt` : undefined;
    },
    0,
    usageOf,
  );
  const fake = { wire: ['openai', 'anthropic'], baseUrl: `${provider.url}/v1`, keyEnv: 'FAKE_KEY' };
  const instar = await openNativeHome({
    providers: { fake },
    models: { default: 'fake/fake-model', evolver: 'off', judge: 'off' },
  });
  try {
    const own = await playSteps(program, arm, instar, provider.url);
    return { client: program.packages[0] ?? program.client, arm, requests, use, own };
  } finally {
    await instar.close();
    await provider.close();
  }
}

/** Replaces an address in the settings below a folder. */
function pointElsewhere(folder: string, from: string, to: string): void {
  let changed = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile() || !/\.(?:json|toml)$/.test(entry.name)) continue;
    const text = readFileSync(file, 'utf8');
    if (!text.includes(from)) continue;
    writeFileSync(file, text.replaceAll(from, to));
    changed++;
  }
  expect(changed).toBeGreaterThan(0);
}

async function playSteps(
  program: Program,
  arm: Arm,
  instar: NativeHome,
  url: string,
): Promise<Measured['own']> {
  writeParts(instar.work);
  const env = { ...instar.env, ANTHROPIC_MODEL: 'fake-model', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  const model = program.model === undefined ? [] : ['--model', program.model];
  const connected = await instar.instar('connect', program.client, '--write', ...model);
  expect(connected.code, connected.stderr + connected.stdout).toBe(0);
  // The same settings, with the provider's address: what a client sends depends on what it knows of its model.
  if (arm === 'direct') pointElsewhere(instar.person, `http://127.0.0.1:${instar.daemon.port}`, url);
  if (arm === 'Instar, with lessons')
    for (const subject of SUBJECTS)
      await instar.teach(subject, {
        name: `about-${subject}`,
        description: `When you read parts of a report or write ${subject}.`,
        content: `Say for all ${subject} in which part of the report they stand, and keep the order of the parts.`,
      });
  let own: Measured['own'] = NO_USE;
  for (const [nth, prompt] of STEPS.entries()) {
    const args = nth === 0 ? program.args(prompt) : (program.again?.(prompt) ?? []);
    const ran = await runProgram(program, [...args, ...(JSON_OUTPUT[program.client] ?? [])], {
      cwd: instar.work,
      env,
    });
    const printed = clientUse(ran.output);
    expect(printed, `${program.client}, ${arm}, step ${nth + 1}: ${ran.output.slice(-2000)}`).toBeDefined();
    // Codex counts on over its conversation.
    own =
      program.client === 'codex'
        ? { ...own, ...printed }
        : addUse({ ...NO_USE, ...own }, { ...NO_USE, ...printed });
    if (process.env.CACHE_DEBUG)
      process.stderr.write(`${program.client} ${arm} ${nth} ${JSON.stringify(printed)}\n`);
    if (arm !== 'direct' && nth === 2) await learnedWith(instar, 'year first');
  }
  return own;
}

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
const tokens = (count: number): string => Math.round(count).toLocaleString('en-US');

/** The rows of the table; `direct` of the same client is 100 % of the cost. */
function rows(): readonly string[] {
  return measured.map(({ client, arm, requests, use, own }) => {
    const direct = measured.find((one) => one.client === client && one.arm === 'direct');
    const cost = costInInput(use);
    const base = direct === undefined ? cost : costInInput(direct.use);
    const cells = [
      client.replace(/^@[^/]+\//, ''),
      arm,
      requests,
      tokens(use.input),
      tokens(use.read),
      tokens(use.write),
    ];
    return `| ${[...cells, percent(use.read, use.input), tokens(cost), percent(cost, base), tokens(own.read)].join(' | ')} |`;
  });
}

const COACHED = PROGRAMS.filter(({ client }) => client === 'claude-code' || client === 'codex');

describe.each(COACHED.map((one) => [one.client, one] as const))('the prompt cache of %s', (_, program) => {
  it('is as warm through Instar as without it: one rule that is learned and eight lessons cost their own tokens alone', async () => {
    install(program);
    for (const arm of ARMS) measured.push(await play(program, arm));
    const [direct, empty, taught] = measured.slice(-ARMS.length);
    if (direct === undefined || empty === undefined || taught === undefined)
      throw new Error('an arm is missing');
    // Nothing was measured where nothing was cached.
    expect(direct.requests).toBeGreaterThanOrEqual(STEPS.length * CALLS);
    expect(direct.use.read).toBeGreaterThan(direct.use.input / 2);
    expect(costInInput(empty.use) / costInInput(direct.use)).toBeLessThan(1.01);
    const share = ({ use }: Measured): number => use.read / use.input;
    expect(share(empty)).toBeGreaterThan(share(direct) - 0.01);
    expect(share(taught)).toBeGreaterThan(share(direct) - 0.02);
  });
});

afterAll(() => {
  if (process.env.BENCH_CACHE !== '1' || measured.length === 0) return;
  const file = path.resolve(import.meta.dirname, '../../lab/results/cache.md');
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(
    file,
    `# The prompt cache

Written by \`npm run bench:cache\` on ${day}: the real programs play one scripted session (${STEPS.length} prompts, ${CALLS} commands each, each prompt a process that continues the conversation; the third prompt is a correction that becomes a rule) without Instar, through an Instar that is empty at first, and through one with ${SUBJECTS.length} lessons. The provider counts cached prefixes by the rules of the real ones (\`lab/measure/cache/prompt-cache.ts\`; a token is four characters); every arm has a provider and a folder of its own. Cost: of prompts, in tokens of plain input (reads 0.1, writes 1.25, 2 for an hour). The last column is what the client printed itself.

| client | arm | requests | input | read | written | read share | cost | of direct | read, by the client |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
${rows().join('\n')}
`,
  );
  process.stderr.write(readFileSync(file, 'utf8'));
});
