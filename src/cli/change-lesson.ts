import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { takeBack } from '../api/take-back.ts';
import { neutralise, neutraliseLine } from '../base/printable.ts';
import type { LessonsApi } from '../core/daemon-api.ts';
import { asArray, asObject, asString, type JsonObject } from '../core/json.ts';
import { confirmOwner, isAtTerminal } from './confirm-owner.ts';
import {
  type Act,
  type CommandAction,
  type CommandContext,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  failure,
  type Positional,
  wrongUse,
} from './context.ts';
import { findLesson } from './find-lesson.ts';
import { dim } from './print.ts';
import { titleText } from './show-lessons.ts';
import { onApi, withApi } from './with-api.ts';

/** `lessons keep`, `lessons drop` and `lessons edit`. */
export function declareChangeLessons(lessons: Command, act: Act): void {
  const changing = (name: string, description: string): Command =>
    lessons
      .command(name)
      .argument('<lesson>', 'id, name or title of a lesson, or last')
      .option('--reason <text>', 'reason, for the history')
      .option('--hash <hash>', 'only if its text is unchanged (the hash of `lessons show --json`)')
      .description(description);
  changing('keep', 'Use a lesson that waits or is on trial, or bring a dropped one back.')
    .option('--live', 'make it live at once, without a trial')
    .action(act(changeLesson(keepChange, confirmUse)));
  changing('drop', 'Turn down a lesson that waits, or stop using one; keep brings it back.').action(
    act(changeLesson(dropChange)),
  );
  changing('edit', 'Change a lesson’s text in your editor, or how it is used.')
    .option('--text <text>', 'the new text')
    .option('--always', 'show it to every task in its scope, whether or not it fits')
    .option('--no-always', 'show it only to tasks that it fits')
    .option('--pin', 'keep it in use whatever its age and measured effect')
    .option('--no-pin', 'let age and measured effect decide again')
    .option('--freeze', 'forbid learners to change it')
    .option('--no-freeze', 'let learners change it again')
    .addOption(new Option('--off').hideHelp())
    .action(act(editLesson));
}

interface ChangeOptions extends Positional {
  readonly reason?: string;
  readonly hash?: string;
  readonly live?: true;
}

type PlanChange = (lesson: JsonObject, options: ChangeOptions) => JsonObject;

const keepChange: PlanChange = (lesson, { live }) => {
  if (lesson.state === 'retired' && live !== true) return restoreChange(lesson);
  return {
    op: 'move',
    to: live === true || lesson.state === 'trial' || lesson.state === 'live' ? 'live' : 'trial',
  };
};

const dropChange: PlanChange = (lesson, { reason }) =>
  lesson.state === 'proposed' || lesson.state === 'rejected'
    ? { op: 'move', to: 'rejected' }
    : { op: 'retire', reason: reason ?? 'retired by a person' };

/** Brings a lesson back in the state that it had last. */
function restoreChange(lesson: JsonObject): JsonObject {
  const before = asArray(lesson.history)
    .map(asObject)
    .findLast(({ state }) => state === 'live' || state === 'trial' || state === 'proposed');
  return { op: 'restore', revision: Number(lesson.revision), state: asString(before?.state) ?? 'proposed' };
}

/** What a person lets into prompts, or into force, is shown in full, with hidden characters made visible. */
function confirmUse({ content, overlay, ...lesson }: JsonObject): string {
  const name = neutraliseLine(titleText(lesson));
  const said = `It says:\n${neutralise(String(content))}\n`;
  if (overlay === undefined) return `Use the lesson "${name}" in prompts? ${said}`;
  const payload = JSON.stringify(asObject(overlay).payload ?? null, null, 2);
  return `Put "${name}" into force? ${said}What the system reads:\n${neutralise(payload)}\n`;
}

/** One change to one lesson. It is refused when the text is not the one that was looked up, or that `--hash` names. */
function changeLesson(
  plan: PlanChange,
  confirm?: (lesson: JsonObject) => string,
): CommandAction<ChangeOptions> {
  return (options, context) =>
    withApi(context, async ({ lessonsApi }) => {
      const lesson = await findLesson(lessonsApi, options.args[0] ?? '');
      const change = plan(lesson, options);
      if (confirm !== undefined && change.to !== lesson.state) await confirmOwner(context, confirm(lesson));
      return publish(lessonsApi, { lesson, change, options }, context);
    });
}

interface PlannedChange {
  readonly lesson: JsonObject;
  readonly change: JsonObject;
  readonly options: ChangeOptions;
  /** Further members of the JSON document. */
  readonly more?: JsonObject;
}

async function publish(
  lessonsApi: LessonsApi,
  { lesson, change, options, more }: PlannedChange,
  { printer }: CommandContext,
): Promise<ExitCode> {
  const id = String(lesson.id);
  const done = await lessonsApi.change({
    changes: [{ id, ...change }],
    shown: { [id]: options.hash ?? String(lesson.hash) },
    ...(options.reason === undefined ? {} : { reason: options.reason }),
  });
  const result = asObject(asArray(done.results)[0]);
  if (result.status === 'refused') throw failure(String(result.why), undefined);
  const now = (await lessonsApi.show(id)) ?? lesson;
  const isSame = result.status === 'same';
  printer.document({ ...done, lesson: now, ...more });
  printer.line(`“${titleText(now)}” ${isSame ? 'is already' : 'is now'} ${stateWords(now)}.`);
  return isSame ? EXIT.failed : EXIT.ok;
}

const STATES: Readonly<Record<string, string>> = {
  proposed: 'waiting for your decision',
  trial: 'on trial: it is shown; a test with and without it decides, or you do once its date has come',
  live: 'in use',
  retired: 'no longer in use',
  rejected: 'dropped: it is not used',
};

const stateWords = ({ state, pinned, frozen, isAlways }: JsonObject): string =>
  [
    STATES[String(state)] ?? String(state),
    pinned === true ? 'pinned' : '',
    frozen === true ? 'frozen' : '',
    isAlways === true ? 'for every task' : '',
  ]
    .filter(Boolean)
    .join(', ');

interface EditOptions extends ChangeOptions {
  readonly text?: string;
  readonly always?: boolean;
  readonly pin?: boolean;
  readonly freeze?: boolean;
}

const editLesson: CommandAction<EditOptions> = (options, context) =>
  withApi(context, async ({ lessonsApi }) => {
    const lesson = await findLesson(lessonsApi, options.args[0] ?? '');
    const { always, pin, freeze } = options;
    if (pin !== undefined || freeze !== undefined) {
      const change = {
        op: 'mark',
        ...(pin === undefined ? {} : { pinned: pin }),
        ...(freeze === undefined ? {} : { frozen: freeze }),
      };
      return publish(lessonsApi, { lesson, change, options }, context);
    }
    const whole = (await lessonsApi.all()).map(asObject).find(({ id }) => id === lesson.id);
    const text = asObject(whole?.text);
    const from = whole?.revision ?? 0;
    if (always !== undefined) {
      const { isAlways: _, ...note } = asObject(text.note);
      const change = {
        op: 'revise',
        from,
        text: { ...text, note: { ...note, ...(always ? { isAlways: true } : {}) } },
      };
      const reason = options.reason ?? (always ? 'marked for every task' : 'no longer for every task');
      return publish(
        lessonsApi,
        { lesson, change, options: { ...options, reason }, more: { isAlways: always } },
        context,
      );
    }
    const before = asString(text.content) ?? '';
    const content = options.text ?? editText(before, context);
    if (content.trim() === '' || content.trim() === before.trim())
      throw failure('the text is as it was; nothing was changed');
    if (options.text !== undefined)
      await confirmOwner(
        context,
        `Change "${neutraliseLine(titleText(lesson))}"? It will say:\n${neutralise(content)}\n`,
      );
    const quoted = /^"(.+)"$/s.test(asString(text.description) ?? '');
    const change = {
      op: 'revise',
      from,
      text: {
        ...text,
        content: content.trim(),
        ...(quoted ? { description: `"${firstLine(content)}"` } : {}),
      },
    };
    return publish(
      lessonsApi,
      { lesson, change, options: { ...options, reason: options.reason ?? 'edited by a person' } },
      context,
    );
  });

const LONGEST_DESCRIPTION = 300;
const firstLine = (text: string): string => (text.trim().split('\n')[0] ?? '').slice(0, LONGEST_DESCRIPTION);

/** What the person made of a text in the editor of the terminal. */
function editText(text: string, context: CommandContext): string {
  const { env } = context;
  const editor =
    env.VISUAL?.trim() || env.EDITOR?.trim() || (process.platform === 'win32' ? 'notepad' : 'vi');
  if (!isAtTerminal(context))
    throw wrongUse(
      'an editor needs a terminal',
      'run it in a terminal, or give the new text: instar lessons edit LESSON --text "…"',
    );
  const dir = mkdtempSync(path.join(tmpdir(), 'instar-edit-'));
  try {
    const file = path.join(dir, 'lesson.md');
    writeFileSync(file, `${text}\n`, { mode: 0o600 });
    const [program = 'vi', ...rest] = editor.split(/\s+/);
    const { status, error } = spawnSync(program, [...rest, file], { stdio: 'inherit', env });
    if (error !== undefined || status !== 0)
      throw failure(
        `the editor (${editor}) failed${error === undefined ? '' : `: ${error.message}`}; nothing was changed`,
        'name another one in EDITOR, or give the text: --text "…"',
      );
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export const declareUndo: DeclareCommand = (command, act) =>
  void command
    .addHelpText(
      'after',
      '\nA lesson that was new is not used any more; one that was reworded says again\nwhat it said before. Typed again, it takes back the one before.\n\nExample:\n  $ instar undo\n',
    )
    .action(act(undo));

const undo = onApi(async (_options: object, { lessonsApi, printer }) => {
  const done = await takeBack(lessonsApi);
  if (!done.ok) throw failure(`nothing to undo: ${done.why}`, 'see: instar lessons history');
  const { ok: _, ...result } = done;
  printer.document(result);

  printer.line(
    done.did === 'dropped'
      ? `Taken back: “${done.title}”. It is not used any more.`
      : `Taken back: “${done.title}” says again what it said before.`,
  );
  if (done.did === 'dropped') printer.note(dim(`bring it back with: instar lessons keep ${done.name}`));
});
