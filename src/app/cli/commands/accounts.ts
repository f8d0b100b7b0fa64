import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ACCOUNTS_FILE } from '../../../accounts/file.ts'
import { type Accounts, type AuditEntry, SCOPES, type TokenInfo } from '../../../accounts/index.ts'
import { choiceKind, countKind, duration, moment, textKind } from '../../../config/kinds.ts'
import { listSetting, setting } from '../../../config/settings.ts'
import { refuse } from '../../../lib/errors.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { type CommandContext, command, misused } from '../command.ts'
import { formatCount as countOf, formatTable, formatText, formatTime } from '../format.ts'

const RATE = countKind(1)

export const tokenCreateCommand = command({
  name: 'token create',
  usage: '--account NAME [--scope SCOPE]… [--expires TIME] [--rate N]',
  summary: 'Creates a token and prints it, and nothing else. It cannot be shown again.',
  settings: [],
  options: {
    account: setting(
      textKind('a name', 'NAME'),
      undefined,
      'Account of the token. It is created if it does not exist.',
    ),
    expires: setting(
      duration,
      undefined,
      'How long the token is valid, such as 30d. The default is until you revoke it.',
    ),
    scope: listSetting(
      choiceKind(SCOPES),
      'What the token may be used for: to search, to manage rules, to read metrics. The default is search and rules.',
    ),
    rate: setting(RATE, undefined, 'Requests a minute with this token. The default is --limit requestsByToken.'),
  },
  arity: [0, 0],
  run: async ({ services, config, options: { account, expires, scope, rate }, print }) => {
    if (account === undefined) throw misused('Whose token? Add --account NAME.')
    const limits = { expiresIn: expires, rate, ...(scope.length > 0 && { scopes: scope }) }
    const accounts = services.openAccounts(config.data)
    try {
      print(accounts.createToken(account, limits))
    } finally {
      accounts.close()
    }
  },
})

export const tokenListCommand = command({
  name: 'token list',
  usage: '',
  summary: 'Lists tokens by number, account, scopes, limit, state and last use, without the tokens themselves.',
  settings: [],
  options: {},
  arity: [0, 0],
  run: async context => withAccounts(context, ({ list }) => list()),
  format: tokens => formatTokens(tokens),
})

export const tokenRotateCommand = command({
  name: 'token rotate',
  usage: 'ID [--overlap TIME] [--expires TIME]',
  summary:
    'Creates a token to replace another one and prints it, and nothing else. The old one expires after --overlap.',
  settings: [],
  options: {
    overlap: setting(duration, undefined, 'How long the old token is also valid. The default is 24h.'),
    expires: setting(
      duration,
      undefined,
      'How long the new token is valid. The default is as long as the old one was.',
    ),
  },
  arity: [1, 1],
  run: async context => {
    const { args, options, print } = context
    const number = tokenNumber(args[0]!, 'rotated')
    const how = { graceMs: options.overlap ?? DAY_MS, expiresIn: options.expires }
    print(withAccounts(context, ({ rotate }) => rotate(number, how)).token)
  },
})

export const tokenLimitCommand = command({
  name: 'token limit',
  usage: 'ID [--rate N]',
  summary:
    'Sets how many requests a minute a token may make. Without --rate, the token gets the limit of all tokens again. A running server notices within a second.',
  settings: [],
  options: { rate: setting(RATE, undefined, 'Requests a minute. The default is --limit requestsByToken.') },
  arity: [1, 1],
  run: async context => {
    const [token, rate] = [tokenNumber(context.args[0]!, 'limited'), context.options.rate ?? null]
    withAccounts(context, ({ setRate }) => setRate(token, rate))
    return { token, rate }
  },
  format: ({ token, rate }) =>
    `Token ${token} ${rate === null ? 'has the limit of all tokens' : `may make ${countOf(rate, 'request')} a minute`}.`,
})

export const tokenRevokeCommand = command({
  name: 'token revoke',
  usage: 'ID',
  summary: 'Makes a token invalid for ever. A running server notices within a second.',
  settings: [],
  options: {},
  arity: [1, 1],
  run: async context => {
    const revoked = tokenNumber(context.args[0]!, 'revoked')
    withAccounts(context, ({ revoke }) => revoke(revoked))
    return { revoked }
  },
  format: (_, { args: [id] }) => `Token ${id} is revoked.`,
})

const tokenNumber = (id: string, done: string): number => {
  if (!/^\d{1,15}$/.test(id)) throw misused(`A token is ${done} by its number, which chainsieve token list shows.`)
  return Number(id)
}

/** Opens the accounts during `use`. Fails without an accounts file: a typo creates no folder. */
const withAccounts = <T>({ services, config }: Opening, use: (accounts: Accounts) => T): T => {
  if (!existsSync(join(config.data, ACCOUNTS_FILE)))
    throw refuse(
      'no_accounts',
      `There are no tokens in ${config.data}: create one with chainsieve token create, or name the right folder with --data.`,
    )
  const accounts = services.openAccounts(config.data)
  try {
    return use(accounts)
  } finally {
    accounts.close()
  }
}

type Opening = Pick<CommandContext, 'services' | 'config'>

const tokenState = ({ expiresAt, revokedAt }: Pick<TokenInfo, 'expiresAt' | 'revokedAt'>, now: number): string => {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'valid'
}

const formatTokens = (tokens: TokenInfo[], now = Date.now()): string =>
  formatTable(
    ['ID', 'ACCOUNT', 'TOKEN', 'SCOPES', 'RATE', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED'],
    tokens.map(({ id, account, hint, scopes, rate, createdAt, expiresAt, revokedAt, lastUsedAt, replacedBy }) => [
      String(id),
      account,
      `${hint}…`,
      scopes.join(),
      rate === null ? '-' : `${rate}/min`,
      tokenState({ expiresAt, revokedAt }, now) + (replacedBy === null ? '' : `, replaced by ${replacedBy}`),
      formatTime(createdAt),
      formatTime(expiresAt),
      formatTime(lastUsedAt),
    ]),
  )

export const auditCommand = command({
  name: 'audit',
  usage: '[--account NAME] [--token ID] [--action ACTION] [--after TIME] [--before TIME] [--limit N]',
  summary: 'Lists who changed tokens, rules, ABIs and data, when and from where, and refused tokens, newest first.',
  settings: [],
  options: {
    account: setting(textKind('a name', 'NAME'), undefined, 'Only what was done with tokens of that account.'),
    token: setting(countKind(1), undefined, 'Only what was done with the token of that number.'),
    action: setting(
      textKind('an action or its first word', 'ACTION'),
      undefined,
      'Only that action, such as "token create", or all that begin with a word, such as rule.',
    ),
    after: setting(moment, undefined, 'Only what was done at that time or later.'),
    before: setting(moment, undefined, 'Only what was done at that time or earlier.'),
    limit: setting(countKind(1, 1_000_000), '50', 'Maximum number of entries to list.'),
  },
  arity: [0, 0],
  run: async context => {
    const { limit, ...filter } = context.options
    const found = withAccounts(context, ({ trail }) => trail.list({ ...filter, limit: limit + 1 }))
    return { entries: found.slice(0, limit), hasOlder: found.length > limit }
  },
  format: ({ entries, hasOlder }) => {
    if (entries.length === 0) return 'There are no such entries.'
    return hasOlder ? `${formatAudit(entries)}\nThere are older entries: --limit N lists more.` : formatAudit(entries)
  },
  json: ({ entries }) => entries.map(auditJson),
})

const formatAudit = (entries: AuditEntry[]): string =>
  formatTable(
    ['WHEN', 'WHO', 'TOKEN', 'FROM', 'ACTION', 'WHAT', 'DETAIL', 'TIMES'],
    entries.map(({ at, account, user, token, address, action, target, detail, count }) => [
      formatTime(at),
      formatText(account ?? (user === null ? '-' : `${user} (command line)`)),
      String(token ?? '-'),
      address ?? (user === null ? '-' : 'this machine'),
      action,
      formatText(target ?? '-', 80),
      formatText(detail === null ? '-' : detailOf(detail)),
      String(count),
    ]),
  )

const detailOf = (detail: Record<string, unknown>): string =>
  Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')

/** With ISO 8601 times, as in other answers. */
const auditJson = ({ at, ...entry }: AuditEntry) => ({ ...entry, at: new Date(at).toISOString() })
