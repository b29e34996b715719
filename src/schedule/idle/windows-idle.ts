import { ask, type IdleReader, type ToolBox, unknown } from './idle-reader.ts';

/** Prints the tick of the last input, then the tick of now, both of 32 bits without sign. */
const SCRIPT = `$ErrorActionPreference = 'Stop'
Add-Type -Namespace Instar -Name Input -MemberDefinition @'
[StructLayout(LayoutKind.Sequential)] public struct Info { public uint Size; public uint Time; }
[DllImport("user32.dll")] static extern bool GetLastInputInfo(ref Info info);
[DllImport("kernel32.dll")] static extern uint GetTickCount();
public static string Ticks() {
  Info info = new Info(); info.Size = 8;
  if (!GetLastInputInfo(ref info)) return "none";
  return info.Time + " " + GetTickCount();
}
'@
[Instar.Input]::Ticks()`;

const TICKS = 2 ** 32;
/** The two ticks are taken one after the other and by different clocks; a little less than no time is no time. */
const SKEW_MS = 60_000;
const COMPILE_MS = 10_000;

/** Windows: the last input of this session, on a counter that starts again every 49.7 days. */
export function createWindowsIdle(box: ToolBox): IdleReader {
  return {
    name: 'windows',
    sees: 'Keyboard and mouse of this Windows session; nothing when it runs as a background service.',
    async read(_now, signal) {
      const args = ['-NoProfile', '-NonInteractive', '-Command', SCRIPT];
      const answer = await ask(box, { file: 'powershell.exe', args, timeoutMs: COMPILE_MS }, signal);
      if ('why' in answer) return unknown(answer.why);
      const match = /^([0-9]{1,10}) ([0-9]{1,10})$/.exec(answer.said.trim().slice(0, 100));
      const [last, now] = [Number(match?.[1]), Number(match?.[2])];
      if (!(last < TICKS && now < TICKS)) return unknown('powershell.exe said nothing that can be read');
      // Zero is what a session without an input queue has.
      if (last === 0) return unknown('this session has had no input');
      const ms = (now - last + TICKS) % TICKS;
      return { kind: 'idle', ms: ms >= TICKS - SKEW_MS ? 0 : ms };
    },
  };
}
