import { describe, expect, it } from 'vitest';
import { appraise } from '../../src/signals/appraise.ts';
import { turnOf } from './evidence.ts';

const reactionTo = (user: string, reply = 'Done. The change is in place.'): string => {
  const { signals } = appraise(turnOf({ reply: [{ type: 'text', text: reply }], next: { tools: [], user } }));
  return signals.map(({ name }) => name).join(' ');
};
const list = (text: string): readonly string[] => text.trim().split('\n');

const CORRECTIONS = list(`
still didnt work
still no
that's horrible
are you stupid? what about the others
i undid your changes, read the file first
thats not the prompt
wtf?
no
No.
nope
no, use tabs
No, the other one
no that's not it
wrong
that's wrong
That is incorrect.
this is not what I wanted
not what i asked
I asked for a table, not a list
I said blue
I told you not to touch the config
like I said, only the first column
it still fails
still broken
still not working
Still getting the same error
the tests still fail
it's still red
same error
same issue as before
doesn't work
it doesn't work
that didn't work
didn't help
does not compile
it crashes now
it crashes when I click the button
that breaks the build
you broke the build
you deleted my tests
you forgot to update the docs
You missed the second case
you didn't add the import
undo
undo that
please undo
revert
revert this
roll that back
put it back the way it was
why did you change the API?
thanks but it's still failing
thanks, but that's not what I meant
Thank you, however it still throws
looks good but the last row is missing
better, but the colors are wrong
almost! but the icon is too big
hmm no
hmm, not quite
not quite
Not really
that makes no sense
nothing changed
nothing happens when I click
now I get a different error
now it throws a TypeError
Now there's another error
I'm getting an error: Cannot find module
getting an error now
error again
it failed again
failed
this is worse
you're wrong
you are wrong about the version
that isn't right
this isn't right
that's not right, the total should be 42
that's not how it works
stop
stop changing the tests
I didn't ask you to do that
I never asked for that
please don't do that again
you misunderstood
That's a hallucination, that function doesn't exist
that function doesn't exist
this API does not exist
there is no such method
are you kidding? it's all broken
ugh, it's broken again
try again
wtf
bad answer
nein, falsch
das ist nicht richtig
Das funktioniert leider nicht
es geht immer noch nicht
mach das rückgängig
no funciona
eso no es lo que pedí
sigue sin funcionar
está mal
non, ce n'est pas ça
ça ne fonctionne pas
c'est faux
不对
还是报错
不是我要的
`);

const THANKS = list(`
it worked!
jesus, everything works
thanks
Thanks!
thank you so much
thx
ty!
perfect
Perfect!
great
great, thanks
awesome work
works now
it works
It works now, thanks
that works
that worked
that worked, thank you
works like a charm
nice
nice work
good job
well done
looks good
looks great
lgtm
exactly what I wanted
yes, exactly
that's it, thanks
brilliant
love it
fixed, thanks
solved!
all tests pass now, great
danke
vielen dank
super, danke
perfekt
passt
gracias
muchas gracias
perfecto
merci
merci beaucoup
parfait
谢谢
太好了
完美
👍
cool, thanks
okay thank you
Great. Next, add tests.
Thanks! Can you also add a test?
yes that's right
that's correct
yep, that fixed it
Excellent, exactly what I needed. Now do the same for the footer.
`);

const NEITHER = list(`
you still there?
we still need to port the selector
ok
okay
yes
yes please
sure
go ahead
continue
do it
next
now add tests
Add a footer
can you also add tests?
what does this do?
why is this needed?
why did you use a map here?
how do I run it?
Fix the login bug
The login page doesn't work on Safari, can you look?
there is a bug in the checkout: the total is wrong
the build is failing on CI, please fix
I get an email every time this job runs, can you turn it off?
Please write a test that fails when the list is empty
revert the commit abc123
Let's undo the last migration in staging
now do the same for the other file
same for the footer
the same thing for settings
No problem, take your time
no worries
no need to change that
no thanks
No, that's all
nothing else
I said hello to the team
Explain why "it doesn't work" is a bad bug report
thanks in advance for the regex
please make the wrong-password message red
Correct the spelling in README
add error handling
Handle the error case
Make it fail loudly
show me the error
Is that right?
what is still missing?
let me know if it still fails
Great question would be a good title, add it
actually use postgres
hmm
interesting
I see
wait
also, the header
Perfect the algorithm for edge cases
Right-align the numbers
Fixed header please
run it again
try it with node 22
rename it to thanks.ts
translate 'thank you' into German
please keep the broken links list
bitte füge einen Test hinzu
und jetzt der Footer
ahora añade pruebas
ajoute un test
现在加一个测试
继续
`);

describe("the user's next words", () => {
  it.each(CORRECTIONS)('takes %j for a correction', (user) => {
    expect(reactionTo(user)).toMatch(/^user-(corrected|doubted)$/);
  });

  it.each(THANKS)('takes %j for thanks', (user) => expect(reactionTo(user)).toBe('user-thanked'));

  it.each(NEITHER)('takes %j for neither', (user) => expect(reactionTo(user)).toBe(''));

  it('takes a bare no for an answer when it was asked, but not a no that says what is wrong', () => {
    expect(reactionTo('no', 'Done. Shall I also update the docs?')).toBe('');
    expect(reactionTo("no, that's wrong", 'Done. Shall I also update the docs?')).toBe('user-corrected');
  });

  it('hears the user and not what the client, a quote or a paste says', () => {
    expect(reactionTo("<system-reminder>that's wrong, undo that</system-reminder>")).toBe('');
    expect(reactionTo('Translate this:\n> no, that is wrong\n> still failing')).toBe('');
    expect(reactionTo("Explain this:\n```\nthat's wrong\n```")).toBe('');
    expect(reactionTo('[Sun 2026-11-15 03:41 UTC] no, wrong')).toBe('user-corrected');
    expect(
      reactionTo('<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nwrong\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>thanks'),
    ).toBe('user-thanked');
  });

  it('takes nothing but the trace of a crash for a complaint, and one with a new task for none', () => {
    const trace = '$ npm start\nTypeError: x is not a function\n    at main (/w/src/app.js:3:1)';
    expect(reactionTo(trace)).toBe('user-corrected');
    expect(reactionTo(`we also need to look at this one from production:\n${trace}`)).toBe('');
    expect(reactionTo('then we need to tackle this:\n{"text":"that is wrong"}\n Error: 400 no, wrong')).toBe(
      '',
    );
  });

  it('takes a complaint about the thing that the turn was about for a correction, and about another for a task', () => {
    expect(reactionTo('The chart is empty.', 'The chart is on the dashboard.')).toBe('user-corrected');
    expect(reactionTo('The chart is empty.', 'The footer is there.')).toBe('');
  });

  it('takes the same request in the same words for neither (heartbeats and timers repeat themselves)', () => {
    const task = 'Read HEARTBEAT.md and follow it';
    expect(appraise(turnOf({ task, next: { tools: [], user: task } })).verdict).toBe('ambiguous');
  });

  it('hears a complaint behind thanks', () => {
    expect(reactionTo('Danke, aber der Filter findet nichts')).toBe('user-corrected');
    expect(reactionTo('Thanks, but could you also add a test?')).toBe('user-thanked');
  });

  it('says nothing about an auxiliary call', () => {
    expect(appraise(turnOf({ role: 'aux', next: { tools: [], user: 'wrong' } })).verdict).toBe('ambiguous');
  });
});
