import { asArray, asString, type JsonObject } from '../../core/json.ts';
import type { Library } from '../../core/library.ts';
import type { Practice } from '../practice/serve-practice.ts';
import { coreLines, judgedLines } from './identity-lines.ts';
import type { IdentityJudge } from './reward-shaping.ts';

interface RulingOptions {
  readonly library: Pick<Library, 'lessons'>;
  /** A judge that passed its test, within the day's budget; undefined without one. */
  readonly openJudge: (signal: AbortSignal) => Promise<IdentityJudge | undefined>;
}

/**
 * The commands of practice, and `rule`: how far answers to one task keep the identity of their agent, for rewards that are made in
 * another thread. `{ judge, rulings }`; no rulings when the agent has no lines, or nobody can judge them.
 */
export const withRulings = (practice: Practice, { library, openJudge }: RulingOptions): Practice => ({
  ...practice,
  command: async (request, signal) => {
    if (request.do !== 'rule') return practice.command(request, signal);
    const agent = asString(request.agent);
    const lines = judgedLines(library, agent);
    const judge = lines.length === 0 ? undefined : await openJudge(signal);
    if (judge === undefined) return { rulings: [] };
    const core = new Set(coreLines(library, agent));
    const answers = asArray(request.answers).map(String);
    const [task, session] = [asString(request.task) ?? '', asString(request.session)];
    const sessions = session === undefined ? [] : [session];
    const ruled = await Promise.all(
      answers.map((answer) => judge.rule(lines, task, answer, sessions, signal)),
    );
    const isCoreAlone = lines.every((line) => core.has(line));
    const rulings = ruled.map((ruling): JsonObject | null =>
      ruling === undefined ? null : { score: ruling.score, isBroken: ruling.isBroken && isCoreAlone },
    );
    return { judge: judge.model, rulings };
  },
});
