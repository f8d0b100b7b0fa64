import type { AuditEntry } from '../../accounts/index.ts'
import { count, moment, text } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { command } from '../command.ts'
import { showTable, showText, showTime } from '../show.ts'
import { openExisting } from './token.ts'

export const audit = command({
  name: 'audit',
  usage: '[--account NAME] [--token ID] [--action ACTION] [--after TIME] [--before TIME] [--limit N]',
  summary: 'Lists who changed tokens, rules, ABIs and data, when and from where, and refused tokens, newest first.',
  settings: [],
  options: {
    account: setting(text('a name', 'NAME'), undefined, 'Only what was done with tokens of that account.'),
    token: setting(count(1), undefined, 'Only what was done with the token of that number.'),
    action: setting(
      text('an action or its first word', 'ACTION'),
      undefined,
      'Only that action, such as "token create", or all that begin with a word, such as rule.',
    ),
    after: setting(moment, undefined, 'Only what was done at that time or later.'),
    before: setting(moment, undefined, 'Only what was done at that time or earlier.'),
    limit: setting(count(1, 1_000_000), '50', 'Maximum number of entries to list.'),
  },
  arity: [0, 0],
  run: async ({ services, config, options: { limit, ...filter }, print }) => {
    const accounts = openExisting(services, config.data)
    try {
      const found = accounts.trail.list({ ...filter, limit: limit + 1 })
      const entries = found.slice(0, limit)
      if (config.json) return print(JSON.stringify(entries.map(toJson)))
      if (entries.length === 0) return print('There are no such entries.')
      print(show(entries))
      if (found.length > limit) print('There are older entries: --limit N lists more.')
    } finally {
      accounts.close()
    }
  },
})

const show = (entries: AuditEntry[]): string =>
  showTable(
    ['WHEN', 'WHO', 'TOKEN', 'FROM', 'ACTION', 'WHAT', 'DETAIL', 'TIMES'],
    entries.map(({ at, account, user, token, address, action, target, detail, count }) => [
      showTime(at),
      showText(account ?? (user === null ? '-' : `${user} (command line)`)),
      String(token ?? '-'),
      address ?? (user === null ? '-' : 'this machine'),
      action,
      showText(target ?? '-', 80),
      showText(detail === null ? '-' : detailOf(detail)),
      String(count),
    ]),
  )

const detailOf = (detail: Record<string, unknown>): string =>
  Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')

/** Times as elsewhere in answers. */
const toJson = ({ at, ...entry }: AuditEntry) => ({ ...entry, at: new Date(at).toISOString() })
