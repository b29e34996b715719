import type { DeskRule } from './desk-rules.ts';
import type { DeskTask } from './desk-tasks.ts';

/** A file that does the task, follows these rules, and breaks those of the others that a writer would not follow by chance. */
export function writeDeskFile({ family, facts }: DeskTask, rules: readonly DeskRule[]): string {
  const value = (form: string): string | undefined => rules.find((rule) => rule.form.id === form)?.value;
  const lines = (...given: readonly (string | undefined)[]): string =>
    given.filter((line) => line !== undefined).join('\n');
  switch (family) {
    case 'python': {
      const parameters = ['value', value('last-parameter')].filter((one) => one !== undefined);
      const [word, team] = [value('docstring-word'), value('owner-comment')];
      return lines(
        `def ${facts.name}(${parameters.join(', ')}):`,
        word === undefined ? undefined : `    """${word}: ${facts.what}."""`,
        '    if not value:',
        `        raise ${value('error-class') ?? 'ValueError'}("${facts.error}")`,
        '    return value',
        team === undefined ? undefined : `# owner: ${team}`,
      );
    }
    case 'yaml': {
      const words = value('switch-words')?.split('/') ?? ['true', 'false'];
      const suffix = value('duration-key');
      return lines(
        `service: ${facts.service}`,
        `port: ${value('port-mark') ?? ''}${facts.port}`,
        suffix === undefined ? `timeout: ${facts.seconds}s` : `timeout${suffix}: ${facts.seconds}`,
        `owner: ${facts.owner}`,
        `tracing: ${words[facts.switch === 'on' ? 0 : 1]}`,
      );
    }
    case 'note': {
      const [first, mark] = [value('first-words'), value('point-mark') ?? '-'];
      return lines(
        first === undefined ? 'Hello all,' : `${first}: three things.`,
        ...[facts.first, facts.second, facts.third].map((event) => `${mark} ${event}`),
        value('closing-line') ?? 'Best regards',
      );
    }
    case 'sql': {
      const [comment, schema, limit] = [value('query-comment'), value('schema'), value('row-limit')];
      return lines(
        comment === undefined ? undefined : `-- ${comment}`,
        `SELECT ${facts.column}`,
        `FROM ${schema === undefined ? '' : `${schema}.`}${facts.table}`,
        `WHERE ${facts.column} > 1${limit === undefined ? ';' : ''}`,
        limit === undefined ? undefined : `LIMIT ${limit};`,
      );
    }
    case 'commit': {
      const [mark, risk, ticket] = [value('area-mark'), value('risk-line'), value('ticket-line')];
      return lines(
        `${mark?.replace('area', facts.area ?? '') ?? ''}${facts.change}`,
        '',
        ticket === undefined ? undefined : `${ticket} #${facts.ticket}`,
        risk === undefined ? 'As discussed.' : `${risk}: ${facts.risk}`,
      );
    }
  }
}
