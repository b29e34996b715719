import { setTimeout as sleep } from 'node:timers/promises';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { WorkQuestion } from '../../workdays/task-source.ts';
import { judgeAnswer, MEMBERS, type TeamRule, type TeamWork } from './member-work.ts';
import { startObeyingProvider } from './obeying-provider.ts';
import { openTeamHome } from './team-home.ts';

/** How the three work: whether they share, and whether an owner moves lessons to the team each evening. */
export interface TeamArm {
  readonly name: string;
  readonly shares: boolean;
  readonly byHand: boolean;
  readonly holdout: number;
}

/** What happened in one arm of one seed. */
export interface PlayedTeam {
  /** By day: probes that obeyed their rule, of all members and house rules. */
  readonly obeyed: readonly number[];
  readonly probes: number;
  /** The first day, from 1, in whose evening every member's probes obeyed every house rule. */
  readonly allObey: number | undefined;
  /** Corrections that the members had to say. */
  readonly corrections: number;
  /** Of them, how many no lesson quoted in time. */
  readonly unlearned: number;
  /** Lessons of the team: moved by the owner, and by themselves. */
  readonly movedByHand: number;
  readonly movedAlone: number;
  /** The first day, from 1, in whose evening a lesson had moved by itself. */
  readonly firstMove: number | undefined;
  /** The most scored sessions of one lesson in use that is a member's own, and of them those without it. */
  readonly mostScored: number;
  readonly mostWithheld: number;
  /** Lessons in use of a member that quote corrections of the same house rule: the mean. */
  readonly lessonsPerRule: number;
  /** Prompts with a lesson of another member, and with words that another said about the own rule. */
  readonly foreignLessons: number;
  readonly leakedRules: number;
  /** Prompts with the words of the asker's own rule: the search for such words finds them. */
  readonly ownRules: number;
  readonly prompts: number;
}

interface Told {
  readonly member: number;
  readonly rule: TeamRule;
  readonly note: string;
}

const LOOK_MS = 40;
/** A lesson that takes longer counts on a later day. */
const LONGEST_WAIT_MS = 10_000;
/** Where sessions are held out: a rule is obeyed if one of these sessions obeys it. */
const TRIES = 3;
const TEAM_SCOPE = '*';

/** Three members work through their days with a real daemon. */
export async function playTeam(
  { house, own, days }: TeamWork,
  { shares, byHand, holdout }: TeamArm,
): Promise<PlayedTeam> {
  const provider = await startObeyingProvider([...house, ...own]);
  const home = await openTeamHome({ providerPort: provider.port, holdout, shares });
  const told: Told[] = [];
  const shown: { readonly member: number; readonly lessons: readonly string[] }[] = [];
  const counts = { corrections: 0, unlearned: 0, movedByHand: 0, leakedRules: 0, ownRules: 0, prompts: 0 };
  const used = new Map<string, number>();
  const next = (kind: 'work' | 'probes', rule: TeamRule): WorkQuestion => {
    const nth = used.get(`${kind} ${rule.id}`) ?? 0;
    used.set(`${kind} ${rule.id}`, nth + 1);
    const task = rule[kind][nth % rule[kind].length];
    if (task === undefined) throw new Error(`${rule.title} has no tasks`);
    return task;
  };
  const ask = async (member: number, task: WorkQuestion) => {
    const session = `${MEMBERS[member]}-${counts.prompts++}`;
    const reply = await home.ask(member, session, task.system, task.question.text);
    const prompt = provider.shown(session);
    shown.push({ member, lessons: reply.lessons });
    const found = told.filter(({ rule, note }) => own.includes(rule) && prompt.includes(note));
    if (found.some((one) => one.member !== member)) counts.leakedRules++;
    if (found.some((one) => one.member === member)) counts.ownRules++;
    const finish = (): Promise<void> =>
      home.finish(member, session, task.system, task.question.text, reply.text);
    return { turn: reply.turn, finish, verdict: await judgeAnswer(task, reply.text) };
  };
  const untilLearned = async ({ member, note }: Told): Promise<boolean> => {
    const until = performance.now() + LONGEST_WAIT_MS;
    while (performance.now() < until) {
      const lessons = await home.lessons();
      if (lessons.some((one) => one.text.scope.member === home.people[member]?.id && quotes(one, note)))
        return true;
      await sleep(LOOK_MS);
    }
    return false;
  };
  const work = async (member: number, rule: TeamRule): Promise<void> => {
    const task = next('work', rule);
    const { turn, verdict, finish } = await ask(member, task);
    if (verdict.passed) {
      await home.rate(member, turn, 1);
      return finish();
    }
    const note = task.question.feedback(verdict);
    const said = { member, rule, note };
    told.push(said);
    counts.corrections++;
    await home.rate(member, turn, -1, note);
    await finish();
    if (!(await untilLearned(said))) counts.unlearned++;
  };
  /** One lesson for each house rule that the team has none of. */
  const shareByHand = async (): Promise<void> => {
    for (const rule of house) {
      const notes = told.filter((one) => one.rule === rule).map(({ note }) => note);
      const about = (await home.lessons()).filter(
        (one) => isInUse(one) && notes.some((note) => quotes(one, note)),
      );
      const [first] = about.filter(({ text }) => text.scope.member !== TEAM_SCOPE);
      if (first === undefined || about.some(({ text }) => text.scope.member === TEAM_SCOPE)) continue;
      if ((await home.share(first.id)) === undefined) counts.movedByHand++;
    }
  };
  const probe = async (member: number, rule: TeamRule): Promise<boolean> => {
    for (let tries = holdout > 0 ? TRIES : 1; tries > 0; tries--)
      if ((await ask(member, next('probes', rule))).verdict.passed) return true;
    return false;
  };
  try {
    const obeyed: number[] = [];
    let firstMove: number | undefined;
    const ofTeam = async (): Promise<number> =>
      (await home.lessons()).filter(({ text }) => text.scope.member === TEAM_SCOPE).length;
    for (const day of days) {
      for (const [member, rules] of day.entries()) for (const rule of rules) await work(member, rule);
      if (byHand) await shareByHand();
      if (firstMove === undefined && (await ofTeam()) > counts.movedByHand) firstMove = obeyed.length + 1;
      let kept = 0;
      for (const member of MEMBERS.keys()) for (const rule of house) if (await probe(member, rule)) kept++;
      obeyed.push(kept);
    }
    const probes = MEMBERS.length * house.length;
    const lessons = new Map((await home.lessons()).map((lesson) => [lesson.id, lesson]));
    const isForeign = (id: string, member: number): boolean => {
      const whose = lessons.get(id)?.text.scope.member;
      return whose !== TEAM_SCOPE && whose !== home.people[member]?.id;
    };
    const all = obeyed.indexOf(probes);
    const inUse = [...lessons.values()].filter((one) => isInUse(one) && one.text.scope.member !== TEAM_SCOPE);
    const scored = await Promise.all(inUse.map(({ id }) => home.scored(id)));
    const perRule = MEMBERS.flatMap((_, member) =>
      house.map((rule) => {
        const notes = told.filter((one) => one.rule === rule && one.member === member);
        const id = home.people[member]?.id;
        return inUse.filter(
          (one) => one.text.scope.member === id && notes.some(({ note }) => quotes(one, note)),
        ).length;
      }),
    ).filter((count) => count > 0);
    return {
      ...counts,
      mostScored: Math.max(0, ...scored.map(({ shown: n, withheld }) => n + withheld)),
      mostWithheld: Math.max(0, ...scored.map(({ withheld }) => withheld)),
      lessonsPerRule: perRule.reduce((sum, count) => sum + count, 0) / Math.max(1, perRule.length),
      ...{ obeyed, probes, allObey: all < 0 ? undefined : all + 1 },
      ...{ movedAlone: (await ofTeam()) - counts.movedByHand, firstMove },
      foreignLessons: shown.filter(({ member, lessons: ids }) => ids.some((id) => isForeign(id, member)))
        .length,
    };
  } finally {
    await home.close();
    await provider.close();
  }
}

const isInUse = ({ state }: Lesson): boolean => state === 'live' || state === 'trial';
const quotes = ({ text }: Lesson, note: string): boolean => text.content.includes(note);
