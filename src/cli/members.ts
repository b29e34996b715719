import { InvalidArgumentError, Option } from 'commander';
import { asArray, asObject, compact, type JsonObject } from '../core/json.ts';
import { isRole, MEMBER_ROLES } from '../core/member.ts';
import { plural, relativeTime } from '../text/phrases.ts';
import { confirmOwner } from './confirm-owner.ts';
import { type CommandContext, type DeclareCommand, failure, type Positional, wrongUse } from './context.ts';
import { dim } from './print.ts';
import { titleText } from './show-lessons.ts';
import { onApi, withApi } from './with-api.ts';

export const declareMembers: DeclareCommand = (members, act) => {
  members
    .command('list')
    .description('List the members of the team, with their roles and whether they share.')
    .action(act(listMembers));
  members
    .command('add')
    .argument('<name>', 'how the others know the person')
    .option('--role <role>', `${MEMBER_ROLES.join(', ')} (default: member)`, parseRole)
    .description('Add a person to the team. The person’s key is printed once.')
    .addHelpText('after', '\nExample:\n  $ instar team members add "Ada L." --role reviewer\n')
    .action(act(addMember));
  members
    .command('remove')
    .argument('<name>', 'name or id of a member')
    .description('Remove a member; the keys are refused from now on. What was recorded stays.')
    .action(act(removeMember));
  members
    .command('role')
    .argument('<name>', 'name or id of a member')
    .argument('<role>', MEMBER_ROLES.join(', '), parseRole)
    .description('Change what a member may do.')
    .action(act(changeRole));
  members
    .command('limit')
    .argument('<name>', 'name or id of a member')
    .option('--limit <limit...>', 'the most that all keys of the member may use: "$5/day"')
    .option('--fallback <model>', 'with --limit: the model that answers once a budget of the day is used up')
    .option('--no-limit', 'they may use as much as they ask for')
    .description('Set what a member may use; in place of the limits so far.')
    .addHelpText('after', '\nExample:\n  $ instar team members limit ada --limit "$5/day"\n')
    .action(act(changeLimits));
  members
    .command('key')
    .argument('[name]', 'name or id of a member (default: you)')
    .argument('[client]', 'the program it is for; without it, a new key for the person')
    .description('Create a key for a program of a member, or replace the person’s key. It is printed once.')
    .action(act(makeKey));
  members
    .command('revoke')
    .argument('<name>', 'name or id of a member')
    .argument('<key>', 'id or name of the key')
    .description('Revoke one key of a member.')
    .action(act(revokeKey));
  members
    .command('opt-out')
    .argument('[name]', 'name or id of a member (default: you)')
    .description(
      'Sessions of this member support no lesson of the team any more; those that did are retired.',
    )
    .action(act(changeSharing(false)));
  members
    .command('opt-in')
    .argument('[name]', 'name or id of a member (default: you)')
    .description('Sessions of this member may support lessons of the team. Only the member may say so.')
    .action(act(changeSharing(true)));
  members
    .command('shared')
    .argument('[name]', 'name or id of a member (default: you)')
    .description('Show what was recorded of a member, and which lessons of the team rest on it.')
    .action(act(showShared));
};

function parseRole(text: string): string {
  if (!isRole(text)) throw new InvalidArgumentError(`Give one of: ${MEMBER_ROLES.join(', ')}.`);
  return text;
}

/** Asks, and prints what was answered: as JSON, or as `say` puts it. */
async function ask(
  context: CommandContext,
  request: JsonObject,
  say: (answer: JsonObject) => void,
  mayCreate = false,
): Promise<undefined> {
  const answer = await withApi(context, ({ keysApi }) => keysApi.members(request), mayCreate);
  context.printer.document(answer);
  if (!context.printer.json) say(answer);
}

const nameIn = (name: string | undefined): JsonObject => (name === undefined ? {} : { name });

const listMembers = (_options: object, context: CommandContext): Promise<undefined> =>
  ask(context, { do: 'list' }, (answer) => {
    const { printer } = context;
    const all = asArray(answer.members).map(asObject);
    if (all.length === 0) {
      printer.note('no members: this home is one person’s. Add one with: instar team members add NAME');
      return;
    }
    printer.table(['MEMBER', 'NAME', 'ROLE', 'SHARES', 'KEYS', 'LIMITS', 'ADDED'], all, (one) => [
      String(one.id),
      String(one.name),
      String(one.role),
      one.shares === true ? 'yes' : 'no',
      asArray(one.keys)
        .map((key) => String(asObject(key).id))
        .join(' '),
      sayLimits(one),
      relativeTime(Date.parse(String(one.addedAt)), Date.now()),
    ]);
  });

interface AddOptions extends Positional {
  readonly role?: string;
}

async function addMember({ args, role }: AddOptions, context: CommandContext): Promise<undefined> {
  const name = args[0] ?? '';
  if (role === 'owner') await confirmOwner(context, `Let "${name}" see and change everything here?`);
  const request = { do: 'add', name, role: role ?? 'member' };
  return ask(
    context,
    request,
    (answer) => sayKey(answer, context, `Added ${name}, ${String(answer.role)}.`),
    true,
  );
}

function sayKey(answer: JsonObject, { printer }: CommandContext, said: string): void {
  printer.line(String(answer.key));
  printer.note(dim('  note  '), `${said} This is the only time the key is shown.`);
}

const removeMember = ({ args }: Positional, context: CommandContext): Promise<undefined> =>
  ask(context, { do: 'remove', name: args[0] ?? '' }, ({ name }) =>
    context.printer.line(`Removed ${String(name)}. The keys are refused from now on.`),
  );

async function changeRole({ args }: Positional, context: CommandContext): Promise<undefined> {
  const [name = '', role = ''] = args;
  if (role === 'owner') await confirmOwner(context, `Let "${name}" see and change everything here?`);
  return ask(context, { do: 'role', name, role }, (answer) =>
    context.printer.line(`${String(answer.name)} is ${String(answer.role)} now.`),
  );
}

interface LimitOptions extends Positional {
  readonly limit?: readonly string[] | false;
  readonly fallback?: string;
}

const changeLimits = (
  { args, limit, fallback }: LimitOptions,
  context: CommandContext,
): Promise<undefined> => {
  if (limit === undefined) throw wrongUse('no limit was named', 'use --limit or --no-limit');
  const limits = limit === false ? [] : [...limit];
  const request = compact({ do: 'limit', name: args[0] ?? '', limits, fallback });
  return ask(context, request, (answer) => {
    const words = sayLimits(answer);
    context.printer.line(`${String(answer.name)}: ${words === '' ? 'no limits' : words}.`);
  });
};

const sayLimits = ({ limits, fallback }: JsonObject): string =>
  [
    ...asArray(limits).map((one) => String(asObject(one).words)),
    ...(fallback === undefined ? [] : [`then ${String(fallback)}`]),
  ].join('; ');

const makeKey = ({ args }: Positional, context: CommandContext): Promise<undefined> => {
  const [name, client] = args;
  const request = { do: 'key', ...nameIn(name), ...(client === undefined ? {} : { client }) };
  return ask(context, request, (answer) =>
    sayKey(answer, context, `A key of ${String(answer.member)}, for ${client ?? 'the person alone'}.`),
  );
};

const revokeKey = ({ args }: Positional, context: CommandContext): Promise<undefined> =>
  ask(context, { do: 'revoke', name: args[0] ?? '', key: args[1] ?? '' }, ({ revoked, member }) =>
    context.printer.line(`Revoked ${asArray(revoked).join(', ')} of ${String(member)}.`),
  );

const changeSharing =
  (shares: boolean) =>
  ({ args }: Positional, context: CommandContext): Promise<undefined> =>
    ask(context, { do: 'share', shares, ...nameIn(args[0]) }, ({ name, withdrawn }) => {
      const { printer } = context;
      printer.line(
        shares ? `${String(name)} shares with the team.` : `${String(name)} shares nothing any more.`,
      );
      const gone = asArray(withdrawn);
      if (gone.length > 0)
        printer.line(
          `${plural(gone.length, 'lesson')} of the team retired: ${gone.map((title) => `“${String(title)}”`).join(', ')}.`,
        );
    });

const showShared = ({ args }: Positional, context: CommandContext): Promise<undefined> =>
  ask(context, { do: 'shared', ...nameIn(args[0]) }, (answer) => {
    const { printer } = context;
    const recorded = asObject(answer.recorded);
    printer.line(
      `${String(answer.member)}: ${plural(Number(recorded.sessions), 'session')} with ${plural(Number(recorded.turns), 'turn')} recorded at the gateway; ${plural(Number(answer.private), 'lesson')} that nobody else is shown.`,
    );
    const team = asArray(answer.team).map(asObject);
    if (answer.shares !== true) printer.line('Opted out: no lesson of the team rests on them.');
    else if (team.length === 0) printer.line('No lesson of the team rests on them.');
    for (const lesson of team)
      printer.line(
        `“${titleText(lesson)}” (${String(lesson.state)}) ${dim(`rests on ${plural(asArray(lesson.turns).length, 'turn')}`)}`,
      );
    printer.note(
      dim('  note  '),
      'erase a session, and what rests on it alone, with: instar sessions erase ID',
    );
  });

/** `instar team share LESSON`. */
export const declareShareLesson: DeclareCommand = (share, act) =>
  void share
    .argument('<lesson>', 'id or name of a lesson')
    .addOption(new Option('--team', 'of the old name').hideHelp())
    .action(act(shareLesson));

const shareLesson = onApi(async ({ args }: Positional, context) => {
  const { keysApi } = context;
  const done = await keysApi.members({ do: 'move', lesson: args[0] ?? '' });
  const { status, why } = asObject(asArray(done.results)[0]);
  context.printer.document(done);
  if (status === 'applied')
    context.printer.line('It is the team’s now, on trial: its effect is measured for all members.');
  if (status === 'refused') throw failure(String(why), 'see: instar lessons show NAME');
  if (status === 'same' && !context.printer.json) context.printer.line('It is the team’s already.');
});
