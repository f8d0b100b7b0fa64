import { resolve } from 'node:path'
import * as v from 'valibot'
import { messageOf, refuse } from '../lib/errors.ts'
import { readAtMost } from '../lib/files.ts'
import { didYouMean } from '../lib/name-matching.ts'
import { DEFAULT_LIMITS, overLimit } from '../limits/index.ts'
import { type ChainScope, eventTopic, type Factory, parameterPlace } from '../scopes/factory.ts'
import { addressKind, type BlockPoint, blockPoint, type SettingKind, transactions } from './kinds.ts'

/** The wanted parts of a chain. */
export interface Scoping {
  scopes: readonly WantedScope[]
  /** Whether whole blocks are wanted from the network's `from` on, besides the scopes. */
  whole: boolean
}

/** A scope whose ends may be counted from the head. */
export interface WantedScope extends Omit<ChainScope, 'from' | 'to'> {
  from: BlockPoint | undefined
  to: BlockPoint | undefined
}

interface OfNetwork {
  contract: readonly string[]
  event: readonly string[]
  transactions: boolean | 'read-blocks'
  from: BlockPoint | undefined
  to: BlockPoint | undefined
}

/** Place of the tables for messages, and base folder of their paths. */
interface ScopePlace {
  place: string
  base: string
}

/** `contract` and `event` form a scope in `from`..`to`; with `scopes`, these bound whole blocks. */
export const scopingOf = (
  { contract, event, transactions, from, to }: OfNetwork,
  tables: readonly Record<string, unknown>[],
  at: ScopePlace,
): Scoping | undefined => {
  const isScope = contract.length > 0 || event.length > 0
  if (transactions !== false && contract.length === 0)
    throw refuse(
      'bad_setting',
      tables.length > 0
        ? `${at.place}: transactions is for contract: write it into the scopes that it is for.`
        : 'transactions is for chosen contracts, but none is given: add --contract. Without scopes all transactions are indexed.',
    )
  if (!isScope && tables.length === 0) return undefined
  if (isScope && tables.length > 0)
    throw refuse(
      'bad_setting',
      `${at.place}: a network has either scopes or contract and event: write the contracts into a scope of their own.`,
    )
  if (isScope)
    return {
      scopes: [
        { addresses: sorted(contract), topics: sorted(event), factory: undefined, ...wantedOf(transactions), from, to },
      ],
      whole: false,
    }
  return {
    scopes: tables.map((table, i) => scopeOf(table, { ...at, place: `${at.place}[${i}]` })),
    whole: from !== undefined,
  }
}

const KEYS = ['addresses', 'addresses-file', 'events', 'factory', 'transactions', 'from', 'to'] as const

const scopeOf = (table: Record<string, unknown>, at: ScopePlace): WantedScope => {
  refuseUnknownKeys(table, KEYS, at)
  const addresses = [
    ...listSettingIn(table.addresses, `${at.place}: addresses`).map(value =>
      valueIn(addressKind, value, `${at.place}: addresses`),
    ),
    ...(table['addresses-file'] === undefined ? [] : readAddresses(table['addresses-file'], at)),
  ]
  const topics = listSettingIn(table.events, `${at.place}: events`).map(event => topicAt(event, `${at.place}: events`))
  const factory =
    table.factory === undefined ? undefined : factoryOf(table.factory, { ...at, place: `${at.place}: factory` })
  if (addresses.length === 0 && topics.length === 0 && !factory)
    throw refuse('bad_setting', `${at.place} wants nothing: give addresses, events or a factory.`)
  const from = blockPointIn(table.from, `${at.place}: from`)
  const to = blockPointIn(table.to, `${at.place}: to`)
  if (from && to && 'block' in from && 'block' in to && from.block > to.block)
    throw refuse('bad_setting', `${at.place}: to: the last block, ${to.block}, is before the first, ${from.block}.`)
  const wanted =
    table.transactions === undefined ? false : valueIn(transactions, table.transactions, `${at.place}: transactions`)
  if (wanted !== false && addresses.length === 0 && !factory)
    throw refuse(
      'bad_setting',
      `${at.place}: transactions needs addresses or a factory: those of all contracts are indexed by from directly under [[networks]].`,
    )
  return { addresses: sorted(addresses), topics: sorted(topics), factory, ...wantedOf(wanted), from, to }
}

const wantedOf = (wanted: boolean | 'read-blocks'): Pick<ChainScope, 'transactions'> =>
  wanted === false ? {} : { transactions: wanted === true ? 'search' : wanted }

const factoryOf = (value: unknown, at: ScopePlace): Factory => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('bad_setting', `${at.place} takes a table: { addresses = ["0x…"], event = "…", parameter = "…" }.`)
  const table = value as Record<string, unknown>
  refuseUnknownKeys(table, ['addresses', 'event', 'parameter'], at)
  const addresses = listSettingIn(table.addresses, `${at.place}: addresses`).map(it =>
    valueIn(addressKind, it, `${at.place}: addresses`),
  )
  if (addresses.length === 0)
    throw refuse('bad_setting', `${at.place} needs addresses: those of the contracts that name others.`)
  const { event, parameter } = table
  if (typeof event !== 'string' || (typeof parameter !== 'string' && typeof parameter !== 'number'))
    throw refuse(
      'bad_setting',
      `${at.place} needs event and parameter, such as event = "PairCreated(address indexed token0, address indexed token1, address pair, uint256)" and parameter = "pair".`,
    )
  const place = explained(() => parameterPlace(event, String(parameter)), at.place)
  return { addresses: sorted(addresses), topic: topicAt(event, `${at.place}: event`), place }
}

/** One address a line; what follows a # is a comment. */
const readAddresses = (file: unknown, { place, base }: ScopePlace): string[] => {
  if (typeof file !== 'string') throw refuse('bad_setting', `${place}: addresses-file takes a file.`)
  const path = resolve(base, file)
  let bytes: Buffer | undefined
  try {
    bytes = readAtMost(path, DEFAULT_LIMITS.inputFile)
  } catch (error) {
    throw refuse('bad_setting', `${place}: addresses-file: ${path} cannot be read: ${messageOf(error)}`, error)
  }
  if (!bytes) throw overLimit('inputFile', DEFAULT_LIMITS, path)
  const found = bytes
    .toString()
    .split('\n')
    .flatMap((line, i) => {
      const text = line.replace(/#.*/, '').trim()
      return text === '' ? [] : [valueIn(addressKind, text, `${path}, line ${i + 1}`)]
    })
  if (found.length === 0) throw refuse('bad_setting', `${place}: addresses-file: ${path} has no addresses.`)
  return found
}

const refuseUnknownKeys = (table: Record<string, unknown>, names: readonly string[], { place }: ScopePlace) => {
  for (const name of Object.keys(table))
    if (!names.includes(name))
      throw refuse('unknown_setting', `${place}: ${name} is not a setting.${didYouMean(name, names)}`)
}

const listSettingIn = (value: unknown, place: string): unknown[] => {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw refuse('bad_setting', `${place} takes a list.`)
  return value
}

const valueIn = <T>(kind: SettingKind<T>, value: unknown, place: string): T => {
  const result = v.safeParse(kind.schema, value)
  if (result.success) return result.output
  throw refuse('bad_setting', `${place} takes ${kind.takes}, not ${JSON.stringify(value)}.`)
}

const blockPointIn = (value: unknown, place: string): BlockPoint | undefined =>
  value === undefined ? undefined : valueIn(blockPoint, value, place)

const topicAt = (value: unknown, place: string): string => {
  if (typeof value !== 'string') throw refuse('bad_setting', `${place} takes an event as text.`)
  return explained(() => eventTopic(value), place)
}

const explained = <T>(read: () => T, place: string): T => {
  try {
    return read()
  } catch (error) {
    throw refuse('bad_setting', `${place}: ${messageOf(error)}.`, error)
  }
}

const sorted = (texts: readonly string[]): string[] => [...new Set(texts)].sort()
