import type { DeclareCommand } from './context.ts';

/** The heading of what `instar help` leaves out. */
export const RARE = 'Less often:';
/** Called by programs, and names of old: in no help. */
const HIDDEN = '';
const [RUN, SET_UP, LEARNED, AWAY, CARE] = [
  'Run it:',
  'Set it up:',
  'What it learned:',
  'While you are away:',
  'Look after it:',
] as const;

/** All commands, in the order in which help lists them; of a group, which of its commands runs when none is named. */
const LISTED = {
  up: [RUN, 'Start Instar: the gateway, the page, and learning.'],
  stop: [RUN, 'Stop it; requests in progress are finished.'],
  status: [RUN, 'Show whether it runs, what it learned, and your next step.'],
  page: [RUN, 'Print an address that opens the page in your browser, signed in.'],
  init: [SET_UP, 'Choose a model provider, and connect your agents.'],
  connect: [SET_UP, 'Point an agent at Instar, or undo that.'],
  config: [SET_UP, 'Show, change and check settings; a running Instar uses them at once.', 'get'],
  feedback: [LEARNED, 'Say what was good or bad about the last answer.'],
  lessons: [LEARNED, 'See what was learned and why; keep, drop or edit it.', 'list'],
  sessions: [LEARNED, 'List, show and erase conversations.', 'list'],
  undo: [LEARNED, 'Take back the last thing learned.'],
  practice: [AWAY, 'Let your model attempt tasks like yours, and learn from the better attempts.', 'status'],
  train: [AWAY, 'Train your own weights, and choose which ones answer.', 'status'],
  doctor: [CARE, 'Check everything, and print a fix for every problem.'],
  upgrade: [CARE, 'Prepare your data for this version; a backup is made first.'],
  help: [CARE, 'Show help for a command; --all lists every command.'],
  tour: [RARE, 'See it learn, in a minute, without a key: wrong, corrected, learned, right, undone.'],
  team: [RARE, 'Keys, members, a record on a server, and workers on other machines.'],
  data: [RARE, 'Back up, restore, export and import.'],
  lab: [RARE, 'Benchmarks and the training engine by itself, in a checkout.'],
  learn: [RARE, 'Show what a session or an episode taught, or wait for it.'],
  learning: [RARE, 'Show whether Instar learns, and turn learning on or off.', 'status'],
  generations: [RARE, 'Compare and roll back the sets of lessons that prompts may contain.', 'list'],
  adapt: [RARE, 'Show what reported events propose to change.', 'candidates'],
  identity: [RARE, 'Show who an agent is, and decide about changes of it.', 'show'],
  schedule: [RARE, 'Show when background jobs may run, and why.'],
  service: [RARE, 'Start Instar at login: a systemd unit or a launchd agent.', 'status'],
  mcp: [RARE, 'Serve Instar’s tools to an MCP client on standard input and output.'],
  completion: [RARE, 'Print a script that completes commands in bash, zsh or fish.'],
  today: [HIDDEN, 'Show what was learned today, and what it cost.'],
  complete: [HIDDEN, 'Print what may stand at the cursor, for the scripts of "completion".'],
} as const satisfies Record<string, readonly [group: string, description: string, bare?: string]>;

/** Imports the file of a command; only the command that was asked for is loaded. */
const LOADS: Readonly<Record<keyof typeof LISTED, () => Promise<DeclareCommand>>> = {
  up: async () => (await import('./up.ts')).declareUp,
  stop: async () => (await import('./stop.ts')).declareStop,
  status: async () => (await import('./status.ts')).declareStatus,
  page: async () => (await import('./page.ts')).declarePage,
  init: async () => (await import('./init.ts')).declareInit,
  connect: async () => (await import('./connect.ts')).declareConnect,
  config: async () => (await import('./config.ts')).declareConfig,
  feedback: async () => (await import('./feedback.ts')).declareFeedback,
  lessons: async () => (await import('./lessons.ts')).declareLessons,
  sessions: async () => (await import('./sessions.ts')).declareSessions,
  undo: async () => (await import('./change-lesson.ts')).declareUndo,
  practice: async () => (await import('./practice.ts')).declarePractice,
  train: async () => (await import('./train.ts')).declareTrain,
  doctor: async () => (await import('./doctor.ts')).declareDoctor,
  upgrade: async () => (await import('./upgrade.ts')).declareUpgrade,
  help: async () => (await import('./help.ts')).declareHelp,
  tour: async () => (await import('./tour.ts')).declareTour,
  team: async () => (await import('./groups.ts')).declareTeam,
  data: async () => (await import('./groups.ts')).declareData,
  lab: async () => (await import('./groups.ts')).loadLab(),
  learn: async () => (await import('./learn.ts')).declareLearn,
  learning: async () => (await import('./learning.ts')).declareLearning,
  generations: async () => (await import('./generations.ts')).declareGenerations,
  adapt: async () => (await import('./adapt.ts')).declareAdapt,
  identity: async () => (await import('./identity.ts')).declareIdentity,
  schedule: async () => (await import('./schedule.ts')).declareSchedule,
  service: async () => (await import('./autostart.ts')).declareAutostart,
  mcp: async () => (await import('./mcp.ts')).declareMcp,
  completion: async () => (await import('./completion.ts')).declareCompletion,
  today: async () => (await import('./today.ts')).declareToday,
  complete: async () => (await import('./complete.ts')).declareComplete,
};

interface CommandEntry {
  readonly description: string;
  /** The heading that help lists it under. */
  readonly group: string;
  readonly hidden: boolean;
  readonly bare: string | undefined;
  readonly load: () => Promise<DeclareCommand>;
}

export const COMMANDS: Readonly<Record<string, CommandEntry>> = Object.fromEntries(
  Object.entries(LISTED).map(([name, [group, description, bare]]) => [
    name,
    { description, group, hidden: group === HIDDEN, bare, load: LOADS[name as keyof typeof LISTED] },
  ]),
);
