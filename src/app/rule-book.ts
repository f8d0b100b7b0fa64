import type { Config } from '../config/index.ts'
import type { DeliveryStore } from '../delivery/ledger/store.ts'
import { createLinks, linkSettings } from '../delivery/links.ts'
import { ENDED, type Ended } from '../delivery/maintenance.ts'
import type { TestResult } from '../delivery/sender.ts'
import { createGuard } from '../delivery/ssrf-guard.ts'
import { isRecord } from '../lib/arrays.ts'
import { refuse } from '../lib/errors.ts'
import { silent } from '../lib/log.ts'
import { systemClock } from '../lib/retry.ts'
import { nativeOption } from '../lib/runtime.ts'
import { loadLists } from '../rules/followed-lists.ts'
import { withoutKeys } from '../rules/hidden-keys.ts'
import { networkOf, type RuleInput, type StoredRule } from '../rules/rule.ts'
import { checkRule } from '../rules/schema.ts'
import { checkRuleQuota, type NewRule, type Rules } from '../rules/store.ts'
import { openSecrets } from '../rules/webhook-secrets.ts'
import type { Pool } from '../search/pool.ts'
import { alertFor } from './alerting.ts'
import { createOwnAbis } from './stores.ts'

/** A rule as the HTTP API shows it. */
export interface ShownRule extends RuleInput {
  id: number
  enabled: boolean
  /** Only from a server, whose first warnings are about failing receivers. */
  idle?: string | null
  failing?: object[]
  warnings?: string[]
  startBlock: number | null
}

/** The rules of one account: at a running server, or in a data folder. */
export interface RuleBook {
  /** In the order of their ids: all, or so many of those after an id. */
  list(page?: RulePage): Promise<ShownRule[]>
  /** In a data folder, all changes are made or none. `step` gets the number of changes made. */
  change(changes: RuleEdits, step?: (done: number) => void): Promise<EditedRules>
  put(id: number, change: Partial<RuleInput>): Promise<ShownRule & Cancelled>
  remove(id: number): Promise<Cancelled>
  /** Sends each of its alerts once, for the document of that id or the newest that it finds. */
  test(id: number, document?: string): Promise<TestedRule>
}

export interface RulePage {
  after: number
  size: number
}

/** Rules of an account to create, to put in the place of others, and to delete. */
export interface RuleEdits {
  create: readonly RuleInput[]
  replace: readonly { id: number; rule: RuleInput }[]
  remove: readonly number[]
}

interface NamedRule {
  id: number
  name: string
}

export interface EditedRules {
  created: NamedRule[]
  replaced: Cancelled[]
  removed: Cancelled[]
}

/** Number of cancelled deliveries; null if they are cancelled later. */
export interface Cancelled {
  cancelledDeliveries?: number | null
}

export interface TestedRule {
  entity: { _id: string; _type: string }
  deliveries: TestResult[]
}

interface RuleBookOptions {
  account: number
  config: Config
  rules: Rules
  /** Undefined where nothing was ever delivered. */
  deliveries(): DeliveryStore | undefined
  openDeliveries(): DeliveryStore
  networks(): readonly string[]
  openPool(): Pool
  /** Networks of the running server. */
  heads(): readonly { network: string; head: number | null }[]
  signal: AbortSignal
}

/** Changes of one transaction. */
interface Commit {
  create: readonly RuleInput[]
  rewrite: readonly { id: number; to(before: RuleInput): unknown }[]
  remove: readonly number[]
}

const CANCEL_AT_ONCE = 2_000

/** The rules of one account in a data folder, whether or not a server has it open. */
export const createRuleBook = (options: RuleBookOptions): RuleBook => {
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
    const { rule, faults } = checkRule(value, {
      refusedHost: guard.refusedHost,
      ...{ abis, limits, before },
      hasList: name => rules.lists.get(account, name) !== undefined,
    })
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

  /** Makes all changes or none. A rewrite gets the rule as it is at that moment. */
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
        checkRuleQuota(rules, account, { before: all.map(({ input }) => input), after }, limits)
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
          ...ruleForOwner(after),
          ...(rewritten[i]!.before.enabled &&
            !after.enabled && { cancelledDeliveries: cancel(after.id, 'paused', since) }),
        })),
        removed: gone.map(({ id }) => ({ cancelledDeliveries: cancel(id, 'deleted', since) })),
      }
    }
  }

  return {
    list: async page =>
      (page ? rules.ids(account, page).flatMap(id => rules.get(account, id) ?? []) : rules.list(account)).map(
        ruleForOwner,
      ),

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
      const { network, alert } = await alertFor(
        { networks, pool: openPool(), lists: await loadLists(rules.lists, account, rule.input.config) },
        rule,
        document,
        signal,
      )
      // HTTP and mail take a while to load, which a server's start does not wait for.
      const [{ createChannels }, { createSender }] = await Promise.all([
        import('../delivery/channels/index.ts'),
        import('../delivery/sender.ts'),
      ])
      const { allowTarget: allowed, smtp, mailFrom, deliveryTimeout: timeoutMs } = config
      const channels = createChannels({ allowed, smtp, mailFrom, timeoutMs, links: createLinks(linkSettings(config)) })
      const secrets = openSecrets(config.data, nativeOption(config.data))
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

const ruleForOwner = ({ id, enabled, startBlock, input }: StoredRule) => ({
  ...withoutKeys(input),
  ...{ id, enabled, startBlock },
})
