import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createRemoteApi } from '../api/remote-api.ts';
import { neutraliseLine } from '../base/printable.ts';
import { checkConfig } from '../config/check-config.ts';
import { openHome } from '../config/home.ts';
import { readOrCreateKey } from '../config/key.ts';
import { readOrCreateOwnerKey } from '../config/owner-key.ts';
import type { ChatMessage, ChatRequest } from '../core/chat.ts';
import type { OwnerApis } from '../core/daemon-api.ts';
import { asArray, asObject, asString, type JsonObject, parseJson } from '../core/json.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { createScriptedModel } from '../models/scripted-model.ts';
import { createLog } from '../redact/create-log.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  failure,
} from './context.ts';
import { callableUrl } from './foreground.ts';
import { dim, lineWidth, type Part } from './print.ts';
import { createProgress } from './progress.ts';
import { printWrapped, titleText } from './show-lessons.ts';

export const declareTour: DeclareCommand = (command, act) =>
  void command
    .option('--yes', 'without questions, with an example of a correction')
    .addHelpText(
      'after',
      '\nThe agent is a script: no model, no key, no network. Everything happens in a\nscratch folder, which is removed at the end.\n\nExample:\n  $ instar tour\n',
    )
    .action(act(tour));

const QUESTION = 'Write the shipping report for order 1041.';
const NEXT_QUESTION = 'Write the shipping report for order 1042.';
const CORRECTION = 'No, we always use ISO dates in shipping reports.';
const MODEL = 'clerk';

/** A real daemon in a scratch home and a scripted agent: wrong, corrected, learned, right, why, undone. */
export async function tour(options: { readonly yes?: true }, context: CommandContext): Promise<ExitCode> {
  const { printer, stdin, stderr } = context;
  const isAsking = options.yes !== true && stdin.isTTY === true && stderr.isTTY === true && !printer.json;
  const progress = createProgress(context);
  const stage = await openStage(context, () =>
    progress.show({ phase: 'starting a real Instar in a scratch folder' }),
  );
  progress.clear();
  const begunAt = performance.now();
  try {
    const say = createSay(context);
    const done = await play(stage, say, { isAsking, context });
    printer.document({ ...done, seconds: Math.round((performance.now() - begunAt) / 100) / 10 });
    return done.isLearned ? EXIT.ok : EXIT.failed;
  } finally {
    await stage.close();
    if (!printer.json) printer.note(dim('The scratch folder is removed; nothing of the tour is left.'));
  }
}

interface Stage {
  readonly apis: OwnerApis;
  readonly page: string | undefined;
  /** One conversation: resolves with the answer and the id of its turn. */
  ask(
    session: string,
    messages: readonly JsonObject[],
  ): Promise<{ readonly text: string; readonly turn: string }>;
  /** When what was said so far has been learned from. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

async function openStage(context: CommandContext, onStart: () => void): Promise<Stage> {
  onStart();
  const dir = mkdtempSync(path.join(tmpdir(), 'instar-tour-'));
  const remove = (): void => rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
  let daemon: Daemon;
  // Neither keys nor model servers of this machine are used.
  const env: NodeJS.ProcessEnv = { PATH: context.env.PATH, OLLAMA_HOST: 'http://127.0.0.1:9' };
  const home = openHome(dir);
  const key = readOrCreateKey(home, env).key;
  const owner = readOrCreateOwnerKey(home, env).key;
  try {
    daemon = await context.startDaemon({
      home,
      config: checkConfig({ models: { evolver: 'off', judge: 'off' }, train: { engine: 'off' } }, { env })
        .config,
      env,
      log: createLog({
        format: 'none',
        level: 'error',
        stream: context.stderr,
        env,
        redactor: openRedactor(),
      }),
      port: 0,
      models: { [MODEL]: createScriptedModel(clerk, MODEL) },
    });
  } catch (error) {
    remove();
    throw error;
  }
  const url = callableUrl(daemon.url);
  const code = daemon.pageCode();
  return {
    apis: createRemoteApi({ url }, owner),
    page: code === undefined ? undefined : url + code,
    ask: async (session, messages) => {
      const reply = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-instar-key': key,
          'x-instar-session': session,
          'x-instar-agent': 'shipping-clerk',
        },
        body: JSON.stringify({ model: MODEL, messages }),
      });
      const { choices } = asObject(parseJson(await reply.text()));
      const text = asString(asObject(asObject(asArray(choices)[0]).message).content);
      if (text === undefined)
        throw failure(`the tour’s agent answered with ${reply.status}`, 'see: instar doctor');
      return { text, turn: reply.headers.get('x-instar-turn') ?? '' };
    },
    settle: () => daemon.settle(),
    close: async () => {
      await daemon.close();
      remove();
    },
  };
}

/** How a date may be asked for; the first one that something in the prompt names. */
const FORMS: readonly (readonly [asked: RegExp, date: string])[] = [
  [/\biso\b|y{4}-mm-dd|year first|20\d\d-\d\d-\d\d/i, '2026-11-16'],
  [/dd\.mm|\d\d\.\d\d\.20\d\d|german|deutsch/i, '16.11.2026'],
  [/dd\/mm|day first|british|european/i, '16/11/2026'],
  [/spell|month name|name of the month|in words|written out|long form/i, '16 November 2026'],
];

const textOf = (message: ChatMessage): string =>
  (message.content as readonly object[])
    .map((part) => ('text' in part && typeof part.text === 'string' ? part.text : ''))
    .join('\n');

/** The tour’s agent: it forgets everything between conversations, and follows what its prompt says about dates. */
function clerk({ system, messages }: ChatRequest): string {
  const read = [...system.map(({ text }) => text), ...messages.map(textOf)].join('\n');
  const last = messages.at(-1);
  const order = /order (\d+)/.exec(
    messages.map(textOf).findLast((text) => text.includes('order')) ?? '',
  )?.[1];
  const isReport = last !== undefined && textOf(last).includes('order');
  const date = FORMS.find(([asked]) => asked.test(read))?.[1];
  if (!isReport) return `Sorry. Order ${order} was shipped on ${date ?? '2026-11-16'}.`;
  return `Order ${order} was shipped on ${date ?? '11/16/26'}.`;
}

type Say = (who: 'you' | 'agent' | 'instar' | 'example' | '', ...words: readonly Part[]) => void;

function createSay({ printer, stdout, env }: CommandContext): Say {
  const width = lineWidth(stdout, env);
  return (who, ...words) => {
    if (printer.json) return;
    if (words.length === 0) return printer.line('');
    if (words.length === 1 && typeof words[0] === 'string' && who === '')
      printWrapped(printer, words[0], width);
    else printer.line(dim(who.padEnd(8)), ...words);
  };
}

interface Played {
  readonly isLearned: boolean;
  readonly learned?: string;
  readonly before: string;
  readonly after?: string;
  readonly undone?: string;
}

interface Setting {
  readonly isAsking: boolean;
  readonly context: CommandContext;
}

const user = (content: string): JsonObject => ({ role: 'user', content });
const assistant = (content: string): JsonObject => ({ role: 'assistant', content });

/** Wrong, corrected, learned, right, why, undone. */
async function play({ apis, page, ask, settle }: Stage, say: Say, setting: Setting): Promise<Played> {
  const { isAsking, context } = setting;
  say('', 'An agent that forgets everything between conversations, and Instar between it and its model.');
  if (page !== undefined && isAsking) say('', `Watch it on the page at the same time: ${page}`);
  say('');
  const first = await ask('first', [user(QUESTION)]);
  say('you', QUESTION);
  say('agent', first.text);
  const lesson = await correct({ apis, ask, settle }, first.text, say, setting);
  if (lesson === undefined) return { isLearned: false, before: first.text };
  const title = titleText(lesson);
  say('instar', { text: 'Learned: ', style: 'green' }, { text: title, style: 'bold' });
  say('');
  say('', 'A new conversation. The agent remembers nothing of the first one:');
  const second = await ask('second', [user(NEXT_QUESTION)]);
  say('you', NEXT_QUESTION);
  say('agent', { text: second.text, style: 'green' });
  const explained = await apis.lessonsApi.why(second.turn);
  const because = asArray(explained?.lessons)
    .map(asObject)
    .find(({ id }) => id === lesson.id)?.because;
  const quote = asString((await apis.lessonsApi.show(String(lesson.id)))?.origin);
  say('instar', dim(`why: it was shown “${title}” (${asString(because) ?? 'it fits'}). ${quote ?? ''}`));
  const known = { isLearned: true, learned: title, before: first.text, after: second.text };
  if (isAsking && !(await agrees(context, 'You decide what stays. Take it back?'))) return finish(say, known);
  const { takeBack } = await import('../api/take-back.ts');
  await takeBack(apis.lessonsApi);
  const third = await ask('third', [user(NEXT_QUESTION)]);
  say('instar', dim('instar undo: taken back'));
  say('you', NEXT_QUESTION);
  say('agent', third.text);
  return finish(say, { ...known, undone: third.text });
}

function finish(say: Say, played: Played): Played {
  say('');
  say('', 'That is all: say what is wrong once, and it stays said. With your own agent: instar init');
  return played;
}

/** The person's own words: said to the agent, then, where that was no rule, as feedback; else the example's. */
async function correct(
  { apis, ask, settle }: Pick<Stage, 'apis' | 'ask' | 'settle'>,
  answer: string,
  say: Say,
  { isAsking, context }: Setting,
): Promise<JsonObject | undefined> {
  const progress = createProgress(context);
  const findLearned = async (): Promise<JsonObject | undefined> => {
    progress.show({ phase: 'Instar reads what you said' });
    await settle();
    progress.clear();
    const all = await apis.lessonsApi.list({});
    return all.find(({ state }) => state === 'live' || state === 'trial');
  };
  const tell = async (session: string, words: string, who: 'you' | 'example'): Promise<string> => {
    say(who, words);
    const reply = await ask(session, [user(QUESTION), assistant(answer), user(words)]);
    say('agent', reply.text);
    return reply.turn;
  };
  const words = isAsking ? await askWords(context) : CORRECTION;
  const turn = await tell('first', words, 'you');
  const learned = await findLearned();
  if (learned !== undefined || words === CORRECTION) return learned;
  say('instar', 'That was said for this once, and is no rule yet. The same as feedback:');
  say('you', `instar feedback last "${words}"`);
  await apis.api.feedback({ turn, score: -0.5, note: words });
  const fromFeedback = await findLearned();
  if (fromFeedback !== undefined) return fromFeedback;
  say('instar', 'No rule was found in that either. A rule says what always holds:');
  await ask('example', [user(QUESTION)]);
  await tell('example', CORRECTION, 'example');
  return findLearned();
}

async function askWords(context: CommandContext): Promise<string> {
  const { isCancel, text } = await import('@clack/prompts');
  const { stdin: input, stderr: output } = context;
  const words = await text({
    input,
    output,
    message: 'That date is ambiguous. Tell the agent how to write dates (Enter: the example)',
    placeholder: CORRECTION,
    defaultValue: CORRECTION,
  });
  if (isCancel(words)) throw new CommandError(EXIT.interrupted, 'the tour was left');
  return neutraliseLine(words.trim()) || CORRECTION;
}

async function agrees(context: CommandContext, message: string): Promise<boolean> {
  const { confirm, isCancel } = await import('@clack/prompts');
  const { stdin: input, stderr: output } = context;
  const answer = await confirm({ input, output, message, initialValue: true });
  if (isCancel(answer)) throw new CommandError(EXIT.interrupted, 'the tour was left');
  return answer;
}
