import type { Command } from 'commander';
import { neutralise } from '../base/printable.ts';
import type { LessonsApi } from '../core/daemon-api.ts';
import { asArray, asNumber, asObject, asString, compact, type JsonObject } from '../core/json.ts';
import { diffLines } from '../text/line-diff.ts';
import { localTime, plural } from '../text/phrases.ts';
import { whoOf } from '../text/who.ts';
import { confirmOwner } from './confirm-owner.ts';
import {
  type CommandContext,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  failure,
  type Positional,
  wrongUse,
} from './context.ts';
import { dim, type Part } from './print.ts';
import { onApi } from './with-api.ts';

export const declareIdentity: DeclareCommand = (identity, act) => {
  const reading = (name: string, description: string): Command =>
    identity
      .command(name)
      .argument('[agent]', 'an agent; only needed when several have an identity')
      .description(description);
  reading('show', 'Show who an agent is, by tier, and what needs your decision.').action(act(showIdentity));
  reading('diff', 'Show what each waiting proposal would change, line by line.').action(act(diffIdentity));
  reading('history', 'Show every revision of an identity: who, when, why.').action(act(identityHistory));
  const deciding = (name: string, description: string): Command =>
    reading(name, description)
      .argument('[lesson]', 'id or name of a part; only needed when several could be meant')
      .option('--reason <text>', 'reason, for the history');
  deciding('approve', 'Approve a proposal: you are shown its text and asked at the terminal.')
    .option('--hash <hash>', 'only if its text is unchanged (the hash that `identity show` prints)')
    .option('--unmeasured', 'although no practice compared attempts with it and without it')
    .action(act(approveIdentity));
  reading('practise', 'Measure a proposal: attempt the agent’s tasks with it and without it.')
    .argument('[lesson]', 'id or name of a part; all that wait, unless it is given')
    .option('--detach', 'return at once; the daemon goes on')
    .action(act(practiseIdentity));
  identity
    .command('reflect')
    .description('Think over now what people said about agents; it is done once a day by itself.')
    .action(act(reflectNow));
  deciding('reject', 'Reject a proposal; an edited file is written back.')
    .option('--hash <hash>', 'only if its text is unchanged')
    .action(act(rejectIdentity));
  deciding('rollback', 'Return to a text that was in use before; you are asked at the terminal.')
    .option('--to <revision>', 'the revision; the one before, unless it is given')
    .action(act(rollBackIdentity));
};

type IdentityPart = JsonObject;
const text = (value: unknown): string => asString(value) ?? (typeof value === 'number' ? String(value) : '');
const agentOf = ({ scope }: IdentityPart): string => text(asObject(scope).agent) || 'every agent';
const isUsed = ({ state }: IdentityPart): boolean => state === 'live' || state === 'trial';
const TIERS = ['core', 'guarded', 'free'];

/** All identities of an agent, with their texts. */
async function readParts(
  lessonsApi: LessonsApi,
  agent: string | undefined,
): Promise<readonly IdentityPart[]> {
  const listed = await lessonsApi.list({ kind: 'identity' });
  const agents = [...new Set(listed.map(agentOf))];
  const [only] = agents;
  if (only === undefined)
    throw failure(
      'no agent has an identity yet',
      'write HOME/identity/AGENT/SOUL.md with the sections "## Core", "## Guarded" and "## Free", and run Instar',
    );
  if (agent === undefined && agents.length > 1)
    throw wrongUse(`several agents have an identity: ${agents.join(', ')}`);
  const wanted = agent ?? only;
  if (!agents.includes(wanted)) throw failure(`no identity of "${wanted}"; there is: ${agents.join(', ')}`);
  const parts: IdentityPart[] = [];
  for (const one of listed.filter((lesson) => agentOf(lesson) === wanted)) {
    const shown = await lessonsApi.show(text(one.id));
    if (shown !== undefined) parts.push(shown);
  }
  return parts.sort((a, b) => TIERS.indexOf(text(a.tier)) - TIERS.indexOf(text(b.tier)));
}

/** The part in use that a proposal would replace. */
const baseOf = (proposal: IdentityPart, parts: readonly IdentityPart[]): IdentityPart | undefined => {
  const { links, relations } = asObject(proposal.note);
  const revised = [...asArray(relations).map((one) => asObject(one).to), ...asArray(links)];
  return parts.find(({ id }) => revised.includes(id ?? ''));
};

const measurement = ({ trial }: IdentityPart): string =>
  asString(asObject(trial).words) ?? 'not measured: no practice compared attempts with it and without it';

const isCompared = ({ trial }: IdentityPart): boolean =>
  ['helpful', 'harmful', 'no-difference'].includes(text(asObject(trial).outcome));

const printWords = ({ printer }: CommandContext, words: unknown, mark: Part = '  '): void => {
  for (const line of neutralise(text(words)).split('\n')) printer.line(mark, line);
};

const showIdentity = onApi(async ({ args }: Positional, context) => {
  const { lessonsApi, printer } = context;
  const parts = await readParts(lessonsApi, args[0]);
  printer.document(parts);
  printer.line({ text: `Identity of ${agentOf(parts[0] ?? {})}`, style: 'bold' });
  for (const part of parts.filter(isUsed)) {
    printer.line('');
    printer.line(
      `${text(part.name)} `,
      dim(`${text(part.tier)}, ${text(part.state)}, revision ${text(part.revision)}`),
    );
    printWords(context, part.content);
  }
  const waiting = parts.filter(({ state }) => state === 'proposed');
  if (waiting.length > 0) printer.line('');
  for (const part of waiting) printWaitingPart(part, context);
  if (waiting.length > 0)
    printer.note(
      'compare with: instar identity diff; decide with: instar identity approve, instar identity reject',
    );
});

function printWaitingPart(part: IdentityPart, context: CommandContext): void {
  const { printer } = context;
  printer.line({ text: `waits: ${text(part.name)} `, style: 'yellow' }, dim(text(part.tier)));
  printWords(context, part.content, '  ');
  printer.fields([
    ['id', text(part.id)],
    ['why', text(part.reason)],
    ['measured', measurement(part)],
    ['hash', text(part.hash)],
  ]);
}

const diffIdentity = onApi(async ({ args }: Positional, { lessonsApi, printer }) => {
  const parts = await readParts(lessonsApi, args[0]);
  const waiting = parts.filter(({ state }) => state === 'proposed');
  const compared = waiting.map((part) => ({
    id: text(part.id),
    name: text(part.name),
    tier: text(part.tier),
    hash: text(part.hash),
    measured: measurement(part),
    lines: diffLines(text(baseOf(part, parts)?.content), text(part.content)),
  }));
  printer.document(compared);
  if (compared.length === 0) printer.note('nothing waits: the files say what is in use');
  else
    for (const { id, name, tier, hash, measured, lines } of compared) {
      printer.line({ text: name, style: 'bold' }, dim(`  ${id}, ${tier}, hash ${hash}`));
      for (const { mark, line } of lines)
        printer.line({
          text: `${mark} ${neutralise(line)}`,
          ...(mark === ' ' ? {} : { style: mark === '+' ? 'green' : 'red' }),
        } as Part);
      printer.line(dim(measured));
    }
});

const eventsOf = ({ history }: IdentityPart): readonly JsonObject[] => asArray(history).map(asObject);

const identityHistory = onApi(async ({ args }: Positional, { lessonsApi, printer }) => {
  const parts = await readParts(lessonsApi, args[0]);
  const events = parts
    .flatMap((part) =>
      eventsOf(part).map((event) => ({ ...event, id: part.id, name: part.name, tier: part.tier })),
    )
    .sort((a, b) => Date.parse(text(asObject(a).at)) - Date.parse(text(asObject(b).at)))
    .map(asObject);
  printer.document(events);
  printer.table(['WHEN', 'PART', 'TIER', 'WHO', 'WHAT', 'WHY'], events, (event) => [
    localTime(Date.parse(text(event.at))),
    text(event.name),
    text(event.tier),
    whoOf(text(event.by)),
    `${text(event.op)} → ${text(event.state)} r${text(event.revision)}`,
    text(event.reason),
  ]);
});

interface DecideOptions extends Positional {
  readonly reason?: string;
  readonly hash?: string;
  readonly unmeasured?: true;
  readonly to?: string;
}

/** The one part that is meant. */
function choosePart(parts: readonly IdentityPart[], asked: string | undefined, what: string): IdentityPart {
  const named = parts.filter(({ id, name }) => asked === undefined || id === asked || name === asked);
  const [part] = named;
  if (part === undefined)
    throw failure(`no ${what}${asked === undefined ? '' : ` named "${asked}"`}`, 'see: instar identity show');
  if (named.length > 1) {
    const names = named.map(({ id, name }) => `${text(name)} (${text(id)})`).join(', ');
    throw wrongUse(`${plural(named.length, what)} could be meant: ${names}`, 'name one after the agent');
  }
  return part;
}

interface Decision {
  readonly changes: readonly JsonObject[];
  readonly shown: JsonObject;
  /** What is said when it is done. */
  readonly done: string;
}

/** One request, with the hashes of what was shown. Throws for a refusal. */
async function decide(
  lessonsApi: LessonsApi,
  { changes, shown, done }: Decision,
  { reason, unmeasured }: DecideOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const answer = await lessonsApi.change({
    changes: [...changes],
    shown,
    identity: true,
    ...(unmeasured === true ? { unmeasured } : {}),
    ...(reason === undefined ? {} : { reason }),
  });
  const refused = asArray(answer.results)
    .map(asObject)
    .find(({ status }) => status === 'refused');
  if (refused !== undefined) throw failure(text(refused.why));
  context.printer.document(answer);
  context.printer.line(`${done}; generation ${text(answer.generation)}`);
  return EXIT.ok;
}

async function readProposal(lessonsApi: LessonsApi, [agent, name]: Positional['args']) {
  const parts = await readParts(lessonsApi, agent);
  const waiting = parts.filter(({ state }) => state === 'proposed');
  return { parts, part: choosePart(waiting, name, 'waiting proposal') };
}

const approveIdentity = onApi(async (options: DecideOptions, context) => {
  const { lessonsApi } = context;
  const { parts, part } = await readProposal(lessonsApi, options.args);
  if (options.unmeasured !== true && !isCompared(part) && part.tier !== 'free')
    throw failure(
      `${text(part.name)} was not measured: no practice compared attempts with it and without it`,
      `measure it with: instar identity practise ${agentOf(part)}; or approve it all the same with --unmeasured`,
    );
  const base = baseOf(part, parts);
  const about = `the ${text(part.tier)} part of ${agentOf(part)} (${measurement(part)})`;
  await confirmOwner(context, `Make this ${about}? It says:\n${neutralise(text(part.content))}\n`);
  const id = text(part.id);
  const shown = {
    [id]: options.hash ?? text(part.hash),
    ...(base === undefined ? {} : { [text(base.id)]: text(base.hash) }),
  };
  const changes =
    base === undefined ? [{ op: 'move', id, to: 'live' }] : await replacing(base, part, lessonsApi);
  const done = `${text((base ?? part).name)} of ${agentOf(part)} is in use`;
  return decide(lessonsApi, { changes, shown, done }, options, context);
});

const reflectNow = onApi(async (_: object, context) => {
  const { api } = context;
  const answer = await api.practice({ do: 'reflect' });
  context.printer.document(answer);
  context.printer.line(text(answer.said));
});

const POLL_MS = 250;

/** Attempts with and without what waits, by the running daemon. */
const practiseIdentity = onApi(
  async (
    { args: [agent, part], detach }: Positional & { readonly detach?: true },
    { api, lessonsApi, printer },
  ) => {
    const begun = await api.practice(compact({ do: 'identity', agent, part }));
    if (begun.started !== true) throw failure(text(begun.why) || 'nothing is measured');
    if (detach === true) {
      printer.document(begun);
      printer.line('The measurement runs in the background. See: instar identity show');
      return;
    }
    let now = await api.practice({ do: 'status' });
    while (now.running !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      now = await api.practice({ do: 'status' });
    }
    if (typeof now.problem === 'string') throw failure(now.problem);
    const parts: IdentityPart[] = [];
    for (const id of asArray(begun.proposals)) parts.push((await lessonsApi.show(text(id))) ?? {});
    printer.document(parts.map(({ id, name, hash, trial }) => ({ id, name, hash, trial })));
    for (const one of parts) printer.line({ text: text(one.name), style: 'bold' }, `: ${measurement(one)}`);
    return parts.every(isCompared) ? EXIT.ok : EXIT.failed;
  },
);

/** The proposal's text becomes the next revision of the part that it replaces. */
async function replacing(
  base: IdentityPart,
  part: IdentityPart,
  lessonsApi: LessonsApi,
): Promise<readonly JsonObject[]> {
  const id = text(base.id);
  const all = (await lessonsApi.all()).map(asObject);
  const textOf = (wanted: string): JsonObject => asObject(all.find((one) => one.id === wanted)?.text);
  const [old, next] = [textOf(id), textOf(text(part.id))];
  const { relations: _, ...note } = asObject(next.note);
  const { links, relations } = asObject(old.note);
  const merged = {
    ...next,
    name: old.name ?? '',
    note: compact({ ...note, links: asArray(links), relations }),
  };
  const isOpen = isUsed(base);
  return [
    ...(isOpen ? [] : [{ op: 'move', id, to: 'proposed' }]),
    { op: 'merge', ids: [id, text(part.id)], into: id, from: base.revision ?? 0, text: merged },
    ...(isOpen ? [] : [{ op: 'move', id, to: 'live' }]),
  ];
}

const rejectIdentity = onApi(async (options: DecideOptions, context) => {
  const { lessonsApi } = context;
  const { part } = await readProposal(lessonsApi, options.args);
  const id = text(part.id);
  const shown = { [id]: options.hash ?? text(part.hash) };
  const change = {
    op: 'move',
    id,
    to: 'rejected',
    ...(options.reason === undefined ? {} : { reason: options.reason }),
  };
  const done = `${text(part.name)} of ${agentOf(part)} is rejected`;
  return decide(lessonsApi, { changes: [change], shown, done }, options, context);
});

const rollBackIdentity = onApi(async (options: DecideOptions, context) => {
  const { lessonsApi } = context;
  const parts = await readParts(lessonsApi, options.args[0]);
  const used = parts.filter((part) => eventsOf(part).some(isUsed) && part.state !== 'proposed');
  const part = choosePart(used, options.args[1], 'part that was in use');
  const past = eventsOf(part).filter((event) => isUsed(event) && event.content !== part.content);
  const to = options.to === undefined ? asNumber(past.at(-1)?.revision) : Number(options.to);
  const target = past.findLast(({ revision }) => revision === to);
  if (target === undefined)
    throw failure(
      `${text(part.name)} has no ${options.to === undefined ? 'earlier revision' : `revision ${options.to}`} that was in use`,
      'see: instar identity history',
    );
  await confirmOwner(
    context,
    `Return ${text(part.name)} of ${agentOf(part)} to revision ${text(target.revision)}? It says:\n${neutralise(text(target.content))}\n`,
  );
  const id = text(part.id);
  const change = { op: 'restore', id, revision: target.revision ?? 0, state: 'live' };
  const done = `${text(part.name)} of ${agentOf(part)} is as in revision ${text(target.revision)}`;
  return decide(lessonsApi, { changes: [change], shown: { [id]: text(part.hash) }, done }, options, context);
});
