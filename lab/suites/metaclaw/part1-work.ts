import type { ScriptedWork } from './scripted-work.ts';

/*
 * How the scripted policies do the file questions of part I, days 01 to 15. The structure is what the questions ask for and the checks look
 * at; the content is brief. The tables belong to the published texts: a day whose questions differ has no scripted work.
 */

const times = (
  file: string,
  fields: string,
  more: { from?: string; before?: string } = {},
): ScriptedWork => ({
  kind: 'times',
  file,
  fields: fields.split(' ').filter(Boolean),
  ...more,
});
const text = (file: string, lines: readonly string[]): ScriptedWork => ({
  kind: 'text',
  file,
  text: lines.join('\n'),
});
const document = (name: string, fields = ''): ScriptedWork => ({
  kind: 'document',
  name,
  fields: fields.split(' ').filter(Boolean),
});
const amend = (word: string, fields: string): ScriptedWork => ({
  kind: 'amend',
  word,
  fields: fields.split(' '),
});

interface ScriptedDay {
  /** The beginning of the SHA-256 of the day's question texts, each followed by a line break. */
  readonly digest: string;
  /** By question, `r1`. */
  readonly work: Readonly<Record<string, ScriptedWork>>;
}

const NEW_TASK =
  "data.setdefault('tasks', []).append({'id': 'T-405', 'title': 'Review the third-party OAuth integration proposal', 'assignee': 'Bai', 'status': 'pending'})";
const SPEC_EXAMPLES = [
  "projects = data['paths']['/projects']",
  "for parameter in projects['get']['parameters']:",
  "    parameter['example'] = '{09:00}'",
  "projects['post']['requestBody']['content']['application/json']['example'].update(start_date='{09:00}', deadline='{18:00}')",
].join('\n');
const SAMPLES = ['09:00', '09:15', '09:30', '09:45', '10:00', '10:15', '10:30', '10:45'];

export const PART1_WORK: Readonly<Record<string, ScriptedDay>> = {
  day01: {
    digest: '748b96ad9c5ecd91',
    work: {
      r1: times('standup.json', 'meeting_time action_items[].due_date'),
      r2: times('action_items.json', 'created_at action_items[].due_date', { from: 'standup.json' }),
      r4: times('sprint_tasks.json', 'tasks[].created_at'),
      r5: times('sprint_tasks.json', 'tasks[].due_date tasks[].created_at', { before: NEW_TASK }),
      r7: times('this_week_meetings.json', 'meetings[].start_time'),
      r9: times('work_log.json', 'start_time end_time completed_tasks[].completed_at'),
    },
  },
  day02: {
    digest: '6135e127cce130db',
    work: {
      r1: times('milestones.json', 'milestones[].target_date'),
      r2: times('milestones.json', 'milestones[].last_updated'),
      r3: times('blockers.json', 'blockers[].discovered_at blockers[].expected_resolved_at'),
      r5: times('progress_report_draft.json', 'report_date generated_at period_start period_end'),
      r6: times(
        'completed_tasks.json',
        'completed_tasks[].completed_at completed_tasks[].review_completed_at',
      ),
      r8: times('reminders.json', 'reminders[].remind_at reminders[].created_at'),
      r10: times(
        'progress_report_final.json',
        'report_date generated_at period_start period_end finalized_at next_report_scheduled',
        { from: 'progress_report_draft.json' },
      ),
    },
  },
  day03: {
    digest: 'c8d288ee76b8ab5b',
    work: {
      r1: times('log_summary.json', 'generated_at analysis_start analysis_end'),
      r2: times('error_events.json', 'events[].occurred_at events[].detected_at'),
      r4: times('daily_report.json', 'generated_at analysis_period.start analysis_period.end', {
        from: 'report_template.json',
      }),
      r5: times('event_timeline.json', 'events[].occurred_at', { from: 'error_events.json' }),
      r7: times('perf_metrics.json', 'collection_start collection_end', {
        before: `data['sampled_at'] = [${SAMPLES.map((clock) => `'{${clock}}'`).join(', ')}]`,
      }),
      r8: times('daily_report.json', 'version_history[].created_at'),
      r10: times('error_trend.json', 'datapoints[].interval_start datapoints[].interval_end'),
      r12: times('review_package.json', 'package_created_at review_scheduled_at'),
    },
  },
  day04: {
    digest: '699c2bc5b623985e',
    work: {
      r1: times('api_spec_v2.3.json', '', { from: 'api_spec_stub.json', before: SPEC_EXAMPLES }),
      r2: text('CHANGELOG.md', [
        '# Orion API Changelog',
        '## Version 2.3.0',
        '**Released:** {12:00}',
        '## Version 2.2.0',
        '**Released:** {12:00}',
      ]),
      r4: text('log_utils.py', [
        '"""Log entries. Times are written like {09:30}."""',
        'from datetime import datetime, timedelta, timezone',
        '',
        '',
        'def format_log_entry(level, message):',
        '    # format_log_entry("INFO", "started") returns "[{09:30}] [INFO] started"',
        "    now = datetime.now(timezone(timedelta(hours=8))).isoformat(timespec='seconds')",
        "    return f'[{now}] [{level}] {message}'",
      ]),
      r5: times('api_versions.json', 'versions[].released_at'),
      r7: times('test_fixtures.json', 'tasks[].created_at tasks[].updated_at tasks[].due_date'),
      r9: times(
        'deploy_record.json',
        'build_started_at build_completed_at deploy_started_at deploy_completed_at',
      ),
    },
  },
  day05: {
    digest: '606464c89e002c56',
    work: {
      r1: times('weekly_data_normalized.json', 'days[].standup_time', { from: 'weekly_raw_data.json' }),
      r2: text('sprint_review_final.md', [
        '# Sprint Review, Sprint 7',
        'Period: {09:00} to {18:00}',
        'Generated: {10:00}',
        'Review meeting: {14:00}',
      ]),
      r4: times('archive_index_stub.json', 'archive_summary.archived_at files[].archived_at'),
      r5: times('sprint8_kickoff.json', 'sprint_start sprint_end kickoff_meeting planning_created_at'),
      r7: times('weekly_task_stats.json', 'stats_generated_at period_start period_end daily_stats[].date'),
      r9: times('sprint7_closure.json', 'officially_closed_at next_sprint_start'),
      r10: times('weekly_email_draft.json', 'draft_created_at scheduled_send_at'),
      r12: times('week_summary_index.json', 'generated_at files[].created_at'),
    },
  },
  day06: {
    digest: 'c276d20a5dbb530c',
    work: {
      r1: document('ci_build_report.json', 'build_time'),
      r2: document('test_summary.json', 'generated_at'),
      r4: document('version_changelog.json', 'released_at'),
      r5: document('build_report.md'),
      r7: document('dependency_versions.json'),
      r9: document('api_benchmark.json', 'test_run_at'),
    },
  },
  day07: {
    digest: '0874de0d918af072',
    work: {
      r1: document('weekly_report.md'),
      r2: document('change_notification.json', 'draft_created_at'),
      r3: document('api_review_notes.md'),
      r5: document('technical_spec.md'),
      r6: document('versioning_decision.json', 'decided_at'),
      r8: document('technical_debt.md'),
      r9: document('daily_report.json', 'report_date submitted_at'),
      r11: document('retrospective.json', 'review_period_start review_period_end created_at'),
    },
  },
  day08: {
    digest: '1a03c17070bf1c8b',
    work: {
      r1: document('request_analysis.json'),
      r2: document('user_activity.json', 'generated_at'),
      r4: document('business_metrics.csv'),
      r5: document('error_summary.json', 'generated_at'),
      r6: document('data_quality.md'),
      r8: document('daily_trend.json', 'analysis_generated_at'),
      r10: document('alert_analysis.json', 'analysis_at'),
      r11: document('data_summary.md'),
    },
  },
  day09: {
    digest: '809957b988a3bd68',
    work: {
      r1: document('midpoint_progress.json', 'report_generated_at'),
      r2: document('milestone_status.json', 'last_updated'),
      r3: amend('midpoint', 'report_generated_at'),
      r5: document('staffing_schedule.json'),
      r6: document('risk_assessment.md'),
      r8: document('kanban_snapshot.json', 'snapshot_at'),
      r9: document('work_plan_email.json', 'scheduled_send_at'),
      r11: document('work_summary.md'),
    },
  },
  day10: {
    digest: '80036a5c0ea6f136',
    work: {
      r1: document('sprint_review.json', 'review_date generated_at'),
      r2: document('presentation_outline.md'),
      r4: document('archive_index.json', 'archived_at'),
      r5: document('work_plan.json', 'plan_created_at'),
      r6: amend('review', 'review_date generated_at'),
      r8: document('debt_summary.json', 'summary_generated_at'),
      r9: document('task_completion.csv'),
      r11: document('okr_tracking.json', 'tracking_period_start tracking_period_end created_at'),
      r13: document('retrospective.md'),
    },
  },
  day11: {
    digest: '01d17388ad7bfb43',
    work: {
      r1: document('sprint_review_conclusions.md'),
      r2: document('week_plan.md'),
      r4: document('api_readme.md'),
      r6: document('adr_versioning.md'),
      r7: document('sprint_goals.md'),
      r9: document('onboarding_guide.md'),
    },
  },
  day12: {
    digest: '31e1ca6ced34d852',
    work: {
      r1: document('monthly_api_stats.json'),
      r3: document('user_activity.json'),
      r4: document('error_statistics.json'),
      r6: document('monthly_summary.json'),
      r7: document('quality_assessment.json'),
      r9: document('report_index.json'),
      r11: document('month_end_report.json'),
    },
  },
  day13: {
    digest: 'faae29a0ea084714',
    work: {
      r1: document('log_parser.py'),
      r3: document('data_validation.py'),
      r4: document('config_loader.py'),
      r6: document('report_generator.py'),
      r7: document('tools_init.py'),
      r9: document('time_format.py'),
      r11: document('commenting_guide.md'),
    },
  },
  day14: {
    digest: '40f25c0ea4f2c42f',
    work: {
      r1: document('task_status.json'),
      r2: document('q1_summary.json', 'period_start period_end generated_at'),
      r4: document('q2_plan.md'),
      r5: document('team_skills.json', 'last_updated'),
      r6: document('risk_tracking.json', 'last_reviewed'),
      r8: document('week_summary.md'),
      r9: document('performance_metrics.json', 'report_period_start report_period_end'),
      r11: document('compliance_check.md'),
    },
  },
  day15: {
    digest: '69ae3b9cdda1c658',
    work: {
      r1: document('week_outputs.json', 'generated_at'),
      r2: document('q2_kickoff_plan.md'),
      r3: document('team_summary.csv'),
      r5: document('summary_generator.py'),
      r6: document('q2_milestones.json'),
      r7: document('next_week_plan.md'),
      r9: document('compliance_statistics.json'),
      r10: document('quick_reference.md'),
      r12: document('sprint_closure.json', 'week_closed_at next_week_start'),
    },
  },
};
