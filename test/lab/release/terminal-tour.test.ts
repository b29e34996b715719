import { describe, expect, it } from 'vitest';
import { drawTour } from '../../../lab/release/terminal-tour.ts';

const long = Array.from({ length: 40 }, (_, nth) => `line ${nth}`).join('\n');
const scenes = [
  { why: 'Ask.', command: 'ask "a < b"', output: '\u001b[31mwrong\u001b[0m\n' },
  { why: 'Look.', command: 'list', output: long },
];
const draw = (): string => drawTour(scenes, { columns: 80, rows: 10, seconds: 60, title: 'tour', still: 1 });

describe('a tour of a terminal', () => {
  it('has every command as text, also with characters that XML reserves, and no script', () => {
    expect(draw()).toContain('ask &quot;a &lt; b&quot;');
    expect(draw()).toContain('<tspan fill="#ff7b72">wrong</tspan>');
    expect(draw()).not.toMatch(/<script|href=|url\(/);
  });

  it('cuts what the window has no room for, and shows that it did (not: more rows than the window)', () => {
    expect(draw()).toContain('line 6<');
    expect(draw()).not.toContain('line 7<');
    expect(draw()).toContain('…');
  });

  it('lasts as long as it says, begins again, and stands still for those who prefer that', () => {
    expect(draw()).toContain('animation:a0 60s infinite');
    expect(draw()).toMatch(/prefers-reduced-motion:reduce\).*\.still\{opacity:1\}/);
    expect(draw().match(/class="scene a1 still"/g)).toHaveLength(1);
    // A program that draws no animation shows one scene (not: all of them, one over the other).
    expect(draw().match(/<g class="scene[^>]*>/g)).toEqual([
      '<g class="scene a0" opacity="0">',
      '<g class="scene a1 still">',
    ]);
    expect(draw()).toBe(draw());
  });
});
