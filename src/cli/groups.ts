import { declareBackup, declareRestore } from './backup.ts';
import { type DeclareCommand, failure } from './context.ts';
import { declareEngine } from './engine.ts';
import { declareExport } from './export.ts';
import { declareKeys } from './keys.ts';
import { declareExportSkills, declareImport } from './lesson-files.ts';
import { declareMembers, declareShareLesson } from './members.ts';
import { declareStore } from './store.ts';
import { declareWorker } from './worker.ts';

type Part = readonly [name: string, description: string, declare: DeclareCommand];

const declareParts =
  (parts: readonly Part[]): DeclareCommand =>
  (group, act) => {
    for (const [name, description, declare] of parts)
      declare(group.command(name).description(description), act);
  };

export const declareTeam = declareParts([
  ['keys', 'List, create and revoke the keys of clients, and protect the owner key.', declareKeys],
  ['members', 'List, add and remove the members of a team, their roles and keys.', declareMembers],
  ['share', 'Give a lesson of one person to the team, for an owner of the team.', declareShareLesson],
  ['store', 'Move the record between a file of the home and PostgreSQL.', declareStore],
  ['worker', 'Learn, practise and train for gateways that share a PostgreSQL.', declareWorker],
]);

const declareExports = declareParts([
  ['trajectories', 'Write recorded sessions as JSON lines, one per session.', declareExport],
  ['skills', 'Write skills as SKILL.md folders.', declareExportSkills],
]);

export const declareData = declareParts([
  ['backup', 'Copy everything recorded into one file; works while Instar runs.', declareBackup],
  ['restore', 'Replace the record with a backup; the replaced file is kept beside it.', declareRestore],
  ['export', 'Write recorded sessions or skills for other programs.', declareExports],
  [
    'import',
    'Import skills (Claude Code, OpenClaw, Hermes, MetaClaw), rules (CLAUDE.md, AGENTS.md) and memories (youtu-agent, ACE, mem0, MetaClaw).',
    declareImport,
  ],
]);

/** The laboratory is in a checkout alone, with its own options; the product does not depend on it. */
export const loadLab = async (): Promise<DeclareCommand> => {
  const { declareBench, declareDemo } = await import('../../lab/commands/declare.ts').catch(explainMissing);
  return declareParts([
    ['bench', 'Measure on simulated workdays whether an agent learns.', declareBench],
    ['demo', 'Watch the whole loop on simulated workdays, under three conditions.', declareDemo],
    ['engine', 'Run the embedded training engine by itself.', declareEngine],
  ]);
};

function explainMissing(error: unknown): {
  readonly declareBench: DeclareCommand;
  readonly declareDemo: DeclareCommand;
} {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== 'ERR_MODULE_NOT_FOUND' || !/[\\/]lab[\\/]commands/.test(message)) throw error;
  const refuse: DeclareCommand = (command, act) =>
    void command
      .argument('[words...]')
      .allowUnknownOption()
      .action(
        act(async () => {
          throw failure(
            'the benchmarks and the demo run in a checkout of Instar; an installation does not have them',
          );
        }),
      );
  return { declareBench: refuse, declareDemo: refuse };
}
