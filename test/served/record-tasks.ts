import { ask } from '../support/client.ts';

/** A verifier that can grade every answer without a reference or a model: recorded tasks need one. */
export const GRADING = { verifiers: [{ domain: '*', kind: 'regex', pattern: '[aeiou]' }] };

const FILES = ['a', 'b', 'plan', 'notes', 'dates', 'state', 'list', 'todo', 'team', 'trip', 'menu', 'log'];

/** Sessions with different tasks that the embedded policy answers in words: enough to train on and to hold some out. */
export async function recordTasks(port: number, key: string): Promise<void> {
  for (const [at, file] of FILES.entries()) {
    const text = `t01${10 + at}, May 4, 2031, 10:00, from Ada. Set state to done in ${file}.json.`;
    const messages = [{ role: 'user', content: text }];
    const { status } = await ask(port, {
      path: '/v1/chat/completions',
      headers: { 'x-instar-key': key, 'x-instar-session': `recorded-${at}` },
      body: JSON.stringify({ model: 'instar/nano', stream: true, messages }),
    });
    if (status !== 200) throw new Error(`the policy answered ${status}`);
  }
}
