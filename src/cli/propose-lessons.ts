import { type Command, Option } from 'commander';
import { proposeToWorkshop } from '../connect/openclaw-workshop.ts';
import { asArray, asObject, asString, type JsonObject } from '../core/json.ts';
import { plural } from '../text/phrases.ts';
import { type DeclareCommand, failure, type Positional } from './context.ts';
import { rare } from './help.ts';
import { onApi } from './with-api.ts';

/** `lessons propose`. */
export const declareProposeLessons: DeclareCommand = (lessons: Command, act) =>
  void lessons
    .command('propose', rare)
    .argument('<name...>', 'skills, by name or id')
    .addOption(
      new Option('--to <program>', 'whose users decide about them').choices(['openclaw']).default('openclaw'),
    )
    .option('--program <path>', 'the command of that program', 'openclaw')
    .description('Propose skills to OpenClaw’s Skill Workshop, with what was measured of them.')
    .addHelpText('after', '\nExample:\n  $ instar lessons propose state-the-unit --to openclaw\n')
    .action(act(proposeLessons));

interface ProposeOptions extends Positional {
  readonly program: string;
}

const proposeLessons = onApi(async ({ args, program }: ProposeOptions, context) => {
  const { lessonsApi, printer } = context;
  const done: JsonObject[] = [];
  for (const name of args) {
    const lesson = await lessonsApi.show(name);
    if (lesson === undefined)
      throw failure(`no lesson is named "${name}"`, 'list them with: instar lessons list');
    if (lesson.kind !== 'skill' || lesson.state === 'retired' || lesson.state === 'rejected')
      throw failure(
        `${name} is ${String(lesson.state)}, a ${String(lesson.kind)}: only skills in use or waiting are proposed`,
      );
    const proposed = await proposeToWorkshop(
      {
        name: asString(lesson.name) ?? name,
        description: asString(lesson.description) ?? '',
        content: asString(lesson.content) ?? '',
        evidence: evidenceOf(lesson),
      },
      { program, env: context.env },
    );
    if (!proposed.ok) throw failure(`OpenClaw did not take ${name}: ${proposed.why}`, proposed.fix);
    done.push({ name, proposal: proposed.id });
  }
  printer.document({ proposed: done });
  for (const { name, proposal } of done)
    printer.line(
      `${String(name)}: proposed as ${String(proposal)}; decide with: openclaw skills workshop inspect ${String(proposal)}`,
    );
});

/** What a reviewer wants to know: where it comes from, and whether it helped. */
function evidenceOf({ state, revision, effect, evidence, trial, hash }: JsonObject): string {
  const turns = asArray(asObject(evidence).turns).length;
  const tested = asString(asObject(trial).words);
  return [
    `A lesson of Instar (${String(state)}, revision ${String(revision)}, ${String(hash).slice(0, 12)}).`,
    `Measured effect in real sessions: ${asString(asObject(effect).words) ?? 'nothing yet'}.`,
    ...(tested === undefined ? [] : [`Trial of practice: ${tested}.`]),
    `Learned from ${plural(turns, 'recorded turn')}.`,
  ].join(' ');
}
