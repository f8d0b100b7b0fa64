import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ACCOUNTS_FILE } from '../../accounts/file.ts'
import type { TokenInfo } from '../../accounts/index.ts'
import { duration, text } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { refuse } from '../../lib/errors.ts'
import { command, misused, type Services } from '../command.ts'
import { showTable, showTime } from '../show.ts'

export const createToken = command({
  name: 'token create',
  usage: '--account NAME [--expires TIME]',
  summary: 'Creates a token and prints it, and nothing else. It cannot be shown again.',
  settings: [],
  options: {
    account: setting(text('a name', 'NAME'), undefined, 'Account of the token. It is created if it does not exist.'),
    expires: setting(
      duration,
      undefined,
      'How long the token is valid, such as 30d. The default is until you revoke it.',
    ),
  },
  arity: [0, 0],
  run: async ({ services, config, options: { account, expires }, print }) => {
    if (account === undefined) throw misused('Whose token? Add --account NAME.')
    const accounts = services.openAccounts(config.data)
    try {
      print(accounts.createToken(account, { expiresIn: expires }))
    } finally {
      accounts.close()
    }
  },
})

export const listTokens = command({
  name: 'token list',
  usage: '',
  summary: 'Lists tokens by number, account, state and last use, without the tokens themselves.',
  settings: [],
  options: {},
  arity: [0, 0],
  run: async ({ services, config, print }) => {
    const accounts = openExisting(services, config.data)
    try {
      print(config.json ? JSON.stringify(accounts.list()) : showTokens(accounts.list()))
    } finally {
      accounts.close()
    }
  },
})

export const revokeToken = command({
  name: 'token revoke',
  usage: 'ID',
  summary: 'Makes a token invalid for ever. A running server notices within a second.',
  settings: [],
  options: {},
  arity: [1, 1],
  run: async ({ services, config, args: [id = ''], print }) => {
    if (!/^\d{1,15}$/.test(id)) throw misused('A token is revoked by its number, which chainsieve token list shows.')
    const accounts = openExisting(services, config.data)
    try {
      accounts.revoke(Number(id))
      print(config.json ? JSON.stringify({ revoked: Number(id) }) : `Token ${id} is revoked.`)
    } finally {
      accounts.close()
    }
  },
})

// Looking must not make a data folder where somebody mistyped its name.
const openExisting = (services: Services, folder: string) => {
  if (!existsSync(join(folder, ACCOUNTS_FILE)))
    throw refuse(
      'no_accounts',
      `There are no tokens in ${folder}: make one with chainsieve token create, or name the right folder with --data.`,
    )
  return services.openAccounts(folder)
}

const showTokens = (tokens: TokenInfo[], now = Date.now()): string =>
  showTable(
    ['ID', 'ACCOUNT', 'TOKEN', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED'],
    tokens.map(({ id, account, hint, createdAt, expiresAt, revokedAt, lastUsedAt }) => [
      String(id),
      account,
      `${hint}…`,
      revokedAt !== null ? 'revoked' : expiresAt !== null && expiresAt <= now ? 'expired' : 'valid',
      showTime(createdAt),
      showTime(expiresAt),
      showTime(lastUsedAt),
    ]),
  )
