import { ask, type IdleReader, idleFromDigits, type ToolBox, unknown } from './idle-reader.ts';

const CALL = [
  'call',
  '--session',
  '--timeout',
  '2',
  '--dest',
  'org.gnome.Mutter.IdleMonitor',
  '--object-path',
  '/org/gnome/Mutter/IdleMonitor/Core',
  '--method',
  'org.gnome.Mutter.IdleMonitor.GetIdletime',
];

/** GNOME, on Wayland and X11: the compositor sees all input and counts in milliseconds. */
export function createMutterIdle(box: ToolBox): IdleReader {
  return {
    name: 'gnome',
    sees: 'Keyboard, mouse and touch of this GNOME session; not consoles or ssh.',
    async read(_now, signal) {
      const answer = await ask(box, { file: 'gdbus', args: CALL, timeoutMs: 3000 }, signal);
      if ('why' in answer) return unknown(answer.why);
      const match = /^\(uint64 ([0-9]{1,20}),\)$/.exec(answer.said.trim().slice(0, 100));
      return idleFromDigits(match?.[1], 1, 'gdbus');
    },
  };
}
