import {
  ask,
  type IdleReader,
  type IdleReading,
  idleFromDigits,
  type ToolBox,
  unknown,
} from './idle-reader.ts';

/** Both print the XScreenSaver extension's idle time in milliseconds. */
const TOOLS = [
  { file: 'xprintidle', args: [] },
  { file: 'xssstate', args: ['-i'] },
] as const;

/** X11: the server's own count. Under Wayland the same question is answered by XWayland, which misses most input. */
export function createX11Idle(box: ToolBox): IdleReader {
  return {
    name: 'x11',
    sees: 'Keyboard and mouse of this X11 display; not other displays, consoles or ssh.',
    async read(_now, signal) {
      let reading: IdleReading = unknown('no tool');
      for (const tool of TOOLS) {
        const answer = await ask(box, tool, signal);
        if ('said' in answer) return idleFromDigits(answer.said.trim(), 1, tool.file);
        // The first tool's reason is the one to mend.
        if (tool === TOOLS[0]) reading = unknown(answer.why);
      }
      return reading;
    },
  };
}
