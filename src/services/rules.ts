import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ACCOUNTS_FILE } from '../accounts/file.ts'
import { type Accounts, openAccounts } from '../accounts/index.ts'
import type { RuleBook, RulesService, Run } from '../cli/index.ts'
import type { BlockPoint, Config } from '../config/index.ts'
import { failingOf, sayFailing } from '../delivery/failing-receivers.ts'
import { createGuard } from '../delivery/guard.ts'
import { DELIVERIES_FILE } from '../delivery/ledger/file.ts'
import { type DeliveryStore, openDeliveries } from '../delivery/ledger/store.ts'
import { ENDED, type Ended } from '../delivery/maintenance.ts'
import { readStatus } from '../ingest/status/published.ts'
import type { FailingState } from '../ingest/status/status.ts'
import { refuse } from '../lib/errors.ts'
import { silent } from '../lib/log.ts'
import { didYouMean } from '../lib/nearest.ts'
import { isRecord } from '../lib/record.ts'
import { systemClock } from '../lib/retry.ts'
import { missingExtracts } from '../rules/extracts.ts'
import { covers, networkOf } from '../rules/networks.ts'
import type { RuleInput, StoredRule } from '../rules/rule.ts'
import { checkRule } from '../rules/schema.ts'
import { checkRoom, type NewRule, openRules, openSecrets, type Rules } from '../rules/store.ts'
import type { Pool } from '../search/pool.ts'
import { NO_ACCOUNT } from '../search/service.ts'
import { idleReason, missingReason, warningsOf } from './advice.ts'
import { alertFor } from './alerting.ts'
import { simulate } from './simulate.ts'
import { createOwnAbis } from './stores.ts'

interface RulesOptions extends Pick<Run, 'shutdown'> {
  config: Config
  /** Of SQLite's binding, where it needs one. */
  native: { native?: string }
  /** What is stored or configured. */
  networks(): readonly string[]
  openPool(): Pool
}

/**
 * Rules and deliveries as the command line sees them: in their files, whether or not a server has them open as well. Nothing is opened
 * before it is asked for, and looking makes no files where there were none.
 */
export const createRulesService = ({ config, native, networks, openPool, shutdown }: RulesOptions): RulesService => {
  const { data } = config
  const guard = createGuard(config.allowTarget)
  const abis = createOwnAbis(data)

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
  const rules = opened<Rules>('rules', () => openRules(data, { ...native, limits: config.limits }))
  const store = opened<DeliveryStore>('deliveries', () => openDeliveries(data, { ...native, limits: config.limits }))
  /** Undefined where nothing was ever delivered. */
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

  /** A running server knows of networks by its flags, too. */
  const known = (): string[] => [...networks(), ...(readStatus(data)?.networks.map(({ network }) => network) ?? [])]

  /** As the server tells it that runs; without one, as the last one left it. */
  const failingNow = (): FailingState[] => {
    const told = readStatus(data)?.deliveries?.failing
    const iso = (time: number) => new Date(time).toISOString()
    return (
      told ??
      deliveries()
        ?.failing()
        .map(it => ({ ...it, since: iso(it.since), at: iso(it.at) })) ??
      []
    )
  }

  return {
    list(name, page) {
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

    get(id) {
      const rule = rules().find(id)
      if (!rule) throw refuse('unknown_rule', `There is no rule ${id}: chainsieve rules list shows all rules.`)
      return rule
    },

    book(name) {
      const all = accounts().accounts()
      const account = name === undefined && all.length === 1 ? all[0] : name === undefined ? undefined : accountOf(name)
      if (!account)
        throw refuse('which_account', `Whose rules? Add --account with one of ${all.map(it => it.name).join(', ')}.`)
      return createRuleBook({
        account: account.id,
        config,
        native,
        rules: rules(),
        deliveries,
        openDeliveries: store,
        networks,
        openPool,
        heads: () => readStatus(data)?.networks ?? [],
        signal: shutdown.signal,
      })
    },

    check(value) {
      const { rule, faults } = checkRule(value, { refusedHost: guard.refusedHost, abis, limits: config.limits })
      if (!rule) return { faults }
      // Which networks a server has is known from its folder and its config file together.
      const here = existsSync(data) && config.file !== undefined ? known() : undefined
      const idle = missingReason(rule, here)
      return { rule, faults: [], warnings: [...warningsOf(rule, config, abis), ...missingExtracts(rule)], idle }
    },

    async simulate(rule, { from, to, size }) {
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
      const range = { fromBlock: blockOf(from), toBlock: blockOf(to), size }
      if (range.fromBlock !== undefined && range.toBlock !== undefined && range.toBlock < range.fromBlock)
        throw refuse('bad_range', `The last block, ${range.toBlock}, is before the first, ${range.fromBlock}.`)
      const asking = { account: NO_ACCOUNT, signal: shutdown.signal }
      return {
        ...(await simulate({ pool, networks }, rule, range, asking)),
        warnings: warningsOf(rule, config, abis),
      }
    },

    deliveries: filter => deliveries()?.list(filter) ?? [],

    redeliver: filter => deliveries()?.redeliver(filter) ?? 0,

    secret(name, rotation) {
      const { id } = accountOf(name)
      const secrets = openSecrets(data, native)
      try {
        return rotation ? secrets.rotate(id, rotation) : secrets.ensure(id)
      } finally {
        secrets.close()
      }
    },

    serving: () => readStatus(data) !== undefined,
  }
}

interface RuleBookOptions {
  account: number
  config: Config
  /** Of SQLite's binding, where it needs one. */
  native: { native?: string }
  rules: Rules
  /** Undefined where nothing was ever delivered. */
  deliveries(): DeliveryStore | undefined
  openDeliveries(): DeliveryStore
  networks(): readonly string[]
  openPool(): Pool
  /** What a server that runs on the folder says of its networks. */
  heads(): readonly { network: string; head: number | null }[]
  signal: AbortSignal
}

/** What is done with rules at once. */
interface Commit {
  create: readonly RuleInput[]
  rewrite: readonly { id: number; to(before: RuleInput): unknown }[]
  remove: readonly number[]
}

const CANCEL_AT_ONCE = 2_000

/** The rules of one account in a data folder, whether or not a server has it open. */
const createRuleBook = (options: RuleBookOptions): RuleBook => {
  const { account, config, rules, networks, openPool, signal } = options
  const { limits } = config
  const guard = createGuard(config.allowTarget)
  const abis = createOwnAbis(config.data)

  const ruleOf = (id: number): StoredRule => {
    const rule = rules.get(account, id)
    if (!rule) throw refuse('unknown_rule', `There is no rule ${id} of this account.`)
    return rule
  }

  const checked = (value: unknown, before?: RuleInput): RuleInput => {
    const { rule, faults } = checkRule(value, { refusedHost: guard.refusedHost, abis, limits, before })
    if (!rule) {
      const name = isRecord(value) && typeof value.name === 'string' ? `${JSON.stringify(value.name)}: ` : ''
      throw refuse('bad_rule', faults.map(({ path, message }) => `${name}${path}: ${message}`).join('\n'))
    }
    return rule
  }

  /** As a running server has it: above everything that is known; null where nothing is. */
  const startBlockOf = async (network: string): Promise<number | null> => {
    const stored = networks().includes(network) ? (await openPool().ranges(network)).at(-1)?.to : undefined
    const head = options.heads().find(it => it.network === network)?.head
    if (stored === undefined && (head === undefined || head === null)) return null
    return Math.max(stored ?? -1, head ?? -1) + 1
  }

  const cancel = (rule: number, why: Ended, since: number): number => {
    const store = options.deliveries()
    if (!store) return 0
    while (store.cancelRule(rule, Date.now(), ENDED[why], CANCEL_AT_ONCE).length === CANCEL_AT_ONCE);
    if (why === 'paused') store.endPause(rule, true)
    return store.cancelledSince(rule, ENDED[why], since)
  }

  /** All is done or nothing. A rewrite is told what the rule is when it is done. */
  const commit = async (
    { create = [], rewrite = [], remove = [] }: Partial<Commit>,
    step: (done: number) => void = () => {},
  ) => {
    const since = Date.now()
    let done = 0
    const starts = new Map<string, number | null>()
    const startOf = async (network: string) => {
      if (!starts.has(network)) starts.set(network, await startBlockOf(network))
      return starts.get(network)!
    }
    const fresh: NewRule[] = []
    for (const rule of create) {
      const { startBlock, ...input } = checked(rule)
      fresh.push({ input, startBlock: startBlock ?? (await startOf(networkOf(input))) })
      step(++done)
    }
    for (;;) {
      const gone = remove.map(ruleOf)
      const rewritten: { before: StoredRule; input: RuleInput; startBlock: number | null | undefined }[] = []
      for (const { id, to } of rewrite) {
        const before = ruleOf(id)
        const { startBlock, ...input } = checked(to(before.input), before.input)
        const network = networkOf(input)
        const start = startBlock ?? (network === before.network ? undefined : await startOf(network))
        rewritten.push({ before, input, startBlock: start })
        step(++done)
      }
      const made = rules.together(() => {
        const all = [...gone, ...rewritten.map(({ before }) => before)]
        // Somebody else's change came between reading and writing.
        if (all.some(({ id, revision }) => rules.revisionOf(id) !== revision)) return undefined
        const after = [...rewritten, ...fresh].map(({ input }) => input)
        checkRoom(rules, account, { before: all.map(({ input }) => input), after }, limits)
        for (const { id } of gone) rules.remove(account, id)
        return {
          replaced: rewritten.map(
            ({ before, ...to }) =>
              rules.update(account, before.id, to.input, { startBlock: to.startBlock }) as StoredRule,
          ),
          created: rules.createAll(account, fresh),
        }
      })
      if (!made) continue
      await rules.synced()
      return {
        created: made.created,
        replaced: made.replaced.map((after, i) => ({
          ...shown(after),
          ...(rewritten[i]!.before.enabled &&
            !after.enabled && { cancelledDeliveries: cancel(after.id, 'paused', since) }),
        })),
        removed: gone.map(({ id }) => ({ cancelledDeliveries: cancel(id, 'deleted', since) })),
      }
    }
  }

  return {
    list: async page =>
      (page ? rules.ids(account, page).flatMap(id => rules.get(account, id) ?? []) : rules.list(account)).map(shown),

    async change({ create, replace, remove }, step) {
      const rewrite = replace.map(({ id, rule }) => ({ id, to: () => rule }))
      const { created, ...others } = await commit({ create, rewrite, remove }, step)
      return { created: created.map(({ id, input }) => ({ id, name: input.name })), ...others }
    },

    put: async (id, change) =>
      (await commit({ rewrite: [{ id, to: before => ({ ...before, ...change }) }] })).replaced[0]!,

    remove: async id => (await commit({ remove: [id] })).removed[0]!,

    async test(id, document) {
      const rule = ruleOf(id)
      if (rule.unfit !== undefined) throw refuse('bad_rule', rule.unfit)
      const { network, alert } = await alertFor({ networks, pool: openPool() }, rule, document, signal)
      // HTTP and mail take a while to load, which a server's start does not wait for.
      const [{ createChannels }, { createSender }] = await Promise.all([
        import('../delivery/channels/index.ts'),
        import('../delivery/sender.ts'),
      ])
      const { allowTarget, smtp, mailFrom, deliveryTimeout } = config
      const channels = createChannels({ allowed: allowTarget, smtp, mailFrom, timeoutMs: deliveryTimeout })
      const secrets = openSecrets(config.data, options.native)
      try {
        const sender = createSender({
          store: options.openDeliveries(),
          channels,
          secrets: account => [secrets.ensure(account), ...secrets.current(account).slice(1)],
          signal,
          clock: systemClock,
          log: silent,
        })
        return { entity: alert.entity, deliveries: await sender.test({ ...rule, network }, alert, signal) }
      } finally {
        secrets.close()
        await channels.close()
      }
    },
  }
}

const shown = ({ id, enabled, startBlock, input }: StoredRule) => ({ ...input, id, enabled, startBlock })
