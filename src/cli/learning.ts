import { asArray, asObject } from '../core/json.ts';
import { confirmOwner } from './confirm-owner.ts';
import {
  type CommandAction,
  type CommandContext,
  type DeclareCommand,
  EXIT,
  type ExitCode,
} from './context.ts';
import { printWaiting } from './say-waiting.ts';
import { withApi } from './with-api.ts';

export const declareLearning: DeclareCommand = (learning, act) => {
  learning
    .command('status', { isDefault: true })
    .description('Show whether Instar learns, and what waits to be learned from.')
    .action(act(showLearning));
  learning
    .command('on')
    .description('Learn again; failures that waited are learned from.')
    .action(act(switchTo(true)));
  learning
    .command('off')
    .description('Write and change no lessons, and ask no model; lessons in use are still shown.')
    .action(act(switchTo(false)));
};

const showLearning = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ api }) => {
    const learning = await api.learning();
    const { printer } = context;
    if (printer.json) printer.document(learning);
    else {
      printer.line(`learning is ${learning.on === false ? 'off' : 'on'}`);
      printWaiting(
        printer,
        asArray(learning.waiting)
          .map(asObject)
          .filter(({ code, count }) => !(code === 'learning-off' && count === 0)),
        Date.now(),
      );
    }
    return EXIT.ok;
  });

const switchTo =
  (on: boolean): CommandAction<object> =>
  (_options, context) =>
    withApi(
      context,
      async ({ api }) => {
        const { printer } = context;
        const before = await api.learning();
        const was = before.on !== false;
        // More freedom for what learns needs a person's word; less does not.
        if (on && !was) await confirmOwner(context, 'Let Instar learn again?');
        const done = was === on ? { on, was } : await api.switchLearning(on);
        if (printer.json) printer.document(done);
        else if (was === on) printer.line(`learning is ${on ? 'on' : 'off'} already`);
        else if (on) printer.line('learning is on: failures that waited are learned from');
        else {
          printer.line(
            'learning is off: no lesson is written or changed, and no model is asked; serving goes on',
          );
          printer.note({ text: '→ ', style: 'cyan' }, 'turn it on again with: instar learning on');
        }
        return EXIT.ok;
      },
      true,
    );
