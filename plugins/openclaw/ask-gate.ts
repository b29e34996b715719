import { isRecord, textOf } from '../shared/connection.ts';
import type { InstarClient } from '../shared/instar-client.ts';
import type { SkillEvaluation, SkillProposalEvent } from './host.ts';

const EVALUATE_MS = 20_000;
const DECISIONS = ['pass', 'revise', 'block'] as const;

/**
 * Instar's gate about a proposal of the Skill Workshop. Undefined while Instar is away: then it has no opinion, and the Workshop's
 * own rules decide.
 */
export async function askGate(
  client: Pick<InstarClient, 'ask'>,
  { proposal, skill, candidate }: SkillProposalEvent,
): Promise<SkillEvaluation | undefined> {
  const { status, body } = await client.ask(
    'POST',
    '/api/skills/evaluate',
    {
      name: skill.name,
      description: skill.description,
      content: candidate.skillMd.content,
      files: candidate.files.map(({ path }) => path),
      isUpdate: proposal.kind === 'update',
    },
    EVALUATE_MS,
  );
  if (status !== 200 || !isRecord(body)) return undefined;
  const decision = DECISIONS.find((one) => one === body.decision);
  const found = Array.isArray(body.findings) ? body.findings.filter(isRecord) : [];
  const metrics = isRecord(body.metrics)
    ? Object.fromEntries(
        Object.entries(body.metrics).flatMap(([name, value]) =>
          typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
            ? [[name, value] as const]
            : [],
        ),
      )
    : {};
  return {
    evaluatorVersion: textOf(body.version) ?? 'unknown',
    mode: 'static',
    summary: textOf(body.summary) ?? '',
    findings: found.map(({ rule, severity, message }) => ({
      ruleId: textOf(rule) ?? 'instar',
      severity: severity === 'critical' || severity === 'info' ? severity : 'warn',
      message: textOf(message) ?? '',
    })),
    metrics,
    ...(decision === undefined ? {} : { decision }),
    ...(textOf(body.reason) === undefined ? {} : { decisionReason: textOf(body.reason) ?? '' }),
  };
}
