import type { DeclareCommand } from './context.ts';

interface CommandEntry {
  readonly description: string;
  /** The heading that `instar help` lists it under; without one it is listed by `instar help --all`. */
  readonly group?: string;
  /** Called by programs; in no help. */
  readonly hidden?: true;
  /** Which of its commands runs when none is named. */
  readonly bare?: string;
  /** Imports the file of the command; only the command that was asked for is loaded. */
  readonly load: () => Promise<DeclareCommand>;
}

const [RUN, SET_UP, LEARNED, AWAY, CARE] = [
  'Run it:',
  'Set it up:',
  'What it learned:',
  'While you are away:',
  'Look after it:',
] as const;
/** The heading of what `instar help` leaves out. */
export const RARE = 'Less often:';

/** All commands, in the order in which help lists them. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  up: {
    description: 'Start Instar: the gateway, the page, and learning.',
    group: RUN,
    load: async () => (await import('./up.ts')).declareUp,
  },
  stop: {
    description: 'Stop it; requests in progress are finished.',
    group: RUN,
    load: async () => (await import('./stop.ts')).declareStop,
  },
  status: {
    description: 'Show whether it runs, what it learned, and your next step.',
    group: RUN,
    load: async () => (await import('./status.ts')).declareStatus,
  },
  page: {
    description: 'Print an address that opens the page in your browser, signed in.',
    group: RUN,
    load: async () => (await import('./page.ts')).declarePage,
  },
  init: {
    description: 'Choose a model provider, and connect your agents.',
    group: SET_UP,
    load: async () => (await import('./init.ts')).declareInit,
  },
  connect: {
    description: 'Point an agent at Instar, or undo that.',
    group: SET_UP,
    load: async () => (await import('./connect.ts')).declareConnect,
  },
  config: {
    description: 'Show, change and check settings; a running Instar uses them at once.',
    group: SET_UP,
    bare: 'get',
    load: async () => (await import('./config.ts')).declareConfig,
  },
  feedback: {
    description: 'Say what was good or bad about the last answer.',
    group: LEARNED,
    load: async () => (await import('./feedback.ts')).declareFeedback,
  },
  lessons: {
    description: 'See what was learned and why; keep, drop or edit it.',
    group: LEARNED,
    bare: 'list',
    load: async () => (await import('./lessons.ts')).declareLessons,
  },
  sessions: {
    description: 'List, show and erase conversations.',
    group: LEARNED,
    bare: 'list',
    load: async () => (await import('./sessions.ts')).declareSessions,
  },
  undo: {
    description: 'Take back the last thing learned.',
    group: LEARNED,
    load: async () => (await import('./undo.ts')).declareUndo,
  },
  practice: {
    description: 'Let your model attempt tasks like yours, and learn from the better attempts.',
    group: AWAY,
    bare: 'status',
    load: async () => (await import('./practice.ts')).declarePractice,
  },
  train: {
    description: 'Train your own weights, and choose which ones answer.',
    group: AWAY,
    bare: 'status',
    load: async () => (await import('./train.ts')).declareTrain,
  },
  doctor: {
    description: 'Check everything, and print a fix for every problem.',
    group: CARE,
    load: async () => (await import('./doctor.ts')).declareDoctor,
  },
  upgrade: {
    description: 'Prepare your data for this version; a backup is made first.',
    group: CARE,
    load: async () => (await import('./upgrade.ts')).declareUpgrade,
  },
  help: {
    description: 'Show help for a command; --all lists every command.',
    group: CARE,
    load: async () => (await import('./help.ts')).declareHelp,
  },
  tour: {
    description: 'See it learn, in a minute, without a key: wrong, corrected, learned, right, undone.',
    load: async () => (await import('./tour.ts')).declareTour,
  },
  team: {
    description: 'Keys, members, a record on a server, and workers on other machines.',
    load: async () => (await import('./groups.ts')).declareTeam,
  },
  data: {
    description: 'Back up, restore, export and import.',
    load: async () => (await import('./groups.ts')).declareData,
  },
  lab: {
    description: 'Benchmarks and the training engine by itself, in a checkout.',
    load: async () => (await import('./groups.ts')).declareLab,
  },
  learning: {
    description: 'Show whether Instar learns, and turn learning on or off.',
    bare: 'status',
    load: async () => (await import('./learning.ts')).declareLearning,
  },
  generations: {
    description: 'Compare and roll back the sets of lessons that prompts may contain.',
    bare: 'list',
    load: async () => (await import('./generations.ts')).declareGenerations,
  },
  adapt: {
    description: 'Show what reported events propose to change.',
    bare: 'candidates',
    load: async () => (await import('./adapt.ts')).declareAdapt,
  },
  identity: {
    description: 'Show who an agent is, and decide about changes of it.',
    bare: 'show',
    load: async () => (await import('./identity.ts')).declareIdentity,
  },
  schedule: {
    description: 'Show when background jobs may run, and why.',
    load: async () => (await import('./schedule.ts')).declareSchedule,
  },
  service: {
    description: 'Start Instar at login: a systemd unit or a launchd agent.',
    bare: 'status',
    load: async () => (await import('./autostart.ts')).declareAutostart,
  },
  mcp: {
    description: 'Serve Instar’s tools to an MCP client on standard input and output.',
    load: async () => (await import('./mcp.ts')).declareMcp,
  },
  completion: {
    description: 'Print a script that completes commands in bash, zsh or fish.',
    load: async () => (await import('./completion.ts')).declareCompletion,
  },
  today: {
    description: 'Show what was learned today, and what it cost.',
    hidden: true,
    load: async () => (await import('./today.ts')).declareToday,
  },
  complete: {
    description: 'Print what may stand at the cursor, for the scripts of "completion".',
    hidden: true,
    load: async () => (await import('./complete.ts')).declareComplete,
  },
};
