import { InvalidArgumentError, Option } from 'commander';
import { homeAt, openHome } from '../config/home.ts';
import {
  type KeyProtection,
  protectOwnerKey,
  readOrCreateOwnerKey,
  replaceOwnerKey,
} from '../config/owner-key.ts';
import { compact, type JsonObject } from '../core/json.ts';
import { localTime, plural, relativeTime } from '../text/phrases.ts';
import { shortId } from '../text/short-id.ts';
import { askForOwnerKey, askPassphrase, confirmOwner } from './confirm-owner.ts';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  type Positional,
} from './context.ts';
import { dim } from './print.ts';
import { withApi } from './with-api.ts';

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
    .description('Create a key for one client. It is printed once.')
    .addHelpText('after', '\nExample:\n  $ instar team keys create my-app --agent support\n')
    .action(act(createKey));
  keys
    .command('set')
    .argument('<key>', 'id or name of a key')
    .option('--agent <name...>', 'the agents it speaks for; "*" for every agent')
    .option('--own', 'a client of your own: what it learned becomes yours')
    .option('--apart', 'it learns for itself alone from now on')
    .description('Change the agents that a key speaks for, or whose it is.')
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
    .option('--limit <n>', 'number of entries (default: 30)', parseLimit)
    .description('Show what was changed with which key, and whether the trail is whole.')
    .action(act(showAudit));
};

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('Give a number from 1 to 999999.');
  return Number(text);
}

const listKeys = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ keysApi }) => {
    const list = await keysApi.list();
    const { printer } = context;
    if (printer.json) printer.document(list);
    else if (list.length === 0) printer.note('no keys yet: they are created by instar up and instar connect');
    else
      printer.table([
        ['KEY', 'NAME', 'WHOSE', 'AGENTS', 'MAY', 'CREATED', 'REVOKED'].map(dim),
        ...list.map(keyRow),
      ]);
    return EXIT.ok;
  });

const keyRow = ({ id, name, whose, agents, may, createdAt, revokedAt }: JsonObject): readonly string[] => [
  String(id),
  String(name),
  String(whose),
  (agents as readonly string[]).join(', ') || 'none yet',
  (may as readonly string[]).join(', '),
  timeAgo(createdAt),
  timeAgo(revokedAt),
];

const timeAgo = (at: unknown): string =>
  at === undefined ? '' : relativeTime(Date.parse(String(at)), Date.now());

interface CreateOptions extends Positional {
  readonly may?: 'feedback';
  readonly agent?: readonly string[];
  readonly own?: true;
}

async function createKey(
  { args, may, agent, own }: CreateOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const name = args[0] ?? '';
  if (may === 'feedback')
    await confirmOwner(
      context,
      `Count the feedback of "${name}" as a person's? Lessons are learned from it.`,
    );
  return withApi(
    context,
    async ({ keysApi }) => {
      const made = await keysApi.create(
        compact({ name, mayRate: may === 'feedback', isOwn: own, agents: agent && [...agent] }),
      );
      const { printer } = context;
      if (printer.json) printer.document(made);
      else {
        printer.line(String(made.key));
        printer.note(
          dim('  note  '),
          `this is the only time it is shown; revoke it with: instar team keys revoke ${String(made.id)}`,
        );
      }
      return EXIT.ok;
    },
    true,
  );
}

interface SetOptions extends Positional {
  readonly agent?: readonly string[];
  readonly own?: true;
  readonly apart?: true;
}

async function setKey({ args, agent, own, apart }: SetOptions, context: CommandContext): Promise<ExitCode> {
  const name = args[0] ?? '';
  if (own && apart)
    throw new CommandError(EXIT.wrongUse, '--own and --apart exclude each other', 'use one of them');
  if (agent === undefined && !own && !apart)
    throw new CommandError(EXIT.wrongUse, 'nothing to change was named', 'use --agent, --own or --apart');
  if (own)
    await confirmOwner(
      context,
      `Is "${name}" a client of your own? What it learned then holds for your other agents.`,
    );
  return withApi(context, async ({ keysApi }) => {
    const isOwn = own ? true : apart ? false : undefined;
    const changed = await keysApi.change(name, compact({ agents: agent && [...agent], isOwn }));
    if (changed === undefined)
      throw new CommandError(EXIT.failed, `no valid key is named "${name}"`, 'see: instar team keys list');
    const { printer } = context;
    const { agents, whose, movedLessons } = changed;
    if (printer.json) printer.document(changed);
    else {
      const moved = Number(movedLessons ?? 0);
      printer.line(
        `Changed ${String(changed.id)} (${name}): ${String(whose)}, speaks for ${(agents as readonly string[]).join(', ') || 'no agent yet'}.`,
      );
      if (moved > 0)
        printer.line(`${plural(moved, 'lesson')} of it ${moved === 1 ? 'is' : 'are'} yours now.`);
    }
    return EXIT.ok;
  });
}

const revokeKey = ({ args }: Positional, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ keysApi }) => {
    const name = args[0] ?? '';
    const revoked = await keysApi.revoke(name);
    if (revoked.length === 0)
      throw new CommandError(EXIT.failed, `no valid key is named "${name}"`, 'see: instar team keys list');
    if (context.printer.json) context.printer.document(revoked);
    else
      for (const key of revoked)
        context.printer.line(
          `Revoked ${String(key.id)} (${String(key.name)}). Its client is refused from now on.`,
        );
    return EXIT.ok;
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
    throw new CommandError(
      EXIT.wrongUse,
      '--passphrase, --keyring and --off exclude each other',
      'use one of them',
    );
  if (context.env.INSTAR_OWNER_KEY?.trim())
    throw new CommandError(
      EXIT.failed,
      'the owner key comes from INSTAR_OWNER_KEY',
      'unset the variable first',
    );
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
  if (printer.json) printer.document({ protection, replaced: options.new ?? false });
  else
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
    throw new CommandError(
      EXIT.failed,
      `a passphrase needs at least ${SHORTEST_PASSPHRASE} characters; nothing was changed`,
      'try again with a longer one',
    );
  if ((await askPassphrase(context, 'The same passphrase again')) !== first)
    throw new CommandError(EXIT.failed, 'the two passphrases differ; nothing was changed', 'try again');
  return first;
}

const showAudit = ({ limit = 30 }: { readonly limit?: number }, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ keysApi }) => {
    const trail = await keysApi.audit(limit);
    const { printer } = context;
    if (printer.json) printer.document(trail);
    else {
      const rows = (trail.entries as readonly JsonObject[]).map(({ n, at, action, subject, key }) =>
        [n, localTime(Date.parse(String(at))), action, shortId(String(subject ?? '')), key].map((value) =>
          String(value ?? ''),
        ),
      );
      if (rows.length === 0) printer.note('nothing was changed yet');
      else printer.table([['N', 'AT', 'ACTION', 'SUBJECT', 'KEY'].map(dim), ...rows]);
    }
    if (trail.fault === undefined) return EXIT.ok;
    throw new CommandError(
      EXIT.failed,
      `the audit trail is broken: ${String(trail.fault)}`,
      'see: instar doctor',
    );
  });
