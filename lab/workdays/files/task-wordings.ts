import type { SplitWordings } from './scene.ts';

/** How each kind of task is worded, by split: `asks` is the request, the others are sentences with its facts. */
export const TASK_WORDINGS = {
  'decision-log': {
    asks: {
      train: [
        'Write a log of what was decided for {project}, titled "{title}".',
        'Please put the decisions on {project} into a log with the title "{title}".',
      ],
      gate: [
        'We want the decisions about {project} on record; call the log "{title}".',
        'Draw up a decision log for {project} under the title "{title}".',
      ],
      report: [
        'Nobody has noted down what was settled for {project}: do so in a log titled "{title}".',
        'A decision log is due for {project}, with "{title}" as its title.',
      ],
    },
    facts: {
      train: [
        '{id}: on {at} {by} decided "{decision}" because {rationale}; it is looked at again on {review}.',
        '{by} decided "{decision}" on {at} ({id}), the reason being that {rationale}. The review is on {review}.',
      ],
      gate: [
        'Number {id} is "{decision}", settled by {by} on {at}, since {rationale}, and up for review on {review}.',
        'As {id}: "{decision}". {by} settled it on {at}, given that {rationale}; review on {review}.',
      ],
      report: [
        'Under {id}, {by} chose "{decision}" on {at}; {rationale}. To be reviewed {review}.',
        '"{decision}" ({id}) was the choice of {by}, made on {at}; {rationale}. Back on the table on {review}.',
      ],
    },
    followUp: {
      train: ['What follows from it is ticket {ticket}.'],
      gate: ['The work on it is ticket {ticket}.'],
      report: ['Ticket {ticket} carries it out.'],
    },
  },
  'ticket-states': {
    asks: {
      train: ['Bring {path} up to date.', 'The board in {path} has to be updated, please.'],
      gate: ['{path} lags behind; see to it.', 'Some tickets in {path} have moved.'],
      report: ['What stands in {path} is no longer true.', 'Adjust the board {path} as follows.'],
    },
    states: {
      train: [
        'Set the state of ticket {ticket} to "{state}".',
        'Ticket {ticket} is now "{state}" (its state).',
      ],
      gate: ['The state of {ticket} becomes "{state}".', 'For {ticket} the state is "{state}" from now on.'],
      report: ['{ticket} moves to the state "{state}".', 'Give {ticket} the state "{state}".'],
    },
    closed: {
      train: ['It was closed on {at}: add that as closed_at.', 'Add closed_at to it: {at}.'],
      gate: ['It also gets a closed_at, which is {at}.', 'As closed_at it is given {at}.'],
      report: ['Note as its closed_at: {at}.', 'A closed_at comes with it, namely {at}.'],
    },
  },
  'weekly-figures': {
    asks: {
      train: [
        'Write the figures of the week for {project} into a sheet titled "{title}".',
        'Please put together the week in figures for {project}; the sheet has the title "{title}".',
      ],
      gate: [
        'For {project} we want a sheet "{title}" with the figures of this week.',
        'Set up the figures for {project} in a sheet that is titled "{title}".',
      ],
      report: [
        'The numbers on {project} have come in: note them in a sheet with "{title}" on top.',
        'A sheet by the title "{title}" is to show how {project} is doing.',
      ],
    },
    facts: {
      train: [
        'The {name} came to {value} {unit}, taken from {source} on {at}.',
        'According to {source} the {name} was {value} {unit} on {at}.',
      ],
      gate: [
        'On {at} the {name} stood at {value} {unit} (source: {source}).',
        'For the {name}, {source} has {value} {unit}, as of {at}.',
      ],
      report: [
        '{value} {unit} is the {name}; it was read from {source} on {at}.',
        'As to the {name}: {value} {unit}, from {source}, noted {at}.',
      ],
    },
  },
  handover: {
    asks: {
      train: [
        '{from} hands ticket {ticket} over to {to}: set its owner in {path} to "{to}", then write a handover note titled "{title}".',
        'Ticket {ticket} goes from {from} to {to}. Put "{to}" as its owner in {path} and write a note on it, titled "{title}".',
      ],
      gate: [
        '{to} takes ticket {ticket} from {from}. Two things: the owner in {path} becomes "{to}", and there is to be a note "{title}".',
        'Let the owner of {ticket} in {path} be "{to}" in place of {from}, and leave a note with the title "{title}".',
      ],
      report: [
        'With ticket {ticket} passing from {from} to {to}, {path} has to name "{to}" as owner; a note called "{title}" goes with it.',
        'From {from} to {to}: that is the way of ticket {ticket}. Enter "{to}" as owner in {path} and add a note, "{title}".',
      ],
    },
    facts: {
      train: [
        'The note says that it was handed over on {at}, from {from} to {to}, with {hours} hours of work left on ticket {ticket}.',
        'In the note: ticket {ticket}, from {from}, to {to}, on {at}, and {hours} hours of work remain.',
      ],
      gate: [
        'It changed hands on {at}, and {hours} hours of it are still to do; name the ticket ({ticket}), {from} and {to} as well.',
        'Give ticket {ticket}, the two people ({from}, then {to}), {at} as the time and {hours} hours as what remains.',
      ],
      report: [
        'Time of the handover: {at}; remaining work: {hours} hours; and of course ticket {ticket}, {from} and {to}.',
        'What belongs in it: ticket {ticket}, giver {from}, taker {to}, {at} as the hour, {hours} hours of work remaining.',
      ],
    },
  },
  'meeting-summary': {
    asks: {
      train: [
        'Summarise the meeting on {project} that {chair} led on {held}.',
        'Please write the summary of the {project} meeting; it was on {held} and {chair} led it.',
      ],
      gate: [
        '{chair} had the chair when {project} met on {held}; sum it up.',
        'There was a {project} meeting on {held} under {chair}, and we want a summary.',
      ],
      report: [
        'The team of {project} sat together on {held}, {chair} presiding. Write down what came of it.',
        'What remains of the {project} round of {held}, with {chair} in the chair, belongs in a summary.',
      ],
    },
    facts: {
      train: [
        'The topic was {project}; the outcome is "{outcome}". They meet again on {next}.',
        'It was about {project} and came out as "{outcome}"; it continues on {next}.',
      ],
      gate: [
        'Topic: {project}. They agreed on "{outcome}" and on {next} for the next time.',
        'On {project} the result is "{outcome}"; the following meeting is on {next}.',
      ],
      report: [
        'Subject {project}, result "{outcome}", and the next round is {next}.',
        '{project} was the subject, "{outcome}" the result; one sees each other again on {next}.',
      ],
    },
    open: {
      train: ['Still open is ticket {ticket}.'],
      gate: ['Ticket {ticket} stays open.'],
      report: ['What was left open is ticket {ticket}.'],
    },
  },
  'figure-change': {
    asks: {
      train: ['Correct the sheet {path}.', 'A figure in {path} has been counted anew.'],
      gate: ['{path} holds an old figure.', 'There is a correction to {path}.'],
      report: ['Somebody found a mistake in {path}.', 'In {path} not all is right any more.'],
    },
    facts: {
      train: [
        'The value of "{name}" is {value} {unit}, measured_at {at}.',
        'Set "{name}" to {value} {unit} (value) and {at} (measured_at).',
      ],
      gate: [
        'For "{name}" the value is to be {value} {unit} and measured_at {at}.',
        '"{name}" now has {value} {unit} as value, with {at} as measured_at.',
      ],
      report: [
        'Under "{name}" put {value} {unit} as the value, and as measured_at {at}.',
        'As value of "{name}" take {value} {unit}, as measured_at {at}.',
      ],
    },
  },
  'incident-report': {
    asks: {
      train: [
        'Something went wrong with {project} {version} on {environment}, so write an incident report titled "{title}".',
        'Please write up the incident with {version} of {project} on {environment}; the title is "{title}".',
      ],
      gate: [
        'For the trouble that {project} {version} gave us on {environment} we want a report, "{title}".',
        'Report on what happened with {project} ({version}, {environment}) under the title "{title}".',
      ],
      report: [
        '{environment} had an outage after {project} {version} went out: set down a report called "{title}".',
        'An account is wanted of the outage of {project} {version} on {environment}; head it "{title}".',
      ],
    },
    facts: {
      train: [
        'It began on {at}, lasted {minutes} minutes and was noticed by {by}; the fix is ticket {ticket}.',
        '{by} saw it first. It started on {at} and was over after {minutes} minutes; ticket {ticket} fixes it.',
      ],
      gate: [
        'Start: {at}. It was down for {minutes} minutes. {by} called it in, and {ticket} is its ticket.',
        'From {at} on nothing worked for {minutes} minutes, as {by} told us. See ticket {ticket}.',
      ],
      report: [
        'The beginning was {at}, the downtime {minutes} minutes, the first to call was {by}; ticket {ticket} is about it.',
        'First call by {by}, start on {at}, {minutes} minutes of downtime, and ticket {ticket} for the repair.',
      ],
    },
  },
  'deploy-record': {
    asks: {
      train: [
        'Append a record to the list deploys in {path}.',
        'One more record belongs at the end of deploys in {path}.',
      ],
      gate: [
        'In {path}, the list deploys gets another record.',
        'The list deploys of {path} is one record short.',
      ],
      report: [
        'Add what went out to the list deploys in {path}.',
        'A release is not yet among the deploys of {path}.',
      ],
    },
    facts: {
      train: [
        '{by} brought {project} {version} to {environment} on {at}; it {outcome}. It had the tickets {tickets}.',
        '{project} {version} went to {environment} on {at}, by {by}, with the tickets {tickets}, and {outcome}.',
      ],
      gate: [
        'Version {version} of {project} reached {environment} on {at} through {by} and {outcome}; tickets: {tickets}.',
        'It is {project} {version} for {environment}, on {at}, by {by}. It {outcome}, and the tickets in it are {tickets}.',
      ],
      report: [
        'On {at}, {by} released {version} of {project} to {environment}, which {outcome}. Inside: tickets {tickets}.',
        'What {by} released on {at} was {project} {version}, to {environment}; it {outcome} and contained the tickets {tickets}.',
      ],
    },
    keys: {
      train: ['The keys are {keys}; the outcome is "{outcome}".'],
      gate: ['It has the members {keys}, where outcome is "{outcome}".'],
      report: ['Record it with {keys}, giving "{outcome}" as outcome.'],
    },
  },
  'due-date': {
    asks: {
      train: ['The plan in {path} has shifted.', 'Please change the plan in {path}.'],
      gate: ['There is a new schedule for {path}.', 'We had to move something in {path}.'],
      report: ['{path} needs other deadlines.', 'In the plan {path} the calendar has moved on.'],
    },
    moves: {
      train: ['The due of "{name}" is now {at}.', 'Move the due of "{name}" to {at}.'],
      gate: ['"{name}" gets {at} as its due.', 'For "{name}" put {at} under due.'],
      report: ['As due for "{name}" enter {at}.', 'What is due for "{name}" is due on {at}.'],
    },
    owners: {
      train: ['Its owner is {owner} from now on.'],
      gate: ['{owner} takes it over as owner.'],
      report: ['The owner of it becomes {owner}.'],
    },
  },
  'survey-sheet': {
    asks: {
      train: [
        'Write a sheet on the survey about {project}, titled "{title}".',
        'The survey on {project} needs its sheet; the title is "{title}".',
      ],
      gate: [
        'We want the {project} survey on a sheet of its own, "{title}".',
        'Put the survey of {project} on record as "{title}".',
      ],
      report: [
        'Nobody has written up the {project} survey: do it as "{title}".',
        'Draw up what came of the survey for {project}, headed "{title}".',
      ],
    },
    facts: {
      train: ['{by} held it on {on}: {asked} people were asked and {answered} % answered.'],
      gate: ['Held by {by}, {on}. Of {asked} people asked, {answered} % gave an answer (answered).'],
      report: ['It was {by} who asked {asked} people on {on}; answers came from {answered} %.'],
    },
    labels: {
      train: ['Labels: {labels}.'],
      gate: ['As labels it has {labels}.'],
      report: ['Its labels are {labels}.'],
    },
  },
  convert: {
    asks: {
      train: [
        'Turn the list in {path} into a JSON file with the title "{title}" and an entry for each line.',
        'Please convert {path} to JSON: the title "{title}", and every line as an entry of tickets.',
      ],
      gate: [
        'From each line of {path} make an entry of tickets in a JSON file titled "{title}".',
        '{path} is only text; we want the same as JSON, titled "{title}".',
      ],
      report: [
        'What {path} has line by line is wanted as JSON under the title "{title}".',
        'Rewrite {path} as JSON, with "{title}" for a title and the lines as tickets.',
      ],
    },
    lines: {
      train: ['{ticket}; {title}; {owner}; due {at}; {hours} hours'],
      gate: ['{ticket} / {title} / {owner} / due {at} / {hours} hours'],
      report: ['{owner} has {ticket} ({title}), due {at}, {hours} hours'],
    },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, SplitWordings>>>>;
