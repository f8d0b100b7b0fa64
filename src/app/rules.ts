import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ACCOUNTS_FILE } from '../accounts/file.ts'
import { type Accounts, openAccounts } from '../accounts/index.ts'
import type { BlockPoint, Config } from '../config/index.ts'
import { failingOf, sayFailing } from '../delivery/failing-receivers.ts'
import { DELIVERIES_FILE } from '../delivery/ledger/file.ts'
import type { ListFilter, RedeliverFilter } from '../delivery/ledger/records.ts'
import { type DeliveryStore, openDeliveries } from '../delivery/ledger/store.ts'
import { createGuard } from '../delivery/ssrf-guard.ts'
import { silenceAnswer } from '../http/alerting/silences.ts'
import type { SilenceAnswer } from '../http/shapes/rules.ts'
import { readStatus } from '../ingest/status/live.ts'
import type { FailingState } from '../ingest/status/status.ts'
import { lazy } from '../lib/caches.ts'
import { refuse } from '../lib/errors.ts'
import { didYouMean } from '../lib/name-matching.ts'
import { nativeOption } from '../lib/runtime.ts'
import type { Run } from '../lib/shutdown.ts'
import type { Limits } from '../limits/index.ts'
import { loadLists } from '../rules/followed-lists.ts'
import { checkListName, listInUse, unknownList } from '../rules/list-store.ts'
import { type FindList, NO_LISTS } from '../rules/lower.ts'
import { covers, listsIn, networkOf, type RuleInput } from '../rules/rule.ts'
import { checkRule } from '../rules/schema.ts'
import { checkSilence } from '../rules/silences/check.ts'
import { openRules, type Rules } from '../rules/store.ts'
import { openSecrets } from '../rules/webhook-secrets.ts'
import type { Pool } from '../search/pool.ts'
import { NO_ACCOUNT } from '../search/service.ts'
import { idleReason, missingReason, warningsOf } from './advice.ts'
import { networksOf, openPool } from './compose.ts'
import { commandPastState, type PastState } from './past-state.ts'
import { createRuleBook, type RuleBook, type RulePage } from './rule-book.ts'
import { simulate } from './simulate.ts'
import { createOwnAbis } from './stores.ts'

/** The watch lists of one account: at a running server, or in a data folder. */
export interface ListBook {
  all(): Promise<{ name: string; size: number; rules: { id: number; name: string }[] }[]>
  put(name: string, values: readonly string[]): Promise<{ size: number }>
  /** Number of values that were not in it, or were. */
  change(name: string, values: readonly string[], added: boolean): Promise<{ count: number; size: number }>
  has(name: string, value: string): Promise<boolean>
  remove(name: string): Promise<void>
}

/** The silences of one account: at a running server, or in a data folder. */
export interface SilenceBook {
  all(): Promise<SilenceAnswer[]>
  /** Times are ISO 8601 UTC. */
  add(silence: object): Promise<SilenceAnswer>
  remove(id: number): Promise<void>
}

interface Searched {
  networks(): readonly string[]
  openPool(): Pool
}

/** The blocks to search; by default all stored ones. */
interface BlockRange {
  from?: BlockPoint | undefined
  to?: BlockPoint | undefined
  /** Maximum number of hits. */
  size: number
  /** Maximum number of episodes. */
  episodes?: number
}

/**
 * Rules and deliveries for the command line, read from files also while a server runs. Files are
 * opened lazily and never created by reads.
 */
export const createRulesService = (
  config: Config,
  { shutdown }: Pick<Run, 'shutdown'>,
  searched: Searched = {
    networks: () => networksOf(config),
    openPool: lazy(() => openPool(config, shutdown)),
  },
) => {
  const { data } = config
  const { networks, openPool: poolOf } = searched
  const native = nativeOption(data)
  const guard = createGuard(config.allowTarget)
  const abis = createOwnAbis(data)
  const pastState = commandPastState(config, { shutdown })

  const { accounts, accountOf, rules, store, deliveries } = openLate(config, shutdown)

  /** A running server may have further networks by its flags. */
  const known = (): string[] => [...networks(), ...(readStatus(data)?.networks.map(({ network }) => network) ?? [])]

  /** From the running server, or the last status it left. */
  const failingNow = (): FailingState[] => {
    const published = readStatus(data)?.deliveries?.failing
    const iso = (time: number) => new Date(time).toISOString()
    return (
      published ??
      deliveries()
        ?.failing()
        .map(it => ({ ...it, since: iso(it.since), at: iso(it.at) })) ??
      []
    )
  }

  const onlyAccount = (name: string | undefined, whose: 'rules' | 'lists' | 'silences') => {
    const all = accounts().accounts()
    const account = name === undefined && all.length === 1 ? all[0] : name === undefined ? undefined : accountOf(name)
    if (account) return account
    throw refuse('which_account', `Whose ${whose}? Add --account with one of ${all.map(it => it.name).join(', ')}.`)
  }

  return {
    /** All rules or those of one account, ordered by id; `page` limits them. */
    list(name?: string, page?: RulePage) {
      const names = new Map(
        accounts()
          .accounts()
          .map(it => [it.id, it.name]),
      )
      const account = name === undefined ? undefined : accountOf(name).id
      const listed = page
        ? rules()
            .ids(account, page)
            .flatMap(id => rules().find(id) ?? [])
        : account === undefined
          ? rules().all()
          : rules().list(account)
      const counts = deliveries()?.counts() ?? new Map<number, number>()
      const here = known()
      const failing = failingNow()
      return listed.map(rule => ({
        rule,
        account: names.get(rule.account)!,
        idle: idleReason(rule, here),
        failing: failingOf(rule, failing).map(sayFailing),
        fired: counts.get(rule.id) ?? 0,
      }))
    },

    get(id: number) {
      const rule = rules().find(id)
      if (!rule) throw refuse('unknown_rule', `There is no rule ${id}: chainsieve rules list shows all rules.`)
      return rule
    },

    /** Rules of an account; by default of the only account. */
    book(name: string | undefined): RuleBook {
      const account = onlyAccount(name, 'rules')
      return createRuleBook({
        account: account.id,
        config,
        rules: rules(),
        deliveries,
        openDeliveries: store,
        networks,
        openPool: poolOf,
        heads: () => readStatus(data)?.networks ?? [],
        signal: shutdown.signal,
      })
    },

    /** Watch lists of an account; by default of the only account. */
    lists: (name: string | undefined): ListBook => createListBook(rules(), onlyAccount(name, 'lists').id),

    silences: (name: string | undefined): SilenceBook =>
      createSilenceBook(rules(), onlyAccount(name, 'silences').id, config.limits),

    /** Checks a rule as the HTTP API does. `idle`: why a valid rule would match nothing now. */
    check(value: unknown) {
      const { rule, faults } = checkRule(value, {
        ...{ refusedHost: guard.refusedHost, abis, limits: config.limits },
        draft: true,
      })
      if (!rule) return { faults }
      // Networks of the server are known only with both its data folder and its config file.
      const here = existsSync(data) && config.file !== undefined ? known() : undefined
      const idle = missingReason(rule, here)
      return { rule, faults: [], warnings: warningsOf(rule, config, abis), idle }
    },

    /** Without `account`, a rule with watch lists is one of the only account. */
    async simulate(rule: RuleInput, range: BlockRange, account?: number) {
      const owner = listsIn(rule.config).length > 0 ? (account ?? onlyAccount(undefined, 'lists').id) : undefined
      const lists = owner === undefined ? NO_LISTS : await loadLists(rules().lists, owner, rule.config)
      const found = await simulateHere(rule, range, {
        data,
        networks,
        openPool: poolOf,
        ...{ lists, limits: config.limits, pastState },
        signal: shutdown.signal,
      })
      return { ...found, warnings: [...(found.warnings ?? []), ...warningsOf(rule, config, abis)] }
    },

    /** Newest first. */
    deliveries: (filter: ListFilter) => deliveries()?.list(filter) ?? [],

    /** Returns the number of deliveries queued again. */
    redeliver: (filter: RedeliverFilter) => deliveries()?.redeliver(filter) ?? 0,

    /** Webhook signing secret, created if needed; `rotation` keeps old ones valid for a time. */
    secret(name: string, rotation?: { overlapMs: number }) {
      const { id } = accountOf(name)
      const secrets = openSecrets(data, native)
      try {
        return rotation ? secrets.rotate(id, rotation) : secrets.ensure(id)
      } finally {
        secrets.close()
      }
    },

    /** Whether a server runs on the folder and sends queued deliveries. */
    serving: () => readStatus(data) !== undefined,
  }
}

export type RulesService = ReturnType<typeof createRulesService>
/** A rule with account name, idle reason, failing receivers and number of alerts. */
export type ListedRule = ReturnType<RulesService['list']>[number]
export type CheckedRule = ReturnType<RulesService['check']>

const createListBook = ({ lists, synced }: Pick<Rules, 'lists' | 'synced'>, id: number): ListBook => ({
  all: async () => lists.all(id).map(list => ({ ...list, rules: lists.usersOf(list) })),
  async put(list, values) {
    checkListName(list)
    const { size } = (await lists.replace(id, list, values)).list
    await synced()
    return { size }
  },
  async change(list, values, added) {
    const changed = await lists.change(id, list, values, { added })
    await synced()
    return { count: changed.count, size: changed.list.size }
  },
  async has(list, value) {
    const found = lists.get(id, list)
    if (!found) throw unknownList(list)
    return lists.has(found, value)
  },
  async remove(list) {
    const users = await lists.remove(id, list)
    if (users.length > 0) throw refuse('list_in_use', listInUse(list, users))
    await synced()
  },
})

const createSilenceBook = (
  { silences, synced }: Pick<Rules, 'silences' | 'synced'>,
  account: number,
  limits: Limits,
): SilenceBook => ({
  all: async () => silences.all(account).map(it => silenceAnswer(it, Date.now())),
  async add(value) {
    const now = Date.now()
    const { silence, faults } = checkSilence(value, { now, limits })
    if (!silence) throw refuse('bad_silence', faults.map(({ message }) => message).join('\n'))
    const made = silenceAnswer(silences.add(account, silence), now)
    await synced()
    return made
  },
  async remove(id) {
    if (!silences.remove(account, id)) throw refuse('unknown_silence', `This account has no silence ${id}.`)
    await synced()
  },
})

/** Stores of accounts, rules and deliveries, each opened at first use. */
const openLate = (config: Config, shutdown: Run['shutdown']) => {
  const { data, limits } = config
  const native = nativeOption(data)
  const opened = <T extends { close(): void }>(name: string, open: () => T): (() => T) => {
    let it: T | undefined
    return () => {
      if (it) return it
      if (!existsSync(join(data, ACCOUNTS_FILE)))
        throw refuse(
          'no_accounts',
          `There are no accounts in ${data}, and therefore no rules: name the right folder with --data.`,
        )
      it = open()
      shutdown.add(name, it.close)
      return it
    }
  }
  const accounts = opened<Accounts>('accounts', () => openAccounts(data, native))
  const rules = opened<Rules>('rules', () => openRules(data, { ...native, limits }))
  const store = opened<DeliveryStore>('deliveries', () => openDeliveries(data, { ...native, limits }))
  /** Undefined if nothing was ever delivered. */
  const deliveries = (): DeliveryStore | undefined => {
    accounts()
    return existsSync(join(data, DELIVERIES_FILE)) ? store() : undefined
  }

  const accountOf = (name: string) => {
    const all = accounts().accounts()
    const found = all.find(it => it.name === name)
    if (found) return found
    const meant = didYouMean(
      name,
      all.map(it => it.name),
    )
    throw refuse('unknown_account', `There is no account ${JSON.stringify(name)} in ${data}.${meant}`)
  }
  return { accounts, accountOf, rules, store, deliveries }
}

/** Simulates a rule over stored blocks. */
const simulateHere = async (
  rule: RuleInput,
  { from, to, size, episodes }: BlockRange,
  {
    data,
    networks,
    openPool,
    signal,
    ...means
  }: Searched & {
    data: string
    lists: FindList
    pastState: PastState
    limits: Limits
    signal: AbortSignal
  },
) => {
  const network = networkOf(rule)
  const [one, ...others] = networks().filter(it => covers(network, it))
  if (one === undefined)
    throw refuse(
      'unknown_network',
      `There is no ${network} in ${data}: name the right folder with --data.${didYouMean(network, networks())}`,
    )
  const pool = openPool()
  if (others.length > 0 && (from ?? to) !== undefined)
    throw refuse(
      'bad_range',
      `Blocks of ${[one, ...others].join(', ')} have numbers of their own: leave out --from and --to.`,
    )
  const top = (await pool.ranges(one)).at(-1)?.to ?? 0
  const blockOf = (point: BlockPoint | undefined) =>
    point && ('block' in point ? point.block : Math.max(0, top - point.latest))
  const range = { fromBlock: blockOf(from), toBlock: blockOf(to), size, episodes }
  if (range.fromBlock !== undefined && range.toBlock !== undefined && range.toBlock < range.fromBlock)
    throw refuse('bad_range', `The last block, ${range.toBlock}, is before the first, ${range.fromBlock}.`)
  return simulate({ pool, networks, ...means }, rule, range, { account: NO_ACCOUNT, signal })
}
