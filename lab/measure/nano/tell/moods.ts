import type { Grammar } from './expand.ts';

/*
 * How a sentence carries a rule, whatever the rule asks for. `@imp`, `@clause` and `@np` are the three forms of what it asks; the rest is
 * mood, register and reason. Sentences begin in lower case; the writer capitalises them.
 */
const HERE =
  '[here|with us|in this office|in our files|on this team|in our house|at our place|for our readers|in this project|on our side|in all our work]';
const WHEN =
  '[always|from now on|next time|in future|every time|each time|without exception|in all cases|from today on|once and for all|for the rest of the year]';
const LAST =
  '[last time|yesterday|again|this morning|once more|in the last file|on Monday|twice now|in this one]';

export const MOODS: Grammar = {
  /** Why: nothing that a reply depends on. */
  reason: [
    'the [archive|import|printer|old tool|mail filter|index|reader] [needs|expects|wants|asks for|depends on] it',
    '[our partners|the auditors|the people upstairs|the clients|the evening shift|the lawyers] [look for|filter by|rely on|insist on|ask about] it',
    '[the import|the sync|the nightly job|the old script] [breaks|stops|stumbles|fails] otherwise',
    'nobody [could read|could sort|found|understood] the last one',
    'it is [easier|quicker|simpler|safer] to [find|read|sort|check] [that way|so|like this]',
    'the [older|other|printed|signed] [files|papers|copies] [do it|have it|look like that] too',
    'that is [what we agreed|how it was decided|what the contract says|what the manual says]',
    'I [had to fix|had to correct|fixed|corrected] it by hand [twice|three times|again|all week]',
  ],
  asked: [
    '[make sure to|be sure to|remember to|take care to|do not forget to|never forget to|see that you|kindly|just|simply]',
    '[you have to|you need to|you should|you must|you are to|you are meant to|you are asked to|you will want to]',
    '[I want you to|I ask you to|I would like you to|I need you to|I expect you to|I beg you to|we want you to|we expect you to|they want us to]',
    '[the idea is to|the custom is to|the rule is to|the trick is to|the agreement is to|our way is to|the job is to|it is our habit to|it helps to|it is best to|it is time to|it pays to]',
    '[all of us|we all|people here|the others|both teams|our clerks|my colleagues]',
  ],
  held: [
    '[see to it|make sure|check|take care|ensure|remember|note|keep in mind|be aware|do not forget|look after it] that',
    '[I expect|I assume|I insist|I would like it|we agreed|we decided|it was agreed|it was decided|it is settled|it is important|it matters|it is a must] that',
    '[our rule is|the rule is|the point is|the agreement is|the habit is|the short version is|all I ask is|the only thing is|my one wish is] that',
  ],
  label: [
    '[rule|reminder|convention|note|correction|habit|format|agreement|standard|remark|to do|policy|style|detail|request|fix|hint|important|again|new]',
    '[house style|for the record|for your notes|small thing|one more thing|a detail|my remark|as agreed|to remember|short note|same as before|a request|what to change]',
  ],
  lack: [
    '[what I miss is|what was missing is|what it lacks is|what we need is|what they want is|what counts is]',
    '[there has to be|there must be|there should be|I need|I want|I expect|we need|we want|we agreed on|they asked for|I was looking for|I would like|give me]',
    '[I did not see|I do not find|you left out|you dropped|you skipped|you omitted|you forgot|it lacks|the file lacks|nobody saw]',
  ],
  /** A whole sentence of the rule, without its example. */
  core: [
    '@imp',
    'please @imp',
    `${WHEN} @imp`,
    `@imp, ${WHEN}`,
    `${HERE} you @imp`,
    `${HERE} we @imp`,
    '@asked @imp',
    '@asked @imp, please',
    '[could|can|would|will] you [please |]@imp?',
    '[why did you not|why do you not|why not|did I not ask you to|did nobody tell you to|is it so hard to|shall we agree to|may I ask you to] @imp?',
    `you [forgot to|did not|failed to|omitted to|neglected to|were supposed to|should] @imp`,
    `${LAST} you [forgot to|did not|failed to] @imp`,
    'the [next|last|other] one who [forgets|forgot] to @imp buys the coffee',
    '[if in doubt|whatever the task|whatever comes|whoever asks|before you finish], @imp',
    'to @imp is [the rule|not too much to ask|all I ask|what I asked for|what we do|the standard here]',
    '@clause',
    `${HERE} @clause`,
    `@clause, ${HERE} at least`,
    `${WHEN} @clause`,
    '@held @clause',
    '@label: @clause',
    '@label: @imp',
    '@label: @np',
    '@label - @np',
    '[is it clear|do you know|did I say|can we agree|would you check] that @clause?',
    '[I told you|they say|the manual says|my boss says|it is written|the others know|people tell me] [that |]@clause',
    '@lack @np',
    '@np, please',
    '@np[, that is all|, nothing else|, every time|, as agreed|, as before|, thanks]',
    'where is @np?',
    '[no file|nothing|nobody] [leaves this office|goes out|is done|gets away] without @np',
    '[because|since|as|given that] @reason, @imp',
    '[because|since|as|given that] @reason, @clause',
    '@reason, so @imp',
    '@reason: @imp',
    '@imp, because @reason',
    '@clause, because @reason',
    '@np, [since|because|as] @reason',
  ],
  /** The rule with a word against how it was done; `{plain}` is that. */
  against: [
    '{plain} is [wrong|not enough|not ours|incomplete|too little|no good|half of it|not right|a mistake]: @imp',
    '{plain} [alone |]will not do, @imp',
    '{plain} is [wrong|not enough|incomplete|not right]. @clause',
    '[do not|never|please do not] [write|leave|put|type] {plain}: @imp',
    '[you wrote|you put|I found|I read|it says|there was] {plain}, but @clause',
    '[not|no more|never] {plain}, @np',
    '[instead of|rather than] {plain}, @np',
  ],
  /** Behind a sentence that says all there is to say. */
  example: [
    ', [for example|for instance|e.g.|say|such as|like|as in|so|thus|that is|in short] {example}',
    ' ([so|thus|e.g.|here|like|for example|] {example})',
    ': {example}',
    ' - {example}',
    '. [So|Thus|For example|For instance|Here|In this case|Here that is|This time] {example}',
    '. [That makes|This gives|You get|It reads|The result|We would have|I would write] {example}',
    '. {example}, [for example|to show you one|say|that kind of thing]',
  ],
  turned: [
    ', so {plain} [becomes|turns into|is|would be|ends up as] {example}',
    '. {plain} [becomes|turns into|is then|would be|ends up as|is written|changes to] {example}',
    ', {example} [and not|instead of|rather than|not|in place of] {plain}',
    ', not {plain} but {example}',
    ' ({plain} -> {example})',
    '. [From|Out of] {plain} you [make|get] {example}',
    ': {plain} is {example}',
    '. It was {plain}, it [should be|has to be|must be|is to be] {example}',
  ],
  /** The example first, then the rule. */
  ledBy: [
    '{example}: [that is how|this is how|so|in other words,|you see,|which means] @clause',
    '[take|look at|see|think of|compare] {example}: @clause',
    '[take|look at|see|think of|compare] {example} and @imp',
    '{example} is [right|the way|what I want|correct|how it looks], so @imp',
    '[like|as] in {example}, @imp',
    '[to get|for] {example}, @imp',
    '{example}. [That is|So] @np',
  ],
  /** The example alone: what it is about, and what it should be. */
  shown: [
    '@s [looks like|reads|is written|is|should read|has to read|must look like|goes down as|is put as] {example}',
    '[write|put|type|use|give] {example} [as|for] @n',
    '@n: {example}',
    '[for|as to|concerning|about|as for|regarding] @n, [it is|we have|take|use|I want|the form is] {example}',
    '{example} is [right|correct|the form|the way|what we use|what I want] for @n',
    '[the|this|that] {noun} was [off|wrong|not ours|not right|in a strange form]. {example} is [it|right|better|ours]',
  ],
  contrast: [
    '[not|never] {plain} but {example}',
    '{plain} is [wrong|not right|not ours|out], {example} is [right|ours|in|fine]',
    '[turn|change|correct|convert] {plain} [into|to] {example}',
    '[where|when|if] [you have|it says|there is|one has] {plain}, [write|put|there has to be|we have|use] {example}',
    '{example}, [and not|not|instead of|rather than|never] {plain}',
    '[replace|swap|exchange] {plain} [by|for|with] {example}',
    'you [put|wrote|typed|had] {plain}. [Right is|I want|It is|Better:|Make it] {example}',
    '{plain} [becomes|turns into|is changed to|goes down as] {example} [here|with us|in our files|as @n|]',
    '@n: {example}, [and not|not|instead of|never] {plain}',
    '{plain} is [off|out|old], {example}',
  ],
};

/** Sentences beside the rule that ask for nothing. */
export const ASIDES: Grammar = {
  before: [
    '[Thanks|Thank you] for [the file|the quick work|the last one|yesterday|doing this|all that].',
    'I [looked at|read|opened|checked|went through] [it|the file|your work|the folder|the last one] [this morning|just now|over lunch|yesterday|at last].',
    '[Hm|Well|Listen|Sorry|Look|OK|Right|Hello|Hi|Good morning|So|Alas|Oh|No].',
    '[Almost|Nearly|Not quite|Better|Not bad|So close|Good start|Nice try].',
    '[One thing|One remark|A small point|A word on this|About the last file|Something else|Before I forget it|Quick note].',
    '[The task itself|The content|Most of it|The rest|Everything else] [was|is] [fine|good|right|as I wanted].',
    '[I am back|I am in a hurry|I have a minute|It is late|We had a meeting|There was a call] .',
  ],
  after: [
    '[Thanks|Thank you|Cheers|Please|That is all|No more for now|Nothing else].',
    '[The rest|Everything else|All else] [is fine|looks good|can stay|was right|stays as it is].',
    '[We talk|I call you|More] [later|tomorrow|next week|another time].',
    '[It was missed|I noticed it|I mentioned it|They asked] [before|last week|already|more than once].',
    '[No need to|You need not] [answer|reply|ask|explain].',
    '[I hope|I trust] [that helps|it is clear|you see the point].',
  ],
};
