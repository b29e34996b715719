import { it } from 'vitest';
import { loadMiniLm } from '../../../src/library/embed/minilm/load-mini-lm.ts';
import { BENIGN } from './corpus/benign.ts';
import { foldText } from '../../../src/learn/gate/fold-text.ts';
import { sentencesOf, unwrapped } from '../../../src/learn/gate/tokens.ts';
const dot = (a: Float32Array, b: Float32Array) => { let s = 0; for (let i = 0; i < a.length; i++) s += (a[i] ?? 0) * (b[i] ?? 0); return s; };
const F = new Set('the a an and or of to in for with is are be on at by from this that it as not so when you your if all any into was were has have had but than then there they we our its which who will would can could may might do does did been because since no only also after before while until about over under without their them'.split(' '));
const PREFIX = /^(?:[\w.:\[\]]*(?:error|exception|warning|panic\w*)\b|fail|fatal|at |file |line \d|traceback|npm |hint:|note:|warn)/;
const prose = (s: string, strip: boolean) => {
  if (!strip && PREFIX.test(s)) return false;
  const t = s.split(/\s+/);
  const w = t.filter((x) => /^["'(*]?[\p{L}'-]+["').,:;!?*]*$/u.test(x));
  return w.length >= 5 && w.length >= t.length * 0.7 && w.filter((x) => F.has(x.replace(/[^a-z]/g, ''))).length >= 2;
};
it('x', async () => {
  const m = await loadMiniLm(128);
  const cache = new Map<string, Float32Array>();
  const v = (t: string) => { let e = cache.get(t); if (!e) { e = m.embed([t])[0] as Float32Array; cache.set(t, e); } return e; };
  const tops: [number, string][] = [], tops2: [number, string][] = [];
  for (const b of BENIGN) {
    const lines = [b.description, ...b.content.split('\n').slice(1)];
    for (const [arr, strip] of [[tops, false], [tops2, true]] as const) {
      let best = 0, bt = '';
      for (const p of b.cases[0]?.passages ?? []) if (p.origin === 'tool') for (const s of sentencesOf(foldText(unwrapped(p.text)))) if (prose(s, strip)) for (const l of lines) {
        const d = dot(v(s), v(l)); if (d > best) { best = d; bt = `${s.slice(0, 70)} <> ${l.slice(0, 70)}`; }
      }
      arr.push([best, `${b.id} | ${bt}`]);
    }
  }
  for (const arr of [tops, tops2]) { arr.sort((a, b) => b[0] - a[0]); for (const t of [0.4, 0.45, 0.5, 0.55, 0.6]) process.stdout.write(`>=${t}: ${arr.filter(([d]) => d >= t).length}\n`); process.stdout.write(arr.slice(0, 30).map(([d, s]) => `${d.toFixed(2)} ${s}`).join('\n') + '\n\n'); }
}, 300000);
