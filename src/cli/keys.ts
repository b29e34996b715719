import { Option } from 'commander';
import { homeAt, openHome } from '../config/home.ts';
import {
  type KeyProtection,
  protectOwnerKey,
  readOrCreateOwnerKey,
  replaceOwnerKey,
} from '../config/owner-key.ts';
import { asArray, asObject, compact, type JsonObject } from '../core/json.ts';
import { localTime, plural, relativeTime } from '../text/phrases.ts';
import { shortId } from '../text/short-id.ts';
import { askForOwnerKey, askPassphrase, confirmOwner } from './confirm-owner.ts';
import {
  type CommandAction,
  type CommandContext,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  failure,
  type Positional,
  wrongUse,
} from './context.ts';
import { type Cell, dim } from './print.ts';
import { wholeNumber } from './usage.ts';
import { onApi, withApi } from './with-api.ts';

export const declareKeys: DeclareCommand = (keys, act) => {
  keys
    .command('list')
    .description('List the keys of clients; the keys themselves are not kept.')
    .action(act(listKeys));
  keys
    .command('create')
    .argument('<name>', 'the client or application it is for')
    .addOption(
      new Option(
        '--may <right>',
        'feedback: its feedback counts as a person’s, for an application that passes ratings of its users on',
      ).choices(['feedback']),
    )
    .option(
      '--agent <name...>',
      'the agents it speaks for (default: those it names in its first day, at most eight)',
    )
    .option(
      '--own',
      'a client of your own: it shares your lessons; without it the key learns for itself alone',
    )
    .option('--limit <limit...>', 'the most it may use: "60 requests/minute", "200000 tokens/day", "$5/day"')
    .option(
      '--fallback <model>',
      'provider/model that answers once its tokens or dollars of the day are used up',
    )
    .description('Create a key for one client. It is printed once.')
    .addHelpText('after', '\nExample:\n  $ instar team keys create my-app --agent support\n')
    .action(act(createKey));
  keys
    .command('set')
    .argument('<key>', 'id or name of a key')
    .option('--agent <name...>', 'the agents it speaks for; "*" for every agent')
    .option('--own', 'a client of your own: what it learned becomes yours')
    .option('--apart', 'it learns for itself alone from now on')
    .option('--limit <limit...>', 'the most it may use, in place of its limits so far')
    .option('--fallback <model>', 'with --limit: the model that answers once a budget of the day is used up')
    .option('--no-limit', 'it may use as much as it asks for')
    .description('Change the agents that a key speaks for, whose it is, or what it may use.')
    .addHelpText('after', '\nExample:\n  $ instar team keys set my-app --own\n')
    .action(act(setKey));
  keys
    .command('revoke')
    .argument('<key>', 'id or name of a key')
    .description('Revoke a key; its client is refused from now on.')
    .action(act(revokeKey));
  keys
    .command('protect')
    .option('--passphrase', 'encrypt the owner key with a passphrase, which is asked for when it is needed')
    .option('--keyring', 'keep the owner key in the keyring of the operating system')
    .option('--off', 'keep the owner key in a file that only you can read')
    .option('--new', 'also replace the owner key; the old one is invalid at once')
    .description('Choose where the owner key is kept.')
    .action(act(protectKey));
  keys
    .command('audit')
    .option('--limit <n>', 'number of entries (default: 30)', wholeNumber(1, 999_999))
    .description('Show what was changed with which key, and whether the trail is whole.')
    .action(act(showAudit));
};

const listKeys = onApi(async (_options: object, { keysApi, printer }) => {
  const list = await keysApi.list();
  printer.document(list);
  if (list.length === 0) printer.note('no keys yet: they are created by instar up and instar connect');
  else {
    printer.table(['KEY', 'NAME', 'WHOSE', 'AGENTS', 'MAY', 'CREATED', 'REVOKED'], list, keyRow);
    for (const key of list)
      for (const limit of asArray(key.limits).map(asObject))
        printer.line(`${String(key.name)}: ${String(limit.words)}`, dim(fallbackWords(key)));
  }
});

const keyRow = ({ id, name, whose, agents, may, createdAt, revokedAt }: JsonObject): readonly Cell[] => [
  id,
  name,
  whose,
  asArray(agents).join(', ') || 'none yet',
  asArray(may).join(', '),
  timeAgo(createdAt),
  timeAgo(revokedAt),
];

const fallbackWords = ({ fallback }: JsonObject): string =>
  fallback === undefined ? '' : `, then ${String(fallback)}`;

const timeAgo = (at: unknown): string =>
  at === undefined ? '' : relativeTime(Date.parse(String(at)), Date.now());

interface CreateOptions extends Positional {
  readonly may?: 'feedback';
  readonly agent?: readonly string[];
  readonly own?: true;
  readonly limit?: readonly string[];
  readonly fallback?: string;
}

const createKey: CommandAction<CreateOptions> = async (options, context) => {
  const {
    args: [name = ''],
    may,
    agent,
    own,
    limit,
    fallback,
  } = options;
  if (may === 'feedback')
    await confirmOwner(
      context,
      `Count the feedback of "${name}" as a person's? Lessons are learned from it.`,
    );
  const request = compact({
    name,
    mayRate: may === 'feedback',
    isOwn: own,
    agents: agent && [...agent],
    limits: limit && [...limit],
    fallback,
  });
  const made = await withApi(context, ({ keysApi }) => keysApi.create(request), true);
  const { printer } = context;
  printer.document(made);
  printer.line(String(made.key));
  printer.note(
    dim('  note  '),
    `this is the only time it is shown; revoke it with: instar team keys revoke ${String(made.id)}`,
  );
  return EXIT.ok;
};

interface SetOptions extends Positional {
  readonly agent?: readonly string[];
  readonly own?: true;
  readonly apart?: true;
  readonly limit?: readonly string[] | false;
  readonly fallback?: string;
}

const setKey: CommandAction<SetOptions> = async (options, context) => {
  const {
    args: [name = ''],
    agent,
    own,
    apart,
    limit,
    fallback,
  } = options;
  if (own && apart) throw wrongUse('--own and --apart exclude each other', 'use one of them');
  if (agent === undefined && !own && !apart && limit === undefined && fallback === undefined)
    throw wrongUse('nothing to change was named', 'use --agent, --own, --apart, --limit or --no-limit');
  if (own)
    await confirmOwner(
      context,
      `Is "${name}" a client of your own? What it learned then holds for your other agents.`,
    );
  const isOwn = own ? true : apart ? false : undefined;
  const limits = limit === false ? [] : limit && [...limit];
  const request = compact({ agents: agent && [...agent], isOwn, limits, fallback });
  const changed = await withApi(context, ({ keysApi }) => keysApi.change(name, request));
  if (changed === undefined) throw unknownKey(name);
  const { printer } = context;
  const moved = Number(changed.movedLessons ?? 0);
  printer.document(changed);
  printer.line(
    `Changed ${String(changed.id)} (${name}): ${String(changed.whose)}, speaks for ${asArray(changed.agents).join(', ') || 'no agent yet'}.`,
  );
  for (const { words, used } of asArray(changed.limits).map(asObject))
    printer.line(
      `It ${used === undefined ? 'may use' : 'has used'} ${String(words)}${fallbackWords(changed)}.`,
    );
  if (moved > 0) printer.line(`${plural(moved, 'lesson')} of it ${moved === 1 ? 'is' : 'are'} yours now.`);
  return EXIT.ok;
};

const unknownKey = (name: string): Error =>
  failure(`no valid key is named "${name}"`, 'see: instar team keys list');

const revokeKey = onApi(async ({ args }: Positional, context) => {
  const { keysApi } = context;
  const name = args[0] ?? '';
  const revoked = await keysApi.revoke(name);
  if (revoked.length === 0) throw unknownKey(name);
  context.printer.document(revoked);
  for (const key of revoked)
    context.printer.line(
      `Revoked ${String(key.id)} (${String(key.name)}). Its client is refused from now on.`,
    );
});

interface ProtectOptions {
  readonly passphrase?: true;
  readonly keyring?: true;
  readonly off?: true;
  readonly new?: true;
}

const SHORTEST_PASSPHRASE = 8;

async function protectKey(options: ProtectOptions, context: CommandContext): Promise<ExitCode> {
  const { passphrase, keyring, off } = options;
  if ([passphrase, keyring, off].filter(Boolean).length > 1)
    throw wrongUse('--passphrase, --keyring and --off exclude each other', 'use one of them');
  if (context.env.INSTAR_OWNER_KEY?.trim())
    throw failure('the owner key comes from INSTAR_OWNER_KEY', 'unset the variable first');
  const home = openHome(context.homeDir);
  const stored = readOrCreateOwnerKey(home, context.env);
  const key = stored.key ?? (await askForOwnerKey(context, stored));
  const protection: KeyProtection = passphrase
    ? 'passphrase'
    : keyring
      ? 'keyring'
      : off
        ? 'none'
        : stored.protection;
  if (options.new)
    await confirmOwner(context, 'Replace the owner key? Open pages and scripts that use it are refused.');
  const secret = protection === 'passphrase' ? await newPassphrase(context) : '';
  if (options.new) replaceOwnerKey(home, protection, secret);
  else protectOwnerKey(home, key, protection, secret);
  const { printer } = context;
  printer.document({ protection, replaced: options.new ?? false });
  printer.line(
    `${options.new ? 'Replaced the owner key. ' : ''}${WHERE[protection](homeAt(context.homeDir).ownerKeyFile)}`,
  );
  return EXIT.ok;
}

const WHERE: Readonly<Record<KeyProtection, (file: string) => string>> = {
  none: (file) => `The owner key is in ${file}; only your account can read it.`,
  passphrase: (file) => `The owner key in ${file} is encrypted. Commands ask for the passphrase.`,
  keyring: () => 'The owner key is in the keyring of your session.',
};

async function newPassphrase(context: CommandContext): Promise<string> {
  const first = await askPassphrase(context, 'New passphrase');
  if (first.length < SHORTEST_PASSPHRASE)
    throw failure(
      `a passphrase needs at least ${SHORTEST_PASSPHRASE} characters; nothing was changed`,
      'try again with a longer one',
    );
  if ((await askPassphrase(context, 'The same passphrase again')) !== first)
    throw failure('the two passphrases differ; nothing was changed', 'try again');
  return first;
}

const showAudit = onApi(async ({ limit = 30 }: { readonly limit?: number }, { keysApi, printer }) => {
  const trail = await keysApi.audit(limit);
  printer.document(trail);

  const entries = asArray(trail.entries).map(asObject);
  if (entries.length === 0) printer.note('nothing was changed yet');
  else
    printer.table(['N', 'AT', 'ACTION', 'SUBJECT', 'KEY'], entries, ({ n, at, action, subject, key }) => [
      n,
      localTime(Date.parse(String(at))),
      action,
      shortId(String(subject ?? '')),
      key,
    ]);
  if (trail.fault === undefined) return;
  throw failure(`the audit trail is broken: ${String(trail.fault)}`, 'see: instar doctor');
});
